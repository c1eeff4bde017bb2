"""Partitions of a table's rows by contexts, each refined from that of a smaller context.

Contexts are worked on in the order of a trie over columns, those with many values first: so the partition of a prefix
is there when a longer context is wanted, and what is kept is one partition for each column and one for each step of
the way down. Partitions are stripped: rows that are alone in their group are left out, and, where only pairs with new
rows matter, groups without a new row.

Cost: a refinement reads the cells of the rows that are still in groups; memory a few bytes for these, a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.rows import RankedColumns
from holdfast.kernels import partitions as kernels
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words

_CACHE_BYTES = 192 << 20  # for partitions that longer contexts start with
_WORTH_KEEPING = 1 << 14  # rows: smaller ones are made anew as fast


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of rows, by place: group g is `rows[starts[g] : starts[g + 1]]`."""

    rows: NDArray[np.int32]
    starts: NDArray[np.int32]

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays."""
        return self.rows.nbytes + self.starts.nbytes

    @property
    def squares(self) -> int:
        """The sum of the squares of the groups' sizes."""
        return int(kernels.squares(self.starts))

    def neighbours(self, most: int) -> NDArray[np.int64]:
        """Some pairs of rows, by place, that are next to each other in a group."""
        pairs = np.empty((most, 2), np.int64)
        return pairs[: kernels.neighbours(self.rows, self.starts, most, pairs)]


class Columns:
    """The partitions by single columns, made when asked for, and the order in which columns refine others.

    `fresh` is the place of the first row that is new, where only pairs with new rows matter; 0: all do.
    """

    def __init__(self, rows: RankedColumns, fresh: int = 0) -> None:
        self.rows, self.fresh = rows, fresh
        self._known: dict[tuple[int, ...], Partition] = {}
        self._left = _CACHE_BYTES
        self.order = sorted(range(rows.columns), key=lambda c: -rows.values(c))

    def __getitem__(self, column: int) -> Partition:
        if (column,) not in self._known:
            self._known[column,] = self._by_column(column)
        return self._known[column,]

    def known(self, context: tuple[int, ...]) -> Partition | None:
        """The partition by a context, if it is kept."""
        return self._known.get(context)

    def keep(self, context: tuple[int, ...], partition: Partition) -> None:
        """Keep the partition by a context that others will start with, as long as there is room."""
        if self._left > partition.nbytes and len(partition.rows) > _WORTH_KEEPING:
            self._left -= partition.nbytes
            self._known[context] = partition

    @property
    def whole(self) -> Partition:
        """All living rows in one group."""
        rows = np.flatnonzero(self.rows.alive).astype(np.int32)
        if len(rows) < 2 or rows[-1] < self.fresh:
            rows = rows[:0]
        return Partition(rows, np.array([0, len(rows)] if len(rows) else [0], np.int32))

    def _by_column(self, column: int) -> Partition:
        rows, cells = self.rows, self.rows.cells[column]
        alive = rows.alive
        if self.fresh:
            wanted = np.zeros(rows.values(column), np.bool_)
            wanted[cells[self.fresh :]] = True
            alive = alive & wanted.take(cells)
        count = int(np.count_nonzero(alive))
        ordered, ends = np.empty(count, np.int32), np.empty(rows.values(column), np.int64)
        kernels.by_value(cells, len(ends), alive, ordered, ends)
        stripped, starts = np.empty(count, np.int32), np.empty(count // 2 + 1, np.int32)
        groups = kernels.strip(ordered, ends, rows.distinct, self.fresh, stripped, starts)
        return _cut(stripped, starts, groups)


class Walk:
    """Walks from context to context, in the order of `sort`, and keeps the partitions on the way."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._way: list[tuple[int, Partition]] = []
        self._room = self._with_room(0)

    def to(self, context: Sequence[int]) -> Partition:
        """The partition by a context, given as columns in the order of `Columns.order`."""
        shared = 0
        while shared < min(len(self._way), len(context)) and self._way[shared][0] == context[shared]:
            shared += 1
        del self._way[shared:]
        for column in context[shared:]:
            self._way.append((column, self._step(column)))
        return self._way[-1][1] if self._way else self._columns.whole

    def room(self, partition: Partition) -> kernels.Room:
        """Scratch arrays for a partition."""
        if len(self._room.keys) < len(partition.rows):
            self._room = self._with_room(len(partition.rows))
        return self._room

    def _with_room(self, size: int) -> kernels.Room:
        rows = self._columns.rows
        most = max((rows.values(c) for c in range(rows.columns)), default=0)
        keys, spare = np.empty((2, size), np.uint64)
        return kernels.Room(keys, spare, np.empty(size, np.uint32), np.zeros(most, np.int32))

    def _step(self, column: int) -> Partition:
        if not self._way:
            return self._columns[column]
        context = (*(on_way for on_way, _ in self._way), column)
        partition = self._columns.known(context)
        if partition is None:
            coarser = self._way[-1][1]
            partition = refined(coarser, self._columns, column, self.room(coarser))
            self._columns.keep(context, partition)
        return partition


def refined(partition: Partition, columns: Columns, column: int, room: kernels.Room) -> Partition:
    """The partition by one more column."""
    rows, size = columns.rows, len(partition.rows)
    finer, starts = np.empty(size, np.int32), np.empty(size // 2 + 1, np.int32)
    groups = kernels.refine(
        partition.rows, partition.starts, rows.cells[column], rows.distinct, columns.fresh, room, finer, starts
    )
    return _cut(finer, starts, groups)


def _cut(rows: NDArray[np.int32], starts: NDArray[np.int32], groups: int) -> Partition:
    """What was filled of two arrays, without holding on to the rest where that is much."""
    size = int(starts[groups])
    if 2 * size < len(rows):
        return Partition(rows[:size].copy(), starts[: groups + 1].copy())
    return Partition(rows[:size], starts[: groups + 1])


def in_order(contexts: Words, order: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Contexts as a walk wants them: the place of each, and its columns in the order given; those with a common
    beginning follow one another.
    """
    rank = {column: at for at, column in enumerate(order)}
    ordered = [sorted((rank[c] for c in own)) for own in bitsets.elements_of_each(contexts)]
    places = sorted(range(len(ordered)), key=ordered.__getitem__)
    return [(place, [order[at] for at in ordered[place]]) for place in places]
