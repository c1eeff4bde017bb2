"""What is shown, as far as showing needs to know: the values of `api/`, which lies above and draws itself with this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from holdfast.changes.diff import Diff, Finding, Result
from holdfast.changes.naming import Values
from holdfast.changes.quarantined import Quarantined
from holdfast.ranking.suggestion import Doubt, Same, Suggestion
from holdfast.store.records import BatchRecord
from holdfast.table.table import Schema


class Outcome(Protocol):
    """What a batch did."""

    @property
    def batch(self) -> BatchRecord:
        """Its record."""

    @property
    def diffs(self) -> Mapping[tuple[str, str], Diff]:
        """What changed, by class of rules and table (`*`: all of them)."""

    @property
    def told(self) -> Mapping[tuple[str, str], Diff]:
        """The same without rules that are ignored, and without pinned ones that rows broke."""

    @property
    def pinned(self) -> Mapping[tuple[str, str], Diff]:
        """What it did to pinned rules that rows broke."""

    @property
    def ignored(self) -> int:
        """How many rules broke that are ignored."""

    @property
    def already_applied(self) -> bool:
        """Whether it was applied before, and not again."""

    @property
    def quarantined(self) -> Quarantined | None:
        """The rows that were set aside, where they may be."""

    @property
    def changed(self) -> list[tuple[Finding, Finding]]:
        """Findings before and after."""

    @property
    def untested(self) -> list[Finding]:
        """Rules that don't hold, and that nothing had tested until now."""

    def moved(self, text: str, table: str | None = None) -> tuple[int | None, int | None]:
        """How many violations of a rule are new, and how many are gone."""


class RuleHistory(Protocol):
    """How rules have fared."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[dict[str, Any]]: ...


class Suggestions(Protocol):
    """Likely rules, the best first."""

    @property
    def same(self) -> Sequence[Same]:
        """Columns that determine each other."""

    @property
    def doubts(self) -> Sequence[Doubt]:
        """Rows that look wrong."""

    @property
    def shapes(self) -> Mapping[str, tuple[Schema, int]]:
        """The columns and the number of rows of each table."""

    def __iter__(self) -> Iterator[Suggestion]: ...


class Found(Protocol):
    """What was found in some tables."""

    @property
    def ranked(self) -> Sequence[Result]:
        """By text, the best first, for each class and table."""

    @property
    def shapes(self) -> Mapping[str, tuple[Schema, int]]:
        """The columns and the number of rows of each table."""

    def __len__(self) -> int: ...


class Checked(Protocol):
    """How each rule stands."""

    @property
    def findings(self) -> Sequence[Any]:
        """One a rule."""

    def to_json(self) -> list[dict[str, Any]]:
        """One object a rule."""


class Row(Protocol):
    """A row, alive or not; its text tells what became of it."""

    @property
    def number(self) -> int:
        """Its number."""

    @property
    def values(self) -> Values | None:
        """Its values by column, as far as they are kept."""
