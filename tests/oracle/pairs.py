"""Pairs of rows that meet comparisons, by definition: every ordered pair of different rows is looked at.

A comparison is `(column of t, operator, column of s)`. With `sql` nothing is true of null; with `equal` null equals
null and is less than every value.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

OPERATORS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
Comparison = tuple[int, str, int]


def holds(left: Any, sign: str, right: Any, nulls: str) -> bool:
    if nulls == "sql" and (left is None or right is None):
        return False
    ranks = [(value is not None, 0 if value is None else value) for value in (left, right)]
    return bool(OPERATORS[sign](*ranks))


def pairs(rows: Mapping[int, Sequence[Any]], comparisons: Sequence[Comparison], nulls: str) -> set[tuple[int, int]]:
    return {
        (t, s)
        for t in rows
        for s in rows
        if t != s and all(holds(rows[t][a], sign, rows[s][b], nulls) for a, sign, b in comparisons)
    }
