"""Finds the rows that have some tuples of codes: in a table, by a look at the codes of all its rows.

Cost: a pass over the rows with a mask for the column of the most values, and a look into a hash table for rows that
have a wanted code in every column. A caller that needs no more rows stops the pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.pairs.keys import KeyTable
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.shard import Shard
from holdfast.table.table import Alive, Table

Ids = NDArray[np.int64]

ROWS_AT_ONCE = 1 << 16


class Finder(Protocol):
    """Where a keeper finds older rows that a batch makes matter, such as the new oldest one of a group. Today it looks
    at the table as it is after the batch; a piece of a state can bring its own.
    """

    def rows_with(self, columns: Sequence[int], codes: NDArray[Any], first: int = 0) -> Iterator[tuple[Ids, Ids]]:
        """The living rows with ids from `first` on that have one of some distinct tuples of codes `[column, tuple]` in
        some columns: some at a time, the oldest first, as ids and for each the number of its tuple.
        """


@dataclass(frozen=True, eq=False)
class TableFinder:
    """The one of a whole table."""

    table: Table

    def rows_with(self, columns: Sequence[int], codes: NDArray[Any], first: int = 0) -> Iterator[tuple[Ids, Ids]]:
        """The living rows that have one of some tuples, which are distinct; see `Finder`."""
        if not codes.shape[1]:
            return
        wanted = WantedTuples(self.table, columns, codes)
        for shard, alive in self.table.living():
            begin = int(shard.places_of(np.array([first]))[0]) if shard.last_id >= first else len(shard)
            for start in range(max(begin, 0), len(shard), ROWS_AT_ONCE):
                places, numbers = wanted.met(shard, alive, start, min(start + ROWS_AT_ONCE, len(shard)))
                yield shard.ids_of(places), numbers

    def first_with_values(self, columns: Sequence[int]) -> int | None:
        """The oldest living row without a null in some columns."""
        for shard, places in stretches(self.table):
            for column in columns:
                places = places[shard.codes_at(column, places) != NULL_CODE]
            if len(places):
                return int(shard.ids_of(places[:1])[0])
        return None


def stretches(table: Table) -> Iterator[tuple[Shard, Ids]]:
    """The places of living rows in their shard, some at a time, the oldest first."""
    for shard, alive in table.living():
        for start in range(0, len(shard), ROWS_AT_ONCE):
            yield shard, living_places(alive, start, min(start + ROWS_AT_ONCE, len(shard)))


def living_places(alive: Alive, start: int, end: int) -> Ids:
    """Those of living rows in a stretch of a shard."""
    return np.arange(start, end) if alive is None else start + np.flatnonzero(alive[start:end])


class WantedTuples:
    """Tuples of codes in some columns, to be met in rows. Marks of the codes that they have in each column spare a look
    at rows that have none of them.
    """

    def __init__(self, table: Table, columns: Sequence[int], codes: NDArray[Any]) -> None:
        """`codes[column, tuple]`; a tuple may be there twice."""
        self._columns = columns
        self._numbers = KeyTable(max(len(columns), 1), codes.shape[1])
        self._numbers.entries_of_lanes(_lanes(list(codes), codes.shape[1]))
        self._marks = [np.zeros(len(table.dictionaries[column]), np.bool_) for column in columns]
        self._marked = self.tuples[:, :0]
        self.narrow(np.ones(self.tuples.shape[1], np.bool_))

    @property
    def tuples(self) -> NDArray[np.int64]:
        """The tuples, `[column, tuple]`, each once, in the order in which they came: so they are numbered."""
        return self._numbers.keys.view(np.int64).T

    def numbers_of(self, codes: NDArray[Any]) -> Ids:
        """The numbers of some tuples, -1 where one is not among them."""
        return self._numbers.find_lanes(_lanes(list(codes), codes.shape[1]))

    def narrow(self, left: NDArray[np.bool_]) -> None:
        """From now on rows need not be met that have none of the tuples that are left."""
        wanted = self.tuples[:, left]
        for marks, old, new in zip(self._marks, self._marked, wanted, strict=False):
            marks[old] = False
            marks[new] = True
        self._marked = wanted

    def met(self, shard: Shard, alive: Alive, start: int, end: int) -> tuple[Ids, Ids]:
        """The places of living rows that have a tuple, in a stretch of a shard, and the numbers of their tuples."""
        columns = sorted(zip(self._columns, self._marks, strict=True), key=lambda each: -len(each[1]))
        near = np.ones(end - start, np.bool_) if alive is None else alive[start:end]
        for column, marks in columns[:1]:  # many values leave few rows
            near = near & marks[shard.codes_at(column, slice(start, end))]
        places = start + np.flatnonzero(near)
        for column, marks in columns[1:]:
            places = places[marks[shard.codes_at(column, places)]]
        codes = [shard.codes_at(column, places) for column in self._columns]
        numbers = self._numbers.find_lanes(_lanes(codes, len(places)))
        return places[numbers >= 0], numbers[numbers >= 0]


def _lanes(columns: Sequence[NDArray[Any]], rows: int) -> NDArray[np.uint64]:
    """Codes as keys; without a column all rows have the same."""
    lanes = np.zeros((max(len(columns), 1), rows), np.uint64)
    for lane, codes in zip(lanes, columns, strict=False):
        lane[:] = codes
    return lanes
