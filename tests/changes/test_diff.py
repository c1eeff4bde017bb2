"""The laws of diffs: patching, undoing and composing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.changes.diff import Cause, Diff, PairChange, Result, Witness, Worth, between


@dataclass(frozen=True)
class Rule:
    text: str
    error: int
    kind: str = "fd"

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
@given(results, results)
def test_undo_inverts(a: Result, b: Result) -> None:
    diff = between(a, b)
    assert diff.undo().patch(b) == a
    assert diff.undo() == between(b, a)
    assert diff.undo().undo() == diff
    assert not diff.then(diff.undo())


@settings(deadline=None, max_examples=60)
@given(results, results, results)
def test_then_composes(a: Result, b: Result, c: Result) -> None:
    both = between(a, b).then(between(b, c))
    assert both == between(a, c)
    assert both.patch(a) == c


@settings(deadline=None, max_examples=60)
@given(results, results, results, results)
def test_then_is_associative_and_has_a_zero(a: Result, b: Result, c: Result, d: Result) -> None:
    first, second, third = between(a, b), between(b, c), between(c, d)
    assert first.then(second).then(third) == first.then(second.then(third))
    assert Diff().then(first) == first == first.then(Diff())


@settings(deadline=None, max_examples=60)
@given(results, results, witnesses)
def test_witnesses_stay_with_what_was_lost(a: Result, b: Result, seen: dict[str, Witness]) -> None:
    diff = between(a, b, seen)
    assert diff.witnesses == {text: witness for text, witness in seen.items() if text in diff.lost}
    assert diff.undo().witnesses == {}
    assert diff.then(Diff()).witnesses == diff.witnesses


def test_a_witness_survives_composing_only_where_the_rule_stays_lost() -> None:
    a, b = Rule("a", 0), Rule("b", 0)
    lost = between({"a": a, "b": b}, {}, {"a": Witness((1, 2)), "b": Witness((3,))})
    both = lost.then(between({}, {"a": a}))
    assert both.lost == {"b": b}
    assert both.witnesses == {"b": Witness((3,))}


def test_a_witness_turns_into_json() -> None:
    assert Witness((1, 2), ({"x": 1}, {"x": None})).to_json() == {"rows": [1, 2], "values": [{"x": 1}, {"x": None}]}


def test_violations_that_are_told_again_are_neither_new_nor_gone() -> None:
    """Two added and one resolved, of which one is the same violation with a row under a new id."""
    change = PairChange(np.array([[5, 2], [5, 3]]), np.array([[1, 2]]), retold=1)
    assert (change.new, change.gone) == (1, 0)
    assert (change.undo().new, change.undo().gone) == (0, 1)
    assert change.undo().undo() == change
    assert change != PairChange(change.added, change.resolved)
    both = change.then(PairChange(np.empty((0, 2), np.int64), np.array([[5, 2]])))
    assert (both.new, both.gone) == (1, 1), "of two batches together it is not known"
    unknown = PairChange(None, None)
    assert (unknown.new, unknown.gone) == (None, None)


def test_other_violations_are_a_change_also_where_they_are_as_many() -> None:
    a = Rule("a", 1)
    moved = {"a": PairChange(np.array([[5, -1]]), np.array([[1, -1]]))}
    diff = between({"a": a}, {"a": a}).with_violations({"a": a}, {"a": a}, moved)
    assert diff.changed == {"a": (a, a)}
    assert diff.patch({"a": a}) == {"a": a}
    again = {"a": PairChange(np.array([[5, -1]]), np.array([[1, -1]]), retold=1)}
    assert not between({"a": a}, {"a": a}).with_violations({"a": a}, {"a": a}, again).changed


def test_then_tells_what_both_did_and_nothing_that_the_second_took_back() -> None:
    a, b, c = (Rule(text, 0) for text in "abc")
    first = replace(
        between({"a": a, "b": b}, {"c": c}, {"a": Witness((1,)), "b": Witness((2,))}),
        causes={"a": Cause("split"), "b": Cause("split"), "c": Cause("mended")},
        worth={"a": Worth(0.9, 5), "b": Worth(0.8, 5)},
        gained_worth={"c": Worth(0.5, 5)},
    )
    second = replace(
        between({"c": c}, {"a": a, "c": Rule("c", 1)}),
        causes={"a": Cause("mended")},
        gained_worth={"a": Worth(0.95, 6)},
    )
    both = first.then(second)
    assert (both.lost, both.gained, both.changed) == ({"b": b}, {"c": Rule("c", 1)}, {})
    assert both.witnesses == {"b": Witness((2,))}
    assert both.causes == {"b": Cause("split"), "c": Cause("mended")}
    assert both.worth == {"b": Worth(0.8, 5)}, "as before both"
    assert both.gained_worth == {"c": Worth(0.5, 5)}


def test_then_keeps_figures_as_they_are_in_the_end() -> None:
    a, b = Rule("a", 0), Rule("b", 0)
    moved = Diff(figures={"a": a, "b": b})
    assert moved.then(Diff(figures={"a": Rule("a", 1)})).figures == {"a": Rule("a", 1), "b": b}
    assert moved.then(between({"a": a}, {})).figures == {"b": b}
    told = moved.then(between({"a": a}, {"a": Rule("a", 2)}))
    assert (told.changed, told.figures) == ({"a": (a, Rule("a", 2))}, {"b": b})
    later = between({"a": a}, {"a": Rule("a", 1)}).then(Diff(figures={"a": Rule("a", 2)}))
    assert later.changed == {"a": (a, Rule("a", 2))}


def test_then_drops_violations_that_came_and_went() -> None:
    a, none = Rule("a", 0), np.empty((0, 2), np.int64)
    rows = np.array([[5, -1], [6, -1]])
    worse = between({"a": a}, {"a": Rule("a", 2)}).with_violations(
        {"a": a}, {"a": Rule("a", 2)}, {"a": PairChange(rows, none)}
    )
    assert not worse.then(worse.undo())
    some = Diff(changed={"a": (Rule("a", 2), Rule("a", 1))}, violations={"a": PairChange(none, rows[:1])})
    left = worse.then(some)
    assert left.changed == {"a": (a, Rule("a", 1))}
    assert left.violations == {"a": PairChange(rows[1:], none)}
    retold = PairChange(rows[:1], rows[1:], retold=1)
    assert retold.then(PairChange(none, none)) == PairChange(none, none).then(retold) == retold
