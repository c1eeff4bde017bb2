"""The evidence counted from a table's rows, against its definition; the rows to remove, against rows in groups."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.functional.fd_score import FDEvidence
from holdfast.engines.functional.group_counts import CodedRows
from holdfast.engines.functional.groups import Groups
from holdfast.table.nulls import NullMode
from holdfast.table.table import Table
from tests.laws.world import COLUMNS, Batch, Row, World, batches, null_modes, rows
from tests.oracle.evidence import evidence as by_definition

lefts = st.lists(st.integers(0, 3), max_size=3, unique=True)
many_rows = st.lists(rows, max_size=40)


def value(given: Any) -> Any:
    """A value that equals what it should: NaN is not itself in Python."""
    return "NaN" if isinstance(given, float) and math.isnan(given) else given


def expected(some: list[Row], lhs: list[int], rhs: int, nulls: NullMode) -> FDEvidence:
    left = [tuple(value(row[c]) for c in lhs) for row in some]
    return by_definition(left, [value(row[rhs]) for row in some], nulls)


def counted(table: Table, lhs: list[int], rhs: list[int]) -> list[FDEvidence]:
    """What speaks for each of some right sides; only the wanted columns are read."""
    coded = CodedRows(table, {*lhs, *rhs})
    side = coded.side(coded.in_order(lhs))
    results = [each for each in coded.results(side, rhs) if each is not None]
    return [each.evidence for each in coded.whole(side, rhs, results)]


@settings(max_examples=120)
@given(some=many_rows, more=batches, lhs=lefts, nulls=null_modes)
def test_evidence_is_what_the_definition_says(some: list[Row], more: Batch, lhs: list[int], nulls: NullMode) -> None:
    world = World(nulls)
    world.change(Batch(some))
    world.change(more)
    others = [c for c in range(len(COLUMNS)) if c not in lhs]
    results = counted(world.table, lhs, others)
    assert results == [expected(world.rows, lhs, rhs, nulls) for rhs in others]
    assert counted(world.table, lhs, others[-1:]) == results[-1:]


@settings(max_examples=80)
@given(some=many_rows, more=batches, lhs=lefts, nulls=null_modes)
def test_rows_to_remove_and_broken_pairs_are_those_of_the_groups(
    some: list[Row], more: Batch, lhs: list[int], nulls: NullMode
) -> None:
    world = World(nulls)
    world.change(Batch(some))
    world.change(more)
    coded = CodedRows(world.table)
    side = coded.side(coded.in_order(lhs))
    named = [each for each in coded.results(side, [4]) if each is not None]
    (result,) = coded.whole(side, [4], named)
    groups = Groups(world.table, lhs, 4)
    assert (result.evidence.outside, result.broken_pairs) == (groups.to_remove, groups.broken_pairs)
    assert coded.outside(side, 4).tolist() == np.sort(groups.outside_pairs()[:, 0]).tolist()


@settings(max_examples=150)
@given(some=many_rows, lhs=lefts, rhs=st.sampled_from([3, 4]), nulls=null_modes, worth=st.floats(0, 1.1))
def test_a_look_ends_only_where_it_is_not_worth_it(
    some: list[Row], lhs: list[int], rhs: int, nulls: NullMode, worth: float
) -> None:
    world = World(nulls)
    world.change(Batch(some))
    coded = CodedRows(world.table)
    side = coded.side(coded.in_order([c for c in lhs if c != rhs]))
    (whole,) = coded.results(side, [rhs])
    assert whole is not None
    (result,) = coded.results(side, [rhs], [worth])
    about = whole.evidence
    if result is None:
        beyond = (about.agreeing - about.chance) / (1 - about.chance) if about.chance < 1 else 0
        found = beyond * about.usual / max(about.tested, 1)
        assert found < worth or found <= 0
    else:
        assert result == whole
    assert coded.results(side, [rhs]) == [whole]


def test_agreement_of_large_groups_fits() -> None:
    """UNIT times the pairs of a large group is more than a 64-bit number holds."""
    world = World()
    world.change(Batch([(1, "a", 0.0, True, int(number % 3 == 0)) for number in range(150_000)]))
    left, right = [(1,)] * 150_000, [row[4] for row in world.rows]
    assert counted(world.table, [0], [4]) == [by_definition(left, right)]
