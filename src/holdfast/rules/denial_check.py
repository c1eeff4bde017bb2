"""Types: does a denial constraint make sense for a table?

Beside what every condition must meet (`check`), a constant that an integer or decimal column can't hold exactly is
rounded down together with its operator (`t.Age < 0.5` is `t.Age <= 0`), so nothing downstream compares across types
with a constant.

`notes` says what is allowed and yet odd: a constraint that no rows can violate, or one whose rows are in no relation.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from holdfast.rules.check import Checker
from holdfast.rules.conditions import TRUE_AT, Arithmetic, Cell, Comparison, Operand
from holdfast.rules.constants import Constant
from holdfast.rules.denial import DenialConstraint
from holdfast.rules.numbers import LARGEST, as_float
from holdfast.rules.reader import is_number
from holdfast.search.queries import Operator
from holdfast.table.table import Schema
from holdfast.table.types import show_type


def check(constraint: DenialConstraint, schema: Schema, ordered: Collection[str] = ()) -> tuple[Comparison, ...]:
    """Its predicates, with constants in the types of their columns; BadInput where they make no sense for the table.

    `ordered` names the text columns whose order, by code point, means something.
    """
    checker = _Fitting.of(schema, ordered)
    return tuple(checker.predicate(each) for each in constraint.predicates)


class _Fitting(Checker):
    """Gives numbers the type of their column."""

    def predicate(self, given: Comparison) -> Comparison:
        """The predicate, with its constant in the type of the column."""
        checked = self.condition(given)
        assert isinstance(checked, Comparison)
        left, right = checked.left, checked.right
        if not isinstance(left, Cell) or not isinstance(right, Constant) or not is_number(right):
            return checked
        operator, value = self._fit_number(given, self.types[left.column], right.value)
        return replace(checked, operator=operator, right=Constant(value))

    def check_numbers(self, left: Cell | Arithmetic, right: Operand) -> None:
        """Numbers are fitted afterwards."""

    def _fit_number(self, given: Comparison, kept: pa.DataType, value: Any) -> tuple[Operator, Any]:
        """The operator and the number that say the same in the type of the column."""
        if pa.types.is_floating(kept):
            return given.operator, self._float(given, value)
        if not _is_finite(value):
            raise self.error(given, f"can't be: a column of type {show_type(kept)} holds no such value")
        scale = kept.scale if pa.types.is_decimal(kept) else 0
        exact = Fraction(Decimal(repr(value)) if isinstance(value, float) else value) * Fraction(10) ** scale
        unscaled = math.floor(exact)
        if abs(unscaled) > (LARGEST if pa.types.is_integer(kept) else 10**kept.precision - 1):
            raise self.error(given, f"can't be: a column of type {show_type(kept)} holds no such number")
        operator = given.operator if exact == unscaled else self._rounded(given, kept)
        if pa.types.is_integer(kept):
            return operator, unscaled
        return operator, Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))

    def _float(self, given: Comparison, value: int | float | Decimal) -> float:
        number = as_float(value)
        if math.isinf(number) and _is_finite(value):
            raise self.error(given, "can't be: a column of type float holds no such number")
        if _is_finite(value) and not isinstance(value, float) and Decimal(repr(number)) != value:
            raise self.error(given, f"can't be: the nearest number that a column of type float holds is {number!r}")
        return number + 0.0  # minus zero is zero

    def _rounded(self, given: Comparison, kept: pa.DataType) -> Operator:
        """The operator for the constant rounded down to what the column can hold."""
        if given.operator in ("=", "!="):
            always = "never" if given.operator == "=" else "always"
            raise self.error(given, f"is {always} true: a column of type {show_type(kept)} holds no such number")
        return "<=" if given.operator in ("<", "<=") else ">"


def _value(given: Comparison) -> Any:
    return given.right.value if isinstance(given.right, Constant) else None


def _is_finite(value: int | float | Decimal) -> bool:
    """Unlike `math.isfinite`, also of integers and decimals that no float can hold."""
    if isinstance(value, Decimal):
        return value.is_finite()
    return isinstance(value, int) or math.isfinite(value)


# ---- what is allowed and yet odd ------------------------------------------------------------------------------------


def notes(constraint: DenialConstraint) -> list[str]:
    """One sentence for each oddity of a checked constraint."""
    return [*_contradictions(constraint), *_self_comparisons(constraint), *_unrelated_rows(constraint)]


def _contradictions(constraint: DenialConstraint) -> list[str]:
    """Predicates on the same operands that are never true together.

    A cell can lie at three places to another: below, at, above. To n constants it can lie at 2n + 1: at each of them,
    and before, between and after them. Each predicate allows some of the places.
    """
    groups: dict[tuple[Cell, ...], list[Comparison]] = {}
    for predicate in constraint.predicates:
        groups.setdefault(predicate.canonical.cells, []).append(predicate.canonical)
    return [
        f"no rows can violate this rule: {' and '.join(each.text for each in group)} is never true"
        for cells, group in groups.items()
        if not _places(cells, group)
    ]


def _places(cells: tuple[Cell, ...], group: list[Comparison]) -> set[int]:
    """The places that all predicates on the same operands allow."""
    ranks = sorted({_rank(_value(each)) for each in group})
    places = {0} if len(set(cells)) < len(cells) else set(range(-1, 2 * len(ranks)))
    for each in group:
        at = 2 * ranks.index(_rank(_value(each)))
        places = {place for place in places if (place > at) - (place < at) in TRUE_AT[each.operator]}
    return places


def _rank(value: Any) -> tuple[bool, Any]:
    """Sorts the constants of one column: NaN is the largest."""
    nan = isinstance(value, float) and math.isnan(value)
    return (nan, 0 if nan or value is None else value)


def _self_comparisons(constraint: DenialConstraint) -> list[str]:
    return [
        f"{each.text} compares a cell with itself: it is true wherever {each.cells[0].column} is not null"
        for each in constraint.predicates
        if each.left == each.right and 0 in TRUE_AT[each.operator]
    ]


def _unrelated_rows(constraint: DenialConstraint) -> list[str]:
    if constraint.is_single or any(len({c.row for c in each.cells}) == 2 for each in constraint.predicates):
        return []
    return ["nothing relates t to s: every row that is like t pairs with every row that is like s"]
