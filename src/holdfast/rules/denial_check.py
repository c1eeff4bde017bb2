"""Types: does a denial constraint make sense for a table?

Besides the checks of every condition (`check`), constants are fitted to their columns: one that an integer or decimal
column can't hold is rounded down together with its operator (`t.Age < 0.5` becomes `t.Age <= 0`). So no later step
compares a constant across types.

`notes` says what is allowed but odd: a constraint that no rows can violate, or one that does not relate its rows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from holdfast.rules.arithmetic import LARGEST, as_float
from holdfast.rules.check import Checker, check_float
from holdfast.rules.conditions import TRUE_AT, Arithmetic, Call, Cell, Comparison, Condition, Operand, Test
from holdfast.rules.constants import Constant, Unfit
from holdfast.rules.reader import is_number
from holdfast.search.queries import Operator
from holdfast.table.table import Schema
from holdfast.table.types import show_type


def check(predicates: Sequence[Comparison], schema: Schema, ordered: Collection[str] = ()) -> tuple[Comparison, ...]:
    """The predicates, with constants in the types of their columns; BadInput where they make no sense for the table."""
    checked = map(_Fitting.of(schema, ordered).condition, predicates)
    return tuple(each for each in checked if isinstance(each, Comparison))


class _Fitting(Checker):
    """Gives numbers the type of their column."""

    def simple(self, given: Comparison | Test) -> Condition:
        """The predicate, with its constant in the type of the column."""
        checked = super().simple(given)
        assert isinstance(checked, Comparison)
        left, right = checked.left, checked.right
        if not isinstance(left, Cell) or not isinstance(right, Constant) or not is_number(right):
            return checked
        operator, value = _fit_number(checked.operator, self.types[left.column], right.value)
        return replace(checked, operator=operator, right=Constant(value))

    def check_numbers(self, left: Cell | Arithmetic | Call, right: Operand) -> None:
        """Nothing yet: `simple` fits numbers."""


def _fit_number(operator: Operator, kept: pa.DataType, value: Any) -> tuple[Operator, Any]:
    """The operator and the number that mean the same in the type of the column."""
    if pa.types.is_floating(kept):
        check_float(value)
        return operator, as_float(value) + 0.0  # minus zero is zero
    if isinstance(value, float) and not math.isfinite(value):
        raise Unfit(f"can't be: a column of type {show_type(kept)} holds no such value")
    scale = kept.scale if pa.types.is_decimal(kept) else 0
    exact = Fraction(Decimal(repr(value)) if isinstance(value, float) else value) * Fraction(10) ** scale
    unscaled = math.floor(exact)
    if abs(unscaled) > (LARGEST if pa.types.is_integer(kept) else 10**kept.precision - 1):
        raise Unfit(f"can't be: a column of type {show_type(kept)} holds no such number")
    operator = operator if exact == unscaled else _rounded(operator, kept)
    if pa.types.is_integer(kept):
        return operator, unscaled
    return operator, Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))


def _rounded(operator: Operator, kept: pa.DataType) -> Operator:
    """The operator for the constant rounded down to a number that the column can hold."""
    if operator in ("=", "!="):
        always = "never" if operator == "=" else "always"
        raise Unfit(f"is {always} true: a column of type {show_type(kept)} holds no such number")
    return "<=" if operator in ("<", "<=") else ">"


def _value(given: Comparison) -> Any:
    return given.right.value if isinstance(given.right, Constant) else None


# ---- what is allowed but odd ----------------------------------------------------------------------------------------


def notes(predicates: Sequence[Comparison]) -> list[str]:
    """One sentence for each oddity of the checked predicates of a constraint."""
    return [*_contradictions(predicates), *_self_comparisons(predicates), *_unrelated_rows(predicates)]


def _contradictions(predicates: Sequence[Comparison]) -> list[str]:
    """Predicates on the same operands that are never true together.

    A cell has three places relative to another: below, at, above. Relative to n constants it has 2n + 1: at each of
    them, and before, between and after them. Each predicate allows some of the places.
    """
    groups: dict[tuple[Cell, ...], list[Comparison]] = {}
    for predicate in predicates:
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


def _self_comparisons(predicates: Sequence[Comparison]) -> list[str]:
    return [
        f"{each.text} compares a cell with itself: it is true wherever {each.cells[0].column} is not null"
        for each in predicates
        if each.left == each.right and 0 in TRUE_AT[each.operator]
    ]


def _unrelated_rows(predicates: Sequence[Comparison]) -> list[str]:
    rows = [{cell.row for cell in each.cells} for each in predicates]
    if len(set().union(*rows)) < 2 or any(len(each) == 2 for each in rows):
        return []
    return ["nothing relates t to s: every row that may be t pairs with every row that may be s"]
