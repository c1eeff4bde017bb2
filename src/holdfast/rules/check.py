"""Types: does a condition, or a rule about a table, make sense for a table?

A `Checker` looks up every column, refuses comparisons without meaning, and gives dates and times the type of their
column. Numbers of all types compare with each other, other types only with themselves; arithmetic is for numbers,
patterns are for text. Text has no order, unless the column is declared ordered.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NoReturn, Self

import pyarrow as pa

from holdfast.errors import BadInput, suggest
from holdfast.rules import conditions
from holdfast.rules.arithmetic import Types, as_float, common_type, in_floats
from holdfast.rules.conditions import Arithmetic, Cell, Comparison, Condition, Operand, leaves
from holdfast.rules.constants import TIME_TYPES, Constant, Unfit, Value
from holdfast.rules.reader import is_number as is_numeral
from holdfast.rules.regex import refuse_bad
from holdfast.search.queries import Operator
from holdfast.table.numbers import is_number
from holdfast.table.table import Schema
from holdfast.table.types import show_type


def types_of(schema: Schema) -> Types:
    """The types of a table's columns."""
    return {column.name: column.type for column in schema.columns}


@dataclass(frozen=True)
class Checker:
    """Checks conditions for a table. `ordered` names the text columns that have an order (by code point)."""

    table: str
    types: Types
    ordered: Collection[str]

    @classmethod
    def of(cls, schema: Schema, ordered: Collection[str] = ()) -> Self:
        """For the columns of a table."""
        return cls(schema.name, types_of(schema), ordered)

    def condition(self, given: Condition) -> Condition:
        """The condition, with constants in the types of their columns; BadInput where it makes no sense."""
        if isinstance(given, conditions.Every | conditions.Either):
            return type(given)(tuple(self.condition(part) for part in given.parts))
        for operand in given.operands:
            self._operand(given, operand)
        try:
            return self.simple(given)
        except Unfit as error:
            raise self.error(given, str(error)) from None

    def simple(self, given: Comparison | conditions.Test) -> Condition:
        """The same for a condition without parts; raises `Unfit` about it."""
        if isinstance(given, Comparison):
            return replace(given, right=self._compared(given, given.left, given.operator, given.right))
        if isinstance(given, conditions.Between):
            low = self._compared(given, given.operand, ">=", given.low)
            high = self._compared(given, given.operand, "<=", given.high)
            return replace(given, low=low, high=high)
        if isinstance(given, conditions.OneOf):
            fitted = [self._compared(given, given.operand, "=", value) for value in given.values]
            self._check_reckoned(given.operand, *fitted)
            return replace(given, values=tuple(value for value in fitted if isinstance(value, Constant)))
        if isinstance(given, conditions.IsNull):
            self._check_reckoned(given.operand)
        else:
            self._pattern(given)
        return given

    # ---- operands ---------------------------------------------------------------------------------------------------

    def _operand(self, given: Condition, operand: Operand) -> None:
        """Refuse unknown columns, and arithmetic on anything but numbers."""
        for leaf in leaves(operand):
            if isinstance(leaf, Cell) and leaf.column not in self.types:
                table = f"table {self.table}" if self.table else "table"
                hint = suggest(leaf.column, self.types)
                raise self.error(given, f"names the column {leaf.column!r}, which the {table} does not have; {hint}")
            if isinstance(operand, Arithmetic) and not self._is_number(leaf):
                what = show_type(self.types[leaf.column]) if isinstance(leaf, Cell) else "not a number"
                raise self.error(given, f"calculates with {leaf.text}, which is {what}; use numbers only")

    def _is_number(self, leaf: Operand) -> bool:
        if isinstance(leaf, Cell):
            return is_number(self.types[leaf.column])
        return isinstance(leaf, Arithmetic) or is_numeral(leaf)

    def _family(self, operand: Cell | Arithmetic) -> str:
        """Operands of one family compare."""
        return "number" if self._is_number(operand) else self._shown(operand)

    def _shown(self, operand: Cell | Arithmetic) -> str:
        return show_type(self.types[operand.column]) if isinstance(operand, Cell) else "a number"

    def refuse_other_than_numbers(self, cell: Cell, text: str) -> None:
        """Refuse to calculate with a column that holds no numbers; `text` is what calculates."""
        if not is_number(kept := self.types[cell.column]):
            raise BadInput(f"{text} calculates with {cell.column}, which is {show_type(kept)}; use numbers only")

    def refuse_other_than_moments(self, cell: Cell, text: str) -> None:
        """Refuse a column that does not compare with the present time."""
        self.condition(conditions.IsNull(cell))
        kept = self.types[cell.column]
        if not (pa.types.is_date(kept) or pa.types.is_timestamp(kept)):
            raise BadInput(f"{text} compares {show_type(kept)} with the present time; use a date or a timestamp")

    # ---- comparisons ------------------------------------------------------------------------------------------------

    def _compared(self, given: Condition, left: Operand, operator: Operator, right: Operand) -> Operand:
        """The right side of a comparison, with a constant in the type of the left side."""
        assert not isinstance(left, Constant), "a constant is always on the right"
        if not isinstance(right, Constant) and self._family(left) != self._family(right):
            one, other = self._shown(left), self._shown(right)
            raise self.error(given, f"compares {one} with {other}; compare columns of one type")
        self._check_order(given, operator, (left, right))
        if self._is_number(left):
            if isinstance(right, Constant) and not is_numeral(right):
                self.expect(given, left, right, "a number, without quotes")
            self.check_numbers(left, right)
            return right
        return self._fit(given, left, right) if isinstance(right, Constant) else right

    def _check_order(self, given: Condition, operator: Operator, sides: tuple[Operand, Operand]) -> None:
        cells = [side for side in sides if isinstance(side, Cell)]
        if operator in ("=", "!=") or not cells:
            return
        kept = self.types[cells[0].column]
        if pa.types.is_boolean(kept):
            raise self.error(given, "needs an order of booleans; use = or !=")
        unordered = [cell.column for cell in cells if cell.column not in self.ordered]
        if pa.types.is_string(kept) and unordered:
            raise self.error(
                given,
                f"needs an order of text; if the order of {unordered[0]!r} by code point means something, declare "
                f"it in the rules file with ordered: [{unordered[0]}]",
            )

    def check_numbers(self, left: Cell | Arithmetic, right: Operand) -> None:
        """Refuse two numbers that do not compare exactly (see `numbers`)."""
        if isinstance(left, Arithmetic) or isinstance(right, Arithmetic):
            self._check_reckoned(left, right)
        elif isinstance(right, Constant):
            if in_floats(left, self.types):
                check_float(right.value)
            else:
                common_type([left, right], self.types)

    def _check_reckoned(self, *sides: Operand) -> None:
        """Refuse calculations with numbers that are too large for their type."""
        if not self._is_number(sides[0]):
            return
        if not any(in_floats(side, self.types) for side in sides):
            common_type(sides, self.types)
            return
        for leaf in (leaf for side in sides for leaf in leaves(side)):
            if isinstance(leaf, Constant) and not isinstance(leaf.value, float):
                _nearest_float(leaf.value)

    def _fit(self, given: Condition, left: Operand, right: Constant) -> Constant:
        """A constant in the type of a column that is not a number."""
        assert isinstance(left, Cell)
        kept, value = self.types[left.column], right.value
        if pa.types.is_boolean(kept):
            return right if isinstance(value, bool) else self.expect(given, left, right, "true or false")
        if pa.types.is_string(kept):
            digits = value.isoformat() if isinstance(value, dt.date | dt.time) else right.text
            return right if isinstance(value, str) else self.expect(given, left, right, f"'{digits}'")
        if pa.types.is_duration(kept):
            raise self.error(given, f"compares {show_type(kept)} with a constant; compare it with another column")
        kind = TIME_TYPES["date" if pa.types.is_date(kept) else "time" if pa.types.is_time(kept) else "timestamp"]
        moment = kind.read(value) if isinstance(value, str) else value
        if kind is TIME_TYPES["timestamp"]:
            moment = _stamp(moment, kept)
        return Constant(moment) if type(moment) is kind.kind else self.expect(given, left, right, kind.form)

    def expect(self, given: Condition, left: Cell | Arithmetic, right: Constant, form: str) -> NoReturn:
        """Refuse a constant of the wrong type."""
        what = "text" if isinstance(right.value, str) else "a constant of another type"
        raise self.error(given, f"compares {self._shown(left)} with {what}; write {form}")

    # ---- patterns and errors ----------------------------------------------------------------------------------------

    def _pattern(self, given: conditions.Like | conditions.Matches) -> None:
        operand = given.operand
        word = "like" if isinstance(given, conditions.Like) else "matches"
        if not isinstance(operand, Cell) or not pa.types.is_string(self.types[operand.column]):
            what = "a constant" if isinstance(operand, Constant) else self._shown(operand)
            raise self.error(given, f"looks for a pattern in {what}; {word} is for columns of text")
        refuse_bad(given)

    def error(self, given: Condition, sentence: str) -> BadInput:
        """An error about a condition."""
        return BadInput(f"{given.text} {sentence}")


def check_float(value: Value) -> None:
    """Refuse a number that a float column can't hold."""
    if not isinstance(value, float) and Decimal(repr(number := _nearest_float(value))) != value:
        raise Unfit(f"can't be: the nearest number that a column of type float holds is {number!r}")


def _nearest_float(value: Value) -> float:
    number = as_float(value)
    if math.isinf(number):
        raise Unfit("names a number that is too large for a float; write a smaller one")
    return number


def _stamp(moment: Value | None, kept: pa.DataType) -> dt.datetime | None:
    """A date or timestamp as a value of a column of timestamps; None: it is neither. A date means its midnight. In a
    column with zones, a timestamp without one is in UTC. Raises `Unfit`.
    """
    if isinstance(moment, dt.date) and not isinstance(moment, dt.datetime):
        moment = dt.datetime.combine(moment, dt.time())
    if not isinstance(moment, dt.datetime):
        return None
    if kept.tz is None:
        if moment.tzinfo is not None:
            raise Unfit("has a time zone, and the column has none; leave the zone out")
        return moment
    try:
        return moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment.astimezone(dt.UTC)
    except OverflowError:
        raise Unfit("has a date that is out of range; write a nearer one") from None
