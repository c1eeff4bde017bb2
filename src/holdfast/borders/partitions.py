"""Partitions of a table's rows by contexts, each refined from that of a smaller context.

Contexts are worked on in the order of a trie over columns, those with many values first: so the partition of a prefix
is there when a longer context is wanted, and what is stored is one partition for each column and one for each step of
the way down. Partitions are stripped: rows that are alone in their group are left out, and, where only pairs with new
rows matter, groups without a new row.

Cost: a refinement reads the cells of the rows that are still in groups; memory a few bytes for these, a step.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.rows import RankedColumns
from holdfast.kernels import partitions as kernels
from holdfast.kernels.partitions import PartitionScratch
from holdfast.kernels.swaps import Path

_CACHE_BYTES = 192 << 20  # for partitions that longer contexts start with
_BITMAP = 1 << 17  # which pairs of values that new rows have, a byte each
_WORTH_KEEPING = 1 << 14  # rows: smaller ones are made again as fast


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


class ColumnPartitions:
    """The partitions by single columns, made when needed, and the order in which columns refine others.

    `fresh` is the place of the first row that is new, where only pairs with new rows matter; 0: all do. Rows from the
    place `upto` on are not looked at. Nulls are `distinct` from each other, or not; None: as in the table.
    """

    def __init__(
        self, rows: RankedColumns, fresh: int = 0, upto: int | None = None, distinct: bool | None = None
    ) -> None:
        self.rows, self.fresh, self.upto = rows, fresh, upto
        self.distinct = rows.distinct if distinct is None else distinct
        self._alive = rows.alive[:upto]
        self._known: dict[tuple[int, ...], Partition] = {}
        self._left = _CACHE_BYTES
        self._lock = threading.Lock()
        self.order = sorted(range(rows.columns), key=lambda c: -int(rows.value_counts[c]))

    def known(self, context: tuple[int, ...]) -> Partition | None:
        """The partition by a context, if it is kept or has at most one column."""
        with self._lock:
            if len(context) < 2 and context not in self._known:
                self._known[context] = self._by_column(*context) if context else self._whole()
            return self._known.get(context)

    def keep(self, context: tuple[int, ...], partition: Partition) -> None:
        """Keep the partition by a context that others will start with, as long as there is room."""
        with self._lock:
            if self._left > partition.nbytes and len(partition.rows) > _WORTH_KEEPING:
                self._left -= partition.nbytes
                self._known[context] = partition

    def _whole(self) -> Partition:
        """All living rows in one group."""
        return self._one_group(np.flatnonzero(self._alive).astype(np.int32))

    def _one_group(self, rows: NDArray[np.int32]) -> Partition:
        if len(rows) < 2 or rows[-1] < self.fresh:
            rows = rows[:0]
        return Partition(rows, np.array([0, len(rows)] if len(rows) else [0], np.int32))

    def matching(self, one: int, other: int) -> Partition:
        """The new rows and the rows that share their values of two columns with a new one, perhaps with some that
        don't, in one group: a look at each row, where refining sorts all that share one of the two.
        """
        cells, rows = self.rows.cells, np.empty(len(self._alive), np.int32)
        bitmap = np.zeros(_BITMAP, np.bool_)
        found = kernels.matching(cells[one], cells[other], self._alive, self.fresh, bitmap, rows)
        return self._one_group(rows[:found].copy())

    def _by_column(self, column: int) -> Partition:
        rows, alive = self.rows, self._alive
        cells = rows.cells[column, : len(alive)]
        if self.fresh:
            wanted = np.zeros(int(rows.value_counts[column]), np.bool_)
            wanted[cells[self.fresh :]] = True
            alive = alive & wanted.take(cells)
        count = int(np.count_nonzero(alive))
        ordered, ends = np.empty(count, np.int32), np.empty(int(rows.value_counts[column]), np.int64)
        kernels.by_value(cells, len(ends), alive, ordered, ends)
        stripped, starts = np.empty(count, np.int32), np.empty(count // 2 + 1, np.int32)
        groups = kernels.strip(ordered, ends, self.distinct, self.fresh, stripped, starts)
        return _cut(stripped, starts, groups)


class Walks:
    """Walks to partitions by a few columns, with scratch arrays for each thread."""

    def __init__(self, columns: ColumnPartitions) -> None:
        self.columns = columns
        self._own = threading.local()

    def to(self, context: tuple[int, ...]) -> Partition:
        """The partition by a context, given in the order of `ColumnPartitions.order`."""
        known = self.columns.known(context)
        if known is not None:
            return known
        if self.columns.fresh and len(context) == 2:
            partition = self.refined(self.refined(self.columns.matching(*context), context[0]), context[1])
        else:
            partition = self.refined(self.to(context[:-1]), context[-1])
        self.columns.keep(context, partition)
        return partition

    def scratch(self, partition: Partition, steps: int = 0) -> tuple[PartitionScratch, Path]:
        """Scratch arrays for a partition, and for those by up to `steps` more columns."""
        rows, size = self.columns.rows, len(partition.rows)
        values = int(rows.value_counts.max(initial=0))
        scratch: PartitionScratch | None = getattr(self._own, "scratch", None)
        if scratch is None or len(scratch.keys) <= size:
            keys, spare = np.empty((2, size + 1), np.uint64)
            before, behind = np.empty((2, size + 1), np.int64)
            seen = np.empty(size + 1, np.uint32)
            scratch = self._own.scratch = PartitionScratch(
                keys, spare, before, behind, seen, np.zeros(values, np.int32)
            )
        path: Path | None = getattr(self._own, "path", None)
        groups = size // 2 + 1  # at most, with the end of the last
        if path is None or len(path.rows) < steps * size or len(path.starts) < steps * groups:
            path = self._own.path = Path(np.empty(steps * size, np.int32), np.empty(steps * groups, np.int32))
        return scratch, path

    def refined(self, coarser: Partition, column: int, skip_null: bool | None = None) -> Partition:
        """The partition by one more column, without rows that have a null there (None: where nulls are distinct)."""
        rows, size = self.columns.rows, len(coarser.rows)
        skip = self.columns.distinct if skip_null is None else skip_null
        finer, starts = np.empty(size, np.int32), np.empty(size // 2 + 1, np.int32)
        scratch, _ = self.scratch(coarser)
        groups = kernels.refine(
            coarser.rows, coarser.starts, rows.cells[column], skip, self.columns.fresh, scratch, finer, starts
        )
        return _cut(finer, starts, groups)


def sorted_by(
    rows: NDArray[np.int32], cells: NDArray[np.uint32], values: int, falling: bool = False
) -> NDArray[np.int32]:
    """Rows in the order of their cells, which are below `values`; rows with equal cells stay in their order."""
    ordered = np.empty(len(rows), np.int32)
    kernels.sort_rows(np.ascontiguousarray(rows), cells, np.empty(values, np.int64), ordered, falling)
    return ordered


def _cut(rows: NDArray[np.int32], starts: NDArray[np.int32], groups: int) -> Partition:
    """What was filled of two arrays, without holding on to the rest where that is much."""
    size = int(starts[groups])
    if 2 * size < len(rows):
        return Partition(rows[:size].copy(), starts[: groups + 1].copy())
    return Partition(rows[:size], starts[: groups + 1])
