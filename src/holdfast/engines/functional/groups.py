"""The rows of one rule in groups, kept true under batches: how far the rule holds, and which rows to look at.

A **cluster** is the rows that agree on the left side, a **cell** those of a cluster that agree on the right side, too.
An FD holds iff no cluster has two cells, a key iff no cluster has two rows; a key's clusters have one cell each. The
rows **outside** are the rows to remove, the fewest without which the rule holds (g3 is their share). They lie outside
the largest cell of their cluster, of equally large ones the one with the oldest row; for a key they are all but the
oldest row of a cluster. Where nulls are distinct, a row with a null on the left is in no cluster, and one with a null
on the right has a cell of its own.

Rows find their cluster and cell by their codes (see `clusters`); the largest cell of a cluster is chosen again when a
batch touches it. A batch costs what its rows and the cells of their clusters cost. Older
rows are looked for (see `Finder`) only where the oldest row of a cell died, which ends with the next one, and to list
the rows where another cell became the largest.
Memory: some 80 bytes a cluster and a cell, and none a row. What is empty stays until it is the most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import ChangedClusters
from holdfast.engines.functional.clusters import KEPT, NONE, Clusters
from holdfast.engines.functional.fd_score import EvidenceSums, FDEvidence
from holdfast.engines.given.finder import Finder, TableFinder
from holdfast.engines.given.keeper import Effect, Pairs, alone
from holdfast.engines.given.violation_changes import MOST
from holdfast.kernels.usual_clusters import ValueCells, choose
from holdfast.table.change import Change
from holdfast.table.rows import Ids, Rows
from holdfast.table.table import Table

_LEAST = 1024  # fewer cells are kept, also where most are empty
_SMALL = 1 << 16  # clusters and cells, which take five megabytes
_EVIDENCE = tuple(f"evidence {name}" for name in ("sums", *ValueCells._fields))  # of a dump, once it was needed
PARTS = ("totals", *KEPT, *_EVIDENCE)  # of a dump


@dataclass(frozen=True, eq=False)
class _Before:
    """What a batch touches, as it is before: cells and clusters, each once."""

    cells: Ids
    counts: Ids  # of each cell
    oldest: Ids  # of each cell
    clusters: Ids
    best: Ids  # of each cluster
    outside: Ids  # how many rows of each cluster are
    totals: Ids


class Groups:
    """The rows of a table in groups, for a left side and a right side (None: a key) given as column numbers."""

    def __init__(self, table: Table, lhs: Sequence[int], rhs: int | None) -> None:
        self._empty(table, lhs, rhs)
        self.follow(Rows.all_of(table), Rows.at(table, np.empty(0, np.int64)))

    def _empty(self, table: Table, lhs: Sequence[int], rhs: int | None) -> None:
        self.finder: Finder = TableFinder(table)
        self._lhs, self._rhs, self._distinct = list(lhs), rhs, table.schema.nulls.are_distinct
        self.rows = 0
        self._values = 0  # codes on the right are below this; those of nulls that differ are not
        self._first = NONE  # the row that comes first of all that have values on the left, where a batch brings it
        self._kept = Clusters(len(self._lhs), rhs is None, self._distinct)
        # Pairs in a cell, pairs in a cluster, rows to remove, living cells, rows without a null on the left.
        self._totals = np.zeros(5, np.int64)
        self._sums: EvidenceSums | None = None  # the evidence, from when it is first needed

    # ---- in files ---------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> int:
        """How many clusters and cells there are."""
        return self._kept.clusters.used + self._kept.cells.used

    @property
    def are_small(self) -> bool:
        """Whether those of an FD are so few that any dump may hold them."""
        return self._rhs is not None and self.entries <= _SMALL

    @property
    def totals(self) -> tuple[int, ...]:
        """What the groups of a key add up to: with these, and an index of the rows, a process can go on."""
        return tuple(self._totals.tolist())

    def dump(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `load` makes the same groups of the same rows."""
        sums = {} if self._sums is None else self._sums.dump()
        evidence = {f"evidence {name}": own for name, own in sums.items()}
        arrays = {"totals": self._totals, **self._kept.dump(), **evidence}
        return {name: array.copy() for name, array in arrays.items()}

    @staticmethod
    def load(table: Table, lhs: Sequence[int], rhs: int | None, arrays: Mapping[str, NDArray[Any]]) -> Groups:
        """The groups that `dump` described, at the cost of the clusters and cells."""
        groups = Groups.__new__(Groups)
        groups._empty(table, lhs, rhs)
        groups._kept.load(arrays)
        groups._totals = arrays["totals"].copy()
        groups.rows, groups._values = table.rows, 0 if rhs is None else len(table.dictionaries[rhs])
        if all(name in arrays for name in _EVIDENCE):
            groups._sums = EvidenceSums.load({name.removeprefix("evidence "): arrays[name] for name in _EVIDENCE})
        return groups

    # ---- asking -----------------------------------------------------------------------------------------------------

    @property
    def broken_pairs(self) -> int:
        """How many pairs of rows break the rule."""
        alike, together, *_ = self._totals.tolist()
        return int(together if self._rhs is None else together - alike)

    @property
    def to_remove(self) -> int:
        """How many rows to remove so that the rule holds."""
        return int(self._totals[2])

    @property
    def with_nulls(self) -> int:
        """How many rows have a null on the left side."""
        return self.rows - int(self._totals[4])

    @property
    def evidence(self) -> FDEvidence:
        """What speaks for an FD."""
        if self._sums is None:
            self._sums = EvidenceSums(self._kept.seen(), self._values)
        return self._sums.evidence(self.rows, self.to_remove)

    def outside_pairs(self) -> Pairs:
        """The fewest rows without which the rule holds, by id, ascending, each with the oldest row of its cluster that
        may stay: the two break the rule.
        """
        cells = np.flatnonzero(self._kept.cells.counts > (self._rhs is None))
        wrong = cells if self._rhs is None else cells[self._kept.best[self._kept.of(cells)] != cells]
        parts = [np.stack([ids, self._beside(of)], axis=1) for ids, of in self._rows_of(wrong)]
        pairs = np.concatenate([np.empty((0, 2), np.int64), *parts])
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]  # of a key's cluster the oldest row stays
        return np.asarray(pairs[np.argsort(pairs[:, 0], kind="stable")])

    def _beside(self, cells: Ids) -> Ids:
        """The oldest row that may stay in the cluster of each cell."""
        return self._kept.oldest[cells if self._rhs is None else self._kept.best[self._kept.of(cells)]]

    def broken_clusters(self) -> Ids:
        """The clusters that break the rule; most rows to remove first, of equals the oldest one."""
        wrong = self._outside_in(np.arange(self._kept.clusters.used))
        broken = np.flatnonzero(wrong)
        first = self._kept.oldest[broken if self._rhs is None else self._kept.best[broken]]
        return broken[np.lexsort((first, -wrong[broken]))]

    def rows_in(self, cluster: int) -> tuple[Ids, NDArray[np.bool_]]:
        """The rows of a cluster, by id, ascending, and which of them to remove."""
        parts = list(self._rows_of(self._kept.cells_in(cluster)))
        ids, cells = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        order = np.argsort(ids)
        return ids[order], self._are_outside(ids, cells)[order]

    def _rows_of(self, cells: Ids) -> Iterator[tuple[Ids, Ids]]:
        """The rows of some cells, each with its cell, by looks at older rows: some at a time, and those of a cell the
        oldest first.
        """
        if not len(cells):
            return
        codes, alone = self._kept.codes(cells)
        if alone.any():
            yield self._kept.oldest[cells[alone]], cells[alone]
            cells, codes = cells[~alone], codes[:, ~alone]
        columns = self._lhs if self._rhs is None else [*self._lhs, self._rhs]
        for ids, number in self.finder.rows_with(columns, codes):
            yield ids, cells[number]

    def _are_outside(self, ids: Ids, cells: Ids) -> NDArray[np.bool_]:
        """Which rows to remove, given their ids and cells."""
        rows = np.flatnonzero(cells >= 0)
        marks = np.zeros(len(ids), np.bool_)
        own = cells[rows]
        if self._rhs is None:
            marks[rows] = self._kept.oldest[own] != ids[rows]
        else:
            marks[rows] = self._kept.best[self._kept.of(own)] != own
        return marks

    def _outside_in(self, clusters: Ids) -> Ids:
        """How many rows of each cluster to remove."""
        sizes = self._kept.clusters.counts[clusters]
        if self._rhs is None:
            return np.maximum(sizes - 1, 0)
        best = self._kept.best[clusters]
        return np.where(best >= 0, sizes - self._kept.cells.counts[best], 0)

    # ---- following batches ------------------------------------------------------------------------------------------

    def ready(self, change: Change) -> None:
        """Get ready to follow a batch: the one step that sees the table."""
        self.finder = TableFinder(change.after)
        few = self._rhs is None and int(self._totals[4]) <= len(change.dead)  # else older ones are there
        first = TableFinder(change.after).first_with_values(self._lhs) if few else None
        self._first = NONE if first is None else first

    def follow(self, come: Rows, gone: Rows) -> Effect:
        """Take in a batch: the rows that came and those that went. Gives which rows it put outside, and which are
        outside no more.

        Of the rows that neither came nor went, some may have swapped places, as another cell became the largest of
        their cluster. They are listed where they are at most `MOST`, and counted always. A cluster has more rows
        outside than before, or fewer, but not both: the others of those added and resolved took other rows' places.
        """
        self.rows += len(come) - len(gone)
        self._values = 0 if self._rhs is None else len(come.encoding.dictionaries[self._rhs])
        left = self._cells_of(gone)
        moved = self._take(come.ids, self._cells_of(come), gone.ids, left)
        if self._kept.cells.used > _LEAST and 2 * int(self._totals[3]) < self._kept.cells.used:
            self._kept, self._sums = self._kept.without_empty(), None
        return moved

    def _cells_of(self, rows: Rows) -> Ids:
        """The cells of some rows."""
        value = None if self._rhs is None else rows.codes(self._rhs)
        return self._kept.place(rows.ids, [rows.codes(column) for column in self._lhs], value)

    def _take(self, born: Ids, come: Ids, dead: Ids, gone: Ids) -> Effect:
        """Let rows be born into cells, and others die in theirs."""
        before = self._before(gone, come)
        if self._sums:
            self._sums.leave(before.clusters, self._kept.seen(), self._values)
        resolved = dead[self._are_outside(dead, gone)]
        self._count(gone, come)
        self._renew_oldest(before, born, come, dead)
        if self._rhs is not None:
            choose(before.clusters, self._kept.seen(), self._kept.oldest)
        outside = self._outside_in(before.clusters)
        self._totals += self._totals_of(before.cells, before.clusters, outside) - before.totals
        if self._sums:
            self._sums.enter(before.clusters, before.cells, before.counts, self._kept.seen(), self._values)
        are_added = self._are_outside(born, come)
        added = born[are_added]
        left, returned, moved = self._swapped(before, born, come)
        more = np.maximum(outside - before.outside, 0)
        come_out = moved[0] + len(added)
        return Effect(
            alone(np.concatenate([left, added])),
            alone(np.concatenate([resolved, returned])),
            come_out,
            moved[1] + len(resolved),
            come_out - int(more.sum()),
            *self._tests(before.clusters, born, come, are_added, more),
            example=self._example(before, added, come[are_added], more),
            is_grouped=True,
            clusters=self._changed(before, outside),
        )

    def _changed(self, before: _Before, outside: Ids) -> ChangedClusters | None:
        """The left sides with another number of rows outside than before, given the number now; None: they are many."""
        changed = np.flatnonzero(outside != before.outside)
        if len(changed) > MOST:
            return None
        clusters = before.clusters[changed]
        codes, sizes = self._kept.left(clusters), self._kept.clusters.counts[clusters]
        numbers = before.outside[changed], outside[changed]
        if self._rhs is None:
            return ChangedClusters(self._lhs, codes, *numbers, sizes, *np.zeros((2, len(changed)), np.int64))
        best = self._kept.best[clusters]
        return ChangedClusters(self._lhs, codes, *numbers, sizes, *self._kept.usual(best))

    def _example(self, before: _Before, added: Ids, cells: Ids, more: Ids) -> tuple[int, ...]:
        """Two rows that break the rule since the batch, of which the second is outside, given the rows that came and
        are, with their cells, and how many more are in each cluster that the batch touched.
        """
        worse = np.flatnonzero(more)
        if not len(worse):
            return ()
        new = np.flatnonzero(more[np.searchsorted(before.clusters, self._kept.of(cells))])
        if len(new):
            return int(self._beside(cells[new[:1]])[0]), int(added[new[0]])
        cluster = before.clusters[worse[0]]  # the rows that came are the most there now, and older ones are outside
        return int(self._kept.oldest[self._kept.best[cluster]]), int(self._kept.oldest[before.best[worse[0]]])

    def _tests(self, clusters: Ids, born: Ids, come: Ids, added: NDArray[np.bool_], more: Ids) -> tuple[int, int]:
        """How many rows that came might have broken the rule, and how many did; given the clusters that the batch
        touched, how many more of their rows are outside, the rows that came, their cells, and which of them are.
        """
        place = np.searchsorted(clusters, self._kept.of(come[come >= 0]))
        fresh = np.bincount(place, minlength=len(clusters))
        wrong = np.bincount(place, added[come >= 0], minlength=len(clusters)).astype(np.int64)
        old = self._kept.clusters.counts[clusters] - fresh
        named = ~self._kept.nameless[clusters]
        if self._rhs is None:  # every row might have what another one has
            is_first = self._first >= 0 and self._first in born  # one of them is the first of all
            tested = int(fresh[named].sum()) - is_first
        else:
            tested = int(np.maximum(fresh - (old == 0), 0)[named].sum())
        return tested, int(np.maximum(wrong, more)[named].sum())

    def _before(self, gone: Ids, come: Ids) -> _Before:
        cells = _each_once(np.concatenate([gone, come]), self._kept.cells.used)
        clusters = cells if self._rhs is None else _each_once(self._kept.of(cells), self._kept.clusters.used)
        best = clusters if self._rhs is None else self._kept.best[clusters]
        outside = self._outside_in(clusters)
        totals = self._totals_of(cells, clusters, outside)
        return _Before(cells, self._kept.cells.counts[cells], self._kept.oldest[cells], clusters, best, outside, totals)

    def _totals_of(self, cells: Ids, clusters: Ids, outside: Ids) -> Ids:
        """What some cells, and their clusters, of which some rows are outside, add to the totals."""
        counts, sizes = self._kept.cells.counts[cells], self._kept.clusters.counts[clusters]
        alike, together = (int(np.dot(each, each - 1)) // 2 for each in (counts, sizes))
        named = int(np.dot(sizes, ~self._kept.nameless[clusters]))  # rows without a null on the left
        return np.array([alike, together, int(outside.sum()), np.count_nonzero(counts), named], np.int64)

    def _count(self, gone: Ids, come: Ids) -> None:
        for cells, step in ((gone, -1), (come, 1)):
            known = cells[cells >= 0]
            np.add.at(self._kept.cells.counts, known, step)
            if self._rhs is not None:
                np.add.at(self._kept.clusters.counts, self._kept.of(known), step)

    def _renew_oldest(self, before: _Before, born: Ids, come: Ids, dead: Ids) -> None:
        """The oldest row of cells that were empty, or that lost theirs."""
        if (empty := before.cells[before.counts == 0]).size:
            filled = np.flatnonzero(np.isin(come, empty))[::-1]
            self._kept.oldest[come[filled]] = born[filled]  # of several rows the first is written last
        if not len(dead):
            return
        lost = before.cells[(before.counts > 0) & np.isin(before.oldest, dead)]
        lost = self._with_older_rows(lost[self._kept.cells.counts[lost] > 0], born, come)
        for ids, cells in self._rows_of(lost):
            found, first = np.unique(cells, return_index=True)  # the first is the oldest
            fresh = np.isin(found, lost)
            self._kept.oldest[found[fresh]] = ids[first[fresh]]
            lost = np.setdiff1d(lost, found)
            if not len(lost):
                break

    def _with_older_rows(self, cells: Ids, born: Ids, come: Ids) -> Ids:
        """Those of some cells that have rows which are older than the batch. The others, such as those of updated rows,
        have the first row that came as their oldest.
        """
        own = np.flatnonzero(np.isin(come, cells))[::-1] if len(cells) else cells
        self._kept.oldest[come[own]] = born[own]
        fresh = np.bincount(np.searchsorted(cells, come[own]), minlength=len(cells))
        return cells[self._kept.cells.counts[cells] > fresh]

    def _swapped(self, before: _Before, born: Ids, come: Ids) -> tuple[Ids, Ids, tuple[int, int]]:
        """Of the rows that neither came nor went, those that are outside now, those that are no more, and the numbers
        of both; none of them, but their numbers, where they are many.
        """
        none = before.cells[:0]
        if self._rhs is None:
            lived = (before.counts > 0) & (self._kept.cells.counts[before.cells] > 0)
            oldest = self._kept.oldest[before.cells[lived]]
            returned = oldest[(oldest != before.oldest[lived]) & _are_older(oldest, born)]
            return none, returned, (0, len(returned))
        best = self._kept.best[before.clusters]
        moved = np.flatnonzero((best != before.best) & (best >= 0) & (before.best >= 0))
        if not len(moved):
            return none, none, (0, 0)
        were, are, came = before.best[moved], best[moved], np.sort(come)
        cells = np.concatenate([were, are])
        older = self._kept.cells.counts[cells] - np.searchsorted(came, cells, "right") + np.searchsorted(came, cells)
        left, returning = int(older[: len(were)].sum()), int(older[len(were) :].sum())
        ids, of = self._older_rows(cells, older, born) if left + returning <= MOST else (none, none)
        return ids[np.isin(of, were)], ids[np.isin(of, are)], (left, returning)

    def _older_rows(self, cells: Ids, older: Ids, born: Ids) -> tuple[Ids, Ids]:
        """The rows of some cells that are older than a batch, given their numbers, and the cells of these rows."""
        alone, rest = cells[older == 1], cells[older > 1]
        ids, of, missing = [self._kept.oldest[alone]], [alone], int(older[older > 1].sum())
        for found, own in self._rows_of(rest) if missing else ():
            old = _are_older(found, born)
            ids.append(found[old])
            of.append(own[old])
            missing -= int(np.count_nonzero(old))
            if not missing:
                break
        return np.concatenate(ids), np.concatenate(of)


def _are_older(ids: Ids, born: Ids) -> NDArray[np.bool_]:
    """Which rows are older than those of a batch."""
    return ids < born[0] if len(born) else np.ones(len(ids), np.bool_)


def _each_once(numbers: Ids, end: int) -> Ids:
    """The numbers from 0 to below `end` that occur, ascending; for many numbers that is faster than to sort them."""
    if 16 * len(numbers) < end:
        found = np.sort(numbers[numbers >= 0])  # for few of them much faster than np.unique
        first = np.ones(len(found), np.bool_)
        first[1:] = found[1:] != found[:-1]
        return found[first]
    marks = np.zeros(end + 1, np.bool_)
    marks[numbers] = True  # NONE marks the last one
    return np.flatnonzero(marks[:end])
