"""What a document is made of: what someone saw in some tables, before it is written for a page; and which rows to
remove, so that a rule holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import NOBODY
from holdfast.engines.contract import Json
from holdfast.engines.listing import Listing
from holdfast.engines.watched import WatchedTable
from holdfast.report.document.fates import Fate
from holdfast.report.document.rules import Section
from holdfast.report.document.shown import Side
from holdfast.results.memory import Event, RuleKey
from holdfast.store.records import BatchRecord
from holdfast.table.naming import key_names
from holdfast.table.plain import plain_rows
from holdfast.table.table import Table
from holdfast.text.row_names import Values

MOST_PAIRS = 100_000  # beyond, nobody works through a list
_MOST_ROWS = 50


def to_remove(pairs: NDArray[np.int64] | None, rows_alone: bool) -> tuple[list[int], int | None]:
    """Rows to remove, and how many more there are; None where these are not all, and nobody counted the others.

    Where each violation is a row to remove, as with FDs and keys, the first row of each is. Of pairs of rows, those
    that are in most of what is left are taken one after the other: few, though perhaps not the fewest.
    """
    if pairs is None or len(pairs) > MOST_PAIRS:
        return [], None
    if rows_alone or (pairs[:, 1:] == NOBODY).all():
        rows = list(dict.fromkeys(pairs[:, 0].tolist()))
        return rows[:_MOST_ROWS], max(0, len(rows) - _MOST_ROWS)
    return _cover(pairs)


def _cover(pairs: NDArray[np.int64]) -> tuple[list[int], int | None]:
    """Rows that meet all pairs, or the first that meet most of them."""
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
class Told:
    """Rows that broke a rule, with the values that are kept of them; the batch with which they did (0: they do now)."""

    batch: int
    rows: tuple[int, ...]
    values: tuple[Values | None, ...] = ()
    sentence: str = ""


@dataclass(frozen=True)
class RuleSeen:
    """A rule of which there is more to tell than its text."""

    engine: str
    table: str  # the one whose rows break it
    text: str
    subject: str  # the table, or "*"
    finding: Json = field(default_factory=dict)
    score: float | None = None
    fate: Fate | None = None
    violations: Sequence[tuple[int, float | None]] = ()  # after each batch
    told: Sequence[Told] = ()
    listing: Listing | None = None
    to_remove: Sequence[int] = ()  # rows, where there is no listing,
    more_to_remove: int = 0  # and how many more
    evidence: Sequence[str] = ()
    implied_by: str = ""
    mark: str = ""  # `pinned` or `ignored`, where people said so

    @property
    def key(self) -> RuleKey:
        """What names it."""
        return self.engine, self.subject, self.text

    @cached_property
    def work(self) -> tuple[list[int], int | None]:
        """Rows without which it holds, and how many more; None: nobody counted (see `worklists`)."""
        if self.listing is None:
            return list(self.to_remove), self.more_to_remove
        if not self.listing.count:
            return [], 0
        return to_remove(self.listing.pairs, self.finding.get("counted") == _ROWS_TO_REMOVE)

    @property
    def given(self) -> bool:
        """Whether someone gave it."""
        return "severity" in self.finding


@dataclass(frozen=True)
class ChangeSeen:
    """What people changed: what was done, and to which rule, where it was done to one."""

    said: str
    text: str = ""
    engine: str = ""
    name: str = ""


@dataclass(frozen=True)
class Seen:
    """All that a document tells."""

    title: str
    is_state: bool
    nulls: str
    watched: Mapping[str, WatchedTable]
    left_out: Mapping[str, Sequence[str]]
    sections: Sequence[Section]
    rules: Sequence[RuleSeen] = ()
    batches: Sequence[BatchRecord] = ()
    events: Sequence[Event] = ()  # the newest first
    counts: Mapping[int, Mapping[str, int]] = field(default_factory=dict)  # of events, by batch
    nulls_over_time: Mapping[tuple[str, str], Sequence[tuple[int, float | None]]] = field(default_factory=dict)
    references: Mapping[RuleKey, Json] = field(default_factory=dict)  # found or given
    doubts: Sequence[tuple[str, int, str, Sequence[str]]] = ()  # table, row, column, rules
    same: Sequence[tuple[str, Sequence[str]]] = ()  # columns of a table that determine each other
    notes: Sequence[str] = ()
    changes: Mapping[int, Sequence[ChangeSeen]] = field(default_factory=dict)  # of rules and columns, by batch

    @property
    def last(self) -> int:
        """The last batch."""
        return self.batches[-1].seq if self.batches else 0


class Rows:
    """Rows by table and number: their values as far as someone keeps them, and whether they live."""

    def __init__(self, watched: Mapping[str, WatchedTable], wanted: Mapping[str, set[int]]) -> None:
        self._tables = {name: each.table for name, each in watched.items()}
        self._values: dict[tuple[str, int], Values] = {}
        self._alive: set[tuple[str, int]] = set()
        for name, numbers in wanted.items():
            if name in self._tables:  # or its table is watched no longer
                self._read(name, self._tables[name], numbers)

    def _read(self, name: str, table: Table, numbers: set[int]) -> None:
        ids = np.array(sorted(numbers), np.int64)
        there, alive = table.which_live(ids)
        self._alive |= {(name, number) for number in ids[alive].tolist()}
        values = plain_rows(table.values(ids[there]))
        self._values |= {(name, number): row for number, row in zip(ids[there].tolist(), values, strict=True)}

    def values(self, table: str, number: int) -> Values:
        """The values of a row in the files of its table."""
        return self._values.get((table, number), {})

    def lives(self, table: str, number: int) -> bool:
        """Whether it is alive."""
        return (table, number) in self._alive

    def side(self, table: str, number: int, kept: Values | None = None) -> Side:
        """A row, with the values that are kept of it elsewhere or those in the files, and its key if it is known."""
        values, key = kept or self.values(table, number), self.key(table)
        known = {name: values[name] for name in key if name in values}
        return Side(number, known if len(known) == len(key) else {}, values, self.lives(table, number))

    def key(self, table: str) -> list[str]:
        """The columns of the declared key."""
        return key_names(self._tables[table].schema) if table in self._tables else []
