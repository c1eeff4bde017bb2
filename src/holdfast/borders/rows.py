"""The rows of a table as borders want them: dense numbers, column by column, that compare as the values do.

A cell is the rank of its value among all values of the column, null has rank 0. A value that arrives between two others
moves the ranks above it, in one pass over the cells of that column. Rows keep their places: dead ones are marked, new
ones come behind, and when most are dead the whole is made anew.
Where nobody asks for an order, codes do as well, and nothing is sorted.

Cost: 4 bytes a cell and 9 bytes a row; a batch costs what it brings, and a pass for each column with new values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.table.change import Change
from holdfast.table.table import Table

Places = NDArray[np.int64]
_LEAST = 1024


class RankedColumns:
    """The rows of a table, living and dead, as ranks of their values, or as codes where order doesn't matter."""

    def __init__(self, table: Table, ordered: bool = True) -> None:
        self.ordered = ordered
        self.distinct = table.schema.nulls == "distinct"
        self._start_with(table)

    def _start_with(self, table: Table) -> None:
        columns = len(table.schema.columns)
        self._values = [_Values(table, c, self.ordered) for c in range(columns)]
        self.count = table.rows  # of places, the dead included
        self._ids, self._alive = table.living_ids(), np.ones(table.rows, np.bool_)
        self._cells = np.empty((columns, table.rows), np.uint32)
        self._dead = 0
        for c, values in enumerate(self._values):
            begin = 0
            for shard, alive in table.living():
                codes = shard.columns[c] if alive is None else shard.columns[c][alive]
                self._cells[c, begin : begin + len(codes)] = values.of(codes)
                begin += len(codes)

    @property
    def cells(self) -> NDArray[np.uint32]:
        """The ranks, `[column, place]`."""
        return self._cells[:, : self.count]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which places have living rows."""
        return self._alive[: self.count]

    @property
    def living(self) -> int:
        """How many rows live."""
        return self.count - self._dead

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self._values)

    def values(self, column: int) -> int:
        """One more than the highest rank of a column."""
        return self._values[column].count

    @property
    def value_counts(self) -> NDArray[np.int64]:
        """The same of all columns."""
        return np.array([values.count for values in self._values], np.int64)

    def ids(self, places: Places) -> NDArray[np.int64]:
        """The ids of the rows at some places."""
        return self._ids[places]

    def places(self, ids: NDArray[np.int64]) -> Places:
        """Where the rows with some ids stand."""
        return np.searchsorted(self._ids[: self.count], ids)

    def kill(self, dead: NDArray[np.int64]) -> None:
        """Let rows die."""
        self._alive[self.places(dead)] = False
        self._dead += len(dead)

    def add(self, change: Change) -> int:
        """Take in the rows that a batch brought. Tells the place of the first."""
        if self.count > _LEAST and 2 * self._dead > self.count:
            self._start_with(change.after)
            return int(np.searchsorted(self._ids, change.born.start))
        first, born = self.count, len(change.born)
        self._reserve(first + born)
        for c, values in enumerate(self._values):
            moved = values.follow(change.after, c)
            if moved is not None:
                self._cells[c, :first] = moved.take(self._cells[c, :first])
            self._cells[c, first : first + born] = values.of(change.inserted[c])
        self._ids[first : first + born] = np.arange(change.born.start, change.born.stop)
        self._alive[first : first + born] = True
        self.count += born
        return first

    def _reserve(self, room: int) -> None:
        if room <= len(self._ids):
            return
        room = room + room // 4
        cells, ids, alive = self._cells, self._ids, self._alive
        self._cells = np.empty((len(cells), room), np.uint32)
        self._ids, self._alive = np.empty(room, np.int64), np.zeros(room, np.bool_)
        self._cells[:, : self.count], self._ids[: self.count] = cells[:, : self.count], ids[: self.count]
        self._alive[: self.count] = alive[: self.count]


class _Values:
    """The values of one column in order, and the rank of each code."""

    def __init__(self, table: Table, column: int, ordered: bool) -> None:
        self.count = len(table.dictionaries[column])
        self._ordered = ordered
        if ordered:
            keys = table.order_keys(column)
            every = np.arange(self.count)
            self._codes = np.argsort(keys.of(every), kind="stable")  # in the order of their values
            self._rank_of = np.empty(self.count, np.uint32)
            self._rank_of[self._codes] = every

    def of(self, codes: NDArray[np.unsignedinteger]) -> NDArray[np.unsignedinteger]:
        """The ranks of some codes."""
        return self._rank_of.take(codes) if self._ordered else codes

    def follow(self, table: Table, column: int) -> NDArray[np.uint32] | None:
        """Take in the values that a column got; gives the new rank of each old one, None where they are the same."""
        before, self.count = self.count, len(table.dictionaries[column])
        if not self._ordered or self.count == before:
            return None
        keys = table.order_keys(column)
        fresh = np.arange(before, self.count)
        own = keys.of(fresh)
        order = np.argsort(own)
        at = np.searchsorted(keys.of(self._codes), own[order])
        self._codes = np.insert(self._codes, at, fresh[order])
        self._rank_of = np.empty(self.count, np.uint32)
        self._rank_of[self._codes] = np.arange(self.count)
        if len(at) and at[0] == before:
            return None  # all come behind the old ones
        return (np.arange(before) + np.searchsorted(at, np.arange(before), side="right")).astype(np.uint32)
