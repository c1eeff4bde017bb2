"""Tuples of codes: which of some tuples a table holds, and in which rows. Exact: tuples that share a hash are compared.

Cost: one pass over the codes of the columns asked for; memory for the tuples asked for, or, in an index of a table,
for its distinct ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.pairs.keys import KeyTable
from holdfast.table.shard import Shard
from holdfast.table.table import Table

TupleCodes = NDArray[np.int64]  # [column, row]
_ROWS_AT_ONCE = 1 << 16


class Tuples:
    """A set of tuples that can be asked for others. It grows with its distinct tuples, not with those it is given."""

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
        for start in range(0, fresh.shape[1], _ROWS_AT_ONCE):  # room is made for all that come, new or not
            self._table.entries_of_lanes(fresh[:, start : start + _ROWS_AT_ONCE].copy())

    def places(self, asked: TupleCodes) -> NDArray[np.int64]:
        """Where each tuple asked for stands, -1 where it is not here."""
        return self._table.find_lanes(_lanes(asked))

    def first_missing(self, asked: TupleCodes) -> int:
        """The place of the first tuple asked for that is not here, -1 where all are."""
        missing = np.flatnonzero(self.places(asked) < 0)
        return int(missing[0]) if len(missing) else -1


def _lanes(rows: TupleCodes) -> NDArray[np.uint64]:
    return np.ascontiguousarray(rows, np.int64).view(np.uint64)


def of_table(table: Table, columns: Sequence[int]) -> Tuples:
    """All tuples of living rows."""
    whole = Tuples(np.empty((len(columns), 0), np.int64))
    for _, _, rows in pieces(table, columns):
        whole.add(rows)
    return whole


def present(asked: TupleCodes, table: Table, columns: Sequence[int]) -> NDArray[np.bool_]:
    """Which of some tuples a living row has."""
    wanted = Tuples(asked)
    met = np.zeros(len(wanted), np.bool_)
    for _, _, rows in pieces(table, columns):
        if met.all():
            break
        places = wanted.places(rows)
        met[places[places >= 0]] = True
    return np.asarray(met[wanted.places(asked)])


def rows_with(asked: TupleCodes, table: Table, columns: Sequence[int], most: int | None = None) -> NDArray[np.int64]:
    """The ids of living rows that have one of some tuples, ascending; where `most` is given, so many at least."""
    wanted, marks = (
        Tuples(asked),
        [_marked(codes, len(table.dictionaries[c])) for codes, c in zip(asked, columns, strict=True)],
    )
    found: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    for shard, alive in table.living() if asked.shape[1] else ():
        likely = np.logical_and.reduce([mark[shard.columns[c]] for mark, c in zip(marks, columns, strict=True)])
        places = np.flatnonzero(likely if alive is None else likely & alive)
        if len(columns) > 1:
            rows = np.stack([shard.columns[c][places].astype(np.int64) for c in columns])
            places = places[wanted.places(rows) >= 0]
        found.append(shard.ids_of(places))
        if most is not None and sum(len(part) for part in found) >= most:
            break
    return np.concatenate(found)


def _marked(codes: NDArray[np.int64], room: int) -> NDArray[np.bool_]:
    """Which of so many codes are among some."""
    marks = np.zeros(room, np.bool_)
    marks[codes] = True
    return marks


def pieces(table: Table, columns: Sequence[int]) -> Iterator[tuple[Shard, NDArray[np.int64], TupleCodes]]:
    """Living rows, some at a time: their shard, their places in it, and their tuples."""
    for shard, alive in table.living():
        for start in range(0, len(shard), _ROWS_AT_ONCE):
            end = min(start + _ROWS_AT_ONCE, len(shard))
            places = np.arange(start, end) if alive is None else start + np.flatnonzero(alive[start:end])
            yield shard, places, np.stack([shard.columns[c][places].astype(np.int64) for c in columns])


def are_distinct(table: Table, columns: Sequence[int]) -> bool:
    """Whether no two living rows have the same tuple."""
    return len(of_table(table, columns)) == table.rows


def first_full_row(table: Table, columns: Sequence[int]) -> int | None:
    """The id of a living row without a null in some columns, the first there is."""
    found = (shard.ids_of(places[(rows != 0).all(axis=0)][:1]) for shard, places, rows in pieces(table, columns))
    return next((int(ids[0]) for ids in found if len(ids)), None)


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
