"""Stripped partitions and orders of rows, against groups in a dictionary."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.kernels import partitions
from holdfast.kernels.partitions import PartitionScratch

VALUES = 3
tables = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), min_size=10, max_size=30)
Table = list[tuple[int, int, bool]]  # two cells, and whether the row is alive


def groups_of(table: Table, columns: int, skip_null: bool, fresh: int) -> set[tuple[int, ...]]:
    """The groups of two and more, with a new row each."""
    found = defaultdict(list)
    for row, (*cells, alive) in enumerate(table):
        if alive and not (skip_null and 0 in cells[:columns]):
            found[tuple(cells[:columns])].append(row)
    return {tuple(rows) for rows in found.values() if len(rows) > 1 and rows[-1] >= fresh}


@settings(max_examples=150)
@given(tables, st.booleans(), st.integers(0, 20))
def test_groups_by_one_and_by_two_columns(table: Table, skip_null: bool, fresh: int) -> None:
    cells, alive = np.array([row[:2] for row in table], np.uint32).T.copy(), np.array([row[2] for row in table])
    count = int(alive.sum())
    ordered, ends = np.empty(count, np.int32), np.empty(VALUES, np.int64)
    partitions.by_value(cells[0], VALUES, alive, ordered, ends)
    assert ordered.tolist() == sorted(np.flatnonzero(alive), key=lambda row: cells[0, row])
    rows, starts = np.empty(count, np.int32), np.empty(count // 2 + 1, np.int32)
    groups = partitions.strip(ordered, ends, skip_null, fresh, rows, starts)
    rows, starts = rows[: starts[groups]], starts[: groups + 1]
    assert plain(rows, starts) == groups_of(table, 1, skip_null, fresh)
    sizes = np.diff(starts).astype(int)
    assert partitions.pairs_within(starts) == (sizes * (sizes - 1)).sum()
    finer, finer_starts = np.empty_like(rows), np.empty(len(rows) // 2 + 1, np.int32)
    keys, spare = np.empty((2, len(rows) + 1), np.uint64)
    before, behind = np.empty((2, len(rows) + 1), np.int64)
    seen, counts = np.empty(len(rows) + 1, np.uint32), np.zeros(VALUES, np.int32)
    scratch = PartitionScratch(keys, spare, before, behind, seen, counts)
    groups = partitions.refine(rows, starts, cells[1], skip_null, fresh, scratch, finer, finer_starts)
    assert plain(finer, finer_starts[: groups + 1]) == groups_of(table, 2, skip_null, fresh)
    assert not counts.any()


def plain(rows: np.ndarray, starts: np.ndarray) -> set[tuple[int, ...]]:
    """The groups of a partition."""
    return {tuple(rows[starts[g] : starts[g + 1]].tolist()) for g in range(len(starts) - 1)}


@given(tables, st.integers(0, 20))
def test_rows_whose_values_new_ones_may_have(table: Table, fresh: int) -> None:
    one, other = np.array([row[:2] for row in table], np.uint32).T.copy()
    alive, rows = np.array([row[2] for row in table]), np.empty(len(table), np.int32)
    found = rows[: partitions.matching(one, other, alive, fresh, np.zeros(1 << 10, np.bool_), rows)]
    new = {row[:2] for row in table[fresh:] if row[2]}
    needed = {number for number, row in enumerate(table) if row[2] and row[:2] in new}
    assert needed <= set(found.tolist()) <= set(np.flatnonzero(alive))


@given(tables, st.booleans())
def test_rows_in_order(table: Table, falling: bool) -> None:
    cells = np.array([row[0] for row in table], np.uint32)
    rows = np.flatnonzero([row[2] for row in table]).astype(np.int32)
    ordered = np.empty_like(rows)
    partitions.sort_rows(rows, cells, np.empty(VALUES, np.int64), ordered, falling)
    assert ordered.tolist() == sorted(rows.tolist(), key=lambda row: (-1 if falling else 1) * int(cells[row]))


@given(tables, st.booleans())
def test_what_two_rows_are_to_each_other(table: Table, skip_null: bool) -> None:
    cells, pairs = np.array([row[:2] for row in table], np.uint32).T.copy(), list(combinations(range(len(table)), 2))
    agree, less, more = np.zeros((3, len(pairs), 1), np.uint64)
    partitions.compare(cells, np.array(pairs, np.int64).reshape(-1, 2), skip_null, agree, less, more)
    for number, (i, j) in enumerate(pairs):
        for c in range(2):
            a, b = table[i][c], table[j][c]
            known = not (skip_null and 0 in (a, b))
            bits = [bool(int(each[number, 0]) >> c & 1) for each in (agree, less, more)]
            assert bits == [known and a == b, known and a < b, known and a > b]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(1, 3))), st.booleans(), st.booleans())
def test_pairs_that_agree_on_one_more_column(rows: list[tuple[int, int, int]], skip_null: bool, weighted: bool) -> None:
    """A group, a cell and a weight of each row."""
    order = np.array(sorted(range(len(rows)), key=lambda row: rows[row][0]), np.int32)
    sizes = [sum(group == own for group, _, _ in rows) for own in range(3)]
    starts, cells = np.cumsum([0, *sizes]).astype(np.int32), np.array([cell for _, cell, _ in rows], np.uint32)
    weights, sums = np.array([own[2] for own in rows] if weighted else [], np.int64), np.zeros(5, np.int64)
    expected = sum(
        a[2] * b[2] if weighted else 1
        for a, b in combinations(rows, 2)
        if a[:2] == b[:2] and not (skip_null and a[1] == 0)
    )
    assert partitions.pairs_joined(order, starts, cells, skip_null, weights, sums) == expected
    assert not sums.any()
