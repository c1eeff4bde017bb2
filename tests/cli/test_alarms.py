"""Which rules that break make the exit code 1, and in which order they are printed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.changes.diff import Diff, Witness, Worth
from holdfast.results.alarms import FailOn
from holdfast.results.marked_rules import MarkedRules
from holdfast.results.outcome import Outcome
from holdfast.rules.dependency import FD
from holdfast.store.records import BatchRecord
from tests.cli.running import Holdfast, refused, write

NO_MARKS = MarkedRules()
HEADER = "id,zip,city,note"
ROWS = [f"{row},{row % 40},town {row % 40},{row * 7919 % 1200}" for row in range(1200)]  # zip and city go together
WRONG = "1200,7,another town,5"  # breaks zip -> city, which all rows tested, and rules that hold by chance


@pytest.fixture
def watched(holdfast: Holdfast, tmp_path: Path) -> Path:
    state = tmp_path / "state"
    source = write(tmp_path / "towns.csv", [HEADER, *ROWS])
    assert holdfast("init", state, source, "--watch", "fd,ucc").code == 0
    return state


@pytest.mark.parametrize(
    ("fail_on", "code"), [("given", 0), ("likely", 1), ("any", 1), ("never", 0), ("0.6", 1), ("1", 0)]
)
def test_a_likely_rule_that_breaks_is_an_alarm(
    holdfast: Holdfast, watched: Path, tmp_path: Path, fail_on: str, code: int
) -> None:
    result = holdfast("apply", watched, "--insert", write(tmp_path / "w.csv", [HEADER, WRONG]), "--fail-on", fail_on)
    assert result.code == code
    assert ("Failed: zip -> city broke (score 0.9" in result.out) is bool(code)
    assert ("No alarm: " in result.err) is not bool(code)


def test_what_few_rows_tested_is_none(holdfast: Holdfast, tmp_path: Path) -> None:
    state = tmp_path / "few"
    assert holdfast("init", state, write(tmp_path / "few.csv", [HEADER, *ROWS[:900]]), "--watch", "fd").code == 0
    result = holdfast("apply", state, "--insert", write(tmp_path / "w.csv", [HEADER, WRONG]))
    assert result.code == 0
    assert "No alarm: of the " in result.err
    assert "1 with a score of at least 0.9 may have held by chance (--fail-on 0.9 counts them)" in result.err


def test_nothing_is_said_where_nothing_broke(holdfast: Holdfast, watched: Path, tmp_path: Path) -> None:
    result = holdfast("apply", watched, "--insert", write(tmp_path / "fine.csv", [HEADER, "1201,7,town 7,2000"]))
    assert (result.code, "alarm" in result.err) == (0, False)


@pytest.mark.parametrize(("step", "alarming"), [(1, True), (10_007, False)])
def test_a_key_that_chance_may_have_made_is_none(tmp_path: Path, step: int, alarming: bool) -> None:
    """Numbers of 1,200 rows in a row are a key; numbers from a wide range are unique until two rows share one."""
    with hf.Monitor.create(tmp_path / "s", {"t": _numbers(range(1200), step)}, watch=["ucc"]) as monitor:
        outcome = monitor.apply(inserts=_numbers([7], step))
        assert [rule.text for rule in outcome.lost] == ["key(n)"]
        assert outcome.broken == alarming
        assert outcome.alarms(0.9)


def _numbers(rows: Iterable[int], step: int) -> pa.Table:
    return pa.table({"n": [row * step for row in rows]})


def _broke(*worth: Worth | None) -> Outcome:
    """A batch that broke a found rule of each worth; None where it is unknown."""
    rules = {rule.text: rule for rule in (FD("t", ("a",), f"b{place}") for place in range(len(worth)))}
    known = {text: each for text, each in zip(rules, worth, strict=True) if each is not None}
    return _outcome(Diff(lost=rules, witnesses=dict.fromkeys(rules, Witness((0, 1))), worth=known))


def _outcome(diff: Diff, marks: MarkedRules = NO_MARKS) -> Outcome:
    return Outcome(BatchRecord(1, "id", "t", "", "changes", 1, 0, 0, 0.1), {("fd", "t"): diff}, marks=marks)


@pytest.mark.parametrize(
    ("worth", "fail_on", "alarming"),
    [
        (Worth(0.9, 1000), "likely", True),
        (Worth(0.8999, 1000), "likely", False),
        (Worth(0.9, 999), "likely", False),
        (Worth(0.9, 1000, by_chance=True), "likely", False),
        (Worth(0.7, 2), 0.7, True),
        (Worth(0.7, 2, by_chance=True), 0.7, True),
        (Worth(0.6999, 10**6), 0.7, False),
        (Worth(0.5, 2), 0.5, True),
        (Worth(1.0, 2), 1, True),
        (Worth(1.0, 10**6), "given", False),
        (Worth(1.0, 10**6), "never", False),
        (None, "likely", False),
        (None, 0.5, False),
        (None, "any", True),
    ],
)
def test_from_which_score_and_how_many_rows_on_a_found_rule_is_an_alarm(
    worth: Worth | None, fail_on: FailOn, alarming: bool
) -> None:
    assert bool(_broke(worth).alarms(fail_on)) == alarming


def test_why_a_batch_is_an_alarm_or_none() -> None:
    assert _broke(Worth(0.9, 1000)).why() == "1 rule failed: a -> b0"
    assert _broke(Worth(0.9, 1000), Worth(0.9, 1000)).why(0.8) == "2 rules failed: a -> b0, a -> b1"
    assert _broke(*[None] * 5).why("any") == "5 rules failed: a -> b0, a -> b1, a -> b2 and 2 more"
    assert _broke(None).why("given") == "No alarm: --fail-on given leaves out the rule that broke"
    assert _broke(Worth(0.6, 5)).why(1) == "No alarm: the rule that broke was weak (score under 1)"
    assert _broke(None, None).why() == (
        "No alarm: the 2 rules that broke were weak (score under 0.9, or tested by fewer than 1,000 rows)"
    )
    weak = _broke(Worth(0.9, 999), Worth(0.89, 5000)).why()
    assert weak == (
        "No alarm: of the 2 rules that broke, 1 with a score of at least 0.9 may have held by chance "
        "(--fail-on 0.9 counts them)"
    )


def test_alarms_come_by_score() -> None:
    outcome = _broke(Worth(0.91, 1000), Worth(0.99, 1000), Worth(0.95, 1000))
    assert [rule.text for rule in outcome.alarms()] == ["a -> b1", "a -> b2", "a -> b0"]


def test_json_shows_pinned_rules_first_then_the_best() -> None:
    broke = _broke(Worth(0.5, 1), Worth(0.7, 1), Worth(0.99, 1)).diffs["fd", "t"]
    pinned = MarkedRules(pinned=frozenset({("fd", "t", "a -> b0")}))
    assert [line["rhs"] for line in _outcome(broke).to_json()[1:]] == ["b2", "b1", "b0"]
    assert [line["rhs"] for line in _outcome(broke, pinned).to_json()[1:]] == ["b0", "b2", "b1"]
    gained = _outcome(Diff(gained=broke.lost, gained_worth=broke.worth))
    assert [line["rhs"] for line in gained.to_json()[1:]] == ["b2", "b1", "b0"]


@pytest.mark.parametrize("fail_on", ["sometimes", "0.2", "2", "nan", ""])
def test_what_cannot_be_meant_is_refused(holdfast: Holdfast, watched: Path, tmp_path: Path, fail_on: str) -> None:
    fine = write(tmp_path / "fine.csv", [HEADER, "1201,7,town 7,2000"])
    refused(holdfast("apply", watched, "--insert", fine, "--fail-on", fail_on), "--fail-on", "given, likely, any or")
    assert holdfast("history", watched, "--format", "json").objects == [], "and nothing was applied"
    refused(holdfast("watch", watched, "--from", tmp_path, "--once", "--fail-on", fail_on), "--fail-on")


def test_what_matters_comes_first(holdfast: Holdfast, watched: Path, tmp_path: Path) -> None:
    wrong = write(tmp_path / "w.csv", [HEADER, WRONG])
    lines = holdfast("apply", watched, "--insert", wrong).out.splitlines()
    assert lines[:4] == [
        "Batch 1: 1 row. 2 rules failed.",
        "Failed: zip -> city broke (score 0.98) (w.csv)",
        "  row 1200: zip 7, city 'another town' ('town 7' in 30 of 31)",
        f'  See: holdfast explain {watched} "zip -> city"',
    ]
    assert lines[4].startswith("Failed: key(note) broke"), "a lower score"
    lost = next(number for number, line in enumerate(lines) if line.startswith("lost: "))
    assert not any(line.startswith("  zip -> city ") for line in lines[lost:]), "all is said of it"
    history = holdfast("history", watched, "--rules", "--format", "json").objects
    assert {"zip -> city"} <= {line["text"] for line in history if line["broke"]}


def test_json_comes_in_the_same_order(holdfast: Holdfast, watched: Path, tmp_path: Path) -> None:
    wrong = write(tmp_path / "w.csv", [HEADER, WRONG])
    _, first, *others = holdfast("apply", watched, "--insert", wrong, "--format", "json").objects
    assert first["event"] == "lost"
    assert first["score"] > 0.9
    assert first["support"] == 1200
    scores = [line.get("score", 0.0) for line in (first, *others) if line["event"] == "lost"]
    assert scores == sorted(scores, reverse=True)
    events = [line["event"] for line in (first, *others)]
    assert events == sorted(events, key=["lost", "gained", "implied", "changed"].index)


def test_given_rules_are_an_alarm_whatever_their_score(tmp_path: Path) -> None:
    towns = pa.table({"zip": [1, 2], "city": ["A", "B"]})
    with hf.Monitor.create(tmp_path / "s", {"t": towns}, watch=["fd"], rules=["zip -> city"]) as monitor:
        outcome = monitor.apply(inserts=pa.table({"zip": [1], "city": ["C"]}))
        assert outcome.broken
        assert [rule.kind for rule in outcome.alarms()] == ["fd"]
        assert len(outcome.alarms("any")) > 1
        assert not outcome.alarms("never")
        assert next(line for line in outcome.to_json()[1:])["event"] == "changed", "given ones first"
        with pytest.raises(hf.BadInput, match="fail-on"):
            outcome.alarms(0.1)
