"""How well groups agree, and which rows are outside the largest cell of theirs, against the definition."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.functional.fd_score import FDEvidence
from holdfast.kernels import agreement as kernels
from holdfast.kernels.agreement import AgreementScratch
from tests.oracle.evidence import evidence

VALUES = 4
rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, VALUES - 1), st.integers(0, 1)), max_size=40)
Row = tuple[int, int, int]  # its group, where 0 is a null on the left, and its values in two columns; 0 is null


def groups_of(table: list[Row]) -> list[list[int]]:
    groups = defaultdict(list)
    for place, (group, *_) in enumerate(table):
        groups[group].append(place)
    return [own for group, own in sorted(groups.items()) if group and len(own) > 1]


def cells_of(group: list[int], column: list[int], lone_nulls: bool) -> list[list[int]]:
    """The rows of a group that have the same value, in the order of the first ones; lone nulls are all apart."""
    cells = defaultdict(list)
    for place in group:
        cells[-place if lone_nulls and not column[place] else column[place] + 1].append(place)
    return list(cells.values())


def outside_in(group: list[int], column: list[int], lone_nulls: bool) -> list[int]:
    largest = max(cells_of(group, column, lone_nulls), key=len)
    return [place for place in group if place not in largest]


def partition(groups: list[list[int]]) -> tuple[np.ndarray, np.ndarray, AgreementScratch]:
    order = np.array([place for own in groups for place in own], np.uint32)
    counts, usual, listed = np.zeros(VALUES, np.int32), np.zeros(VALUES, np.bool_), np.empty(VALUES, np.uint32)
    values, (sizes, ends) = np.empty(len(order), np.uint32), np.empty((2, len(order)), np.int32)
    scratch = AgreementScratch(counts, usual, listed, values, sizes, ends)
    return order, np.cumsum([0, *map(len, groups)]).astype(np.uint32), scratch


@settings(max_examples=100)
@given(rows, st.booleans(), st.sampled_from([0.0, 0.3, 0.7, 0.95, 1.1]))
def test_sums_are_complete_where_it_is_worth_it(table: list[Row], lone_nulls: bool, worth: float) -> None:
    groups = groups_of(table)
    cells = np.array([row[1:] for row in table], np.uint32).reshape(-1, 2).T.copy()
    order, starts, scratch = partition(groups)
    unnamed = np.flatnonzero([row[0] == 0 for row in table]).astype(np.uint32)
    totals = np.concatenate([np.bincount(own, minlength=VALUES) for own in cells]).astype(np.int32)
    sums, first = np.zeros((2, kernels.SUMS), np.int64), np.array([0, VALUES, 2 * VALUES])
    least = np.full(2, worth)
    kernels.sum_up(order, starts, unnamed, cells, np.arange(2), least, totals, first, lone_nulls, scratch, sums)
    assert not scratch.counts.any()
    assert not scratch.usual.any()
    for column, own in zip(cells.tolist(), sums.tolist(), strict=True):
        left, right = [(row[0] or None,) for row in table], [value or None for value in column]
        every = evidence(left, right, "distinct" if lone_nulls else "equal")
        every = replace(every, outside=sum(len(outside_in(group, column, lone_nulls)) for group in groups))
        if own[kernels.COMPLETE]:
            assert FDEvidence(len(table), *own[: kernels.BROKEN]) == every
            cell_pairs = [
                sum(len(c) * len(d) for c, d in combinations(cells_of(g, column, lone_nulls), 2)) for g in groups
            ]
            assert own[kernels.BROKEN] == sum(cell_pairs)
        else:
            beyond = (every.agreeing - every.chance) / (1 - every.chance) if every.chance < 1 else 0
            found = beyond * every.usual / max(every.tested, 1)
            assert found < worth or found <= 0


@given(rows, st.booleans())
def test_rows_outside_the_largest_cell(table: list[Row], lone_nulls: bool) -> None:
    groups, column = groups_of(table), [row[1] for row in table]
    order, starts, scratch = partition(groups)
    found = np.empty(len(order), np.uint32)
    count = kernels.outside(order, starts, np.array(column, np.uint32), lone_nulls, scratch, found)
    assert found[:count].tolist() == [place for group in groups for place in outside_in(group, column, lone_nulls)]
    assert not scratch.counts.any()
