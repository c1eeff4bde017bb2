"""Denial constraints as frozen values, each with one text form (papers: weever, definition 3.1).

`not(t.Zip = s.Zip and t.City != s.City)` says that no two different rows t and s make all the predicates true at once;
`not(t.Age < 0)` says it of one row. A comparison with null is never true.

Normal form, made by the constructor: there is a predicate; none is there twice, however it was written; a predicate of
both rows has t on its left; a constraint about one row calls it t. Otherwise predicates stay as and where they were
written, and `parse(c.text).predicates == c.predicates`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from holdfast.changes.names import quoted
from holdfast.engines.declared import Severity
from holdfast.engines.language.constants import Constant as Constant
from holdfast.errors import BadInput
from holdfast.search.queries import MIRRORED as MIRRORED
from holdfast.search.queries import Operator as Operator

Row = Literal["t", "s"]


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
