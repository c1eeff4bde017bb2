"""Tuples of codes: which of some tuples a table holds, and in which rows. Exact: tuples that share a hash are compared.

Cost: one pass over the codes of the columns asked for; memory for the tuples asked for, or, in an index of a table,
for its distinct ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.inclusion_rows import build_set, look_up
from holdfast.table.shard import Shard
from holdfast.table.table import Table

Rows = NDArray[np.int64]  # [column, row]
_FIRST_TABLE = 16
_ROWS_AT_ONCE = 1 << 16


class Tuples:
    """A set of tuples that can be asked for others. It grows with its distinct tuples, not with those it is given."""

    def __init__(self, rows: Rows) -> None:
        self.rows = np.empty((len(rows), 0), np.int64)
        self._table = np.full(_FIRST_TABLE, -1, np.int64)
        self.add(rows)

    def add(self, rows: Rows) -> None:
        """Take in more tuples; those that are new keep the order in which they come."""
        fresh = rows[:, self.places(rows) < 0]
        if fresh.shape[1]:
            self._take(fresh)

    def _take(self, fresh: Rows) -> None:
        """Tuples that are not here yet, some perhaps twice."""
        own = np.full(_table_size(fresh.shape[1]), -1, np.int64)
        build_set(np.ascontiguousarray(fresh), 0, own)
        start = self.rows.shape[1]
        self.rows = np.concatenate([self.rows, fresh[:, np.sort(own[own >= 0])]], axis=1)
        if _table_size(self.rows.shape[1]) > len(self._table):
            start, self._table = 0, np.full(2 * _table_size(self.rows.shape[1]), -1, np.int64)
        build_set(self.rows, start, self._table)

    def places(self, asked: Rows) -> NDArray[np.int64]:
        """Where each tuple asked for stands, -1 where it is not here."""
        found = np.empty(asked.shape[1], np.int64)
        look_up(np.ascontiguousarray(asked, np.int64), self.rows, self._table, found)
        return found

    def first_missing(self, asked: Rows) -> int:
        """The place of the first tuple asked for that is not here, -1 where all are."""
        missing = np.flatnonzero(self.places(asked) < 0)
        return int(missing[0]) if len(missing) else -1


def _table_size(tuples: int) -> int:
    return 1 << max(4, (2 * tuples).bit_length())


def of_table(table: Table, columns: Sequence[int]) -> Tuples:
    """All tuples of living rows."""
    whole = Tuples(np.empty((len(columns), 0), np.int64))
    for _, _, rows in _pieces(table, columns):
        whole.add(rows)
    return whole


def present(asked: Rows, table: Table, columns: Sequence[int]) -> NDArray[np.bool_]:
    """Which of some tuples a living row has."""
    wanted = Tuples(asked)
    met = np.zeros(wanted.rows.shape[1], np.bool_)
    for _, _, rows in _pieces(table, columns):
        if met.all():
            break
        places = wanted.places(rows)
        met[places[places >= 0]] = True
    return np.asarray(met[wanted.places(asked)])


def rows_with(asked: Rows, table: Table, columns: Sequence[int], most: int | None = None) -> NDArray[np.int64]:
    """The ids of living rows that have one of some tuples, ascending; where `most` is given, so many at least."""
    wanted = Tuples(asked)
    found: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    for shard, places, rows in _pieces(table, columns) if asked.shape[1] else ():
        found.append(shard.ids_of(places[wanted.places(rows) >= 0]))
        if most is not None and sum(len(part) for part in found) >= most:
            break
    return np.concatenate(found)


def _pieces(table: Table, columns: Sequence[int]) -> Iterator[tuple[Shard, NDArray[np.int64], Rows]]:
    """Living rows, some at a time: their shard, their places in it, and their tuples."""
    for shard, alive in table.living():
        for start in range(0, len(shard), _ROWS_AT_ONCE):
            end = min(start + _ROWS_AT_ONCE, len(shard))
            places = np.arange(start, end) if alive is None else start + np.flatnonzero(alive[start:end])
            yield shard, places, np.stack([shard.columns[c][places].astype(np.int64) for c in columns])


def are_distinct(table: Table, columns: Sequence[int]) -> bool:
    """Whether no two living rows have the same tuple."""
    return of_table(table, columns).rows.shape[1] == table.rows


def first_full_row(table: Table, columns: Sequence[int]) -> int | None:
    """The id of a living row without a null in some columns, the first there is."""
    found = (shard.ids_of(places[(rows != 0).all(axis=0)][:1]) for shard, places, rows in _pieces(table, columns))
    return next((int(ids[0]) for ids in found if len(ids)), None)


def full_rows(table: Table, columns: Sequence[int]) -> NDArray[np.int64]:
    """The ids of living rows without a null in some columns."""
    parts = [shard.ids_of(places[(rows != 0).all(axis=0)]) for shard, places, rows in _pieces(table, columns)]
    return np.concatenate([np.empty(0, np.int64), *parts])


def grouped(rows: NDArray[np.unsignedinteger]) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64]]:
    """The distinct ones of some tuples, where each came first, and how often each came."""
    own = np.ascontiguousarray(rows, np.int64)
    whole = Tuples(own)
    _, first, counts = np.unique(whole.places(own), return_index=True, return_counts=True)
    return whole.rows, first, counts
