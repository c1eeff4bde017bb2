"""How order dependencies are put into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.engines.found import rules
from holdfast.rules.order import Canonical, Compatible, ConstantOD, Direction, compatible_text, constant_text, parse

OrderRules = rules.FoundRules[Canonical]


@dataclass(frozen=True)
class OrderWording(rules.ContextWording[Canonical]):
    """What order dependencies need to be put into words."""

    def direction(self, target: int) -> Direction:
        """How the columns of a pair go together."""
        return "desc" if self.targets.is_descending(target) else "asc"

    def text(self, target: int, context: Sequence[int], written: Sequence[str]) -> str:
        """The text of a rule."""
        own, columns = [written[c] for c in context], self.targets.columns_of[target]
        if len(columns) == 1:
            return constant_text(own, written[columns[0]])
        one, other = (written[c] for c in columns)
        return compatible_text(own, one, other, self.direction(target))

    def rule(self, target: int, context: Sequence[int], error: float, figure: int | None, empty: bool) -> Canonical:
        """A rule."""
        own, columns = tuple([self.names[c] for c in context]), self.targets.columns_of[target]
        if len(columns) == 1:
            return ConstantOD(self.table, own, self.names[columns[0]], error=error, tested_pairs=figure, empty=empty)
        one, other = (self.names[c] for c in columns)
        pair, direction = (one, other), self.direction(target)
        return Compatible(self.table, own, pair, direction, error=error, tested_pairs=figure, empty=empty)

    def parse(self, text: str) -> Canonical:
        """The rule of a text."""
        return parse(text, self.names, self.table)

    def place(self, rule: Canonical) -> tuple[int, Sequence[str]]:
        """The target that a rule is about, and its context."""
        if isinstance(rule, ConstantOD):
            return self.names.index(rule.column), rule.context
        one, other = (self.names.index(name) for name in rule.pair)
        number = self.targets.ascending if rule.direction == "asc" else self.targets.descending
        return number(one, other), rule.context
