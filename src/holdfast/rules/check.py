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
from holdfast.rules.conditions import Arithmetic, Call, Cell, Comparison, Condition, Operand, leaves
from holdfast.rules.constants import TIME_TYPES, Constant, Unfit, Value
from holdfast.rules.reader import is_number as is_numeral
from holdfast.rules.regex import refuse_bad
from holdfast.search.queries import Operator
from holdfast.table.numbers import is_number
from holdfast.table.table import Schema
from holdfast.table.types import NUMBER, family, show_type

_TEXT, _DATE, WHILE = family(pa.string()), family(pa.date32()), family(pa.duration("us"))
_STAMP, _PLAIN_STAMP = family(pa.timestamp("us", "UTC")), family(pa.timestamp("us"))
MOMENTS = (_DATE, _STAMP, _PLAIN_STAMP)
_TYPES = {
    _TEXT: pa.string(),
    WHILE: pa.duration("us"),
    _DATE: pa.timestamp("us"),
    _STAMP: pa.timestamp("us", "UTC"),
    _PLAIN_STAMP: pa.timestamp("us"),
}
_SHOWN = {_TEXT: "text", WHILE: "a while", _DATE: "a date", _STAMP: "a timestamp", _PLAIN_STAMP: "a timestamp"}


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
        """Refuse unknown columns, and what can't be calculated."""
        for leaf in leaves(operand):
            if isinstance(leaf, Cell) and leaf.column not in self.types:
                table = f"table {self.table}" if self.table else "table"
                hint = suggest(leaf.column, self.types)
                raise self.error(given, f"names the column {leaf.column!r}, which the {table} does not have; {hint}")
        self._refuse_odd(given, operand)

    def _refuse_odd(self, given: Condition, operand: Operand) -> None:
        """Refuse functions of anything but text, and arithmetic on anything but numbers, times and whiles."""
        if isinstance(operand, Call):
            self._refuse_odd(given, operand.operand)
            if self.kind(operand.operand) != _TEXT:
                what = self._shown(operand.operand)
                raise self.error(given, f"has {operand.function} of {what}; it is for text", operand.operand)
        if isinstance(operand, Arithmetic):
            sides = operand.left, operand.right
            for side in sides:
                self._refuse_odd(given, side)
                if self.kind(side) not in (NUMBER, WHILE, *MOMENTS):
                    what = "not a number" if isinstance(side, Constant) else self._shown(side)
                    raise self.error(given, f"calculates with {side.text}, which is {what}; use numbers only")
            if self.kind(operand) is None:
                one, other = (self._shown(side) for side in sides)
                raise self.error(
                    given,
                    f"can't calculate {operand.text} of {one} and {other}; a while such as 30 days can be added to a "
                    "time, and two times can be subtracted",
                    operand,
                )

    def kind(self, operand: Operand) -> str | None:
        """What an operand is: operands of one kind compare. None: arithmetic that makes no sense."""
        if isinstance(operand, Cell):
            return family(self.types[operand.column])
        if isinstance(operand, Call):
            return NUMBER if operand.function == "length" else _TEXT
        if isinstance(operand, Constant):
            return _kind_of_constant(operand)
        one, other = self.kind(operand.left), self.kind(operand.right)
        if one == other == NUMBER:
            return NUMBER
        if operand.sign == "-" and one in MOMENTS and other in MOMENTS and _joined(one, other):
            return WHILE
        if operand.sign in ("+", "-") and other == WHILE and one in (WHILE, *MOMENTS):
            return one
        return other if operand.sign == "+" and one == WHILE and other in MOMENTS else None

    def _is_number(self, operand: Operand) -> bool:
        return self.kind(operand) == NUMBER

    def _shown(self, operand: Operand) -> str:
        kind = self.kind(operand)
        return (
            show_type(self.types[operand.column]) if isinstance(operand, Cell) else _SHOWN.get(kind or "", "a number")
        )

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
        reckons = isinstance(left, Arithmetic) or isinstance(right, Arithmetic)
        one, other = self.kind(left), self.kind(right)
        alike = one == other or (reckons and one in MOMENTS and other in MOMENTS and _joined(one, other))
        if not isinstance(right, Constant) and not alike:
            raise self.error(
                given, f"compares {self._shown(left)} with {self._shown(right)}; compare columns of one type"
            )
        self._check_order(given, operator, (left, right))
        if self._is_number(left):
            if isinstance(right, Constant) and not is_numeral(right):
                self.expect(given, left, right, "a number, without quotes")
            self.check_numbers(left, right)
            return right
        fitted = self._fit(given, left, right) if isinstance(right, Constant) else right
        if reckons:
            self._check_reckoned(left, fitted)
        return fitted

    def _check_order(self, given: Condition, operator: Operator, sides: tuple[Operand, Operand]) -> None:
        plain = [side for side in sides if isinstance(side, Cell | Call) and not self._is_number(side)]
        cells = [leaf for side in plain for leaf in leaves(side) if isinstance(leaf, Cell)]
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

    def check_numbers(self, left: Cell | Arithmetic | Call, right: Operand) -> None:
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
        if not self._is_number(sides[0]) and not any(isinstance(side, Arithmetic) for side in sides):
            return
        if not any(in_floats(side, self.types) for side in sides):
            common_type(sides, self.types)
            return
        for leaf in (leaf for side in sides for leaf in leaves(side)):
            if isinstance(leaf, Constant) and not isinstance(leaf.value, float):
                _nearest_float(leaf.value)

    def _fit(self, given: Condition, left: Cell | Arithmetic | Call, right: Constant) -> Constant:
        """A constant in the type of an operand that is not a number."""
        kept, value = self._type(left), right.value
        if pa.types.is_boolean(kept):
            return right if isinstance(value, bool) else self.expect(given, left, right, "true or false")
        if pa.types.is_string(kept):
            digits = value.isoformat() if isinstance(value, dt.date | dt.time) else right.text
            return right if isinstance(value, str) else self.expect(given, left, right, f"'{digits}'")
        if pa.types.is_duration(kept):
            return right if isinstance(value, dt.timedelta) else self.expect(given, left, right, "30 days, for example")
        kind = TIME_TYPES["date" if pa.types.is_date(kept) else "time" if pa.types.is_time(kept) else "timestamp"]
        moment = kind.read(value) if isinstance(value, str) else value
        if kind is TIME_TYPES["timestamp"]:
            moment = _stamp(moment, kept)
        return Constant(moment) if type(moment) is kind.kind else self.expect(given, left, right, kind.form)

    def _type(self, operand: Cell | Arithmetic | Call) -> pa.DataType:
        """The type of what is not a number. A date that was calculated is a moment."""
        if isinstance(operand, Cell):
            return self.types[operand.column]
        return _TYPES[self.kind(operand) or ""]

    def expect(self, given: Condition, left: Cell | Arithmetic | Call, right: Constant, form: str) -> NoReturn:
        """Refuse a constant of the wrong type."""
        what = "text" if isinstance(right.value, str) else "a constant of another type"
        raise self.error(given, f"compares {self._shown(left)} with {what}; write {form}")

    # ---- patterns and errors ----------------------------------------------------------------------------------------

    def _pattern(self, given: conditions.Like | conditions.Matches) -> None:
        operand = given.operand
        word = "like" if isinstance(given, conditions.Like) else "matches"
        if isinstance(operand, Constant) or self.kind(operand) != _TEXT:
            what = "a constant" if isinstance(operand, Constant) else self._shown(operand)
            raise self.error(given, f"looks for a pattern in {what}; {word} is for columns of text")
        refuse_bad(given)

    def error(self, given: Condition, sentence: str, at: Operand | None = None) -> BadInput:
        """An error about a condition; with a mark under one of its operands."""
        if at is None:
            return BadInput(f"{given.text} {sentence}")
        from rich.cells import cell_len  # only where something is wrong

        before = given.text.partition(at.text)[0]
        return BadInput(f"{given.text} {sentence}\n  {given.text}\n  {' ' * cell_len(before)}^")


def _kind_of_constant(constant: Constant) -> str:
    value = constant.value
    if is_numeral(constant):
        return NUMBER
    kept = {
        bool: pa.bool_(),
        dt.date: pa.date32(),
        dt.datetime: pa.timestamp("us"),
        dt.time: pa.time64("us"),
        dt.timedelta: pa.duration("us"),
    }.get(type(value), pa.string())
    return family(pa.timestamp("us", "UTC") if isinstance(value, dt.datetime) and value.tzinfo else kept)


def _joined(one: str, other: str) -> bool:
    """Whether two kinds of moments are on one scale: a date is on both, with a time zone and without."""
    return one == other or _DATE in (one, other)


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
