"""Tuples of codes: which of some tuples a table holds, and in which rows. Exact: tuples that share a hash are compared.

Cost: one pass over the codes of the columns; memory for the tuples looked up, or, in an index of a table, for its
distinct ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.given.finder import ROWS_AT_ONCE, TableFinder, living_places, stretches
from holdfast.pairs.keys import KeyTable
from holdfast.table.shard import Shard
from holdfast.table.table import Table

TupleCodes = NDArray[np.int64]  # [column, row]
Ids = NDArray[np.int64]
_FIRST_ROWS = 1 << 12  # most of the tuples looked up are met among few rows
_CELLS = 1 << 24


class Tuples:
    """A set of tuples, to look up others in. It grows with its distinct tuples, not with those it is given."""

    def __init__(self, rows: TupleCodes) -> None:
        self._table = KeyTable(len(rows))
        self.add(rows)

    @property
    def rows(self) -> TupleCodes:
        """The tuples, in the order in which they came."""
        return self._table.keys.view(np.int64).T

    def __len__(self) -> int:
        return self._table.used

    def add(self, rows: TupleCodes) -> None:
        """Take in more tuples; those that are new keep the order in which they come."""
        lanes = _lanes(rows)
        fresh = lanes[:, self._table.find_lanes(lanes) < 0]
        for start in range(0, fresh.shape[1], ROWS_AT_ONCE):  # room is made for all that come, new or not
            self._table.entries_of_lanes(fresh[:, start : start + ROWS_AT_ONCE].copy())

    def places(self, requested: TupleCodes) -> NDArray[np.int64]:
        """Where each requested tuple stands, -1 where it is not here."""
        return self._table.find_lanes(_lanes(requested))


def _lanes(rows: TupleCodes) -> NDArray[np.uint64]:
    return np.ascontiguousarray(rows, np.int64).view(np.uint64)


def of_table(table: Table, columns: Sequence[int]) -> Tuples:
    """All tuples of living rows."""
    whole = Tuples(np.empty((len(columns), 0), np.int64))
    for _, _, rows in pieces(table, columns):
        whole.add(rows)
    return whole


Index = Callable[[TupleCodes], NDArray[np.bool_]]  # which of some tuples, as codes of the columns, are there


def index_of(table: Table, columns: Sequence[int]) -> Index:
    """All tuples of living rows; where columns have few codes, as a mark for every tuple that could be."""
    sizes = [len(table.dictionaries[c]) for c in columns]
    if math.prod(sizes) > min(_CELLS, 64 * table.rows):
        known = of_table(table, columns)
        return lambda requested: known.places(requested) >= 0
    marks = np.zeros(sizes, np.bool_)
    for _, _, rows in pieces(table, columns):
        marks[tuple(rows)] = True
    return lambda requested: marks[tuple(requested)]


def present(requested: TupleCodes, table: Table, columns: Sequence[int]) -> NDArray[np.bool_]:
    """Which of some tuples a living row has; a code below 0 is that of a value that never was.

    The newest rows are looked at first, as they often hold the requested tuples; of others only those that may have a
    tuple that was not met yet, so a pass costs little once few are left.
    """
    wanted = Tuples(requested[:, (requested >= 0).all(axis=0)])
    met = np.zeros(len(wanted), np.bool_)
    marks = _Marks(table, columns, wanted.rows)
    for shard, places in _growing_stretches(table):
        if met.all():
            break
        found = wanted.places(_tuples_at(shard, columns, marks.likely(shard, places)))
        met[found[found >= 0]] = True
        marks.narrow(wanted.rows[:, ~met])
    at = wanted.places(requested)
    return np.append(met, False)[at]


def rows_with(requested: TupleCodes, table: Table, columns: Sequence[int], most: int | None = None) -> Ids:
    """The ids of living rows that have one of some tuples, ascending; given `most`, it stops once it has that many."""
    found = [np.empty(0, np.int64)]
    for ids, _ in TableFinder(table).rows_with(columns, requested):
        found.append(ids)
        if most is not None and sum(len(part) for part in found) >= most:
            break
    return np.concatenate(found)


class _Marks:
    """Which codes of each column some tuples have: what spares a look at rows that have none of them."""

    def __init__(self, table: Table, columns: Sequence[int], requested: TupleCodes) -> None:
        self._columns = columns
        self._of = [np.zeros(len(table.dictionaries[c]), np.bool_) for c in columns]
        self._order = sorted(range(len(columns)), key=lambda i: -len(self._of[i]))  # many values leave few rows
        self._requested = requested[:, :0]
        self.narrow(requested)

    def narrow(self, requested: TupleCodes) -> None:
        """Go on with other tuples."""
        for marks, old, new in zip(self._of, self._requested, requested, strict=True):
            marks[old] = False
            marks[new] = True
        self._requested = requested

    def likely(self, shard: Shard, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of some places whose rows may have one of the tuples."""
        for i in self._order:
            places = places[self._of[i][shard.columns[self._columns[i]][places]]]
        return places


def samples(table: Table, size: int) -> Iterator[tuple[Shard, NDArray[np.int64]]]:
    """The places of some living rows of each shard, spread over it."""
    for shard, alive in table.living():
        places = living_places(alive, 0, len(shard))
        yield shard, places[:: max(1, len(places) // size)]


def _growing_stretches(table: Table) -> Iterator[tuple[Shard, NDArray[np.int64]]]:
    """The same, the newest shard first, and of each few rows before many."""
    for shard, alive in reversed(list(table.living())):
        start, size = 0, _FIRST_ROWS
        while start < len(shard):
            yield shard, living_places(alive, start, min(start + size, len(shard)))
            start, size = start + size, min(2 * size, ROWS_AT_ONCE)


def _tuples_at(shard: Shard, columns: Sequence[int], places: NDArray[np.int64]) -> TupleCodes:
    return np.stack([shard.columns[c][places].astype(np.int64) for c in columns])


def pieces(table: Table, columns: Sequence[int]) -> Iterator[tuple[Shard, NDArray[np.int64], TupleCodes]]:
    """Living rows, some at a time: their shard, their places in it, and their tuples."""
    for shard, places in stretches(table):
        yield shard, places, _tuples_at(shard, columns, places)


def are_distinct(table: Table, columns: Sequence[int]) -> bool:
    """Whether no two living rows have the same tuple."""
    return len(of_table(table, columns)) == table.rows


def full_rows(table: Table, columns: Sequence[int]) -> NDArray[np.int64]:
    """The ids of living rows without a null in some columns."""
    parts = [shard.ids_of(places[(rows != 0).all(axis=0)]) for shard, places, rows in pieces(table, columns)]
    return np.concatenate([np.empty(0, np.int64), *parts])


def grouped(rows: NDArray[np.unsignedinteger]) -> tuple[TupleCodes, NDArray[np.int64], NDArray[np.int64]]:
    """The distinct ones of some tuples, where each came first, and how often each came."""
    own = np.ascontiguousarray(rows, np.int64)
    whole = Tuples(own)
    _, first, counts = np.unique(whole.places(own), return_index=True, return_counts=True)
    return whole.rows, first, counts
