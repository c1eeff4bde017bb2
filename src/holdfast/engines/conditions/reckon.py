"""What operands are in some rows, as `numbers` says: exact decimals, floats, or integers that surely fit 64 bits.
Constants become Arrow arrays made of buffers (see `table.arrow`): batches pass here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.engines.conditions.columns import NamedColumns
from holdfast.rules.arithmetic import LARGEST, as_number, exact_type, exactly, in_floats
from holdfast.rules.conditions import Arithmetic, Call, Cell, Operand
from holdfast.rules.constants import Constant, Value
from holdfast.table import arrow, images

_EPOCH = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)
_DAY = 86_400_000_000  # microseconds
_MOST_DAYS = 10**8  # whose microseconds surely fit 64 bits
_FUNCTIONS = {"length": pc.utf8_length, "lower": pc.utf8_lower, "upper": pc.utf8_upper}


def array_of(constants: Sequence[Constant], kept: pa.DataType) -> pa.Array:
    """Some constants of a kept type, or of decimals."""
    if pa.types.is_string(kept):
        return arrow.texts([str(each.value) for each in constants])
    if pa.types.is_decimal(kept):
        return arrow.texts([format(exactly(each), "f") for each in constants]).cast(kept)
    return images.from_images(np.array([_image(each.value) for each in constants], np.int64), kept)


def scalar_of(constant: Constant, kept: pa.DataType) -> pa.Scalar:
    """One of them."""
    return array_of([constant], kept)[0]


def _image(value: Value) -> int:
    """A value that is no text as a number (see `table.images`)."""
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return (value - _EPOCH.date()).days
    value = as_number(value)
    if isinstance(value, dt.time):
        return (dt.datetime.combine(_EPOCH, value) - _EPOCH) // _MICROSECOND
    assert isinstance(value, int)
    return int(value)


_EXACT_DIGITS = 15  # of integers that are floats
_SIGNS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
_SIGNS_OF_ARRAYS = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}


class Numbers(NamedTuple):
    """Numbers of rows, or one for all of them; which of them are known; and the greatest size of an integer."""

    values: NDArray[Any]
    valid: NDArray[np.bool_]
    most: int = 0


def operand_values(operand: Cell | Arithmetic | Call, rows: NamedColumns) -> pa.Array:
    """What an operand is in each row; a moment or a while as microseconds."""
    if isinstance(operand, Cell | Call):
        return plain(operand, rows)
    if not in_floats(operand, rows.types):
        return decimals(operand, rows)
    numbers = floats(operand, rows)
    return arrow.from_numpy(numbers.values, null=~numbers.valid)


def plain(operand: Operand, rows: NamedColumns) -> pa.Array:
    """The values of a column as they are, or of a function of one."""
    if isinstance(operand, Call):
        return _FUNCTIONS[operand.function](plain(operand.operand, rows))
    assert isinstance(operand, Cell)
    return rows.values(operand.column)


def decimals(operand: Operand, rows: NamedColumns) -> Any:
    """An operand as exact decimals, in an array; a constant as a scalar."""
    kept = exact_type(operand, rows.types)
    if isinstance(operand, Constant):
        return scalar_of(operand, kept)
    if isinstance(operand, Cell | Call):
        return _numbers(plain(operand, rows)).cast(kept)
    return _SIGNS_OF_ARRAYS[operand.sign](decimals(operand.left, rows), decimals(operand.right, rows))


def integers(operand: Operand, rows: NamedColumns) -> Numbers | None:
    """An operand as integers, if it is made of integers, and so small ones that nothing overflows: many times as fast
    as decimals.
    """
    if isinstance(operand, Constant):
        value = as_number(operand.value)
        if not isinstance(value, int) or abs(value) > LARGEST:
            return None
        return Numbers(np.array([value]), np.ones(1, np.bool_), abs(value))
    if isinstance(operand, Cell | Call):
        return _integers_of(plain(operand, rows))
    left, right = integers(operand.left, rows), integers(operand.right, rows)
    if left is None or right is None:
        return None
    most = left.most * right.most if operand.sign == "*" else left.most + right.most
    if most > LARGEST:
        return None
    return Numbers(_SIGNS[operand.sign](left.values, right.values), left.valid & right.valid, most)


def _integers_of(values: pa.Array) -> Numbers | None:
    values = _numbers(values)
    if not pa.types.is_integer(values.type):
        return None
    valid = arrow.valid(values)
    plain = arrow.to_numpy(values)
    if values.null_count:
        plain = np.where(valid, plain, 0)
    return Numbers(plain, valid, max(abs(int(plain.min(initial=0))), abs(int(plain.max(initial=0)))))


def _numbers(values: pa.Array) -> pa.Array:
    """Times and whiles as microseconds, in integers, or in decimals where these would overflow; numbers as they are."""
    kept = values.type
    if pa.types.is_date(kept):
        days = values.cast(pa.int32())
        if max(map(abs, _ends(days))) > _MOST_DAYS:
            return pc.multiply(days.cast(pa.decimal128(10, 0)), pa.scalar(Decimal(_DAY), pa.decimal128(11, 0)))
        return pc.multiply(days.cast(pa.int64()), _DAY)
    return values.cast(pa.int64()) if pa.types.is_temporal(kept) or pa.types.is_int32(kept) else values


def _ends(numbers: pa.Array) -> tuple[int, int]:
    """The least and the greatest of some numbers."""
    given = arrow.to_numpy(numbers)[arrow.valid(numbers)]
    return int(given.min(initial=0)), int(given.max(initial=0))


def floats(operand: Operand, rows: NamedColumns) -> Numbers:
    """An operand in floating point; division by zero is unknown."""
    if isinstance(operand, Constant):
        return Numbers(as_floats([operand]), np.ones(1, np.bool_))
    if isinstance(operand, Cell | Call):
        values = plain(operand, rows)
        return Numbers(_nearest_floats(values), arrow.valid(values))
    left, right = floats(operand.left, rows), floats(operand.right, rows)
    valid = left.valid & right.valid
    if operand.sign == "/":
        valid = valid & (right.values != 0.0)
    with np.errstate(all="ignore"):
        return Numbers(_SIGNS[operand.sign](left.values, right.values), valid)


def _nearest_floats(numbers: pa.Array) -> NDArray[np.float64]:
    """The float nearest to each number, as constants have it. Arrow's own cast multiplies decimals by a power of ten,
    which is no float: 0.3 would become 0.30000000000000004.
    """
    kept = numbers.type
    if not pa.types.is_decimal(kept):
        return np.asarray(arrow.to_numpy(numbers.cast(pa.float64(), safe=False)))
    if kept.precision <= _EXACT_DIGITS and 0 <= kept.scale <= _EXACT_DIGITS:  # a division of floats is rounded once
        return np.asarray(images.to_images(numbers, kept) / float(10**kept.scale))
    return np.asarray(arrow.to_numpy(numbers.cast(pa.string()).cast(pa.float64())))


def as_floats(constants: list[Constant]) -> NDArray[np.float64]:
    """Numbers that a rule names, as floats."""
    return np.array([float(each.value) for each in constants])  # type: ignore[arg-type]  # they are numbers


def float_keys(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Integers that compare as floats do here: NaN equals itself, and is above all other numbers."""
    return np.asarray(images.to_images(arrow.from_numpy(numbers), pa.float64()))
