"""The evidence for FDs, counted in the groups of rows that agree on a left side: many right sides at once.

Rows are brought into the groups of a left side once, as a stripped partition (see `borders.partitions`); each right
side is then one look at the codes of the rows in groups, and one at their cells. Rows with a null on the left are in no
group of the evidence. Where nulls are equal they still may have to be removed, so they are in groups of their own.

Cost: 4 bytes a cell of the table, and some 20 bytes a row for each thread.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.partitions import ColumnPartitions, Partition, Walks
from holdfast.borders.rows import CodedColumns
from holdfast.engines.functional.fd_score import FDEvidence
from holdfast.kernels import agreement as kernels
from holdfast.kernels.agreement import AgreementScratch
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

Rows = NDArray[np.int32]
Lhs = tuple[int, ...]

_CELLS_AT_ONCE = 1 << 23  # that one call of a kernel looks at: between calls one can end it


def parts_of(columns: Lhs) -> list[Lhs]:
    """The proper parts of some columns, without the empty one, each ascending."""
    ascending = sorted(columns)
    return [part for size in range(1, len(columns)) for part in combinations(ascending, size)]


@dataclass(frozen=True, eq=False)
class LeftSide:
    """Rows in groups that agree on some columns and have no null there, and the rows that have one, by place."""

    columns: Lhs
    partition: Partition
    unnamed: Rows

    @property
    def tested(self) -> int:
        """How many rows share their values with another."""
        return len(self.partition.rows)


@dataclass(frozen=True)
class AgreementResult:
    """The evidence for a dependency, the pairs of rows that break it, and the exceptions: rows that share the left side
    with others and differ from most of these on the right.
    """

    evidence: FDEvidence
    broken_pairs: int
    exceptions: int


class CodedRows:
    """The rows of a table as codes, and the evidence for its FDs. `only` are the columns to read (None: all); `codes`
    are those of all rows, where they were read before. Threads may share it.
    """

    def __init__(self, table: Table, only: Collection[int] | None = None, codes: CodedColumns | None = None) -> None:
        self.table, self.rows, self._only = table, table.rows, only
        self._lone_nulls = table.schema.nulls.are_distinct
        self._codes = codes or CodedColumns(table, only)
        self.cells = self._codes.cells
        self._named = ColumnPartitions(self._codes, distinct=True)  # a null on the left names nothing
        self._walks = Walks(self._named)
        counts = [self._counted(c) for c in range(self._codes.columns)]
        frequent = [_most_frequent(count) for count in counts]
        self._frequent = np.concatenate([np.empty(0, np.int64), *frequent])
        self._values = np.array([len(own) - 2 for own in frequent], np.int64)  # that occur, of each column
        self._first_frequent = np.concatenate([[0], np.cumsum(self._values + 2)]).astype(np.int64)
        self._totals = np.concatenate([np.empty(0, np.int32), *counts])
        self._first = np.concatenate([[0], np.cumsum(self._codes.value_counts)]).astype(np.int64)
        self.nulls = [int(count[NULL_CODE]) for count in counts]  # of each column
        self.varying = np.flatnonzero(self._values > 1).tolist()  # the columns that are not constant
        self._own = threading.local()

    def _counted(self, column: int) -> NDArray[np.int32]:
        """How many rows have each code of a column; 0 of one that is not read."""
        own = self.cells[column] if self._only is None or column in self._only else self.cells[column, :0]
        return np.bincount(own, minlength=int(self._codes.value_counts[column])).astype(np.int32)

    # ---- left sides -------------------------------------------------------------------------------------------------

    def in_order(self, columns: Sequence[int]) -> Lhs:
        """The columns in the order in which they refine others: those with many values first."""
        return tuple(c for c in self._named.order if c in columns)

    def side(self, columns: Lhs) -> LeftSide:
        """The rows in the groups of some columns, given in their order."""
        if len(columns) > 1:
            return self.longer(self.side(columns[:-1]), columns[-1])
        partition = self._named.known(columns)
        assert partition is not None  # it has but one column
        return LeftSide(columns, partition, self._unnamed(columns))

    def longer(self, side: LeftSide, column: int) -> LeftSide:
        """The rows in the groups of one more column."""
        columns = (*side.columns, column)
        unnamed = self._unnamed(columns) if self.nulls[column] else side.unnamed
        return LeftSide(columns, self._walks.refined(side.partition, column), unnamed)

    def _unnamed(self, columns: Lhs) -> Rows:
        null = np.zeros(self.rows, np.bool_)
        for c in columns:
            if self.nulls[c]:
                null |= self.cells[c] == NULL_CODE
        return np.flatnonzero(null).astype(np.int32)

    # ---- right sides ------------------------------------------------------------------------------------------------

    def results(
        self, side: LeftSide, rhs: Sequence[int], worth: Sequence[float] | None = None
    ) -> list[AgreementResult | None]:
        """The evidence for each of some right sides; None where agreement beyond chance, times the share of usual rows,
        is surely 0 or below what is worth it.

        The rows to remove and the broken pairs are those of rows that have a left side: see `whole`.
        """
        least = np.zeros(len(rhs)) if worth is None else np.array(worth)
        scanned = list(range(len(rhs)))
        if worth is not None:
            bound = self._at_most(side.partition, rhs)
            scanned = np.flatnonzero((bound > 0.0) & (bound >= least)).tolist()
        results: list[AgreementResult | None] = [None] * len(rhs)
        sums = self._sums(side.partition, side.unnamed, [rhs[i] for i in scanned], least[scanned])
        for i, own in zip(scanned, sums.tolist(), strict=True):
            if own[kernels.COMPLETE]:
                evidence = FDEvidence(self.rows, *own[: kernels.BROKEN])
                results[i] = AgreementResult(evidence, own[kernels.BROKEN], own[kernels.OUTSIDE])
        return results

    def _at_most(self, partition: Partition, rhs: Sequence[int]) -> NDArray[np.float64]:
        """For each right side the largest share of rows in groups that can have the value of most of their group: in a
        group not more than have any value, and over all groups not more than have as many values as there are groups;
        0 where groups are so large that no value is usual.
        """
        tested, groups = len(partition.rows), partition.groups
        if not tested:
            return np.zeros(len(rhs))
        sizes = np.sort(np.diff(partition.starts))
        upto = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        largest = self._frequent[self._first_frequent[rhs] + 1]
        small = np.searchsorted(sizes, largest)
        in_groups = upto[small] + (groups - small) * largest
        over_all = self._frequent[self._first_frequent[rhs] + np.minimum(groups, self._values[rhs])]
        return np.where(2 * largest > sizes[0], np.minimum(in_groups, over_all) / tested, 0.0)

    def _sums(
        self, partition: Partition, unnamed: Rows, rhs: Sequence[int], least: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        columns = np.array(rhs, np.int64)
        sums = np.zeros((len(rhs), kernels.SUMS), np.int64)
        step = max(1, _CELLS_AT_ONCE // max(len(partition.rows), 1))
        for start in range(0, len(rhs), step):
            some = slice(start, start + step)
            kernels.sum_up(
                _unsigned(partition.rows), _unsigned(partition.starts), _unsigned(unnamed), self.cells, columns[some],
                least[some], self._totals, self._first, self._lone_nulls, self._scratch(partition), sums[some],
            )  # fmt: skip
        return sums

    def whole(self, side: LeftSide, rhs: Sequence[int], results: Sequence[AgreementResult]) -> list[AgreementResult]:
        """The same with the rows to remove and the broken pairs of all rows: where nulls are equal, also of those that
        have a null on the left.
        """
        unnamed = self._of_unnamed(side)
        if not len(unnamed.rows):
            return list(results)
        more = self._sums(unnamed, unnamed.rows[:0], rhs, np.zeros(len(rhs))).tolist()
        return [
            replace(
                each,
                evidence=replace(each.evidence, outside=each.evidence.outside + own[kernels.OUTSIDE]),
                broken_pairs=each.broken_pairs + own[kernels.BROKEN],
            )
            for each, own in zip(results, more, strict=True)
        ]

    def outside(self, side: LeftSide, rhs: int) -> NDArray[np.int64]:
        """The fewest rows to remove so that a dependency holds, by id, ascending: those of `Groups.outside_pairs`."""
        found = [np.empty(0, np.int64)]
        for partition in (side.partition, self._of_unnamed(side)):
            rows, starts = _unsigned(partition.rows), _unsigned(partition.starts)
            gone, scratch = np.empty(len(rows), np.uint32), self._scratch(partition)
            many = kernels.outside(rows, starts, self.cells[rhs], self._lone_nulls, scratch, gone)
            found.append(self._codes.ids(gone[:many].astype(np.int64)))
        return np.sort(np.concatenate(found))

    def _of_unnamed(self, side: LeftSide) -> Partition:
        """The rows with a null on the left in groups where null is a value; none where nulls differ."""
        rows = side.unnamed[:0] if self._lone_nulls or len(side.unnamed) < 2 else side.unnamed
        partition = Partition(rows, np.array([0, len(rows)] if len(rows) else [0], np.int32))
        for column in side.columns:
            partition = self._walks.refined(partition, column, skip_null=False)
        return partition

    def _scratch(self, partition: Partition) -> AgreementScratch:
        """Arrays to work in, for each thread its own."""
        size = len(partition.rows)
        scratch: AgreementScratch | None = getattr(self._own, "scratch", None)
        if scratch is None or len(scratch.values) < size:
            values = int(self._codes.value_counts.max(initial=1))
            scratch = self._own.scratch = AgreementScratch(
                np.zeros(values, np.int32), np.zeros(values, np.bool_), np.empty(values, np.uint32),
                np.empty(size, np.uint32), np.empty(size, np.int32), np.empty(size // 2 + 1, np.int32),
            )  # fmt: skip
        return scratch


def _unsigned(places: Rows) -> NDArray[np.uint32]:
    return places.view(np.uint32)


def _most_frequent(counts: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many rows have one of the k most frequent values, from k = 0 to one more than there are."""
    frequent = np.sort(counts[counts > 0])[::-1]
    return np.concatenate([[0], np.cumsum(frequent, dtype=np.int64), [frequent.sum(dtype=np.int64)]])
