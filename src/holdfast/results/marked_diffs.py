"""What a batch did, by class and table, with the marks of rules: ignored ones are left out, pinned ones come first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from holdfast.changes.diff import Diff
from holdfast.engines.registry import ALL_TABLES
from holdfast.results.marked_rules import Mark, MarkedRules

At = tuple[str, str]  # a class of rules, and a table (`*`: across tables)


@dataclass(frozen=True)
class MarkedDiffs:
    """The diffs of a batch, and the marks of found rules."""

    diffs: Mapping[At, Diff]
    marks: MarkedRules

    @cached_property
    def listed(self) -> dict[At, Diff]:
        """The diffs as people see them: without ignored rules, and without broken pinned ones, which come first."""
        shown = {}
        for at, diff in self.diffs.items():
            ignored = {text for text in self.texts(at, "ignored") if text in diff.lost or text in diff.gained}
            others = self._broken(at, "pinned") | ignored
            shown[at] = diff.without(others) if others else diff
        return shown

    @cached_property
    def pinned(self) -> dict[At, Diff]:
        """What the batch did to the pinned rules that it broke."""
        own = {at: self._broken(at, "pinned") for at in self.diffs}
        return {at: self.diffs[at].only(texts) for at, texts in own.items() if texts}

    @property
    def ignored(self) -> int:
        """How many ignored rules broke."""
        return sum(len(self._broken(at, "ignored")) for at in self.diffs)

    def texts(self, at: At, mark: Mark) -> set[str]:
        """The rules of a class and a table with a mark."""
        return {text for *own, text in getattr(self.marks, mark) if tuple(own) == at}

    def _broken(self, at: At, mark: Mark) -> set[str]:
        """Those of them that broke."""
        witnesses = self.diffs[at].witnesses
        return {text for text in self.texts(at, mark) if text in witnesses}

    def about(self, table: str | None) -> Iterator[Diff]:
        """The diffs that may have a rule of a table: another table may have a rule of the same text."""
        return (diff for (_, own), diff in self.diffs.items() if table is None or own in (table, ALL_TABLES))

    def moved(self, text: str, table: str | None = None) -> tuple[int | None, int | None]:
        """How many violations of a given rule are new, and how many are gone; None: only their number is stored."""
        known = (diff.violations[text] for diff in self.about(table) if text in diff.violations)
        change = next(known, None)
        return (0, 0) if change is None else (change.new, change.gone)
