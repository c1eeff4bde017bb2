"""Pointwise order dependencies (papers: incpod, section III).

    {SAL<, TXA>=} -> RATE<      of two rows, the one with less SAL and at least as much TXA has less RATE
    {Zip=} -> State=            rows that agree on Zip agree on State (the FD Zip -> State)
    {} -> Year=                 all rows agree on Year

A **mark** is a column with an operator. For any two different rows t and s: if t compares with s as every mark on the
left says, it also compares as the mark on the right says. The columns of a left side stand in the order of the table. A
rule and its mirror image, with `<` and `>` swapped, say the same. Only one is shown: its right side is `<`, `<=` or
`=`; where it is `=`, the first inequality on the left is `<` or `<=`. Names that aren't plain words stand in double
quotes, doubled within.

No two rows meet the left side and the negated right side: that is a denial constraint, which names the **class** of the
rule. Rules of one class are readings of it, and hold together or not at all. `coverage` is the share of ordered pairs
of rows that meet the left side (None: not computed); `coverage_error` is twice its standard error, where it was
estimated from a sample. A rule is **vacuous** if no pair meets its left side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from holdfast.rules.conditions import NEGATED, Cell, Condition, Either, IsNull, compared
from holdfast.rules.reader import Reader, follows_braces
from holdfast.rules.rule import Breach, Rule, listed
from holdfast.rules.terms import names_of, renamed
from holdfast.search.queries import MIRRORED, Operator
from holdfast.table.nulls import Nulls
from holdfast.text.quotes import quoted

Mark = tuple[str, Operator]

HINT = "write {A<, B=} -> C<=, with <, <=, =, >= or > after each name"
_WORDS = {"<": "a smaller", "<=": "a smaller or equal", "=": "the same", ">=": "a greater or equal", ">": "a greater"}


class _Reader(Reader):
    hint = HINT

    def mark(self) -> Mark:
        """Go past a name and its operator, which must come next."""
        name = self.name()
        operator = self.takes(*_WORDS)
        if not operator:
            raise self.expected("<, <=, =, >= or >")
        return name, operator  # type: ignore[return-value]  # one of the operators


@dataclass(frozen=True)
class Pointwise(Rule):
    """Two different rows that compare as all marks of `left` say also compare as `right` says."""

    table: str
    left: tuple[Mark, ...]
    right: Mark
    denial: str = ""  # the denial constraint that names its class
    coverage: float | None = None
    coverage_error: float = 0.0
    vacuous: bool = False

    kind = prefix = "pod"
    example = "{Salary<} -> Rate<="
    described = "a pointwise order dependency"

    @classmethod
    def means(cls, text: str) -> bool:
        """An arrow follows the braces that it starts with."""
        return follows_braces(text) == "->"

    @classmethod
    def parse(cls, text: str) -> Self:
        """`{A<, B=} -> C<=`."""
        reader = _Reader(text)
        reader.expect("{")
        left = reader.items(reader.mark, "}")
        reader.expect("->")
        right = reader.mark()
        reader.end()
        reader.refuse_twice([name for name, _ in (*left, right)])
        return cls("", tuple(left), right)

    @property
    def body(self) -> str:
        """`{SAL<, TXA>=} -> RATE<`."""
        return rule_text([_written(mark) for mark in self.left], _written(self.right))

    @property
    def says(self) -> str:
        """`Of two rows, a row that has a smaller Salary has a smaller Rate.`"""
        left = f"a row that has {listed([_said(mark) for mark in self.left])}" if self.left else "each"
        return f"Of two rows, {left} has {_said(self.right)}."

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns."""
        return tuple(dict.fromkeys((*(name for name, _ in self.left), self.right[0], *names_of(self.where))))

    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:
        """Two rows break it that compare as the left side says, and not as the right side does. A null that compares
        with nothing breaks every right side.
        """
        column, operator = self.right
        left = (compared(*mark, nulls) for mark in self.left)
        right: Condition = compared(column, NEGATED[operator], nulls)
        if nulls.are_distinct and operator != "=":
            right = Either((right, IsNull(Cell("t", column)), IsNull(Cell("s", column))))
        return (Breach((*left, right), (column,)),)

    @property
    def mirrored(self) -> Self:
        """The same rule with both rows swapped."""
        left = tuple((name, MIRRORED[operator]) for name, operator in self.left)
        return replace(self, left=left, right=(self.right[0], MIRRORED[self.right[1]]))

    @property
    def folded(self) -> Self:
        """The rule or its mirror image, whichever is shown; its columns stand in the order of the table."""
        inequalities = [operator for _, operator in (self.right, *self.left) if operator != "="]
        return self.mirrored if inequalities and inequalities[0] in (">", ">=") else self

    def in_table(self, names: Sequence[str], table: str) -> Self:
        """With its columns in the order of the table; of two mirror images the one that is shown."""
        own = super().in_table(names, table)
        return replace(own, left=tuple(sorted(self.left, key=lambda mark: names.index(mark[0])))).folded

    def renamed(self, table: str, names: Any) -> Self:  # noqa: ARG002
        """Renames columns; operators are not names."""
        *left, right = [(names.get(name, name), operator) for name, operator in (*self.left, self.right)]
        return replace(self, left=tuple(left), right=right, where=renamed(self.where, names))

    @property
    def about(self) -> dict[str, Any]:
        """Its marks."""
        return {"lhs": [list(mark) for mark in self.left], "rhs": list(self.right), "class": self.denial}

    @property
    def figures(self) -> dict[str, Any]:
        """The share of pairs of rows that test it."""
        sampled = {"coverage_error": self.coverage_error} if self.coverage_error else {}
        covered = {} if self.coverage is None else {"coverage": self.coverage, **sampled}
        return {**covered, "vacuous": self.vacuous}


def rule_text(left: Sequence[str], right: str) -> str:
    """The text of a rule, given the texts of its marks."""
    return f"{{{', '.join(left)}}} -> {right}"


def denial_text(marks: Sequence[tuple[str, str]]) -> str:
    """The denial constraint that no two rows compare as some marks say; names come quoted."""
    return f"not({' and '.join(f't.{name} {operator} s.{name}' for name, operator in marks)})"


def _written(mark: Mark) -> str:
    return quoted(mark[0]) + mark[1]


def _said(mark: Mark) -> str:
    return f"{_WORDS[mark[1]]} {mark[0]}"


def parse(text: str, names: Sequence[str], table: str) -> Pointwise:
    """The rule of a text about a table with some columns; refuses unknown columns."""
    return Pointwise.parse(text).in_table(names, table)
