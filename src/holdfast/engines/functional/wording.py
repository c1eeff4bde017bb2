"""How keys and FDs are put into words. Targets are columns, or the number after the last one: keys."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.engines.found import rules
from holdfast.rules.dependency import FD, Dependency, Key, fd_text, key_text, parse

DependencyRules = rules.FoundRules[Dependency]


class DependencyWording(rules.ContextWording[Dependency]):
    """What keys and FDs need to be put into words."""

    def text(self, target: int, context: Sequence[int], written: Sequence[str]) -> str:
        """The text of a rule."""
        lhs = [written[c] for c in context]
        return fd_text(lhs, written[target]) if target < len(written) else key_text(lhs)

    def rule(self, target: int, context: Sequence[int], error: float, figure: int | None, empty: bool) -> Dependency:  # noqa: ARG002
        """A rule."""
        lhs = tuple([self.names[c] for c in context])
        if target == len(self.names):
            return Key(self.table, lhs, error=error, empty=empty)
        return FD(self.table, lhs, self.names[target], error=error, empty=empty)

    def parse(self, text: str) -> Dependency:
        """The rule of a text."""
        return parse(text, self.names, self.table)

    def place(self, rule: Dependency) -> tuple[int, Sequence[str]]:
        """The target that a rule is about, and its left side."""
        return self.names.index(rule.rhs) if isinstance(rule, FD) else len(self.names), rule.lhs
