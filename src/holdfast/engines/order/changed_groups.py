"""The groups that a batch changed: how many rows more, or fewer, must go after it.

Groups of a context don't touch each other, so a batch changes the number of rows that must go by what it changes in the
groups of the rows that it deleted and inserted. These are counted twice, as they were and as they are.

For that the rows that a batch left alone come first, then those that died, and those that were born last: only groups
with a changed row (these come last) are built (`borders.partitions`). Where most rows share such a group, a count of
all groups is cheaper.

Cost: a copy of all cells a batch; for each context a look at the rows that share a group with a changed one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.partitions import Partition
from holdfast.borders.rows import RankedColumns
from holdfast.engines.order.removals import Context, Contexts, Counter, GroupedRows
from holdfast.kernels import removals as kernels
from holdfast.table.change import Change

_FEW = 16  # a batch that changes more than one row in 16 touches most groups
_MOST = 3  # a context of which more than one row in 3 is touched is counted again


class ChangedGroups:
    """What a batch touched, in a table that has followed it."""

    def __init__(self, rows: RankedColumns, dead: NDArray[np.int64]) -> None:
        born = np.arange(rows.fresh, rows.count)
        stayed = np.flatnonzero(rows.alive[: rows.fresh])
        self._died, self._born = len(stayed), len(stayed) + len(dead)
        cells = rows.cells.take(np.concatenate([stayed, dead, born]), axis=1)
        moved = RankedColumns.of_cells(cells, rows.value_counts, rows.distinct)
        self.contexts = Contexts(moved, fresh=self._died)

    @staticmethod
    def by(rows: RankedColumns, change: Change) -> ChangedGroups | None:
        """None where the batch changed too much, or the rows that died are known no more."""
        if _FEW * (len(change.dead) + len(change.born)) > rows.count:
            return None
        dead = rows.places(change.dead)
        known = len(dead) == 0 or (dead[-1] < rows.count and (rows.ids(dead) == change.dead).all())
        return ChangedGroups(rows, dead) if known else None

    def removed(self, counter: Counter, context: Context, before: int) -> int | None:
        """How many rows must go after the batch, given how many before; None where it is better counted again."""
        partition = self.contexts.of(context).partition
        if _MOST * len(partition.rows) > self.contexts.rows.count:
            return None
        was = self._without(partition, self._born, self.contexts.rows.count)
        now = self._without(partition, self._died, self._born)
        return before + counter(now, len(now.partition.rows)) - counter(was, len(was.partition.rows))

    def _without(self, partition: Partition, first: int, end: int) -> GroupedRows:
        """A partition without the rows of some places."""
        rows, starts = np.empty_like(partition.rows), np.empty_like(partition.starts)
        groups = kernels.leave_out(partition.rows, partition.starts, first, end, rows, starts)
        return GroupedRows(Partition(rows[: starts[groups]], starts[: groups + 1]), self.contexts.rows.count)
