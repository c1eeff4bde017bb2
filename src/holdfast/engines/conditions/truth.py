"""Whether rules hold in some rows: false, unknown or true, as -1, 0 and 1, so that `and` is the least of several, `or`
the greatest, and the opposite of a condition has the opposite sign.

A condition about one column is looked at once for each distinct value of the rows, by its code; others are looked at
row by row, in Arrow and NumPy.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.engines.conditions.columns import NamedColumns
from holdfast.engines.conditions.reckon import (
    array_of,
    as_floats,
    decimals,
    float_keys,
    floats,
    integers,
    plain,
    scalar_of,
)
from holdfast.rules import conditions
from holdfast.rules.arithmetic import Types, common_type, in_floats
from holdfast.rules.conditions import Arithmetic, Call, Cell, Comparison, Condition, Either, Every, Operand
from holdfast.rules.constants import Constant
from holdfast.rules.regex import expression
from holdfast.rules.terms import names_of
from holdfast.search.constants import COMPARE, COMPARE_ARROW
from holdfast.search.queries import Operator
from holdfast.table import arrow, images
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.numbers import common_images, is_number

Truth = NDArray[np.int8]
FALSE, UNKNOWN, TRUE = np.int8(-1), np.int8(0), np.int8(1)
_MANY = 8  # rows that have the same text, on average


# ---- conditions -----------------------------------------------------------------------------------------------------


def truth(condition: Condition, rows: NamedColumns) -> Truth:
    """How true a condition is of each row."""
    columns = names_of(condition)
    if len(columns) == 1 and not rows.is_distinct:
        return np.asarray(rows.distinct(columns[0]).spread(truth(condition, rows.with_values(columns[0]))))
    if isinstance(condition, Every):
        return _folded(np.minimum, condition, rows)
    if isinstance(condition, Either):
        return _folded(np.maximum, condition, rows)
    if isinstance(condition, Comparison):
        return _compared(condition, rows)
    if isinstance(condition, conditions.Between):
        found = np.minimum(*(_compared(end, rows) for end in condition.ends))
    elif isinstance(condition, conditions.IsNull):
        found = _truths(_are_null(condition.operand, rows))
    elif isinstance(condition, conditions.OneOf):
        found = _one_of(condition, rows)
    else:
        found = _like(condition, rows)
    return -found if condition.negated else found


def _folded(fold: np.ufunc, condition: Every | Either, rows: NamedColumns) -> Truth:
    first, *others = condition.parts
    found = truth(first, rows).copy()
    for part in others:
        fold(found, truth(part, rows), out=found)
    return found


def _like(condition: conditions.Like | conditions.Matches, rows: NamedColumns) -> Truth:
    return _of_array(pc.match_substring_regex(plain(condition.operand, rows), expression(condition)))


def _are_null(operand: Operand, rows: NamedColumns) -> NDArray[np.bool_]:
    if isinstance(operand, Call):
        return _are_null(operand.operand, rows)
    if isinstance(operand, Cell):
        return np.asarray(rows.codes(operand.column) == NULL_CODE)
    if in_floats(operand, rows.types):
        return ~np.broadcast_to(floats(operand, rows).valid, rows.count)
    return ~arrow.valid(decimals(operand, rows))


def _one_of(condition: conditions.OneOf, rows: NamedColumns) -> Truth:
    operand, values, types = condition.operand, list(condition.values), rows.types
    if (kept := _type_of(operand, types)) is not None:
        return _among(plain(operand, rows), array_of(values, kept))
    if in_floats(operand, types):
        numbers = floats(operand, rows)
        return _truths(np.isin(float_keys(numbers.values), float_keys(as_floats(values))), numbers.valid)
    kept = common_type([operand, *values], types)
    return _among(decimals(operand, rows).cast(kept), array_of(values, kept))


def _among(values: pa.Array, wanted: pa.Array) -> Truth:
    return _truths(arrow.to_numpy(pc.is_in(values, value_set=wanted)), arrow.valid(values))


def _of_array(found: pa.Array) -> Truth:
    """What Arrow found, where null is unknown."""
    return _truths(arrow.to_numpy(found), arrow.valid(found))


def _truths(found: NDArray[np.bool_], valid: NDArray[np.bool_] | None = None) -> Truth:
    """True or false, as found; unknown where it is not valid."""
    truths = np.where(found, TRUE, FALSE)
    return truths if valid is None or valid.all() else np.where(valid, truths, UNKNOWN)


# ---- comparisons ----------------------------------------------------------------------------------------------------


def _compared(condition: Comparison, rows: NamedColumns) -> Truth:
    """Numbers as `numbers` says, all others by the values of their type."""
    left, operator, right = condition.left, condition.operator, condition.right
    types = rows.types
    if isinstance(left, Cell) and isinstance(right, Cell) and _by_rank(left, right, rows):
        return _compared_ranks((left, right), operator, rows)
    reckons = isinstance(left, Arithmetic) or isinstance(right, Arithmetic)
    if not reckons and (kept := _type_of(left, types)) is not None:
        other = scalar_of(right, kept) if isinstance(right, Constant) else plain(right, rows)
        return _of_array(COMPARE_ARROW[operator](plain(left, rows), other))
    if in_floats(left, types) or (reckons and in_floats(right, types)):
        return _compared_floats(left, operator, right, rows)
    return _exactly(left, operator, right, rows)


def _type_of(operand: Operand, types: Types) -> pa.DataType | None:
    """The type of a column, or of a function of one; None: it is a number, or calculated."""
    if isinstance(operand, Call):
        return None if operand.function == "length" else pa.string()
    if not isinstance(operand, Cell) or is_number(types[operand.column]):
        return None
    return types[operand.column]


def _exactly(left: Operand, operator: Operator, right: Operand, rows: NamedColumns) -> Truth:
    """Integers as they are, where they are small enough, and all other numbers as decimals of one type."""
    one, other = integers(left, rows), integers(right, rows)
    if one is not None and other is not None:
        return _truths(COMPARE[operator](one.values, other.values), one.valid & other.valid)
    kept = common_type([left, right], rows.types)
    sides = [decimals(side, rows).cast(kept) for side in (left, right)]
    return _of_array(COMPARE_ARROW[operator](*sides))


def _compared_floats(left: Operand, operator: Operator, right: Operand, rows: NamedColumns) -> Truth:
    one, other = floats(left, rows), floats(right, rows)
    return _truths(COMPARE[operator](float_keys(one.values), float_keys(other.values)), one.valid & other.valid)


def _by_rank(left: Cell, right: Cell, rows: NamedColumns) -> bool:
    """Whether two columns compare by ranks: a float one with one of exact numbers must, texts had better where many
    rows have the same.
    """
    kept, other = rows.types[left.column], rows.types[right.column]
    if pa.types.is_string(kept):
        return sum(len(rows.distinct(cell.column).codes) for cell in (left, right)) * _MANY < rows.count
    return bool(pa.types.is_floating(kept) != pa.types.is_floating(other))


def _compared_ranks(cells: tuple[Cell, Cell], operator: Operator, rows: NamedColumns) -> Truth:
    """Two columns by the ranks that their distinct values have in one order of all of them: by exact value."""
    parts = [_ordered(cell, rows) for cell in cells]
    _, ranks = images.sorted_distinct(pa.concat_arrays(parts))
    sides = []
    for cell, own in zip(cells, np.split(ranks, [len(parts[0])]), strict=True):
        distinct = rows.distinct(cell.column)
        known = np.full(len(distinct.codes), -1, np.int64)
        known[distinct.codes != NULL_CODE] = own
        sides.append(distinct.spread(known))
    return _truths(COMPARE[operator](*sides), (sides[0] >= 0) & (sides[1] >= 0))


def _ordered(cell: Cell, rows: NamedColumns) -> pa.Array:
    """The distinct values of a column, nulls aside, as bytes that compare as values of both columns do."""
    kept = rows.types[cell.column]
    own = images.to_images(rows.with_values(cell.column).values(cell.column).drop_null(), kept)
    return common_images(own, kept) if is_number(kept) else own
