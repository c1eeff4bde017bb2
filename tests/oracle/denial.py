"""Denial constraints by their definition: every ordered pair of different rows, every predicate, one by one.

A side of a predicate is ("t", column), ("s", column) or ("constant", value); columns are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Side = tuple[str, Any]
Predicate = tuple[Side, str, Side]
Rows = Mapping[int, Sequence[Any]]  # row id -> values


def violations(rows: Rows, predicates: Sequence[Predicate]) -> set[tuple[int, int]]:
    """The violating pairs (t, s); of a symmetric constraint the smaller id first, each pair once. A constraint about
    one row gives (t, -1).
    """
    if not any(side[0] == "s" for predicate in predicates for side in (predicate[0], predicate[2])):
        return {(t, -1) for t in rows if _all_hold(predicates, rows[t], rows[t])}
    found = {(t, s) for t in rows for s in rows if t != s and _all_hold(predicates, rows[t], rows[s])}
    if is_symmetric(predicates):
        return {(t, s) for t, s in found if t < s}
    return found


def is_symmetric(predicates: Sequence[Predicate]) -> bool:
    """Whether the same predicates are left when t and s change places."""
    swap = {"t": "s", "s": "t", "constant": "constant"}
    swapped = [((swap[a[0]], a[1]), operator, (swap[b[0]], b[1])) for a, operator, b in predicates]
    return {_normal(p) for p in predicates} == {_normal(p) for p in swapped}


def _normal(predicate: Predicate) -> frozenset[tuple[str, str, str]]:
    """A predicate and its mirror image are one: both writings, as text."""
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    a, operator, b = predicate
    return frozenset([(repr(a), operator, repr(b)), (repr(b), mirrored.get(operator, operator), repr(a))])


def _all_hold(predicates: Sequence[Predicate], t: Sequence[Any], s: Sequence[Any]) -> bool:
    return all(_compare(_value(a, t, s), operator, _value(b, t, s)) for a, operator, b in predicates)


def _value(side: Side, t: Sequence[Any], s: Sequence[Any]) -> Any:
    kind, what = side
    return t[what] if kind == "t" else s[what] if kind == "s" else what


def _compare(a: Any, operator: str, b: Any) -> bool:
    if a is None or b is None:
        return False
    sign = _sign(a, b)
    return {"=": sign == 0, "!=": sign != 0, "<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[operator]


def _sign(a: Any, b: Any) -> int:
    """Below, at or above 0; NaN equals NaN and is the largest. Python compares numbers of all types exactly."""
    wrong_a, wrong_b = _is_nan(a), _is_nan(b)
    if wrong_a or wrong_b:
        return int(wrong_a) - int(wrong_b)
    return int(a > b) - int(a < b)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
