"""Rules about a table as a whole: a quantity of it compares with a constant.

    rows >= 1000
    share(null Phone) <= 0.01      of all rows
    distinct(State) = 50           values, nulls aside
    min(Salary) >= 0, max(Day) <= DATE '2030-01-01'

A quantity may be unknown: the share in a table without rows, the least value of a column without values. Then the table
keeps the rule.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

from holdfast.errors import BadInput
from holdfast.rules.conditions import Comparison, Condition, IsNull, constants_of, of_t
from holdfast.rules.constants import Constant
from holdfast.rules.language import ConditionReader
from holdfast.rules.reader import OPERATORS, is_number, without_quoted
from holdfast.rules.rule import Breach, Rule, Scope
from holdfast.rules.terms import Term, names_of
from holdfast.search.queries import Operator
from holdfast.table.nulls import Nulls
from holdfast.text.quotes import quoted

Measure = Literal["rows", "share", "distinct", "min", "max"]
_START = re.compile(r"(?i)(?:rows\s*[=<>!≠≤≥]|(?:share|distinct|min|max)\s*\((?![^()]*\)\s*in\b))")
_MEASURES = {
    "rows": "The number of rows",
    "share": "The share of rows with a null in {}",
    "distinct": "The number of values of {}",
    "min": "The least value of {}",
    "max": "The greatest value of {}",
}
_OPERATORS = {"=": "is", "!=": "is not", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least"}


@dataclass(frozen=True)
class Quantity(Term):
    """What is measured of a table; `column` is empty for the number of rows."""

    measure: Measure
    column: str = ""

    NAMES = ("column",)

    @property
    def text(self) -> str:
        """`share(null Phone)`."""
        if self.measure == "rows":
            return "rows"
        null = "null " if self.measure == "share" else ""
        return f"{self.measure}({null}{quoted(self.column)})"


@dataclass(frozen=True)
class TableRule(Rule):
    """A quantity of a table compares with a constant."""

    quantity: Quantity
    operator: Operator
    constant: Constant

    NAMES = ("quantity", "where")
    ABOUT = ("columns",)
    kind = prefix = given_as = "table"
    example = "rows >= 1000"
    described = "a rule about a table"
    counted = "the table"  # one violation, or none

    @classmethod
    def means(cls, text: str) -> bool:
        """It starts with a quantity."""
        bare = without_quoted(text)
        return _START.match(bare) is not None and "->" not in bare

    @classmethod
    def parse(cls, text: str) -> Self:
        """`rows >= 1000`."""
        return cls(*_Reader(text).table_rule())

    @property
    def body(self) -> str:
        """`rows >= 1000`."""
        return f"{self.quantity.text} {self.operator} {self.constant.text}"

    @property
    def says(self) -> str:
        """`The number of rows is at least 1000.`"""
        measured = _MEASURES[self.quantity.measure].format(self.quantity.column)
        return f"{measured} {_OPERATORS[self.operator]} {self.constant.text}."

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that it measures, if any, and those of its `where`."""
        own = (self.quantity.column,) if self.quantity.measure != "rows" else ()
        return tuple(dict.fromkeys((*own, *names_of(self.where))))

    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:  # noqa: ARG002
        """No row breaks it; the table does."""
        return ()

    @property
    def constants(self) -> list[Constant]:
        """The constant of the comparison, and those of its `where`."""
        return [self.constant, *(constants_of(self.where) if self.where else ())]

    @property
    def of_rows(self) -> Condition | None:
        """A condition that rows violate which are worth a look, such as rows with a null; None: there is none."""
        cell, measure = of_t(self.quantity.column), self.quantity.measure
        below = self.operator in ("<", "<=")
        if measure == "share" and (below or self.operator == "="):
            return IsNull(cell, negated=True)
        if (measure == "max" and below) or (measure == "min" and self.operator in (">", ">=")):
            return Comparison(cell, self.operator, self.constant)
        return None

    def checked(self, scope: Scope) -> tuple[Self, Sequence[str]]:
        """With the constant in the type of the column."""
        from holdfast.rules.check import Checker  # Arrow is slow to import

        quantity, cell, number = self.quantity, of_t(self.quantity.column), self.constant.value
        checker = Checker.of(scope.schema, scope.ordered)
        if quantity.measure in ("min", "max"):
            checker.condition(Comparison(cell, "<", self.constant))  # the least value needs an order
            fitted = checker.condition(Comparison(cell, self.operator, self.constant)).operands[-1]
            assert isinstance(fitted, Constant)
            return replace(self, table=scope.table, constant=fitted), ()
        if quantity.column:
            checker.condition(IsNull(cell))
        if isinstance(number, float) and not math.isfinite(number):
            raise BadInput(f"{self.text} does not compare with a number; write one")
        if quantity.measure == "share" and not 0 <= number <= 1:  # type: ignore[operator]  # it is a number
            raise BadInput(f"{self.text}: a share is from 0 to 1; write 0.01 for one in a hundred")
        return replace(self, table=scope.table), ()


class _Reader(ConditionReader):
    """Reads a rule about a table."""

    def table_rule(self) -> tuple[Quantity, Operator, Constant]:
        """The whole text."""
        quantity = self._quantity()
        operator = OPERATORS[self.one_of(OPERATORS, f"expected an operator after {self.last}, such as = or >=").word]
        token = self.peek
        constant = self.constant()
        if quantity.measure not in ("min", "max") and not is_number(constant):
            raise self.error(token, f"expected a number: {quantity.text} is one")
        self.end(f"expected the end after {self.last}: a rule about a table is one comparison")
        return quantity, operator, constant

    def _quantity(self) -> Quantity:
        token = self.take()
        measure = next((each for each in get_args(Measure) if each == token.word), None)
        if measure is None:
            raise self.error(token, "expected rows, share(null …), distinct(…), min(…) or max(…)")
        if measure == "rows":
            return Quantity(measure)
        self.expect("(", *(["null"] if measure == "share" else []))
        column = self.name(f"expected a column after {self.last}; put names that aren't plain words in double quotes")
        self.expect(")")
        return Quantity(measure, column)
