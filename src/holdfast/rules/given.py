"""Rules that users write: as they wrote them, and bound to their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from holdfast.rules.registry import parse
from holdfast.rules.rule import Origin, Rule, Scope, Severity

R = TypeVar("R", bound=Rule, covariant=True)


@dataclass(frozen=True)
class GivenRule:
    """A rule as a user wrote it: its name, its table ("": the only one), its text, severity and note. `origin` says
    where a rule comes from that no user wrote.
    """

    name: str
    table: str
    text: str
    severity: Severity = "error"
    note: str = ""
    origin: Origin = ""

    def bound(self, scope: Scope) -> tuple[Named[Any], Sequence[str]]:
        """The rule, checked against the columns of its table, and notes on what is odd about it."""
        rule, odd = parse(self.text).checked(scope)
        if rule.where is not None:
            from holdfast.rules.check import Checker  # Arrow is slow to import

            rule = replace(rule, where=Checker.of(scope.schema, scope.ordered).condition(rule.where))
        return Named(rule, self.name, self.severity, self.note, self.origin), odd


@dataclass(frozen=True)
class Named(Generic[R]):
    """A rule of a table, with the name that the user gave it."""

    rule: R
    name: str = ""
    severity: Severity = "error"
    note: str = ""
    origin: Origin = ""

    @cached_property
    def text(self) -> str:
        """The rule's text, cached: engines need it with each batch."""
        return self.rule.text

    @property
    def table(self) -> str:
        """The table whose rows break it."""
        return self.rule.table

    @property
    def called(self) -> str:
        """Its name, or its text where it has none."""
        return self.name or self.text

    def is_called(self, name: str | None) -> bool:
        """Whether a name or text means this rule; None means every rule."""
        return name in (None, self.name, self.text)

    def to_json(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """The object that `--format json` prints; `about` are further fields."""
        start = {"kind": self.rule.kind, "table": self.table, "name": self.name, "severity": self.severity}
        more = {name: text for name, text in (("note", self.note), ("origin", self.origin)) if text}
        return {**start, **about, **more, "text": self.text}


@dataclass(frozen=True)
class TableRules:
    """The given rules of one class for a table, and the table's ordered text columns."""

    rules: tuple[GivenRule, ...] = ()
    ordered: frozenset[str] = frozenset()


Given = Mapping[str, Mapping[str, TableRules]]  # the given rules of each class, table by table


def rules_of(given: Mapping[str, TableRules], schema: Any) -> list[Named[Any]]:
    """The given rules of a class for one table."""
    own = given.get(schema.name, TableRules())
    scope = Scope({schema.name: schema}, schema.name, own.ordered)
    return [each.bound(scope)[0] for each in own.rules]
