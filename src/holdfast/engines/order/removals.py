"""How many rows must go so that an order dependency holds: its error, as a number of rows, the least that will do.

Groups of a context don't touch each other, so their numbers add up. In a group, a constant leaves the rows of its most
frequent value. A pair leaves a longest subsequence in which the second column never falls, of the rows sorted by the
first and, where these are equal, by the second column; for `desc` the second column runs backwards, which is to negate
it. (The paper's section 4.7 removes rows greedily, which may be too many: of the rows (A, B) = (0,2), (2,1), (1,2),
(0,1), (1,0) two must go, and greedy takes three.) With nulls distinct a null is in no swap, so such rows stay.

Numbers never rise with the context, and that of a pair is never above that of either column as a constant.

Cost: one order of the table for each pair and direction; then a count reads the rows that share their group with
another, and ends early where more rows must go than the limit. Partitions of contexts are shared, and stored up to
`_ROOM` bytes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.partitions import ColumnPartitions, Partition, Walks, sorted_by
from holdfast.borders.rows import RankedColumns
from holdfast.borders.targets import Targets
from holdfast.kernels import removals as kernels

Context = int  # a set of columns: bit c stands for column c
Rows = NDArray[np.int32]
Cells = NDArray[np.uint32]

_ROOM = 224 << 20
_SMALL = 8  # a partition of less than an eighth of the rows is small: only its own rows are read, in table order
_TINY = 256  # partitions of less than one row in 256 are sorted by themselves


class GroupedRows:
    """The partition of a context, of a table of `count` rows."""

    def __init__(self, partition: Partition, count: int) -> None:
        self.partition, self._count = Partition(_trimmed(partition.rows), _trimmed(partition.starts)), count
        self.is_small = len(partition.rows) * _SMALL < count

    @cached_property
    def group_of(self) -> Rows:
        """The group of each row, -1 of a row that is alone."""
        group_of = np.full(self._count, -1, np.int32)
        kernels.number_groups(self.partition.rows, self.partition.starts, group_of)
        return group_of

    @property
    def nbytes(self) -> int:
        """The memory that it takes or, unless it is small, may take when it is counted."""
        return self.partition.nbytes + (0 if self.is_small else 4 * self._count)


def _trimmed(array: Rows) -> Rows:
    """The same numbers without the room behind them, if that is much."""
    return array.copy() if array.base is not None and array.base.nbytes > array.nbytes * 5 // 4 else array


class Contexts:
    """Partitions by contexts, each refined from a smaller context's; those used last stay. For several threads."""

    def __init__(self, rows: RankedColumns, fresh: int = 0, room: int = _ROOM) -> None:
        """Only of groups with a row from the place `fresh` on."""
        self.rows = rows
        self._walks = Walks(ColumnPartitions(rows, fresh))
        self._room, self._used = room, 0
        self._kept: OrderedDict[Context, GroupedRows] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def coarse_first(self) -> list[int]:
        """The columns, those with few values first."""
        return self._walks.columns.order[::-1]

    def of(self, context: Context) -> GroupedRows:
        """The partition of a context."""
        known = self._look_up(context)
        if known is None:
            known = GroupedRows(self._partition(context), self.rows.count)
            self._keep(context, known)
        return known

    def _partition(self, context: Context) -> Partition:
        own = [column for column in self._walks.columns.order if context >> column & 1]
        if len(own) < 2:
            return self._walks.to(tuple(own))
        parents = [(column, known) for column in own if (known := self._look_up(context ^ 1 << column)) is not None]
        if parents:
            column, parent = min(parents, key=lambda each: len(each[1].partition.rows))
        else:
            column, parent = own[-1], self.of(context ^ 1 << own[-1])
        return self._walks.refined(parent.partition, column)

    def _look_up(self, context: Context) -> GroupedRows | None:
        with self._lock:
            known = self._kept.get(context)
            if known is not None:
                self._kept.move_to_end(context)
            return known

    def _keep(self, context: Context, grouped: GroupedRows) -> None:
        with self._lock:
            if context in self._kept:
                return
            self._kept[context] = grouped
            self._used += grouped.nbytes
            while self._used > self._room and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._used -= dropped.nbytes


class Scratch:
    """Arrays that one thread uses again and again."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, name: str, size: int, kind: Any) -> NDArray[Any]:
        """An array of that size, with anything in it."""
        known = self._arrays.get(name)
        if known is None or len(known) < size:
            known = self._arrays[name] = np.empty(size, kind)
        return known[:size]


Counter = Callable[[GroupedRows, int], int]  # how many rows of a partition must go, or a number above a limit


def counter_of(rows: RankedColumns, targets: Targets, target: int, scratch: Scratch) -> Counter:
    """What counts for a target."""
    columns = targets.columns_of[target]
    if len(columns) > 1:
        return _PairCounter(rows, (columns[0], columns[1]), targets.is_descending(target), scratch).count
    counts = np.zeros(int(rows.value_counts[columns[0]]), np.int64)

    def of_constant(grouped: GroupedRows, most: int) -> int:
        partition, cells = grouped.partition, rows.cells[columns[0]]
        return int(kernels.for_constant(partition.rows, partition.starts, cells, rows.distinct, counts, most))

    return of_constant


class _PairCounter:
    """Counts for two columns in one direction. The table is sorted when the first count asks for it."""

    def __init__(self, rows: RankedColumns, pair: tuple[int, int], descending: bool, scratch: Scratch) -> None:
        self._rows, self._pair, self._descending, self._scratch = rows, pair, descending, scratch

    def count(self, grouped: GroupedRows, most: int) -> int:
        """How many rows of a partition must go, or a number above `most`."""
        partition = grouped.partition
        ends = self._scratch.array("ends", partition.groups, np.int32)
        tails = self._scratch.array("tails", len(partition.rows) + partition.groups, np.uint32)
        if grouped.is_small:
            group_of = self._scratch.array("group_of", self._rows.count, np.int32)
            kernels.number_groups(partition.rows, partition.starts, group_of)
            ordered, values = self._chosen(partition.rows)
        else:
            group_of = grouped.group_of
            ordered, values = self._ordered
        return int(kernels.for_pair(ordered, values, group_of, partition.starts, ends, tails, most))

    @cached_property
    def _ordered(self) -> tuple[Rows, Cells]:
        return self._sorted(np.flatnonzero(self._rows.alive).astype(np.int32))

    def _chosen(self, rows: Rows) -> tuple[Rows, Cells]:
        """The same of some rows: sorted by themselves, if they are few, or else by their places in the whole."""
        if len(rows) * _TINY < self._rows.count:
            return self._sorted(rows)
        at = np.sort(self._places[rows])
        at = at[np.searchsorted(at, 0) :]
        ordered, values = self._ordered
        return ordered[at], values[at]

    @cached_property
    def _places(self) -> Rows:
        """Where each row stands in the order, -1 where it doesn't."""
        ordered, _ = self._ordered
        places = np.full(self._rows.count, -1, np.int32)
        places[ordered] = np.arange(len(ordered), dtype=np.int32)
        return places

    def _sorted(self, rows: Rows) -> tuple[Rows, Cells]:
        """Some rows by the first column and then the second, with the second's cells, so that both rise."""
        first, second = self._pair
        one, other = self._rows.cells[first], self._rows.cells[second]
        if self._rows.distinct:
            rows = rows[(one[rows] > 0) & (other[rows] > 0)]
        values = int(self._rows.value_counts[second])
        if len(rows) * _TINY < self._rows.count:
            own = np.uint32(values) - other[rows] if self._descending else other[rows]
            order = np.lexsort((own, one[rows]))
            return rows[order], own[order]
        rows = sorted_by(rows, other, values, self._descending)
        rows = sorted_by(rows, one, int(self._rows.value_counts[first]))
        return rows, np.uint32(values) - other[rows] if self._descending else other[rows]
