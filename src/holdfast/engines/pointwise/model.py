"""Pointwise order dependencies (papers: incpod, section III): frozen values, each with one text form that parses back.

    {SAL<, TXA>=} -> RATE<      of two rows, the one with less SAL and at least as much TXA has less RATE
    {Zip=} -> State=            rows that agree on Zip agree on State (the FD Zip -> State)
    {} -> Year=                 all rows agree on Year

For any two different rows t and s: if t compares with s as every mark on the left says, it does as the one on the right
says. Columns of a left side stand in the order of the table. A rule and its mirror image, with `<` and `>` changed for
each other, say the same. One of the two is told: the right side is `<`, `<=` or `=`, and where it is `=`, the first
inequality on the left is `<` or `<=`. Names that aren't plain words stand in double quotes, doubled within.

The conjunction of the left side and of what the right side rules out is met by no two rows: it is a denial constraint,
and names the **class** of a rule. Rules of one class are readings of it, and hold together or not at all.
`coverage` is the share of ordered pairs of rows that meet the left side, None where nobody asked for it, and
`coverage_error` is twice its standard error where it was reckoned with a sample. A rule is **vacuous** where no pair
meets its left side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.changes.names import quoted
from holdfast.changes.reader import Reader, follows_braces, refuse_unknown, token_pattern
from holdfast.errors import BadInput

Operator = Literal["<", "<=", "=", ">=", ">"]
Mark = tuple[str, Operator]

MIRRORED: dict[Operator, Operator] = {"<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<"}
HINT = "write {A<, B=} -> C<=, with <, <=, =, >= or > after each name"


@dataclass(frozen=True)
class Pointwise:
    """For two different rows that compare as all marks of `left` say, so does the mark `right`."""

    table: str
    left: tuple[Mark, ...]
    right: Mark
    denial: str = ""  # the denial constraint that names its class
    coverage: float | None = None
    coverage_error: float = 0.0
    vacuous: bool = False

    kind = "pod"

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """`{SAL<, TXA>=} -> RATE<`."""
        return rule_text([_written(mark) for mark in self.left], _written(self.right))

    @property
    def looked_at(self) -> tuple[str, ...]:
        """All columns."""
        return (*(name for name, _ in self.left), self.right[0])

    @property
    def mirrored(self) -> Pointwise:
        """The same rule with both rows changed for each other."""
        left = tuple((name, MIRRORED[operator]) for name, operator in self.left)
        return replace(self, left=left, right=(self.right[0], MIRRORED[self.right[1]]))

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        sampled = {"coverage_error": self.coverage_error} if self.coverage_error else {}
        covered = {} if self.coverage is None else {"coverage": self.coverage, **sampled}
        return {
            "kind": self.kind,
            "table": self.table,
            "lhs": [list(mark) for mark in self.left],
            "rhs": list(self.right),
            "class": self.denial,
            **covered,
            "vacuous": self.vacuous,
            "text": self.text,
        }


def rule_text(left: Sequence[str], right: str) -> str:
    """The text of marks that are written already."""
    return f"{{{', '.join(left)}}} -> {right}"


def denial_text(marks: Sequence[tuple[str, str]]) -> str:
    """The denial constraint that no two rows compare as some marks say; names are quoted already."""
    return f"not({' and '.join(f't.{name} {operator} s.{name}' for name, operator in marks)})"


def _written(mark: Mark) -> str:
    return quoted(mark[0]) + mark[1]


def folded(rule: Pointwise) -> Pointwise:
    """Of a rule whose columns stand in the order of the table and of its mirror image, the one that is told."""
    inequalities = [operator for _, operator in (rule.right, *rule.left) if operator != "="]
    return rule.mirrored if inequalities and inequalities[0] in (">", ">=") else rule


# ---- from text ------------------------------------------------------------------------------------------------------


def is_pointwise(text: str) -> bool:
    """Whether a text means to be a pointwise order dependency: an arrow follows the braces that it starts with."""
    return follows_braces(text) == "->"


def parse(text: str, names: Sequence[str] | None = None, table: str = "") -> Pointwise:
    """The rule of a text. With the column names of a table, columns come in their order and of two mirror images the
    one that is told; unknown columns are refused.
    """
    rule = _Reader(text, HINT).rule(table)
    if names is None:
        return rule
    refuse_unknown(text, rule.looked_at, names)
    left = tuple(sorted(rule.left, key=lambda mark: names.index(mark[0])))
    return folded(replace(rule, left=left))


class _Reader(Reader):
    """Reads a pointwise order dependency."""

    pattern = token_pattern(r"->|<=|>=|[{},<=>]")

    def rule(self, table: str) -> Pointwise:
        self.expect("{")
        left: list[Mark] = []
        while self.peek() != ("mark", "}"):
            if left:
                self.expect(",")
            left.append(self.mark())
        self.expect("}")
        self.expect("->")
        right = self.mark()
        self.expect("")
        mentioned = [name for name, _ in (*left, right)]
        for name in mentioned:
            if mentioned.count(name) > 1:
                raise BadInput(f"{self.text!r}: the column {name!r} is there twice; leave one out")
        return Pointwise(table, tuple(left), right)

    def mark(self) -> Mark:
        """Go past a name and its operator, which must be here."""
        name = self.name()
        kind, operator = self.peek()
        if kind != "mark" or operator not in MIRRORED:
            raise self.wrong("<, <=, =, >= or >")
        self.at += 1
        return name, operator
