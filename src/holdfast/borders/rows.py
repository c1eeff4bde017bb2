"""The rows of a table as borders want them: dense numbers, column by column, that compare as the values do.

A cell is the rank of its value among all values of the column, null has rank 0. A value that arrives between two others
moves the ranks above it, in one pass over the cells of that column. Rows keep their places: dead ones are marked, new
ones come behind, and when most are dead the whole is made again.
Where no order is needed, codes do as well, and nothing is sorted.

Cost: 4 bytes a cell and 9 bytes a row; a batch costs what it brings, and a pass for each column with new values.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.rewrite import UsedCodes
from holdfast.table.runner import Runner
from holdfast.table.table import Table

Arrays = Mapping[str, NDArray[Any]]
Places = NDArray[np.int64]
_LEAST = 1024


class RankedColumns:
    """The rows of a table, living and dead, as ranks of their values. A part that engines share; made when needed."""

    name: ClassVar[str] = "ranks"
    ordered: ClassVar[bool] = True

    def __init__(self, table: Table, only: Collection[int] | None = None) -> None:
        """The rows of a table, of which some columns only may be read (None: all)."""
        self.where, self._only = table.where, only
        self.distinct = table.schema.nulls.are_distinct
        self.columns = len(table.schema.columns)
        self.compared: Places = np.empty((0, 2), np.int64)  # pairs that showed much: who comes next starts with them
        self._table: Table | None = table  # until its rows were read
        self._reading = threading.Lock()
        self._dead = 0

    @classmethod
    def of(cls, table: Table, runner: Runner, progress: Progress) -> Self:  # noqa: ARG003
        """The rows of a table."""
        return cls(table)

    @classmethod
    def load(cls, table: Table, arrays: Arrays, facts: Mapping[str, Any]) -> Self:  # noqa: ARG003
        """The rows of a table; nothing is stored of them but the table itself."""
        return cls(table)

    @classmethod
    def of_cells(cls, cells: NDArray[np.uint32], value_counts: NDArray[np.int64], distinct: bool) -> Self:
        """Rows that follow no batch, all of them living."""
        made = cls.__new__(cls)
        made._table, made._cells, made.value_counts, made.distinct = None, cells, value_counts, distinct
        made.columns, made.count = cells.shape
        made._alive = np.ones(made.count, np.bool_)
        return made

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Nothing: the table has it all."""
        return {}, {}

    def rewritten(self, table: Table, kept: UsedCodes) -> Self:  # noqa: ARG002
        """The rows of a table that was written again."""
        return type(self)(table)

    def _read(self) -> None:
        """Read the rows, if that is not done."""
        if self._table is not None:
            with self._reading:  # of threads that want them, one reads
                if self._table is not None:
                    self._start_with(self._table)
                    self._table = None

    def _start_with(self, table: Table) -> None:
        read = range(self.columns) if self._only is None else self._only
        self._values = {c: _RankedValues(table, c, self.ordered) for c in read}
        self.value_counts = _value_counts(table)
        self.count = self.fresh = table.rows  # of places, the dead included
        self._ids, self._alive = table.living_ids(), np.ones(table.rows, np.bool_)
        self._cells = np.empty((self.columns, table.rows), np.uint32)
        self._dead = 0
        for c, values in self._values.items():
            begin = 0
            for shard, alive in table.living():
                codes = shard.columns[c] if alive is None else shard.columns[c][alive]
                self._cells[c, begin : begin + len(codes)] = values.of(codes)
                begin += len(codes)

    @property
    def cells(self) -> NDArray[np.uint32]:
        """The ranks, `[column, place]`; behind the last row there is anything."""
        self._read()
        return self._cells

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which places have living rows."""
        self._read()
        return self._alive[: self.count]

    def ids(self, places: Places) -> NDArray[np.int64]:
        """The ids of the rows at some places."""
        self._read()
        return self._ids[places]

    def id_at(self, place: int) -> int:
        """The id of the row at a place; behind the last one, an id that no row has yet."""
        self._read()
        if place < self.count:
            return int(self._ids[place])
        return int(self._ids[self.count - 1]) + 1 if self.count else 0

    def places(self, ids: NDArray[np.int64]) -> Places:
        """Where the rows with some ids stand, or would."""
        self._read()
        return np.searchsorted(self._ids[: self.count], ids)

    def follow(self, change: Change, runner: Runner) -> None:  # noqa: ARG002
        """Take in a batch: rows die, and new ones come, from the place `fresh` on."""
        self._read()
        self.compared, self.where = self.compared[:0], change.after.where
        self._alive[self.places(change.dead)] = False
        self._dead += len(change.dead)
        if self.count > _LEAST and 2 * self._dead > self.count:
            self._start_with(change.after)
            self.fresh = int(np.searchsorted(self._ids, change.born.start))
        else:
            self.fresh = self.count
            self._add(change)

    def _add(self, change: Change) -> None:
        first, born, self.value_counts = self.count, len(change.born), _value_counts(change.after)
        self._reserve(first + born)
        for c, values in self._values.items():
            moved = values.follow(change.after, c)
            if moved is not None:
                self._cells[c, :first] = moved.take(self._cells[c, :first])
            self._cells[c, first : first + born] = values.of(change.inserted[c])
        self._ids[first : first + born] = np.arange(change.born.start, change.born.stop)
        self._alive[first : first + born] = True
        self.count += born

    def _reserve(self, room: int) -> None:
        if room > len(self._ids):
            lack = room + room // 4 - len(self._ids)
            self._cells = np.pad(self._cells, ((0, 0), (0, lack)))
            self._ids, self._alive = np.pad(self._ids, (0, lack)), np.pad(self._alive, (0, lack))


class CodedColumns(RankedColumns):
    """The same with codes instead of ranks, where no order is needed: nothing is sorted."""

    name: ClassVar[str] = "codes"
    ordered: ClassVar[bool] = False


def _value_counts(table: Table) -> NDArray[np.int64]:
    """One more than the highest rank of each column."""
    return np.array([len(dictionary) for dictionary in table.dictionaries], np.int64)


class _RankedValues:
    """The values of one column in order: their keys, and so the rank of each code."""

    def __init__(self, table: Table, column: int, ordered: bool) -> None:
        self.count = len(table.dictionaries[column])
        self._ordered = ordered
        if ordered:
            self._order_keys = table.order_keys(column)
            keys = self._order_keys.of(np.arange(self.count))
            codes = np.argsort(keys, kind="stable")
            self._keys, self._generation = keys[codes], self._order_keys.generation
            self._rank_of: NDArray[np.uint32] | None = np.empty(self.count, np.uint32)  # until values come between
            self._rank_of[codes] = np.arange(self.count)

    def of(self, codes: NDArray[np.unsignedinteger]) -> NDArray[np.unsignedinteger]:
        """The ranks of some codes."""
        if not self._ordered:
            return codes
        if self._rank_of is not None:
            return self._rank_of.take(codes)
        return np.searchsorted(self._keys, self._order_keys.of(codes)).astype(np.uint32)

    def follow(self, table: Table, column: int) -> NDArray[np.uint32] | None:
        """Take in the values that a column got; gives the new rank of each old one, None where they are the same."""
        before, self.count = self.count, len(table.dictionaries[column])
        if not self._ordered or self.count == before:
            return None
        keys = self._order_keys = table.order_keys(column)
        if keys.generation != self._generation:
            self._keys, self._generation = np.sort(keys.of(np.arange(before))), keys.generation
        fresh = np.sort(keys.of(np.arange(before, self.count)))
        at = np.searchsorted(self._keys, fresh)
        self._keys, self._rank_of = np.insert(self._keys, at, fresh), None
        if at[0] == before:
            return None  # all come behind the old ones
        return (np.arange(before) + np.cumsum(np.bincount(at, minlength=before + 1))[:before]).astype(np.uint32)
