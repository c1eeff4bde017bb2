"""How rules calculate: exactly in decimals, or in floating point.

Moments and whiles are whole numbers of microseconds, so they calculate as integers do; a date is its midnight.

A comparison without arithmetic goes by exact value, whatever the types. Arithmetic is in floating point if it has a
column of floats or a division; otherwise it is exact, in decimals that are wide enough for every value that the columns
can hold. A comparison that may need more than 76 digits is refused beforehand, so nothing overflows. The columns decide
the type of a constant: 1.5 and 15e-1 are the same.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal

import pyarrow as pa

from holdfast.rules.conditions import Arithmetic, Call, Cell, Operand
from holdfast.rules.constants import Constant, Unfit, Value

Types = Mapping[str, pa.DataType]  # of the columns of a table
_MOST = 76  # digits of a decimal
_DIGITS_OF_INTEGERS = 19
_DIGITS_OF_DATES = 21  # of microseconds
_EPOCH, _MICROSECOND = dt.datetime(1970, 1, 1), dt.timedelta(microseconds=1)
LARGEST = 2**63 - 1  # of 64 bits; order keys reserve the smallest int64


def in_floats(operand: Operand, types: Types) -> bool:
    """Whether an operand is a float, or is calculated in floating point."""
    if isinstance(operand, Call):
        return False
    if isinstance(operand, Arithmetic):
        return operand.sign == "/" or in_floats(operand.left, types) or in_floats(operand.right, types)
    return isinstance(operand, Cell) and bool(pa.types.is_floating(types[operand.column]))


def exact_type(operand: Operand, types: Types) -> pa.DataType:
    """The decimal type in which an operand is calculated exactly; `Unfit` if it would be too wide."""
    if isinstance(operand, Arithmetic):
        return _put_together(operand, exact_type(operand.left, types), exact_type(operand.right, types))
    if isinstance(operand, Call):
        return decimals(_DIGITS_OF_INTEGERS, 0)
    if isinstance(operand, Cell):
        kept = types[operand.column]
        if pa.types.is_decimal(kept):
            return decimals(kept.precision - kept.scale, kept.scale)
        return decimals(_DIGITS_OF_DATES if pa.types.is_date(kept) else _DIGITS_OF_INTEGERS, 0)
    _, digits, exponent = exactly(operand).as_tuple()
    assert isinstance(exponent, int)
    return decimals(len(digits) + exponent, -exponent)


def _put_together(operand: Arithmetic, left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """The type that Arrow gives the result."""
    if operand.sign == "*":
        return _checked(left.precision + right.precision + 1, left.scale + right.scale)
    scale = max(left.scale, right.scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    return _checked(whole + scale + 1, scale)


def decimals(whole: int, scale: int) -> pa.DataType:
    """The decimal type with `whole` digits before the point and `scale` after it."""
    scale = max(scale, 0)
    return _checked(max(max(whole, 0) + scale, 1), scale)


def common_type(operands: Iterable[Operand], types: Types) -> pa.DataType:
    """The decimal type that holds all operands; `Unfit` if it would be too wide."""
    kept = [exact_type(operand, types) for operand in operands]
    return decimals(max(each.precision - each.scale for each in kept), max(each.scale for each in kept))


def _checked(precision: int, scale: int) -> pa.DataType:
    if precision > _MOST:
        raise Unfit(f"may need more than {_MOST} digits; divide by 1 to calculate in floating point")
    return pa.decimal256(precision, scale)


def exactly(constant: Constant) -> Decimal:
    """The exact number of a constant; a float counts as its digits. `Unfit` for NaN and the infinities."""
    value = as_number(constant.value)
    assert isinstance(value, int | float | Decimal)
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        raise Unfit("can't be: the other side holds no such value")
    return number


def as_number(value: Value) -> Value:
    """A moment or a while as microseconds; other values as they are. A moment without a zone is in UTC."""
    if isinstance(value, dt.timedelta):
        return value // _MICROSECOND
    if isinstance(value, dt.datetime):
        return (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
    if isinstance(value, dt.date):
        return (dt.datetime.combine(value, dt.time()) - _EPOCH) // _MICROSECOND
    return value


def as_float(value: object) -> float:
    """The nearest float; infinite if the number is too large."""
    assert isinstance(value, int | float | Decimal)
    try:
        return float(value)
    except OverflowError:
        return math.inf
