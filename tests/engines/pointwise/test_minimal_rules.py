"""Minimal rules against their definition, on tiny tables; and their classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.pointwise import cells, marginals
from holdfast.engines.pointwise.boxes import Boxes, Space, canonical, mirrored
from holdfast.engines.pointwise.cells import PairValues
from holdfast.engines.pointwise.marginals import counts_within
from holdfast.engines.pointwise.minimal_rules import Derived, WantedRules, derive, vacuous
from holdfast.engines.pointwise.rule_arrays import RuleArrays
from tests.engines.pointwise.tables import OPERATOR, Small, named, small
from tests.oracle import pointwise as oracle

bounds = st.one_of(st.none(), st.integers(0, 4))


def pods(rules: RuleArrays, is_vacuous: bool) -> list[oracle.Pod]:
    rows: Iterable[Any] = zip(map(named, rules.left), rules.column.tolist(), rules.mark.tolist(), strict=True)
    return [oracle.Pod(left, own, OPERATOR[mask], is_vacuous) for left, own, mask in rows]


@settings(max_examples=80)
@given(small(), bounds, st.data())
def test_all_minimal_rules(table: Small, most: int | None, data: st.DataObject) -> None:
    columns = range(len(table.ordered))
    rhs = data.draw(st.one_of(st.none(), st.lists(st.sampled_from(columns), unique=True)))
    values = table.values
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "_MOST", data.draw(st.sampled_from([1 << 26, 9])))
        patch.setattr(marginals, "_SMALL", data.draw(st.sampled_from([1 << 12, 0])))
        wanted = WantedRules(PairValues(values, table.space), most, rhs)
        derived = derive(wanted)
        others = vacuous(derived, wanted)
    found = pods(derived.rules, is_vacuous=False) + pods(others, is_vacuous=True)
    assert len(found) == len(set(found)), "none comes twice"
    expected = oracle.rules(table.rows, table.ordered, table.nulls, most)
    assert set(found) == {rule for rule in expected if rhs is None or rule.column in rhs}
    assert derived.vacuous == len(others.left)


@settings(max_examples=20)
@given(small(most=6))
def test_six_columns(table: Small) -> None:
    derived = derive(WantedRules(PairValues(table.values, table.space)))
    expected = oracle.rules(table.rows, table.ordered, table.nulls)
    found = pods(derived.rules, is_vacuous=False)
    assert set(found) == {rule for rule in expected if not rule.vacuous}
    assert derived.vacuous == len(expected) - len(found)


@given(small(), bounds)
def test_a_rule_holds_iff_the_box_of_its_class_is_never_met(table: Small, most: int | None) -> None:
    derived = derive(WantedRules(PairValues(table.values, table.space), most))
    rules, classes, never = derived.rules, classes_of(derived, table.space), set(map(named, derived.never))
    for left, column, operator, of_class in zip(rules.left, rules.column, rules.mark, classes, strict=True):
        box = left.copy()
        box[column] = table.space.negated(column, operator)
        if table.nulls == "equal" and not (operator == 2 and table.ordered[column]):
            assert oracle.folded(named(box)) == named(of_class)
            assert named(of_class) in never
        else:
            assert np.array_equal(box, of_class) or np.array_equal(mirrored(box), of_class)
    many = counts_within(table.values, np.ones(len(table.values), np.int64), table.space, classes)
    assert not many.any()


def classes_of(derived: Derived, space: Space) -> Boxes:
    """Of each rule the box that names its class."""
    return canonical(derived.rules.boxes(space))


def test_three_readings_of_one_class() -> None:
    """What is never met: less in the first column, and more or equal in both others. With its mirror that means, too,
    that the first is equal where both others are.
    """
    everything = np.stack(np.meshgrid(*[np.array([1, 2, 4], np.uint8)] * 3), axis=-1).reshape(-1, 3)
    first, second, third = everything.T
    less, more = (first == 1) & (second > 1) & (third > 1), (first == 4) & (second < 4) & (third < 4)
    space = Space((True,) * 3)
    derived = derive(WantedRules(PairValues(everything[~less & ~more], space)))
    assert derived.never.tolist() == [[1, 6, 6]]
    found = pods(derived.rules, is_vacuous=False)
    classes = map(tuple, classes_of(derived, space).tolist())
    assert {(rule[:3], of_class) for rule, of_class in zip(found, classes, strict=True)} == {
        ((("", "<=", "<="), 0, "<="), (1, 6, 6)),
        ((("<", "", ">="), 1, "<"), (1, 6, 6)),
        ((("<", ">=", ""), 2, "<"), (1, 6, 6)),
        ((("", "=", "="), 0, "="), (5, 2, 2)),
    }
