"""A found rule that raised an alarm is given from then on, with the score it had, and raises one again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.api.change import alarmed
from holdfast.results.alarms import FailOn

ROWS = 1200
ZIP = "zip -> city"


def towns(first: int, count: int, city: str | None = None) -> pa.Table:
    """`zip -> city` holds; ids are random, so that chance makes no other rule likely."""
    numbers = range(first, first + count)
    zips = [number * 7919 % 40 for number in numbers]
    return pa.table(
        {
            "id": [number * 104_729 % 1_000_003 for number in numbers],
            "zip": zips,
            "city": [city or f"town {each}" for each in zips],
        }
    )


def made(tmp_path: Path, **settings: Any) -> hf.Monitor:
    watched = {"watch": ["fd"], **settings}
    return hf.Monitor.create(tmp_path / "s", {"towns": towns(0, ROWS)}, **watched)


def wrong(place: int) -> pa.Table:
    return towns(ROWS + place, 1, f"elsewhere {place}")


def test_it_stays_and_raises_an_alarm_with_each_new_violation(tmp_path: Path) -> None:
    with made(tmp_path) as watch:
        first = watch.apply(inserts=wrong(0))
        assert [rule.text for rule in first.alarms()] == [ZIP]
        assert [rule["text"] for rule in first.now_given] == [ZIP]
        assert "given from now on: 1 rule, as it raised an alarm" in str(first)
        (rule,) = watch.rules().entries
        assert (rule.text, rule.severity, rule.origin) == (ZIP, "error", "alarm")
        assert rule.note == "found; 0.98 when batch 1 broke it"
        for place in (1, 2):
            outcome = watch.apply(inserts=wrong(place))
            assert [line.to_json()["violations"] for line in outcome.alarms()] == [place + 1]
            assert not outcome.now_given
        assert not watch.apply(inserts=towns(5000, 3)).broken


def test_it_is_a_given_rule_everywhere_and_stays_when_it_is_mended(tmp_path: Path) -> None:
    with made(tmp_path) as watch:
        watch.apply(inserts=wrong(0))
    with hf.Monitor.open(tmp_path / "s") as watch:
        assert watch.violations("fd1")[0].count == 1
        assert watch.given(ZIP) is not None
        assert "found; 0.98 when batch 1 broke it" in "\n".join(watch.explain("fd1"))
        mended = watch.apply(deletes=wrong(0))
        assert "Holds again: zip -> city" in str(mended)
        assert watch.given(ZIP) is not None
        assert [rule.text for rule in watch.apply(inserts=wrong(1)).alarms()] == [ZIP], "once, as a given rule"
        changed = watch.remove_rules("fd1")
        assert changed.about["removed"][0]["text"] == ZIP


def test_edits_keep_where_it_comes_from(tmp_path: Path) -> None:
    with made(tmp_path) as watch:
        watch.apply(inserts=wrong(0))
        file = tmp_path / "rules.yaml"
        file.write_text(str(watch.rules()).replace("fd1", "zip"))
        watch.replace_rules(file)
        (rule,) = watch.rules().entries
        assert (rule.name, rule.origin) == ("zip", "alarm")


@pytest.mark.parametrize(
    ("fail_on", "given"), [("likely", 1), ("any", 1), ("given", 0), ("never", 0), (0.99, 0), (0.9, 1)]
)
def test_what_is_no_alarm_is_not_given(tmp_path: Path, fail_on: FailOn, given: int) -> None:
    """Where any rule that breaks is one, those that hold by chance are left out."""
    with made(tmp_path) as watch:
        watch.apply(inserts=wrong(0), fail_on=fail_on)
        assert len(watch.rules().entries) == given


def test_a_pinned_rule_stays_whatever_its_score(tmp_path: Path) -> None:
    with hf.Monitor.create(tmp_path / "s", {"towns": towns(0, 80)}, watch=["fd"]) as watch:
        watch.pin(ZIP)
        outcome = watch.apply(inserts=towns(80, 1, "elsewhere"))
        assert [rule["text"] for rule in outcome.now_given] == [ZIP]


def test_orders_and_references_stay_as_what_says_the_same(tmp_path: Path) -> None:
    people = pa.table({"id": [number * 7919 % 100_003 for number in range(ROWS)]})
    orders = pa.table({"who": [people["id"][number].as_py() for number in range(ROWS)]})
    with hf.Monitor.create(tmp_path / "s", {"people": people, "orders": orders}, watch=["ind", "od"]) as watch:
        watch.pin("orders.who in people.id")
        outcome = watch.apply(inserts=pa.table({"who": [-1]}), table="orders")
        assert [rule["text"] for rule in outcome.now_given] == ["orders.who in people.id"]
        assert watch.violations()[0].count == 1


def test_a_crash_before_it_is_given_is_made_up_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, made(tmp_path) as watch:
        patch.setattr(alarmed, "give_alarmed", crash)
        with pytest.raises(KeyboardInterrupt):
            watch.apply(inserts=wrong(0), batch_id="first")
    with hf.View.open(tmp_path / "s") as view:
        assert not view.rules().entries
    with hf.Monitor.open(tmp_path / "s") as watch:
        assert [rule.text for rule in watch.rules().entries] == [ZIP]
        assert watch.apply(inserts=wrong(0), batch_id="first").already_applied
        assert len(watch.history()) == 2, "and once only"
    assert hf.verify(tmp_path / "s", deep=True).problems == ()


def test_a_disk_without_room_for_it_has_it_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise hf.BadInput("no space")

    with made(tmp_path) as watch:
        with monkeypatch.context() as patch:
            patch.setattr(alarmed, "give_alarmed", full)
            assert watch.apply(inserts=wrong(0)).broken
        assert not watch.rules().entries
        watch.apply(inserts=towns(5000, 1))
        assert [rule.text for rule in watch.rules().entries] == [ZIP]


def test_rules_that_broke_rank_by_the_score_they_had(tmp_path: Path) -> None:
    """Not by the alphabet: the likely rule comes first, also where it is no alarm; errors before warnings."""
    with made(tmp_path, watch=["fd", "ucc"]) as watch:
        watch.add_rules("t.zip >= 0")
        watch.apply(inserts=pa.table({"id": [-1], "zip": [-1], "city": ["nowhere"]}))
        watch.apply(inserts=wrong(0), fail_on="given")
        lines = [line for line in watch.rule_history() if line["broke"]]
        assert lines[0]["text"] == "t.zip >= 0"
        found = [line for line in lines if "severity" not in line]
        scores = [line.get("score_then", 0.0) for line in found]
        assert scores == sorted(scores, reverse=True)
        assert found[0]["text"] == ZIP
        assert (found[0]["score_then"] > 0.9, found[0]["last_broke"]) == (True, 2)
        document = watch.document()
        texts = document["rules"]["texts"].split("\n")
        assert "\x00" not in json.dumps(texts[document["overview"]["broke"][0]])
