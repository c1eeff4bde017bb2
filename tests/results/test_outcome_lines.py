"""The lines about rules that a batch broke or brought: what matters first, causes together, accidents as a number."""

from __future__ import annotations

from typing import Any

from holdfast.changes.diff import Cause, Diff, Witness, Worth
from holdfast.results.outcome import Outcome
from holdfast.results.outcome_lines import TableDiff, gained_lines, lost_lines
from holdfast.rules.dependency import FD
from holdfast.store.records import BatchRecord


def _rules(*names: str) -> dict[str, FD]:
    rules = [FD("t", ("x",), name) for name in names]
    return {rule.text: rule for rule in rules}


def of_t(**parts: Any) -> TableDiff:
    return TableDiff(Diff(**parts), "fd", "t")


def _pair(one: int, other: int) -> Witness:
    return Witness((one, other), ({"x": 1}, {"x": 1}))


ACCIDENTS = _rules(*(f"c{n}" for n in range(12)))


def test_rules_that_the_same_rows_broke_are_one_line_the_best_first() -> None:
    lost = _rules("a", "b", "c", "d", "e")
    rows = dict(zip(lost, [_pair(1, 2), _pair(3, 4), _pair(1, 2), _pair(1, 2), _pair(1, 2)], strict=True))
    worth = dict(zip(lost, [Worth(score, 9) for score in (0.7, 0.99, 0.95, 0.8, 0.6)], strict=True))
    assert lost_lines([of_t(lost=lost, witnesses=rows, worth=worth)], 10) == [
        "x -> b (0.99)   because of row 3 (x 1) and row 4 (x 1)",
        "row 1 (x 1) and row 2 (x 1) broke 4 rules: x -> c (0.95), x -> d (0.80), x -> a (0.70) and 1 more",
    ]


def test_many_accidents_are_a_number_and_few_are_listed() -> None:
    rows = dict.fromkeys(ACCIDENTS, _pair(1, 2))
    likely = {**_rules("a"), **ACCIDENTS}
    diff = Diff(lost=likely, witnesses={**rows, "x -> a": _pair(5, 6)}, worth={"x -> a": Worth(0.9, 9)})
    assert lost_lines([TableDiff(diff, "fd", "t")], 10) == [
        "x -> a (0.90)   because of row 5 (x 1) and row 6 (x 1)",
        "12 rules that looked accidental broke; JSON lists them",
    ]
    few = _rules("a", "b")
    assert lost_lines([of_t(lost=few, witnesses=dict.fromkeys(few, _pair(1, 2)), worth={})], 10) == [
        "row 1 (x 1) and row 2 (x 1) broke 2 rules: x -> a, x -> b"
    ]


def test_classes_without_scores_are_listed_up_to_a_number() -> None:
    rows = {text: _pair(number, number + 100) for number, text in enumerate(ACCIDENTS)}
    lines = lost_lines([of_t(lost=ACCIDENTS, witnesses=rows)], 10)
    first = [f"{text}   because of {rows[text]}" for text in list(ACCIDENTS)[:10]]
    assert lines == [*first, "… JSON lists the others"]


def test_gained_rules_likewise() -> None:
    diff = Diff(gained={**ACCIDENTS, **_rules("a", "b")}, gained_worth={"x -> a": Worth(0.7, 5), "x -> b": Worth(1, 5)})
    assert gained_lines([TableDiff(diff, "fd", "t")], 10) == (
        ["x -> b (1.00)", "x -> a (0.70)", "12 rules that look accidental came; JSON lists them"],
        "",
    )
    assert gained_lines([of_t(gained=_rules("a"), gained_worth={})], 10) == (["x -> a"], "")


def test_rules_of_several_tables_name_their_table_and_rows_of_one_id_stay_apart() -> None:
    rows = {"x -> a": _pair(1, 2)}
    own, other = (TableDiff(Diff(lost=_rules("a"), witnesses=rows), "fd", name, several=True) for name in "tu")
    assert lost_lines([own, other], 10) == [f"{name}: x -> a   because of row 1 (x 1) and row 2 (x 1)" for name in "tu"]
    two = TableDiff(Diff(lost=_rules("a", "b"), witnesses={**rows, "x -> b": _pair(1, 2)}), "fd", "t", several=True)
    assert lost_lines([two], 10) == ["t: row 1 (x 1) and row 2 (x 1) broke 2 rules: x -> a, x -> b"]
    assert gained_lines([TableDiff(Diff(gained=_rules("a")), "fd", "t", several=True)], 10) == (["t: x -> a"], "")


def test_what_became_of_rules_is_counted_once_each() -> None:
    """Lost, gained, untested and implied ones, and those that are implied with what they follow from."""
    lost = {**_rules("a", "b", "c", "d"), "x -> e": FD("t", ("x",), "e", empty=True)}
    causes = {"x -> b": Cause("stronger", "() -> b"), "x -> c": Cause("score"), "x -> e": Cause("split")}
    diff = Diff(
        _rules("f", "g"), lost, witnesses={text: _pair(1, 2) for text in ("x -> a", "x -> d")}, causes=causes, worth={}
    )
    outcome = Outcome(BatchRecord(1, "id", "t", "", "changes", 1, 0, 0, 0.1), {("fd", "t"): diff})
    by_rule = dict(outcome.rule_lines())
    assert list(by_rule) == [
        "lost: 2 rules",
        "gained: 2 rules",
        "untested: 1 rule failed once rows tested it",
        "implied: 2 rules still hold, but follow from others, or too few rows are left to test them",
    ]
    assert list(by_rule.values())[-1] == ["x -> b   as () -> b holds", "x -> c   now below --min-score"]
    assert [rule.text for rule in outcome.implied] == ["x -> b", "x -> c"]
    assert [rule.text for rule in outcome.untested] == ["x -> e"]
