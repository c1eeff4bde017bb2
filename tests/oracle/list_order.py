"""List order dependencies by their definition: rows sorted as ORDER BY does, every pair of them, value by value.

A list is a sequence of (column number, descending). Nulls equal each other and come before every value, NaN after.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

SortList = Sequence[tuple[int, bool]]
Row = Sequence[Any]


def violations(rows: Mapping[int, Row], by: SortList, then: SortList) -> dict[tuple[int, int], str]:
    """The violating pairs (t, s) of row ids: t is not after s by one list, and after s by the other. Each with `split`,
    where they are equal by the first, or `swap`.
    """
    return {
        (t, s): "split" if sign(rows[t], rows[s], by) == 0 else "swap"
        for t in rows
        for s in rows
        if sign(rows[t], rows[s], by) <= 0 and sign(rows[t], rows[s], then) > 0
    }


def holds(rows: Sequence[Row], by: SortList, then: SortList) -> bool:
    """Whether however rows are sorted by one list, they are sorted by the other."""
    return not violations(dict(enumerate(rows)), by, then)


def sign(t: Row, s: Row, columns: SortList) -> int:
    """Whether t comes before (-1), with (0) or after (1) s."""
    for column, descending in columns:
        if step := _compare(t[column], s[column]):
            return -step if descending else step
    return 0


def _compare(a: Any, b: Any) -> int:
    left, right = _place(a), _place(b)
    return (left > right) - (left < right)


def _place(value: Any) -> tuple[int, Any]:
    if value is None:
        return 0, 0
    return (2, 0) if isinstance(value, float) and math.isnan(value) else (1, value)


def fewest_to_remove(rows: Sequence[Row], by: SortList, then: SortList) -> int:
    """How many rows must go until the rule holds: every choice of rows is tried, the smallest first."""
    broken = violations(dict(enumerate(rows)), by, then)
    for count in range(len(rows)):
        for gone in combinations(range(len(rows)), count):
            if all(t in gone or s in gone for t, s in broken):
                return count
    return len(rows)
