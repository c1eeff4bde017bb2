"""Rules about a table as a whole: a quantity of it compares with a constant.

    rows >= 1000
    share(null Phone) <= 0.01      of all rows
    distinct(State) = 50           values, nulls aside
    min(Salary) >= 0, max(Day) <= DATE '2030-01-01'

A quantity may be unknown: the share in a table without rows, the least value of a column without values. Then the rule
passes, as a row does that makes a rule unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast, get_args

from holdfast.changes.names import quoted, unquoted
from holdfast.engines.declared import Severity
from holdfast.engines.language.constants import Constant
from holdfast.engines.language.tokens import OPERATORS
from holdfast.engines.row.model import Cell, Comparison, Condition, IsNull
from holdfast.engines.row.parse import RowReader, is_number, without_quoted
from holdfast.search.queries import Operator

Measure = Literal["rows", "share", "distinct", "min", "max"]
_START = re.compile(r"(?i)(?:rows\s*[=<>!≠≤≥]|(?:share|distinct|min|max)\s*\((?![^()]*\)\s*in\b))")


@dataclass(frozen=True)
class Quantity:
    """What is measured of a table; `column` is empty where it is the number of rows."""

    measure: Measure
    column: str = ""

    @property
    def text(self) -> str:
        """`share(null Phone)`."""
        if self.measure == "rows":
            return "rows"
        null = "null " if self.measure == "share" else ""
        return f"{self.measure}({null}{quoted(self.column)})"


@dataclass(frozen=True)
class TableRule:
    """A quantity of a table compares with a constant."""

    quantity: Quantity
    operator: Operator
    constant: Constant
    name: str = ""
    table: str = ""
    severity: Severity = "error"
    note: str = ""

    @property
    def text(self) -> str:
        """`rows >= 1000`: the canonical form."""
        return f"{self.quantity.text} {self.operator} {self.constant.text}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The column it mentions, if it mentions one."""
        return (self.quantity.column,) if self.quantity.column else ()

    @property
    def of_rows(self) -> Condition | None:
        """What rows satisfy that don't break it, where there are others: those are the ones to look at."""
        cell, measure = Cell(self.quantity.column), self.quantity.measure
        below = self.operator in ("<", "<=")
        if measure == "share" and (below or self.operator == "="):
            return IsNull(cell, negated=True)
        if (measure == "max" and below) or (measure == "min" and self.operator in (">", ">=")):
            return Comparison(cell, self.operator, self.constant)
        return None


def is_table_rule(text: str) -> bool:
    """Whether a text means to be a rule about a table."""
    bare = without_quoted(text)
    return _START.match(bare) is not None and "->" not in bare


def parse(text: str, *, name: str = "", table: str = "", severity: Severity = "error", note: str = "") -> TableRule:
    """The rule that a text says; BadInput that points at the character where it says none."""
    reader = _Reader(text.strip())
    return TableRule(*reader.table_rule(), name, table, severity, note)


class _Reader(RowReader):
    """Reads a rule about a table."""

    def table_rule(self) -> tuple[Quantity, Operator, Constant]:
        """The whole text."""
        quantity = self._quantity()
        if self.peek.word not in OPERATORS:
            raise self.error(self.peek, f"expected an operator after {self.last}, such as = or >=")
        operator = OPERATORS[self.take().word]
        token = self.peek
        constant = self.constant()
        if quantity.measure not in ("min", "max") and not is_number(constant):
            raise self.error(token, f"expected a number, as {quantity.text} is one")
        if self.peek.kind != "end":
            raise self.error(self.peek, f"expected the end after {self.last}: a rule about a table is one comparison")
        return quantity, operator, constant

    def _quantity(self) -> Quantity:
        token = self.take()
        if token.word not in get_args(Measure):
            raise self.error(token, "expected rows, share(null …), distinct(…), min(…) or max(…)")
        measure = cast(Measure, token.word)
        if measure == "rows":
            return Quantity(measure)
        self.expect("(")
        if measure == "share":
            self.expect("null")
        column = self.peek
        if column.kind not in ("word", "quoted"):
            raise self.error(column, f'expected a column after {self.last}; names that are no plain words go in "…"')
        self.take()
        self.expect(")")
        return Quantity(measure, unquoted(column.text))
