"""What is known of a table: the rules that hold, as constants and as pairs of columns that don't swap, by context.

Rules are read from the objects that tell of them:

| rule | what it says |
|---|---|
| `Zip -> State`, `{Zip}: [] -> State` | among rows equal on Zip, State is constant |
| `key(Id)` | among rows equal on Id, every column is constant: there is one such row |
| `{Year}: Salary ~ Bin` | among rows equal on Year, no two swap Salary and Bin |
| `[Year, Salary] orders [Year, Bin]` | both, for the columns of its lists (papers: fastod, theorem 5) |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.engines.contract import is_given
from holdfast.rules.lists import ListOD, SortColumn

Names = frozenset[str]
Pair = tuple[Names, bool]  # two columns, and whether they rise together; else one falls where the other rises


@dataclass
class Known:
    """The rules of one table that hold, each with its text."""

    names: Sequence[str]
    constants: list[tuple[Names, str, str]] = field(default_factory=list)  # context, column, text
    keys: list[tuple[Names, str]] = field(default_factory=list)
    pairs: dict[Pair, list[tuple[Names, str]]] = field(default_factory=dict)  # contexts with texts
    lists: list[ListOD] = field(default_factory=list)

    @staticmethod
    def of(findings: Iterable[Mapping[str, Any]], names: Sequence[str], asked: Iterable[str]) -> Known:
        """What findings say about a table with some columns, as far as it may matter to those asked about.

        Of rules that were found all minimal ones are told. So one whose context has two columns or more that nobody
        asks about adds nothing: a list that is tried instead of another differs from it in one column.
        """
        known, near = Known(names), frozenset(asked)
        for finding in findings:
            if finding.get("error") or finding.get("violations"):
                continue
            if is_given(finding) or len(_context(finding) - near) <= 1:
                known.add(finding)
        return known

    def add(self, finding: Mapping[str, Any]) -> None:
        """Take in a rule that holds."""
        kind, text = finding["kind"], finding["text"]
        if kind == "fd":
            self.constants.append((_context(finding), finding["rhs"], text))
        elif kind == "ucc":
            self.keys.append((_context(finding), text))
        elif kind == "od" and "constant" in finding:
            self.constants.append((_context(finding), finding["constant"], text))
        elif kind == "od":
            self._add_pair(_context(finding), frozenset(finding["pair"]), finding["direction"] == "asc", text)
        elif kind == "lod":
            self._add_list(ListOD(_columns(finding["by"]), _columns(finding["then"])))

    def _add_pair(self, context: Names, pair: Names, rising: bool, text: str) -> None:
        self.pairs.setdefault((pair, rising), []).append((context, text))

    def _add_list(self, rule: ListOD) -> None:
        """Theorem 5. A column that doesn't swap with itself downwards is constant."""
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


def _context(finding: Mapping[str, Any]) -> Names:
    """The columns on which rows must be equal for a rule to say something of them."""
    return frozenset(finding.get("context", finding.get("lhs", finding.get("columns", ()))))


def _columns(listed: Iterable[Sequence[str]]) -> tuple[SortColumn, ...]:
    return tuple(SortColumn(name, direction == "desc") for name, direction in listed)
