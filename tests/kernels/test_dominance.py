"""Rows below other rows, found by a sweep, against a look at all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.kernels.dominance import ABOVE, BELOW, FRESH, SweptRows, beside_new, sweep

SIZE = 2
ranks = st.lists(st.integers(0, SIZE - 1), min_size=5, max_size=5)
roles = st.integers(0, BELOW | ABOVE | FRESH)
swept = st.lists(st.tuples(st.integers(1, 2), ranks, roles), max_size=12)
Row = tuple[int, list[int], int]  # group, ranks, role


def is_below(t: list[int], s: list[int], strict: list[bool]) -> bool:
    """Whether one row lies below another one in all columns."""
    return all(a < b if less else a <= b for a, b, less in zip(t, s, strict, strict=True))


@settings(max_examples=150)
@given(swept, st.lists(st.booleans(), min_size=5, max_size=5))
def test_a_row_below_another_one_is_found(table: list[Row], strict: list[bool]) -> None:
    # Of equal rows those that may only be t come first, and those that may only be s last.
    table.sort(key=lambda row: (row[0], row[1], (row[2] & ABOVE > 0) - (row[2] & BELOW > 0)))
    columns = np.array([row[1] for row in table], np.int32).reshape(-1, 5).T.copy()
    groups, allowed = np.array([row[0] for row in table], np.uint32), np.array([row[2] for row in table], np.uint8)
    rows = SweptRows(groups, allowed, columns[0], columns[1:4], columns[4], np.array(strict), np.full(3, SIZE))
    pairs = [
        (t, s)
        for t, one in enumerate(table)
        for s, other in enumerate(table)
        if t != s and one[0] == other[0] and one[2] & BELOW and other[2] & ABOVE and (one[2] | other[2]) & FRESH
    ]
    found = sweep(rows, np.zeros((2, SIZE**3), np.int64))
    hits = [s for t, s in pairs if is_below(table[t][1], table[s][1], strict)]
    assert (found >= 0) == bool(hits)
    assert found < 0 or found in hits


@settings(max_examples=150)
@given(swept, st.lists(st.booleans(), min_size=2, max_size=2), st.lists(st.booleans(), min_size=2, max_size=2))
def test_roles_of_old_rows(table: list[Row], falling: list[bool], strict: list[bool]) -> None:
    table.sort(key=lambda row: row[2] & FRESH)  # new rows come behind the old ones
    fresh = sum(not row[2] & FRESH for row in table)
    groups = [[place for place, row in enumerate(table) if row[0] == group] for group in (1, 2)]
    starts = np.cumsum([0, *map(len, groups)]).astype(np.int32)
    rows = np.array([place for each in groups for place in each], np.int32)
    cells = np.array([row[1][:2] for row in table], np.uint32).reshape(-1, 2).T.copy()
    allowed = np.array([row[2] for row in table], np.uint8)
    beside_new(rows, starts, fresh, cells, np.arange(2), np.array(falling), np.array(strict), allowed)
    for place, (group, own, role) in enumerate(table[:fresh]):
        others = [
            [-v if f else v for v, f in zip(o[:2], falling, strict=True)] for g, o, _ in table[fresh:] if g == group
        ]
        mine = [-v if f else v for v, f in zip(own[:2], falling, strict=True)]
        columns = range(2)
        may_be_t = all(any(is_below([mine[c]], [o[c]], [strict[c]]) for o in others) for c in columns)
        may_be_s = all(any(is_below([o[c]], [mine[c]], [strict[c]]) for o in others) for c in columns)
        assert allowed[place] == role & (FRESH | (BELOW if may_be_t else 0) | (ABOVE if may_be_s else 0))
    assert allowed[fresh:].tolist() == [row[2] for row in table[fresh:]]
