"""Types: does a denial constraint make sense for a table?

`check` looks up every column, refuses comparisons that mean nothing, and gives each constant the type of its column.
Numbers of all kinds compare with each other, other types only with themselves. Text has no order, unless the column is
declared ordered. A constant that an integer or decimal column can't hold exactly is rounded down together with its
operator (`t.Age < 0.5` is `t.Age <= 0`), so nothing downstream compares across types with a constant.

`notes` tells what is allowed and yet odd: a constraint that no rows can violate, or one whose rows are in no relation.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from holdfast.engines.denial.model import Cell, Constant, DenialConstraint, Operator, Predicate
from holdfast.engines.language.constants import Unfit, Value, moment_form, moment_of
from holdfast.errors import BadInput, suggest
from holdfast.table.table import Schema
from holdfast.table.types import show_type

_LARGEST = 2**63 - 1  # the smallest int64 is no value: order keys reserve it
_TRUE_AT: Mapping[Operator, frozenset[int]] = {
    "=": frozenset([0]),
    "!=": frozenset([-1, 1]),
    "<": frozenset([-1]),
    "<=": frozenset([-1, 0]),
    ">": frozenset([1]),
    ">=": frozenset([0, 1]),
}


def check(constraint: DenialConstraint, schema: Schema, ordered: Collection[str] = ()) -> DenialConstraint:
    """The constraint with its constants in the types of their columns; BadInput where it makes no sense for the table.

    `ordered` names the text columns whose order, by code point, means something.
    """
    types = {column.name: column.type for column in schema.columns}
    checker = _Checker(constraint.name, schema.name, types, ordered)
    return replace(constraint, predicates=tuple(checker.predicate(each) for each in constraint.predicates))


@dataclass(frozen=True)
class _Checker:
    """Checks the predicates of one constraint."""

    rule: str
    table: str
    types: Mapping[str, pa.DataType]
    ordered: Collection[str]

    def predicate(self, given: Predicate) -> Predicate:
        """The predicate, with its constant in the type of the column."""
        types = [self._type(cell, given) for cell in given.cells]
        if isinstance(given.right, Cell) and _family(types[0]) != _family(types[-1]):
            one, other = (show_type(each) for each in types)
            raise self._error(given, f"compares {one} with {other}; compare columns of one type")
        checked = given
        if isinstance(given.right, Constant):
            operator, value = self._fit(given, types[0], given.right.value)
            checked = Predicate(given.left, operator, Constant(value))
        self._check_order(given, types[0])
        return checked

    def _type(self, cell: Cell, given: Predicate) -> pa.DataType:
        if cell.column not in self.types:
            table = f"table {self.table}" if self.table else "table"
            hint = suggest(cell.column, self.types)
            raise self._error(given, f"names the column {cell.column!r}, which the {table} does not have; {hint}")
        return self.types[cell.column]

    def _check_order(self, given: Predicate, kept: pa.DataType) -> None:
        if given.operator in ("=", "!="):
            return
        if pa.types.is_boolean(kept):
            raise self._error(given, "asks for an order of booleans; use = or !=")
        unordered = [cell.column for cell in given.cells if cell.column not in self.ordered]
        if pa.types.is_string(kept) and unordered:
            raise self._error(
                given,
                f"asks for an order of text; if the order of {unordered[0]!r} by code point means something, declare "
                f"it in the rules file with ordered: [{unordered[0]}]",
            )

    def _fit(self, given: Predicate, kept: pa.DataType, value: Value) -> tuple[Operator, Value]:
        """The operator and the constant that say the same in the type of the column."""
        if _family(kept) == "number":
            return self._number(given, kept, value)
        if pa.types.is_boolean(kept):
            return given.operator, self._expect(
                given, kept, value if isinstance(value, bool) else None, "true or false"
            )
        if pa.types.is_string(kept):
            digits = value.isoformat() if isinstance(value, dt.date | dt.time) else Constant(value).text
            text = value if isinstance(value, str) else None
            return given.operator, self._expect(given, kept, text, f"'{digits}'")
        return given.operator, self._moment(given, kept, value)

    def _moment(self, given: Predicate, kept: pa.DataType, value: Value) -> Value:
        if not pa.types.is_temporal(kept) or pa.types.is_duration(kept):
            raise self._error(given, f"compares {show_type(kept)} with a constant; compare it with another column")
        try:
            moment = moment_of(value, kept)
        except Unfit as error:
            raise self._error(given, str(error)) from None
        return self._expect(given, kept, moment, moment_form(kept))

    def _number(self, given: Predicate, kept: pa.DataType, value: Value) -> tuple[Operator, Value]:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return given.operator, self._expect(given, kept, None, "a number, without quotes")
        if pa.types.is_floating(kept):
            return given.operator, self._float(given, value)
        if not _is_finite(value):
            raise self._error(given, f"can't be: a column of type {show_type(kept)} holds no such value")
        scale = kept.scale if pa.types.is_decimal(kept) else 0
        exact = Fraction(Decimal(repr(value)) if isinstance(value, float) else value) * Fraction(10) ** scale
        unscaled = math.floor(exact)
        if abs(unscaled) > (_LARGEST if pa.types.is_integer(kept) else 10**kept.precision - 1):
            raise self._error(given, f"can't be: a column of type {show_type(kept)} holds no such number")
        operator = given.operator if exact == unscaled else self._rounded(given, kept)
        if pa.types.is_integer(kept):
            return operator, unscaled
        return operator, Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))

    def _float(self, given: Predicate, value: int | float | Decimal) -> float:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isinf(number) and _is_finite(value):
            raise self._error(given, "can't be: a column of type float holds no such number")
        if _is_finite(value) and not isinstance(value, float) and Decimal(repr(number)) != value:
            raise self._error(given, f"can't be: the nearest number that a column of type float holds is {number!r}")
        return number + 0.0  # minus zero is zero

    def _rounded(self, given: Predicate, kept: pa.DataType) -> Operator:
        """The operator for the constant rounded down to what the column can hold."""
        if given.operator in ("=", "!="):
            always = "never" if given.operator == "=" else "always"
            raise self._error(given, f"is {always} true: a column of type {show_type(kept)} holds no such number")
        return "<=" if given.operator in ("<", "<=") else ">"

    def _expect(self, given: Predicate, kept: pa.DataType, value: Value | None, form: str) -> Value:
        if value is None:
            what = "text" if isinstance(_value(given), str) else "a constant of another type"
            raise self._error(given, f"compares {show_type(kept)} with {what}; write {form}")
        return value

    def _error(self, given: Predicate, sentence: str) -> BadInput:
        rule = f"rule {self.rule!r}: " if self.rule else ""
        return BadInput(f"{rule}{given.text} {sentence}")


def _value(given: Predicate) -> Any:
    return given.right.value if isinstance(given.right, Constant) else None


def _is_finite(value: int | float | Decimal) -> bool:
    """Unlike `math.isfinite`, also of integers and decimals that no float can hold."""
    if isinstance(value, Decimal):
        return value.is_finite()
    return isinstance(value, int) or math.isfinite(value)


def _family(kept: pa.DataType) -> str:
    """Types of one family compare with each other."""
    numeric = pa.types.is_integer(kept) or pa.types.is_floating(kept) or pa.types.is_decimal(kept)
    return "number" if numeric else show_type(kept)


# ---- what is allowed and yet odd ------------------------------------------------------------------------------------


def notes(constraint: DenialConstraint) -> list[str]:
    """One sentence for each oddity of a checked constraint."""
    return [*_contradictions(constraint), *_self_comparisons(constraint), *_unrelated_rows(constraint)]


def _contradictions(constraint: DenialConstraint) -> list[str]:
    """Predicates on the same operands that are never true together.

    A cell can lie at three places to another: below, at, above. To n constants it can lie at 2n + 1: at each of them,
    and before, between and after them. Each predicate allows some of the places.
    """
    groups: dict[tuple[Cell, ...], list[Predicate]] = {}
    for predicate in constraint.predicates:
        groups.setdefault(predicate.canonical.cells, []).append(predicate.canonical)
    return [
        f"no rows can violate this rule: {' and '.join(each.text for each in group)} is never true"
        for cells, group in groups.items()
        if not _places(cells, group)
    ]


def _places(cells: tuple[Cell, ...], group: list[Predicate]) -> set[int]:
    """The places that all predicates on the same operands allow."""
    ranks = sorted({_rank(_value(each)) for each in group})
    places = {0} if len(set(cells)) < len(cells) else set(range(-1, 2 * len(ranks)))
    for each in group:
        at = 2 * ranks.index(_rank(_value(each)))
        places = {place for place in places if (place > at) - (place < at) in _TRUE_AT[each.operator]}
    return places


def _rank(value: Any) -> tuple[bool, Any]:
    """Sorts the constants of one column: NaN is the largest."""
    nan = isinstance(value, float) and math.isnan(value)
    return (nan, 0 if nan or value is None else value)


def _self_comparisons(constraint: DenialConstraint) -> list[str]:
    return [
        f"{each.text} compares a cell with itself: it is true wherever {each.left.column} is not null"
        for each in constraint.predicates
        if each.left == each.right and 0 in _TRUE_AT[each.operator]
    ]


def _unrelated_rows(constraint: DenialConstraint) -> list[str]:
    if constraint.is_single or any(len({c.row for c in each.cells}) == 2 for each in constraint.predicates):
        return []
    return ["nothing relates t to s: every row that is like t pairs with every row that is like s"]
