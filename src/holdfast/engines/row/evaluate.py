"""Whether rules hold in some rows: false, unknown or true, as -1, 0 and 1, so that `and` is the least of several, `or`
the greatest, and the opposite of a condition has the opposite sign.

A condition about one column is looked at once for each distinct value of the rows, by its code; others are looked at
row by row, in Arrow and NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.engines.language.constants import Constant
from holdfast.engines.row.check import types_of
from holdfast.engines.row.model import (
    Arithmetic,
    Between,
    Cell,
    Comparison,
    Condition,
    Either,
    Every,
    IsNull,
    Like,
    Matches,
    OneOf,
    Operand,
    columns_of,
)
from holdfast.engines.row.numbers import common_type, exact_type, fits_integer, in_floats
from holdfast.engines.row.patterns import expression
from holdfast.engines.row.values import array_of, scalar_of
from holdfast.search.marks import COMPARE
from holdfast.search.queries import Operator
from holdfast.table import arrow, images
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.numbers import common_images, is_number
from holdfast.table.table import Table

Truth = NDArray[np.int8]
Codes = NDArray[np.integer[Any]]
FALSE, UNKNOWN, TRUE = np.int8(-1), np.int8(0), np.int8(1)
_FEW = 8  # codes that are at most one in so many of a dictionary's are sorted, rather than marked among all
_COMPARE_ARRAYS: dict[str, Callable[[pa.Array, pa.Array], pa.Array]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_RECKON = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
_RECKON_ARRAYS = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}


class Distinct(NamedTuple):
    """The codes of a column that some rows have, each once; and how what is true of these becomes what is true of the
    rows.
    """

    codes: NDArray[np.int64]
    spread: Callable[[Truth], Truth]


class Rows:
    """Some rows of a table: how many, and the codes of each column. Values are decoded when they are asked for."""

    def __init__(self, table: Table, count: int, codes_of: Callable[[int], Codes], distinct: bool = False) -> None:
        self.table, self.count, self.is_distinct = table, count, distinct
        self._codes_of = codes_of
        self._values: dict[str, pa.Array] = {}
        self._distinct: dict[str, Distinct] = {}

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        """The types of the columns."""
        return dict(types_of(self.table.schema))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.table.schema.names)}

    def codes(self, column: str) -> Codes:
        """The codes of a column."""
        return self._codes_of(self._places[column])

    def values(self, column: str) -> pa.Array:
        """The values of a column."""
        if column not in self._values:
            dictionary = self.table.dictionaries[self._places[column]]
            self._values[column] = dictionary.values(self.codes(column))
        return self._values[column]

    def distinct(self, column: str) -> Distinct:
        """The codes of a column, each once."""
        if column not in self._distinct:
            size = len(self.table.dictionaries[self._places[column]])
            self._distinct[column] = _distinct(self.codes(column), size)
        return self._distinct[column]

    def with_values(self, column: str) -> Rows:
        """Rows of one column that has each of its values once."""
        codes = self.distinct(column).codes
        return Rows(self.table, len(codes), lambda _: codes, distinct=True)


def _distinct(codes: Codes, size: int) -> Distinct:
    """The codes among `size` that occur: sorted where they are few, else marked."""
    if len(codes) * _FEW < size:
        found, places = np.unique(codes, return_inverse=True)
        return Distinct(found.astype(np.int64), lambda truth: truth[places])
    marks = np.zeros(size, np.bool_)
    marks[codes] = True
    occurring = np.flatnonzero(marks)

    def spread(truth: Truth) -> Truth:
        of_code = np.zeros(size, np.int8)
        of_code[occurring] = truth
        return of_code[codes]

    return Distinct(occurring, spread)


# ---- conditions -----------------------------------------------------------------------------------------------------


def truth(condition: Condition, rows: Rows) -> Truth:
    """How true a condition is of each row."""
    columns = columns_of(condition)
    if len(columns) == 1 and not rows.is_distinct:
        return rows.distinct(columns[0]).spread(truth(condition, rows.with_values(columns[0])))
    if isinstance(condition, Every):
        return _folded(np.minimum, condition, rows)
    if isinstance(condition, Either):
        return _folded(np.maximum, condition, rows)
    if isinstance(condition, Comparison):
        return _compared(condition, rows)
    if isinstance(condition, Between):
        found = np.minimum(*(_compared(end, rows) for end in condition.ends))
    elif isinstance(condition, IsNull):
        found = np.where(_are_null(condition.operand, rows), TRUE, FALSE)
    elif isinstance(condition, OneOf):
        found = _one_of(condition, rows)
    else:
        found = _like(condition, rows)
    return -found if condition.negated else found


def _folded(fold: np.ufunc, condition: Every | Either, rows: Rows) -> Truth:
    first, *others = condition.parts
    found = truth(first, rows).copy()
    for part in others:
        fold(found, truth(part, rows), out=found)
    return found


def _like(condition: Like | Matches, rows: Rows) -> Truth:
    return _of_array(pc.match_substring_regex(_plain(condition.operand, rows), expression(condition)))


def _of_array(found: pa.Array) -> Truth:
    """What Arrow found, where null is unknown."""
    plain = np.where(arrow.to_numpy(found), TRUE, FALSE)
    plain[~arrow.valid(found)] = UNKNOWN
    return plain


def _are_null(operand: Operand, rows: Rows) -> NDArray[np.bool_]:
    if isinstance(operand, Cell):
        return np.asarray(rows.codes(operand.column) == NULL_CODE)
    if in_floats(operand, rows.types):
        return ~np.broadcast_to(_floats(operand, rows).valid, rows.count)
    return ~arrow.valid(_decimals(operand, rows))


def _one_of(condition: OneOf, rows: Rows) -> Truth:
    operand, types = condition.operand, rows.types
    if isinstance(operand, Cell) and not is_number(types[operand.column]):
        kept = types[operand.column]
        return _among(_plain(operand, rows), array_of(condition.values, kept))
    if in_floats(operand, types) or (isinstance(operand, Arithmetic) and _has_float(condition.values)):
        wanted = np.array([_as_float(value) for value in condition.values])
        numbers, valid = _floats(operand, rows)
        found = np.isin(_float_keys(numbers), _float_keys(wanted))
        return np.where(valid, np.where(found, TRUE, FALSE), UNKNOWN)
    kept = exact_type(operand, types)
    for value in condition.values:
        kept = common_type(kept, exact_type(value, types))
    return _among(_decimals(operand, rows).cast(kept), array_of(condition.values, kept))


def _has_float(values: Sequence[Constant]) -> bool:
    return any(isinstance(value.value, float) for value in values)


def _among(values: pa.Array, wanted: pa.Array) -> Truth:
    found = np.where(arrow.to_numpy(pc.is_in(values, value_set=wanted)), TRUE, FALSE)
    found[~arrow.valid(values)] = UNKNOWN
    return found


# ---- comparisons ----------------------------------------------------------------------------------------------------


def _compared(condition: Comparison, rows: Rows) -> Truth:
    """As `numbers` says, where both sides are numbers."""
    left, operator, right = condition.left, condition.operator, condition.right
    types = rows.types
    if isinstance(left, Cell) and not is_number(types[left.column]):
        other = scalar_of(right, types[left.column]) if isinstance(right, Constant) else _plain(right, rows)
        return _of_array(_COMPARE_ARRAYS[operator](_plain(left, rows), other))
    floats = [in_floats(side, types) for side in (left, right)]
    if isinstance(left, Arithmetic) or isinstance(right, Arithmetic):
        return _compared_floats(left, operator, right, rows) if any(floats) else _exactly(left, operator, right, rows)
    if isinstance(right, Constant):
        return _compared_floats(left, operator, right, rows) if floats[0] else _exactly(left, operator, right, rows)
    if floats[0] != floats[1]:
        return _compared_mixed(left, operator, right, rows)
    return _compared_floats(left, operator, right, rows) if all(floats) else _exactly(left, operator, right, rows)


def _exactly(left: Operand, operator: Operator, right: Operand, rows: Rows) -> Truth:
    """Integers as they are, and all other numbers as decimals of one type."""
    if all(_is_integer(side, rows) for side in (left, right)):
        sides = [_integers(side, rows) for side in (left, right)]
    else:
        kept = common_type(exact_type(left, rows.types), exact_type(right, rows.types))
        sides = [_decimals(side, rows).cast(kept) for side in (left, right)]
    return _of_array(_COMPARE_ARRAYS[operator](*sides))


def _is_integer(side: Operand, rows: Rows) -> bool:
    if isinstance(side, Cell):
        return bool(pa.types.is_integer(rows.types[side.column]))
    return isinstance(side, Constant) and fits_integer(side)


def _integers(side: Operand, rows: Rows) -> pa.Array | pa.Scalar:
    return scalar_of(side, pa.int64()) if isinstance(side, Constant) else _plain(side, rows)


def _compared_floats(left: Operand, operator: Operator, right: Operand, rows: Rows) -> Truth:
    """NaN equals itself, and is above all other numbers."""
    one, other = _floats(left, rows), _floats(right, rows)
    found = COMPARE[operator](_float_keys(one.numbers), _float_keys(other.numbers))
    return np.where(one.valid & other.valid, np.where(found, TRUE, FALSE), UNKNOWN)


def _compared_mixed(left: Operand, operator: Operator, right: Operand, rows: Rows) -> Truth:
    """A float column and one of exact numbers, by exact value: by the ranks of their distinct values in one order."""
    assert isinstance(left, Cell)
    assert isinstance(right, Cell)
    found = [rows.distinct(cell.column).codes for cell in (left, right)]
    parts = []
    for cell, codes in zip((left, right), found, strict=True):
        kept = rows.types[cell.column]
        values = Rows(rows.table, len(codes), lambda _, codes=codes: codes).values(cell.column)  # type: ignore[misc]
        given = values.drop_null()
        parts.append(common_images(images.to_images(given, kept), kept))
    _, ranks = images.sorted_distinct(pa.concat_arrays(parts))
    sides = []
    for cell, codes, own in zip((left, right), found, np.split(ranks, [len(parts[0])]), strict=True):
        place = np.full(int(codes[-1]) + 1 if len(codes) else 1, -1, np.int64)
        place[codes[codes != NULL_CODE]] = own
        sides.append(place[rows.codes(cell.column)])
    compared = COMPARE[operator](*sides)
    return np.where((sides[0] >= 0) & (sides[1] >= 0), np.where(compared, TRUE, FALSE), UNKNOWN)


# ---- operands -------------------------------------------------------------------------------------------------------


def operand_values(operand: Cell | Arithmetic, rows: Rows) -> pa.Array:
    """What an operand is in each row."""
    if isinstance(operand, Cell):
        return _plain(operand, rows)
    if not in_floats(operand, rows.types):
        return _decimals(operand, rows)
    numbers, valid = _floats(operand, rows)
    return arrow.from_numpy(numbers, null=~valid)


def _plain(operand: Operand, rows: Rows) -> pa.Array:
    """The values of a column as they are."""
    assert isinstance(operand, Cell)
    return rows.values(operand.column)


def _decimals(operand: Operand, rows: Rows) -> pa.Array | pa.Scalar:
    """An operand as exact decimals."""
    kept = exact_type(operand, rows.types)
    if isinstance(operand, Constant):
        return scalar_of(operand, kept)
    if isinstance(operand, Cell):
        return _plain(operand, rows).cast(kept)
    return _RECKON_ARRAYS[operand.sign](_decimals(operand.left, rows), _decimals(operand.right, rows))


class Floats(NamedTuple):
    """Floats, and which of them are known."""

    numbers: NDArray[np.float64]
    valid: NDArray[np.bool_]


def _floats(operand: Operand, rows: Rows) -> Floats:
    """An operand in floating point; division by zero is unknown."""
    if isinstance(operand, Constant):
        return Floats(np.array([_as_float(operand)]), np.ones(1, np.bool_))
    if isinstance(operand, Cell):
        values = _plain(operand, rows)
        return Floats(arrow.to_numpy(values.cast(pa.float64(), safe=False)), arrow.valid(values))
    left, right = _floats(operand.left, rows), _floats(operand.right, rows)
    valid = left.valid & right.valid
    if operand.sign == "/":
        valid = valid & (right.numbers != 0.0)
    with np.errstate(all="ignore"):
        return Floats(_RECKON[operand.sign](left.numbers, right.numbers), valid)


def _as_float(constant: Constant) -> float:
    return float(constant.value)  # type: ignore[arg-type]  # it is a number


def _float_keys(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Integers that compare as floats do here."""
    keys: NDArray[np.int64] = images.to_images(arrow.from_numpy(numbers), pa.float64())
    return keys
