"""How rules calculate: exactly in decimals, or in floating point.

A comparison without arithmetic goes by exact value, whatever the types. Arithmetic is in floating point if it has a
column of floats or a division; otherwise it is exact, in decimals that are wide enough for every value that the columns
can hold. A comparison that may need more than 76 digits is refused beforehand, so nothing overflows. The columns decide
the type of a constant: 1.5 and 15e-1 are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal

import pyarrow as pa

from holdfast.rules.conditions import Arithmetic, Cell, Operand, leaves
from holdfast.rules.constants import Constant, Unfit

Types = Mapping[str, pa.DataType]  # of the columns of a table
_MOST = 76  # digits of a decimal
LARGEST = 2**63 - 1  # of 64 bits; order keys reserve the smallest int64


def in_floats(operand: Operand, types: Types) -> bool:
    """Whether an operand is a float, or is calculated in floating point."""
    cells = (leaf for leaf in leaves(operand) if isinstance(leaf, Cell))
    return _divides(operand) or any(pa.types.is_floating(types[cell.column]) for cell in cells)


def _divides(operand: Operand) -> bool:
    return isinstance(operand, Arithmetic) and (
        operand.sign == "/" or _divides(operand.left) or _divides(operand.right)
    )


def exact_type(operand: Operand, types: Types) -> pa.DataType:
    """The decimal type in which an operand is calculated exactly; `Unfit` if it would be too wide."""
    if isinstance(operand, Arithmetic):
        return _put_together(operand, exact_type(operand.left, types), exact_type(operand.right, types))
    if isinstance(operand, Cell):
        kept = types[operand.column]
        return decimals(19, 0) if pa.types.is_integer(kept) else decimals(kept.precision - kept.scale, kept.scale)
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
    value = constant.value
    assert isinstance(value, int | float | Decimal)
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        raise Unfit("can't be: the other side holds no such value")
    return number


def as_float(value: object) -> float:
    """The nearest float; infinite if the number is too large."""
    assert isinstance(value, int | float | Decimal)
    try:
        return float(value)
    except OverflowError:
        return math.inf
