"""The content of a document, before it is written for a page; and which rows to remove so that a rule holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import NOBODY
from holdfast.engines.contract import Json, open_violations
from holdfast.engines.listing import Listing
from holdfast.engines.watched import WatchedTable
from holdfast.ranking.suggestion import Doubt, Same
from holdfast.report.document.rules import RuleSection
from holdfast.report.document.shown_row import ShownRow
from holdfast.report.document.timeline import BROKEN, Timeline
from holdfast.results.memory import Event, RuleKey
from holdfast.results.ranks import broken_rank
from holdfast.store.records import BatchRecord
from holdfast.table.plain import plain_rows
from holdfast.table.row_names import key_names
from holdfast.table.table import Table
from holdfast.text.row_names import Values

MOST_PAIRS = 100_000  # nobody works through a longer list
_MOST_ROWS = 50


def to_remove(pairs: NDArray[np.int64] | None, rows_alone: bool) -> tuple[list[int], int | None]:
    """Rows to remove, and how many more there are (None: more, but nobody counted them).

    With FDs and keys, each violation names the row to remove first. With pairs, the row in most of the remaining
    pairs is taken, again and again: that gives few rows, though perhaps not the fewest.
    """
    if pairs is None or len(pairs) > MOST_PAIRS:
        return [], None
    if rows_alone or (pairs[:, 1:] == NOBODY).all():
        rows = list(dict.fromkeys(pairs[:, 0].tolist()))
        return rows[:_MOST_ROWS], max(0, len(rows) - _MOST_ROWS)
    return _cover(pairs)


def _cover(pairs: NDArray[np.int64]) -> tuple[list[int], int | None]:
    """Rows that occur in all pairs, or the first such rows."""
    chosen: list[int] = []
    left = pairs
    while len(left) and len(chosen) < _MOST_ROWS:
        rows, counts = np.unique(left, return_counts=True)
        row = int(rows[np.argmax(counts)])
        chosen.append(row)
        left = left[(left != row).all(axis=1)]
    return chosen, None if len(left) else 0


_ROWS_TO_REMOVE = "rows to remove"


@dataclass(frozen=True)
class BreakingRows:
    """Rows that broke a rule, with their stored values; and the number of the batch with which they did (0: they do
    now).
    """

    batch: int
    rows: tuple[int, ...]
    values: tuple[Values | None, ...] = ()
    sentence: str = ""


@dataclass(frozen=True)
class RuleContent:
    """A rule that the page shows in detail."""

    engine: str
    table: str  # whose rows break it
    text: str
    subject: str  # the table, or "*"
    finding: Json = field(default_factory=dict)
    score: float | None = None
    timeline: Timeline | None = None
    violations: Sequence[tuple[int, float | None]] = ()  # after each batch
    broke: Sequence[BreakingRows] = ()
    listing: Listing | None = None
    to_remove: Sequence[int] = ()  # rows, where there is no listing,
    more_to_remove: int = 0  # and how many more
    evidence: Sequence[str] = ()
    implied_by: str = ""
    mark: str = ""  # `pinned` or `ignored`
    score_then: float | None = None  # when rows broke it last

    @property
    def is_broken(self) -> bool:
        """Whether rows break it now."""
        if self.given:
            return open_violations(self.finding) > 0
        return self.timeline is not None and self.timeline.state == BROKEN

    @property
    def rank(self) -> tuple[Any, ...]:
        """Its place among rules: those that broke first (see `results.ranks`)."""
        score, since = self.score_then if self.score_then is not None else self.score, 0
        if self.timeline is not None:
            since = self.timeline.since
        meant = 1.0 if self.given else 0.0  # of a rule without a score: a given one is meant
        ever = self.is_broken or (self.timeline is not None and self.timeline.broke > 0)
        severity = self.finding.get("severity")
        return not ever, *broken_rank(severity, self.is_broken, meant if score is None else score, since)

    @property
    def key(self) -> RuleKey:
        """Its class, subject and text."""
        return self.engine, self.subject, self.text

    @cached_property
    def work(self) -> tuple[list[int], int | None]:
        """Rows without which it holds, and how many more; None: nobody counted them."""
        if self.listing is None:
            return list(self.to_remove), self.more_to_remove
        if not self.listing.count:
            return [], 0
        return to_remove(self.listing.pairs, self.finding.get("counted") == _ROWS_TO_REMOVE)

    @property
    def given(self) -> bool:
        """Whether a user gave it."""
        return "severity" in self.finding


@dataclass(frozen=True)
class ChangeContent:
    """What a user changed: a sentence, and the rule, if one was changed."""

    said: str
    text: str = ""
    engine: str = ""
    name: str = ""


@dataclass(frozen=True)
class Content:
    """All that a document shows."""

    title: str
    is_state: bool
    nulls: str
    watched: Mapping[str, WatchedTable]
    left_out: Mapping[str, Sequence[str]]
    sections: Sequence[RuleSection]
    rules: Sequence[RuleContent] = ()
    batches: Sequence[BatchRecord] = ()
    events: Sequence[Event] = ()  # the newest first
    counts: Mapping[int, Mapping[str, int]] = field(default_factory=dict)  # of events, by `seq`
    nulls_over_time: Mapping[tuple[str, str], Sequence[tuple[int, float | None]]] = field(default_factory=dict)
    references: Mapping[RuleKey, Json] = field(default_factory=dict)  # found or given
    doubts: Sequence[Doubt] = ()
    same: Sequence[Same] = ()
    notes: Sequence[str] = ()
    sensitive: Mapping[str, Sequence[str]] = field(default_factory=dict)  # columns whose values are hashed, by table
    changes: Mapping[int, Sequence[ChangeContent]] = field(default_factory=dict)  # of rules and columns, by `seq`
    unusual: Mapping[int, Sequence[Json]] = field(default_factory=dict)  # what was far outside in a batch, by `seq`

    @property
    def last(self) -> int:
        """The number of the last batch."""
        return self.batches[-1].number if self.batches else 0


class RowValues:
    """Rows by table and number: their values, as far as they are stored, and whether they are alive."""

    def __init__(self, watched: Mapping[str, WatchedTable], wanted: Mapping[str, set[int]]) -> None:
        self._tables = {name: each.table for name, each in watched.items()}
        self._values: dict[tuple[str, int], Values] = {}
        self._alive: set[tuple[str, int]] = set()
        for name, numbers in wanted.items():
            if name in self._tables:  # else the table is no longer watched
                self._read(name, self._tables[name], numbers)

    def _read(self, name: str, table: Table, numbers: set[int]) -> None:
        ids = np.array(sorted(numbers), np.int64)
        there, alive = table.which_live(ids)
        self._alive |= {(name, number) for number in ids[alive].tolist()}
        values = plain_rows(table.values(ids[there]))
        self._values |= {(name, number): row for number, row in zip(ids[there].tolist(), values, strict=True)}

    def lives(self, table: str, number: int) -> bool:
        """Whether it is alive."""
        return (table, number) in self._alive

    def side(self, table: str, number: int, stored: Values | None = None) -> ShownRow:
        """A row with its stored values, or else those in the files of its table, and its key if that is known."""
        values, key = stored or self._values.get((table, number), {}), self.key(table)
        known = {name: values[name] for name in key if name in values}
        return ShownRow(number, known if len(known) == len(key) else {}, values, self.lives(table, number))

    def key(self, table: str) -> list[str]:
        """The columns of the table's key."""
        return key_names(self._tables[table].schema) if table in self._tables else []
