"""The laws of diffs: what leads from one result to another, and what is left of it without some rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.changes.diff import Cause, Diff, Result, ViolationChange, Witness, Worth, between
from holdfast.results.outcome import Outcome
from holdfast.store.records import BatchRecord
from holdfast.store.rule_events import events_of


@dataclass(frozen=True)
class Rule:
    text: str
    error: int
    kind: str = "fd"
    empty: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "error": self.error}


# Few texts and few errors, so that rules are gained, lost, changed and kept all the time.
results = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 2), max_size=4).map(
    lambda errors: {text: Rule(text, error) for text, error in errors.items()}
)
witnesses = st.dictionaries(st.sampled_from("abcd"), st.builds(Witness, st.tuples(st.integers(0, 3))), max_size=4)


@settings(deadline=None, max_examples=60)
@given(results, results)
def test_patch_leads_from_one_result_to_the_other(a: Result, b: Result) -> None:
    before = dict(a)
    assert between(a, b).patch(a) == b
    assert a == before


@settings(deadline=None, max_examples=60)
@given(results, results)
def test_a_diff_tells_each_finding_once(a: Result, b: Result) -> None:
    diff = between(a, b)
    assert diff.gained.keys() == b.keys() - a.keys()
    assert diff.lost.keys() == a.keys() - b.keys()
    assert diff.changed.keys() == {text for text in a.keys() & b.keys() if a[text] != b[text]}
    assert bool(diff) == (a != b)


@settings(deadline=None, max_examples=60)
@given(results, results, witnesses)
def test_witnesses_stay_with_what_was_lost(a: Result, b: Result, seen: dict[str, Witness]) -> None:
    diff = between(a, b, seen)
    assert diff.witnesses == {text: witness for text, witness in seen.items() if text in diff.lost}


@settings(deadline=None, max_examples=60)
@given(results, results, witnesses, st.sets(st.sampled_from("abcd")))
def test_a_diff_falls_into_what_it_tells_of_some_rules_and_of_the_others(
    a: Result, b: Result, seen: dict[str, Witness], some: set[str]
) -> None:
    diff = between(a, b, seen)
    only, others = diff.only(some), diff.without(some)
    for part in ("gained", "lost", "changed", "witnesses"):
        whole, mine, theirs = (getattr(each, part) for each in (diff, only, others))
        assert {**mine, **theirs} == whole
        assert mine.keys() == whole.keys() & some
    assert others.patch(only.patch(a)) == b
    assert diff.without(()) == diff == diff.only("abcd")
    assert not diff.only(())


def test_all_parts_of_a_diff_lose_what_nobody_wants_to_hear_of() -> None:
    a, b, c = (Rule(text, 0) for text in "abc")
    none = np.empty((0, 2), np.int64)
    diff = Diff(
        gained={"a": a, "b": b},
        lost={"c": c},
        witnesses={"c": Witness((1, 2))},
        violations={"a": ViolationChange(1, 0, none, none), "b": ViolationChange(2, 0, none, none)},
        causes={"a": Cause("mended"), "c": Cause("split")},
        figures={"a": a, "b": b},
        worth={"c": Worth(0.9, 5)},
    )
    left = diff.without({"a", "c"})
    assert (left.gained, left.lost, left.witnesses, left.causes) == ({"b": b}, {}, {}, {})
    assert (list(left.violations), left.figures) == (["b"], {"b": b})
    assert (left.worth, left.gained_worth) == ({}, None), "a selection has no worth where the diff has none"
    assert diff.only({"c"}).worth == {"c": Worth(0.9, 5)}


def test_rules_that_hold_no_longer_though_nothing_broke_them_were_untested() -> None:
    lost = {text: Rule(text, 0, empty=text != "a") for text in "abcd"}
    causes = {"b": Cause("split"), "c": Cause("stronger", "x")}
    diff = Diff(lost=lost, witnesses={"d": Witness((1,))}, causes=causes)
    assert diff.untested == {"b"}, "a was tested, c follows from another, and rows broke d"


@pytest.mark.parametrize(
    ("cause", "empty", "broken", "loss"),
    [
        (Cause("split"), False, True, "lost"),
        (Cause("swap"), True, False, "untested"),
        (None, True, False, "untested"),
        (Cause("stronger", "x"), True, False, "implied"),
        (Cause("score"), False, False, "implied"),
        (Cause("below --min-coverage"), False, False, "implied"),
        (Cause("untested"), False, False, "implied"),
    ],
)
def test_the_history_and_the_outcome_say_the_same_of_a_lost_rule(
    cause: Cause | None, empty: bool, broken: bool, loss: str
) -> None:
    diff = Diff(
        lost={"a": Rule("a", 0, empty=empty)},
        witnesses={"a": Witness((1,))} if broken else {},
        causes={"a": cause} if cause else {},
    )
    (event,) = events_of(diff, False, {}, ())
    batch = BatchRecord(1, "b", "t", "now", "apply", 1, 0, 0, 0.0)
    line = Outcome(batch, {("fd", "t"): diff}).to_json()[1]
    assert (diff.loss("a"), event.event, line["event"]) == (loss, loss, loss)
    assert event.implied_by == ("x" if loss == "implied" and cause and cause.by else "")
    assert line.get("cause") == (cause.kind if cause else None)


def test_a_witness_turns_into_json() -> None:
    assert Witness((1, 2), ({"x": 1}, {"x": None})).to_json() == {"rows": [1, 2], "values": [{"x": 1}, {"x": None}]}


def test_changes_of_violations_are_equal_where_they_list_the_same_in_another_order() -> None:
    added, resolved = np.array([[5, 2], [5, 3]]), np.array([[1, 2]])
    change = ViolationChange(1, 0, added, resolved, restated=1, example=(5, 2))
    assert change == ViolationChange(1, 0, added[::-1], resolved, restated=1, example=(5, 3)), "one example is as good"
    for other in (
        ViolationChange(2, 0, added, resolved, restated=1),
        ViolationChange(1, 1, added, resolved, restated=1),
        ViolationChange(1, 0, added, resolved),
        ViolationChange(1, 0, added[:1], resolved, restated=1),
        ViolationChange(1, 0, added, added, restated=1),
        ViolationChange.counted(),
    ):
        assert change != other
    assert change != (1, 0)
    with pytest.raises(TypeError):
        hash(change)


def test_of_violations_that_are_only_counted_nobody_knows_which_are_new() -> None:
    counted = ViolationChange.counted()
    assert (counted.new, counted.gone, len(counted.added), len(counted.resolved)) == (None, None, 0, 0)
    assert counted == ViolationChange.counted()
