"""The fewest rows that must go, group by group, against all choices of rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.kernels import removals

rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)), max_size=7)
Row = tuple[int, int, int]  # a group and two cells


def partition(groups: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The rows of groups of two and more."""
    members = [[row for row, own in enumerate(groups) if own == group] for group in range(3)]
    large = [each for each in members if len(each) > 1]
    starts = np.cumsum([0, *map(len, large)]).astype(np.int32)
    return np.array([row for each in large for row in each], np.int32), starts


def least(table: list[Row], broken: object) -> int:
    """How many rows must go so that no two rows of a group are left that break a rule."""
    for n in range(len(table), -1, -1):
        for some in combinations(table, n):
            if not any(a[0] == b[0] and broken(a, b) for a, b in combinations(some, 2)):  # type: ignore[operator]
                return len(table) - n
    raise AssertionError


@given(rows, st.booleans(), st.integers(0, 7))
def test_for_a_constant(table: list[Row], skip_null: bool, most: int) -> None:
    order, starts = partition([group for group, _, _ in table])
    cells, counts = np.array([a for _, a, _ in table], np.uint32), np.zeros(4, np.int64)
    found = removals.for_constant(order, starts, cells, skip_null, counts, most)
    expected = least(table, lambda a, b: a[1] != b[1] or (skip_null and a[1] == 0))
    assert found == expected if expected <= most else most < found <= expected
    assert not counts.any()


@given(rows, st.integers(0, 7))
def test_for_a_pair(table: list[Row], most: int) -> None:
    order, starts = partition([group for group, _, _ in table])
    group_of = np.full(len(table), -1, np.int32)
    removals.number_groups(order, starts, group_of)
    ordered = np.array(sorted(range(len(table)), key=lambda row: table[row][1:]), np.int32)
    values = np.array([table[row][2] for row in ordered], np.uint32)
    ends, tails = np.empty(len(starts), np.int32), np.empty(len(table) + len(starts), np.uint32)
    found = removals.for_pair(ordered, values, group_of, starts, ends, tails, most)
    expected = least(table, lambda a, b: (a[1] - b[1]) * (a[2] - b[2]) < 0)
    assert found == expected if expected <= most else most < found <= expected


@given(rows, st.integers(0, 7), st.integers(0, 7))
def test_groups_without_some_rows(table: list[Row], first: int, end: int) -> None:
    order, starts = partition([group for group, _, _ in table])
    kept, kept_starts = np.empty_like(order), np.empty_like(starts)
    groups = removals.leave_out(order, starts, first, end, kept, kept_starts)
    found = [kept[kept_starts[g] : kept_starts[g + 1]].tolist() for g in range(groups)]
    left = [[row for row in order[starts[g] : starts[g + 1]] if not first <= row < end] for g in range(len(starts) - 1)]
    assert found == [rows for rows in left if len(rows) > 1]
