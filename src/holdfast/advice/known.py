"""The known rules of a table: constants, and pairs of columns that don't swap, by context.

| rule | what it says |
|---|---|
| `Zip -> State`, `{Zip}: [] -> State` | among rows equal on Zip, State is constant |
| `key(Id)` | among rows equal on Id, every column is constant: there is one such row |
| `{Year}: Salary ~ Bin` | among rows equal on Year, no two swap Salary and Bin |
| `[Year, Salary] orders [Year, Bin]` | both, for the columns of its lists (papers: fastod, theorem 5) |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from holdfast.changes.diff import Finding
from holdfast.rules.dependency import FD, Key
from holdfast.rules.lists import ListOD
from holdfast.rules.order import Compatible, ConstantOD
from holdfast.rules.registry import parse
from holdfast.rules.rule import Rule

USED = (FD, Key, ConstantOD, Compatible, ListOD)  # the rules that matter for orders and groups
Names = frozenset[str]
Pair = tuple[Names, bool]  # two columns, and whether they rise together; else one falls where the other rises


@dataclass
class KnownRules:
    """The rules of one table that hold, each with its text."""

    names: Sequence[str]
    constants: list[tuple[Names, str, str]] = field(default_factory=list)  # context, column, text
    keys: list[tuple[Names, str]] = field(default_factory=list)
    pairs: dict[Pair, list[tuple[Names, str]]] = field(default_factory=dict)  # contexts with texts
    lists: list[ListOD] = field(default_factory=list)

    @staticmethod
    def of(findings: Iterable[Finding], names: Sequence[str], clause: Iterable[str]) -> KnownRules:
        """The rules among some findings that may matter for the columns of a clause.

        Of found rules all minimal ones are there. So one whose context has two or more columns outside the clause adds
        nothing: the lists that are tried differ from the clause in one column.
        """
        known, near = KnownRules(names), frozenset(clause)
        for finding in findings:
            if isinstance(finding, FD | Key | ConstantOD | Compatible):
                if not finding.error and len(_context(finding) - near) <= 1:
                    known.add(finding)
            elif not finding.to_json()["violations"] and (rule := parse(finding.text)).where is None:
                known.add(rule)
        return known

    def add(self, rule: Rule) -> None:
        """Add a rule that holds."""
        match rule:
            case FD():
                self.constants.append((_context(rule), rule.rhs, rule.text))
            case Key():
                self.keys.append((_context(rule), rule.text))
            case ConstantOD():
                self.constants.append((_context(rule), rule.column, rule.text))
            case Compatible():
                self._add_pair(_context(rule), frozenset(rule.pair), rule.direction == "asc", rule.text)
            case ListOD():
                self._add_list(rule)

    def _add_pair(self, context: Names, pair: Names, rising: bool, text: str) -> None:
        self.pairs.setdefault((pair, rising), []).append((context, text))

    def _add_list(self, rule: ListOD) -> None:
        """Theorem 5. A column that doesn't swap with itself in the other direction is constant."""
        self.lists.append(rule)
        left = frozenset(column.name for column in rule.by)
        self.constants += [(left, column.name, rule.text) for column in rule.then]
        for i, one in enumerate(rule.by):
            for j, other in enumerate(rule.then):
                context = frozenset(column.name for column in (*rule.by[:i], *rule.then[:j]))
                rising = one.descending == other.descending
                if one.name != other.name:
                    self._add_pair(context, frozenset([one.name, other.name]), rising, rule.text)
                elif not rising:
                    self.constants.append((context, one.name, rule.text))


def _context(rule: FD | Key | ConstantOD | Compatible) -> Names:
    """The columns on which rows must agree for a rule to apply to them."""
    return frozenset(rule.lhs if isinstance(rule, FD | Key) else rule.context)
