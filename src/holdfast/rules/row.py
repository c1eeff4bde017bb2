"""Rules about one row: `t.Age between 0 and 120` says what every row t of a table must satisfy.

As with SQL's CHECK, a row violates a rule that is false for it; a row passes where a null makes the rule unknown. With
`where`, the rule is about the rows for which that condition is true.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from holdfast.rules.conditions import Condition, Either
from holdfast.rules.language import ConditionReader
from holdfast.rules.reader import without_quoted
from holdfast.rules.rule import Breach, Rule, Scope
from holdfast.table.nulls import Nulls
from holdfast.text.quotes import WORD

_ROWS = frozenset(["s", "t0", "t1", "t2"])  # as denial constraints call them
_CELL = re.compile(rf'(?<![\w."])(?P<row>{WORD}|"")\s*\.\s*(?:{WORD}|"")')
_NUMBER = re.compile(r"\b[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_OWN = re.compile(r"(?i)\b(?:is|in|between|like|matches|or)\b|[|∨*/]|[\w)]\s*[+-]")  # no denial constraint has these


@dataclass(frozen=True)
class RowRule(Rule):
    """What every row of a table must satisfy."""

    condition: Condition

    NAMES = ("condition", "where")
    ABOUT = ("columns",)
    kind = prefix = given_as = "row"
    example = "t.Age between 0 and 120"
    described = "a rule about one row"

    @classmethod
    def means(cls, text: str) -> bool:
        """It names columns of a row t and looks like no other class. With `not` before all of it, it is a denial
        constraint, unless it has what these can't have.
        """
        bare = without_quoted(text)
        rows = {found["row"].lower() for found in _CELL.finditer(bare)}
        if "t" not in rows or rows & _ROWS or "->" in bare or bare.startswith(("{", "[")):
            return False
        plain = _NUMBER.sub("0", _CELL.sub("c", bare))
        if re.search(r"(?i)\bin\b\s*[^\s(]", plain):  # a reference to another table
            return False
        negation = re.match(r"(?i)(?:not\b|!(?!=)|¬)\s*", plain)
        return negation is None or not _is_one_group(plain[negation.end() :]) or _OWN.search(plain) is not None

    @classmethod
    def parse(cls, text: str) -> Self:
        """A condition on row t."""
        return cls(ConditionReader(text).rule())

    @property
    def body(self) -> str:
        """The condition."""
        return self.condition.text

    @property
    def says(self) -> str:
        """`In every row t: t.Age between 0 and 120.`"""
        return f"In every row t: {self.condition.text}."

    @property
    def meaning(self) -> str:
        """The same with the rows that it is about."""
        return self.says if self.where is None else f"In every row t with {self.where.text}: {self.condition.text}."

    @property
    def satisfied(self) -> Condition:
        """What every row satisfies, also those that `where` leaves out."""
        return self.condition if self.where is None else Either((self.where.opposite, self.condition))

    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:  # noqa: ARG002  # as in SQL
        """A row breaks it if the condition is false."""
        return (Breach((self.condition.opposite,), self.columns),)

    def checked(self, scope: Scope) -> tuple[Self, Sequence[str]]:
        """With constants in the types of the columns."""
        from holdfast.rules.check import Checker  # Arrow is slow to import

        checker = Checker.of(scope.schema, scope.ordered)
        return replace(self, table=scope.table, condition=checker.condition(self.condition)), ()


def _is_one_group(text: str) -> bool:
    """Whether a text stands in one pair of parentheses, and has no `not` in it."""
    depth = 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth:
            return character == ")" and place == len(text) - 1 and not re.search(r"(?i)\bnot\b|!(?!=)|¬", text)
    return text.startswith("(")
