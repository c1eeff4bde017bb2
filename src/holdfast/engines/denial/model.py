"""Denial constraints as frozen values, each with one text form (papers: weever, definition 3.1).

`not(t.Zip = s.Zip and t.City != s.City)` says that no two different rows t and s make all the predicates true at once;
`not(t.Age < 0)` says it of one row. A comparison with null is never true.

Normal form, made by the constructor: there is a predicate; none is there twice, however it was written; a predicate of
both rows has t on its left; a constraint about one row calls it t. Otherwise predicates stay as and where they were
written, and `parse(c.text).predicates == c.predicates`.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeVar

from holdfast.changes.names import in_quotes, quoted
from holdfast.engines.declared import Severity
from holdfast.errors import BadInput
from holdfast.search.queries import MIRRORED as MIRRORED
from holdfast.search.queries import Operator as Operator

Row = Literal["t", "s"]
Value = int | float | str | bool | dt.date | dt.datetime | dt.time | Decimal


@dataclass(frozen=True)
class Cell:
    """A column of one of the two rows."""

    row: Row
    column: str

    @property
    def text(self) -> str:
        """`t.Zip`, and `t."First Name"` where the name isn't a plain word."""
        return f"{self.row}.{quoted(self.column)}"

    @property
    def swapped(self) -> Cell:
        """The same column of the other row."""
        return Cell("s" if self.row == "t" else "t", self.column)


@dataclass(frozen=True, eq=False)
class Constant:
    """A value written in a rule. Constants are equal iff their texts are: 1.5 the float is 1.5 the decimal (which of
    them it is, the column tells), NaN is NaN, and true is not 1.
    """

    value: Value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def text(self) -> str:
        """As a rule writes it: `5`, `'paid'`, `true`, `DATE '2020-01-31'`."""
        value = self.value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return in_quotes(value, "'")
        if isinstance(value, int | float | Decimal):
            return _number_text(value)
        if isinstance(value, dt.datetime):
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        return f"{'DATE' if isinstance(value, dt.date) else 'TIME'} '{value.isoformat()}'"


@dataclass(frozen=True)
class Predicate:
    """One comparison."""

    left: Cell
    operator: Operator
    right: Cell | Constant

    @property
    def text(self) -> str:
        """`t.Salary > s.Salary`."""
        return f"{self.left.text} {self.operator} {self.right.text}"

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The one or two cells that it compares."""
        return (self.left, self.right) if isinstance(self.right, Cell) else (self.left,)

    @property
    def mirrored(self) -> Predicate:
        """The same said from the other side, where both sides are cells."""
        if isinstance(self.right, Constant):
            return self
        return Predicate(self.right, MIRRORED[self.operator], self.left)

    @property
    def swapped(self) -> Predicate:
        """What it says when the rows change roles."""
        return Predicate(self.left.swapped, self.operator, _swapped(self.right))

    @property
    def canonical(self) -> Predicate:
        """One writing for all predicates that say the same: t, then the first column by name, on the left."""
        if isinstance(self.right, Constant):
            return self
        backwards = (self.left.row == "s", self.left.column) > (self.right.row == "s", self.right.column)
        return self.mirrored if backwards else self


@dataclass(frozen=True)
class DenialConstraint:
    """No two different rows (t, s) may make all predicates true; with one row mentioned, no row may."""

    predicates: tuple[Predicate, ...]
    name: str = ""
    table: str = ""
    severity: Severity = "error"
    note: str = ""

    def __post_init__(self) -> None:
        if not self.predicates:
            raise BadInput("a denial constraint needs at least one predicate; write one, such as not(t.Age < 0)")
        object.__setattr__(self, "predicates", _normal(self.predicates))

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """`not(t.State = s.State and t.Salary > s.Salary)`: the canonical form."""
        return f"not({' and '.join(predicate.text for predicate in self.predicates)})"

    @property
    def is_symmetric(self) -> bool:
        """Whether swapping t and s gives the same predicates: then each pair of rows counts once."""
        return _as_set(self.predicates) == _as_set(predicate.swapped for predicate in self.predicates)

    @property
    def is_single(self) -> bool:
        """Whether it speaks of one row only."""
        return all(cell.row == "t" for predicate in self.predicates for cell in predicate.cells)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it mentions, each once, in the order of mention."""
        return tuple(dict.fromkeys(cell.column for predicate in self.predicates for cell in predicate.cells))


def _normal(predicates: Iterable[Predicate]) -> tuple[Predicate, ...]:
    """Predicates in normal form (see the head of the module)."""
    given = list(predicates)
    if all(cell.row == "s" for predicate in given for cell in predicate.cells):
        given = [predicate.swapped for predicate in given]
    distinct: dict[Predicate, Predicate] = {}
    for predicate in given:
        distinct.setdefault(predicate.canonical, _t_first(predicate))
    return tuple(distinct.values())


def _t_first(predicate: Predicate) -> Predicate:
    right = predicate.right
    crossing = isinstance(right, Cell) and predicate.left.row == "s" and right.row == "t"
    return predicate.mirrored if crossing else predicate


def _as_set(predicates: Iterable[Predicate]) -> frozenset[Predicate]:
    return frozenset(predicate.canonical for predicate in predicates)


def _swapped(operand: Cell | Constant) -> Cell | Constant:
    return operand.swapped if isinstance(operand, Cell) else operand


def _number_text(value: int | float | Decimal) -> str:
    """Digits that read back as an equal constant; zero has no sign."""
    if isinstance(value, int):
        return str(value)
    if value != value:
        return "NaN"
    if abs(value) == math.inf:
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, float):
        return repr(value + 0.0)
    return format(value.copy_abs() if value.is_zero() else value, "f")


# ---- dates and times ------------------------------------------------------------------------------------------------

_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_STAMP = f"{_DATE}([ T]{_CLOCK}(Z|[+-][0-9]{{2}}:[0-9]{{2}})?)?"
_Moment = TypeVar("_Moment")


def read_date(text: str) -> dt.date | None:
    """The date that `YYYY-MM-DD` names, or None."""
    return _made(dt.date.fromisoformat, text) if re.fullmatch(_DATE, text) else None


def read_timestamp(text: str) -> dt.datetime | None:
    """The moment that `YYYY-MM-DD HH:MM:SS` names, or None; seconds, zone, and the clock as a whole may be missing."""
    return _made(dt.datetime.fromisoformat, text) if re.fullmatch(_STAMP, text) else None


def read_time(text: str) -> dt.time | None:
    """The time of day that `HH:MM:SS` names, or None."""
    return _made(dt.time.fromisoformat, text) if re.fullmatch(_CLOCK, text) else None


def _made(make: Callable[[str], _Moment], text: str) -> _Moment | None:
    try:
        return make(text)
    except ValueError:  # a month 13, a 30th of February
        return None
