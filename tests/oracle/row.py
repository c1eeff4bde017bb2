"""Rules about one row, and about a table, by the book: three-valued logic on plain Python values, row by row.

Operands are `("column", place)`, `("constant", value)`, `(sign, operand, operand)` with a sign of `+-*/`, or
`(function, operand)` with length, lower or upper. Where one calculates, a date is its midnight. There are these
conditions:

    ("compare", operand, operator, operand)        ("null", operand)
    ("in", operand, [value, …])                    ("between", operand, operand, operand)
    ("like", operand, pattern, escape)             ("matches", operand, pattern)
    ("not", condition), ("and", conditions), ("or", conditions)
"""

from __future__ import annotations

import datetime as dt
import math
import operator
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

Row = Sequence[Any]
Truth = bool | None  # None: unknown
_SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_FUNCTIONS = {"length": len, "lower": str.lower, "upper": str.upper}
_COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def violators(rows: Mapping[int, Row], condition: Any) -> set[int]:
    """The rows in which a condition is false."""
    return {number for number, row in rows.items() if truth(condition, row) is False}


def truth(condition: Any, row: Row) -> Truth:
    """Whether a condition is true of a row."""
    kind, *given = condition
    if kind == "not":
        found = truth(given[0], row)
        return None if found is None else not found
    if kind in ("and", "or"):
        parts = [truth(part, row) for part in given[0]]
        decisive = kind == "or"
        return decisive if decisive in parts else None if None in parts else not decisive
    if kind == "compare":
        return _compare(given[0], given[1], given[2], row)
    if kind == "between":
        ends = ("compare", given[0], ">=", given[1]), ("compare", given[0], "<=", given[2])
        return truth(("and", ends), row)
    if kind == "in":
        return truth(("or", [("compare", given[0], "=", ("constant", value)) for value in given[1]]), row)
    value = _value(given[0], row, _has_float(given[0], row))
    if kind == "null":
        return value is None
    if value is None:
        return None
    if kind == "like":
        return _is_like(value, given[1], given[2])
    return re.fullmatch(given[1], value) is not None


def _compare(left: Any, sign: str, right: Any, row: Row) -> Truth:
    """With arithmetic in floats where one takes part, or a division; else by exact value."""
    reckons = any(side[0] in _SIGNS for side in (left, right))
    floats = reckons and any(_has_float(side, row) for side in (left, right))
    one, other = _value(left, row, floats), _value(right, row, floats)
    if one is None or other is None:
        return None
    if reckons:
        one, other = _midnight(one), _midnight(other)
    return bool(_COMPARE[sign](*_keys(one, other, reckons)))


def _keys(one: Any, other: Any, reckons: bool) -> tuple[Any, Any]:
    """What orders as the values do: NaN is the greatest, and equals itself; a constant that a float column is compared
    with is the nearest float.
    """
    pair = [one, other]
    if not reckons:
        for mine, theirs in ((0, 1), (1, 0)):
            if isinstance(pair[mine], float) and isinstance(pair[theirs], _Written):
                pair[theirs] = float(pair[theirs].value)
    return _key(pair[0]), _key(pair[1])


class _Written:
    """A number that the rule names."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _key(value: Any) -> Any:
    if isinstance(value, _Written):
        value = value.value
        if isinstance(value, float) and math.isfinite(value):
            value = Decimal(repr(value))
    if isinstance(value, bool | str) or not isinstance(value, int | float | Decimal | Fraction):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return (2, 0) if math.isnan(value) else (1, 0) if value > 0 else (-1, 0)
    return 0, Fraction(value)


def _midnight(value: Any) -> Any:
    """A date as the moment at which it begins; other values as they are."""
    is_date = isinstance(value, dt.date) and not isinstance(value, dt.datetime)
    return dt.datetime.combine(value, dt.time()) if is_date else value


def _has_float(operand: Any, row: Row) -> bool:
    """Whether a column of floats takes part, which its value shows, or a division."""
    if operand[0] in _SIGNS:
        return operand[0] == "/" or any(_has_float(side, row) for side in operand[1:])
    return operand[0] == "column" and isinstance(row[operand[1]], float)


def _value(operand: Any, row: Row, floats: bool) -> Any:
    if operand[0] == "column":
        value = row[operand[1]]
        return float(value) if floats and value is not None else value
    if operand[0] == "constant":
        number = isinstance(operand[1], int | float | Decimal) and not isinstance(operand[1], bool)
        return float(operand[1]) if floats else _Written(operand[1]) if number else operand[1]
    if operand[0] in _FUNCTIONS:
        value = _value(operand[1], row, floats=False)
        return None if value is None else _FUNCTIONS[operand[0]](value)
    sign, *sides = operand
    one, other = (_value(side, row, floats) for side in sides)
    if one is None or other is None or (sign == "/" and other == 0):
        return None
    if isinstance(one, dt.date | dt.timedelta):
        return _SIGNS[sign](_midnight(one), _midnight(other))
    if floats:
        return _in_floats(sign, one, other)
    return _SIGNS[sign](_exact(one), _exact(other))


def _exact(value: Any) -> Fraction:
    """A number that is no float; one that the rule names is what its digits say."""
    written = value.value if isinstance(value, _Written) else value
    return Fraction(repr(written) if isinstance(written, float) else written)


def _in_floats(sign: str, one: float, other: float) -> float:
    try:
        return float(_SIGNS[sign](one, other))
    except OverflowError:
        return math.inf if (one < 0) == (other < 0) else -math.inf


def _is_like(text: str, pattern: str, escape: str) -> bool:
    """Whether a text is like a pattern, character by character."""
    if not pattern:
        return not text
    first, rest = pattern[0], pattern[1:]
    if escape and first == escape:
        return text[:1] == rest[0] and _is_like(text[1:], rest[1:], escape)
    if first == "%":
        return any(_is_like(text[start:], rest, escape) for start in range(len(text) + 1))
    return bool(text) and first in ("_", text[0]) and _is_like(text[1:], rest, escape)


# ---- tables ---------------------------------------------------------------------------------------------------------


def quantity(rows: Sequence[Row], measure: str, column: int | None, part: Any = None) -> Any:
    """What is measured of a table: an exact number, or a value; None where it is unknown. A standard deviation is
    given by its square.
    """
    if measure == "rows":
        return len(rows)
    assert column is not None
    values = [row[column] for row in rows]
    given = [value for value in values if value is not None]
    if measure == "share":
        return Fraction(len(values) - len(given), len(values)) if values else None
    if measure == "distinct":
        return len({_key(value) for value in given})
    if measure in ("avg", "sum", "stddev"):
        return _moment(given, measure)
    if measure in ("median", "quantile"):
        least = Fraction(part if measure == "quantile" else Fraction(1, 2))
        enough = [each for each in given if sum(_key(other) <= _key(each) for other in given) >= least * len(given)]
        return min(enough, key=_key) if enough else None
    return (min if measure == "min" else max)(given, key=_key) if given else None


def _moment(values: Sequence[Any], measure: str) -> Fraction | float | None:
    if len(values) < (2 if measure == "stddev" else 1):
        return None
    odd = [value for value in values if isinstance(value, float) and not math.isfinite(value)]
    if odd:
        return sum(odd) if measure != "stddev" else math.nan
    numbers = [Fraction(value) for value in values]
    mean = sum(numbers) / Fraction(len(numbers))
    if measure == "stddev":
        return sum((number - mean) ** 2 for number in numbers) / Fraction(len(numbers) - 1)
    return mean if measure == "avg" else Fraction(sum(numbers))


def is_broken(rows: Sequence[Row], measure: str, column: int | None, sign: str, *limits: Any, part: Any = None) -> bool:
    """Whether a rule about a table is false."""
    found = quantity(rows, measure, column, part)
    if found is None:
        return False
    if sign == "between":
        ends = zip((">=", "<="), limits, strict=True)
        return any(is_broken(rows, measure, column, one, limit, part=part) for one, limit in ends)
    (constant,) = limits
    if measure == "stddev" and constant >= 0:  # a square compares with a square, exactly
        constant = _exact(constant) ** 2
    wanted = _Written(constant) if isinstance(constant, int | float | Decimal | Fraction) else constant
    return not _COMPARE[sign](*_keys(found, wanted, reckons=measure in ("avg", "sum", "stddev")))
