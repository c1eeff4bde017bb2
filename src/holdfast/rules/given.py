"""Rules that people give: as they wrote them, and bound to their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from holdfast.rules.registry import parse
from holdfast.rules.rule import Bounds, Rule, Severity

R = TypeVar("R", bound=Rule, covariant=True)


@dataclass(frozen=True)
class GivenRule:
    """A rule as someone gave it: with a name, for a table ("": the only one), in the words of its class."""

    name: str
    table: str
    text: str
    severity: Severity = "error"
    note: str = ""

    def bound(self, to: Bounds) -> tuple[Named[Any], Sequence[str]]:
        """The rule checked against the columns of its table, and what is odd about it."""
        rule, odd = parse(self.text).bound(to)
        return Named(rule, self.name, self.severity, self.note), odd


@dataclass(frozen=True)
class Named(Generic[R]):
    """A rule of a table, with the name that someone gave it."""

    rule: R
    name: str = ""
    severity: Severity = "error"
    note: str = ""

    @cached_property
    def text(self) -> str:
        """The rule: engines ask for it with each batch."""
        return self.rule.text

    @property
    def table(self) -> str:
        """The table whose rows break it."""
        return self.rule.table

    @property
    def called(self) -> str:
        """Its name, or its text where it has none."""
        return self.name or self.text

    def is_asked(self, asked: str | None) -> bool:
        """Whether it is the one with a name or text, or all are asked for."""
        return asked in (None, self.name, self.text)

    def to_json(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """The object that `--format json` prints, with what else there is to say of it."""
        start = {"kind": self.rule.kind, "table": self.table, "name": self.name, "severity": self.severity}
        note = {"note": self.note} if self.note else {}
        return {**start, **about, **note, "text": self.text}


@dataclass(frozen=True)
class TableRules:
    """The rules of one class that were given for a table, and its text columns whose order means something."""

    rules: tuple[GivenRule, ...] = ()
    ordered: frozenset[str] = frozenset()

    def bound(self, schemas: Mapping[str, Any], table: str) -> list[Named[Any]]:
        """The rules, bound to their table."""
        to = Bounds(schemas, table, self.ordered)
        return [given.bound(to)[0] for given in self.rules]


Given = Mapping[str, Mapping[str, TableRules]]  # the given rules of each class, table by table


def rules_of(given: Mapping[str, TableRules], schema: Any) -> list[Named[Any]]:
    """The rules of a class that were given for one table."""
    return given.get(schema.name, TableRules()).bound({schema.name: schema}, schema.name)
