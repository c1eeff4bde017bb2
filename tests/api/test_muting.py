"""Suggested rules that new rows break as often as chance does mute themselves; no others do."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast.engines.given.track_record import TESTS, TrackRecord, at_least
from tests.cli.running import write

RULE = "shop -> town"
FIRST = 1000  # rows
BATCH = 100


def rows(first: int, count: int, share: float, seed: int = 0) -> pa.Table:
    """Rows of 20 shops, each in its town but for a share of them."""
    random = np.random.default_rng([seed, first])
    shop = random.integers(0, 20, count)
    town = np.where(random.random(count) < share, random.integers(100, 130, count), shop // 2)
    return pa.table({"id": np.arange(first, first + count), "shop": shop, "town": town})


def batches(share: float, many: int = 6) -> Iterator[pa.Table]:
    return (rows(FIRST + BATCH * number, BATCH, share) for number in range(many))


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[hf.Monitor]:
    with hf.Monitor.create(tmp_path / "state", {"t": rows(0, FIRST, 0.03)}) as monitor:
        yield monitor


def muted(monitor: hf.View) -> list[str]:
    return [entry.text for entry in monitor.rules().entries if entry.origin == "muted"]


@pytest.mark.parametrize("share", [0.04, 0.2, 1.0])
def test_a_rule_that_chance_breaks_mutes_itself_once(watch: hf.Monitor, share: float) -> None:
    outcomes = [watch.apply(inserts=batch) for batch in batches(share, 12)]
    said = [number for number, outcome in enumerate(outcomes) if outcome.now_muted]
    assert len(said) == 1
    assert said[0] >= TESTS // BATCH - 1, "not before 200 tests"
    first = outcomes[said[0]]
    assert [rule["text"] for rule in first.now_muted] == [RULE]
    assert first.lines()[0].endswith(f" Muted, as chance breaks it: {RULE}.")
    assert first.to_json()[0]["now_muted"][0]["text"] == RULE
    assert muted(watch) == [RULE]
    after = outcomes[said[0] + 1]
    assert not any(RULE in line for line in after.lines())
    assert any(line.get("text") == RULE and line["origin"] == "muted" for line in after.to_json()), "JSON has all"
    assert not any(outcome.broken for outcome in outcomes)


def test_a_muted_rule_is_kept_up_to_date(watch: hf.Monitor) -> None:
    everything = [rows(0, FIRST, 0.03), *batches(0.3)]
    for batch in everything[1:]:
        watch.apply(inserts=batch)
    assert muted(watch) == [RULE]
    fresh = hf.check({"t": pa.concat_tables(everything)}, [RULE])
    assert watch.violations(RULE)[0].count == fresh.to_json()[0]["violations"]


@pytest.mark.parametrize("share", [0.0, 0.01])
def test_a_rule_that_is_broken_less_often_than_before_speaks_on(watch: hf.Monitor, share: float) -> None:
    outcomes = [watch.apply(inserts=batch) for batch in batches(share, 8)]
    assert not any(outcome.now_muted for outcome in outcomes)
    assert not muted(watch)


def test_one_command_unmutes_a_rule_for_good(watch: hf.Monitor) -> None:
    first, *others = batches(0.3)
    watch.apply(inserts=first)
    with pytest.raises(hf.BadInput, match="no rule is muted"):
        watch.unmute(RULE)
    watch.apply(inserts=others[0])
    assert muted(watch) == [RULE]
    changed = watch.unmute(RULE)
    assert [rule["text"] for rule in changed.about["unmuted"]] == [RULE]
    assert not any(watch.apply(inserts=batch).now_muted for batch in others[1:])
    assert not muted(watch)


def test_no_rule_of_the_user_is_muted(tmp_path: Path) -> None:
    given = "rules: [{name: own, rule: shop -> town, severity: warn}]"
    first = {"t": rows(0, FIRST, 0.03)}
    with hf.Monitor.create(tmp_path / "a", first, rules=write(tmp_path / "r.yaml", [given]), suggest=20) as own:
        assert not any(own.apply(inserts=batch).now_muted for batch in batches(0.5))
    with hf.Monitor.create(tmp_path / "b", first) as added:
        added.add_rules([RULE])
        assert not any(added.apply(inserts=batch).now_muted for batch in batches(0.5))


def test_no_rule_that_raised_an_alarm_is_muted(tmp_path: Path) -> None:
    with hf.Monitor.create(tmp_path / "state", {"t": rows(0, FIRST, 0.0)}) as monitor:
        outcomes = [monitor.apply(inserts=batch) for batch in batches(0.5)]
        assert all(outcome.broken for outcome in outcomes)
        assert not muted(monitor)


def test_the_state_remembers(watch: hf.Monitor, tmp_path: Path) -> None:
    for batch in batches(0.3):
        watch.apply(inserts=batch)
    watch.close()
    with hf.Monitor.open(tmp_path / "state") as again:
        assert muted(again) == [RULE]
        assert not again.apply(inserts=rows(9000, BATCH, 0.5)).now_muted


@given(tests=st.integers(1, 300), count=st.integers(0, 300), percent=st.integers(1, 99))
def test_the_binomial_tail(tests: int, count: int, percent: int) -> None:
    p = Fraction(percent, 100)
    exact = sum(comb(tests, i) * p**i * (1 - p) ** (tests - i) for i in range(min(count, tests), tests + 1))
    ours = at_least(min(count, tests), tests, percent / 100)
    if min(count, tests) > tests * percent / 100:
        assert ours == pytest.approx(float(exact), rel=1e-6, abs=1e-300)
    else:
        assert ours == 1.0
        assert exact > Fraction(1, 4), "no rule is noise for it"


def test_how_often_a_rule_that_means_something_is_muted_by_mistake() -> None:
    """A rule that half as many new rows break: at each look less than one in a hundred would be muted."""
    random = np.random.default_rng(0)
    broke = random.binomial(2000, 0.02, 10_000)
    assert sum(TrackRecord(2000, int(each)).is_noise(79, 1998) for each in broke) <= 100
