"""The rows of one rule in groups, kept true under batches: how far the rule holds, and which rows to look at.

A **cluster** is the rows that agree on the left side, a **cell** those of a cluster that agree on the right side, too.
An FD holds iff no cluster has two cells, a key iff no cluster has two rows; a key's clusters have one cell each. The
rows **outside** are the fewest without which the rule holds (g3 is their share): those outside the largest cell of
their cluster, of equally large ones the one with the oldest row; for a key all but the oldest row of a cluster.
Where nulls are distinct, a row with a null on the left is in no cluster, and one with a null on the right has a cell
of its own.

Rows find their cluster and cell by their codes, in hash tables; the cells of a cluster hang in a chain, from which its
largest is chosen anew when a batch touches it. A batch costs what its rows and the cells of their clusters cost; a look
at the codes of the table's rows is due only where the oldest row of a cell died (it ends with the next one), or where
another cell became the largest.
Memory: some 80 bytes a cluster and a cell, and none a row. What is empty stays until it is the most; then all is made
anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.equal_rows import Codes
from holdfast.engines.functional.evidence import Evidence, Telling
from holdfast.engines.functional.row_change import RowChange, Swapped
from holdfast.kernels.groups import choose, link
from holdfast.kernels.usual import Cells, Values
from holdfast.pairs.counter import KeyCounter
from holdfast.table.change import Change
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

Ids = NDArray[np.int64]

NONE = -1  # the cell of a row that is in none; the end of a chain
_OWN = 1 << 32  # nulls that differ are values of their own, beyond all codes
_LEAST = 1024
_FEW = 16  # groups are few where each stands for more than so many rows
_SMALL = 1 << 16  # clusters and cells, which take five megabytes
_ROWS_AT_ONCE = 1 << 16
_CHAINS = ("totals", "oldest", "clusters", "sizes", "cells", "counts", "head", "best", "next")
_SLOTS = ("cluster slots", "cell slots")  # without which keys are hashed anew: older dumps have none
_TOLD = tuple(f"told {name}" for name in ("sums", *Values._fields))  # what tells of the rule, if it is kept
PARTS = (*_CHAINS, *_SLOTS, *_TOLD)  # of a dump


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
        ids = table.living_ids()
        value = None if rhs is None else table.column_codes(rhs)
        self._take(ids, self._placed(ids, [table.column_codes(c) for c in self._lhs], value), ids[:0], ids[:0])

    def _empty(self, table: Table, lhs: Sequence[int], rhs: int | None) -> None:
        self._table = table
        self._lhs, self._rhs, self._distinct = list(lhs), rhs, table.schema.nulls.are_distinct
        self._clusters = KeyCounter(max(len(self._lhs), 1))
        self._cells = self._clusters if rhs is None else KeyCounter(2)
        self._head, self._best, self._next, self._oldest = (np.empty(0, np.int64) for _ in range(4))
        self._nameless = np.empty(0, np.bool_)  # clusters with a null on the left
        # Pairs in a cell, pairs in a cluster, rows outside, living cells, rows without a null on the left.
        self._totals = np.zeros(5, np.int64)
        self._telling: Telling | None = None  # kept once asked for

    # ---- in files ---------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> int:
        """How many clusters and cells there are."""
        return self._clusters.used + self._cells.used

    @property
    def are_few(self) -> bool:
        """Whether a dump should hold them: a process that makes them anew looks at all rows."""
        return self.entries * _FEW < self._table.rows or (self._rhs is not None and self.entries <= _SMALL)

    @property
    def totals(self) -> tuple[int, ...]:
        """What the groups of a key add up to: with these, and an index of the rows, a process can go on."""
        return tuple(self._totals.tolist())

    def dump(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `load` makes the same groups of the same rows."""
        clusters, cells = self._clusters.used, self._cells.used
        arrays: dict[str, NDArray[Any]] = {"totals": self._totals, "oldest": self._oldest[:cells]}
        arrays |= {"clusters": self._clusters.keys.reshape(-1), "sizes": self._clusters.counts}
        arrays |= {"cluster slots": self._clusters.compact_slots()}
        if self._rhs is not None:
            arrays |= {"cells": self._cells.keys.reshape(-1), "counts": self._cells.counts}
            arrays |= {"cell slots": self._cells.compact_slots()}
            arrays |= {"head": self._head[:clusters], "best": self._best[:clusters], "next": self._next[:cells]}
        if self._telling is not None:
            arrays |= {f"told {name}": array for name, array in self._telling.dump().items()}
        return {name: array.copy() for name, array in arrays.items()}

    @staticmethod
    def load(table: Table, lhs: Sequence[int], rhs: int | None, arrays: Mapping[str, NDArray[Any]]) -> Groups:
        """The groups that `dump` described, at the cost of the clusters and cells."""
        groups = Groups.__new__(Groups)
        groups._empty(table, lhs, rhs)
        _fill(groups._clusters, arrays["clusters"], arrays["sizes"], arrays.get("cluster slots"))
        groups._oldest = arrays["oldest"].copy()
        if rhs is not None:
            _fill(groups._cells, arrays["cells"], arrays["counts"], arrays.get("cell slots"))
            groups._head, groups._best, groups._next = (arrays[name].copy() for name in ("head", "best", "next"))
        groups._make_room()
        groups._totals[:4] = arrays["totals"][:4]  # older states have no more of them
        groups._totals[4] = groups._named_in(np.arange(groups._clusters.used))
        if "told sums" in arrays:
            groups._telling = Telling.load({name.removeprefix("told "): arrays[name] for name in _TOLD})
        return groups

    # ---- asking -----------------------------------------------------------------------------------------------------

    @property
    def broken_pairs(self) -> int:
        """How many pairs of rows break the rule."""
        alike, together, *_ = self._totals.tolist()
        return int(together if self._rhs is None else together - alike)

    @property
    def to_remove(self) -> int:
        """How many rows are outside."""
        return int(self._totals[2])

    @property
    def with_nulls(self) -> int:
        """How many rows have a null on the left side."""
        return self._table.rows - int(self._totals[4])

    @property
    def evidence(self) -> Evidence:
        """What speaks for an FD."""
        if self._telling is None:
            self._telling = Telling(self._seen(), self._values)
        return self._telling.evidence(self._table.rows, self.to_remove)

    def outside(self) -> Ids:
        """The fewest rows without which the rule holds, by id, ascending."""
        broken = np.flatnonzero(self._outside_in(np.arange(self._clusters.used)))
        parts = [ids[self._are_outside(ids, cells)] for ids, cells in self._rows_of(broken)]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def beside(self, ids: Ids) -> Ids:
        """For rows that are outside, a row of the same cluster that is not: the two break the rule."""
        cells = self._cells_of(ids, self._table.codes(ids))
        return self._oldest[cells if self._rhs is None else self._best[self._cluster_of(cells)]]

    def broken_clusters(self) -> Ids:
        """The clusters that break the rule; most rows outside first, of equals the oldest one."""
        wrong = self._outside_in(np.arange(self._clusters.used))
        broken = np.flatnonzero(wrong)
        first = self._oldest[broken if self._rhs is None else self._best[broken]]
        return broken[np.lexsort((first, -wrong[broken]))]

    def rows_in(self, cluster: int) -> tuple[Ids, NDArray[np.bool_]]:
        """The rows of a cluster, by id, ascending, and which of them are outside."""
        parts = list(self._rows_of(np.array([cluster])))
        none = np.empty(0, np.int64)
        ids, cells = (np.concatenate([none, *(part[side] for part in parts)]) for side in (0, 1))
        return ids, self._are_outside(ids, cells)

    def _rows_of(self, clusters: Ids, first: int = 0) -> Iterator[tuple[Ids, Ids]]:
        """The rows of some clusters with ids from `first` on, and their cells, by looks at the codes of the table's
        rows, some at a time and the oldest first.
        """
        if not len(clusters):
            return
        inside = np.zeros(self._clusters.used + 1, np.bool_)  # the last one is that of NONE
        inside[clusters] = True
        marks = []
        for place, column in enumerate(self._lhs):
            marks.append(np.zeros(len(self._table.dictionaries[column]), np.bool_))
            marks[-1][self._clusters.keys[clusters, place].astype(np.int64)] = True
        for shard, alive in self._table.living():
            begin = int(shard.places_of(np.array([first]))[0]) if shard.last_id >= first else len(shard)
            for start in range(max(begin, 0), len(shard), _ROWS_AT_ONCE):
                some = slice(start, min(start + _ROWS_AT_ONCE, len(shard)))
                wanted = np.ones(some.stop - start, np.bool_) if alive is None else alive[some].copy()
                for column, marked in zip(self._lhs, marks, strict=True):
                    wanted &= marked[shard.codes_at(column, some)]
                places = start + np.flatnonzero(wanted)
                ids, value = shard.ids_of(places), None if self._rhs is None else shard.codes_at(self._rhs, places)
                cells = self._placed(ids, [shard.codes_at(column, places) for column in self._lhs], value)
                own = inside[np.where(cells < 0, NONE, self._cluster_of(cells))]
                yield ids[own], cells[own]

    def _cells_of(self, ids: Ids, codes: Codes) -> Ids:
        """The cells of rows with some ids and codes."""
        return self._placed(ids, [codes[c] for c in self._lhs], None if self._rhs is None else codes[self._rhs])

    def _are_outside(self, ids: Ids, cells: Ids) -> NDArray[np.bool_]:
        """Which rows are outside, given their ids and cells."""
        rows = np.flatnonzero(cells >= 0)
        marks = np.zeros(len(ids), np.bool_)
        own = cells[rows]
        if self._rhs is None:
            marks[rows] = self._oldest[own] != ids[rows]
        else:
            marks[rows] = self._best[self._cluster_of(own)] != own
        return marks

    def _outside_in(self, clusters: Ids) -> Ids:
        """How many rows of each cluster are outside."""
        sizes = self._clusters.counts[clusters]
        if self._rhs is None:
            return np.maximum(sizes - 1, 0)
        best = self._best[clusters]
        return np.where(best >= 0, sizes - self._cells.counts[best], 0)

    def _cluster_of(self, cells: Ids) -> Ids:
        return cells if self._rhs is None else self._cells.keys[cells, 0].astype(np.int64)

    # ---- following batches ------------------------------------------------------------------------------------------

    def follow(self, change: Change) -> RowChange:
        """Take in a batch."""
        self._table = change.after
        born = np.arange(change.born.start, change.born.stop)
        gone, come = self._cells_of(change.dead, change.deleted), self._cells_of(born, change.inserted)
        moved = self._take(born, come, change.dead, gone)
        if self._cells.used > _LEAST and 2 * int(self._totals[3]) < self._cells.used:
            self.__dict__.update(Groups(change.after, self._lhs, self._rhs).__dict__)
        return moved

    def _placed(self, ids: Ids, codes: Sequence[NDArray[np.integer]], value: NDArray[np.integer] | None) -> Ids:
        """The cell of each row, given its codes on the left and on the right; new ones are made."""
        cells = np.full(len(ids), NONE)
        if not len(ids):
            return cells
        known = np.ones(len(ids), np.bool_)
        if self._distinct:
            known = np.logical_and.reduce([known, *(column != NULL_CODE for column in codes)])
        left = np.zeros((np.count_nonzero(known), max(len(codes), 1)), np.uint64)
        for place, column in enumerate(codes):
            left[:, place] = column[known]
        found = self._clusters.entries(left)
        if value is not None:
            right = value[known].astype(np.int64)
            if self._distinct:
                right = np.where(right == NULL_CODE, _OWN + ids[known], right)
            had = self._cells.used
            found = self._cells.entries(np.stack([found, right], axis=1).astype(np.uint64))
        self._make_room()
        if value is not None:
            link(self._cells.keys[:, 0], had, self._head, self._next)
        cells[known] = found
        return cells

    def _take(self, born: Ids, come: Ids, dead: Ids, gone: Ids) -> RowChange:
        """Let rows be born into cells, and others die in theirs."""
        before = self._before(gone, come)
        if self._telling:
            self._telling.leave(before.clusters, self._seen(), self._values)
        resolved = dead[self._are_outside(dead, gone)]
        self._count(gone, come)
        self._renew_oldest(before, born, come, dead)
        if self._rhs is not None:
            choose(before.clusters, self._head, self._next, self._cells.counts, self._oldest, self._best)
        outside = self._outside_in(before.clusters)
        self._totals += self._totals_of(before.cells, before.clusters, outside) - before.totals
        if self._telling:
            self._telling.enter(before.clusters, before.cells, before.counts, self._seen(), self._values)
        are_added = self._are_outside(born, come)
        added = born[are_added]
        swapped = self._swapped(before, come, int(born[0]) if len(born) else self._table.next_id)
        more = np.maximum(outside - before.outside, 0)
        retold = swapped.left + len(added) - int(more.sum())
        tests = self._tests(before.clusters, come, are_added, more)
        return RowChange(added, resolved, swapped, retold, *tests, self._example(before, added, come[are_added], more))

    def _example(self, before: _Before, added: Ids, cells: Ids, more: Ids) -> tuple[int, int] | None:
        """Two rows that break the rule since the batch, of which the second is outside, given the rows that came and
        are, with their cells, and how many more are in each cluster that the batch touched.
        """
        worse = np.flatnonzero(more)
        if not len(worse):
            return None
        new = np.flatnonzero(more[np.searchsorted(before.clusters, self._cluster_of(cells))])
        if len(new):
            cell = cells[new[0]]
            inside = cell if self._rhs is None else self._best[self._cluster_of(cell)]
            return int(self._oldest[inside]), int(added[new[0]])
        cluster = before.clusters[worse[0]]  # the rows that came are the most there now, and older ones are outside
        return int(self._oldest[self._best[cluster]]), int(self._oldest[before.best[worse[0]]])

    def _tests(self, clusters: Ids, come: Ids, added: NDArray[np.bool_], more: Ids) -> tuple[int, int]:
        """How many rows that came might have broken the rule, and how many did; given the clusters that the batch
        touched, how many more of their rows are outside, the cells of the rows that came, and which of these are.
        """
        place = np.searchsorted(clusters, self._cluster_of(come[come >= 0]))
        fresh = np.bincount(place, minlength=len(clusters))
        wrong = np.bincount(place, added[come >= 0], minlength=len(clusters)).astype(np.int64)
        old = self._clusters.counts[clusters] - fresh
        named = ~self._nameless[clusters]
        if self._rhs is None:  # every row might have what another one has
            tested = int(fresh[named].sum())
            tested -= tested > 0 and tested == int(self._totals[4])  # but for the first one of all
        else:
            tested = int(np.maximum(fresh - (old == 0), 0)[named].sum())
        return tested, int(np.maximum(wrong, more)[named].sum())

    def _before(self, gone: Ids, come: Ids) -> _Before:
        cells = _each_once(np.concatenate([gone, come]), self._cells.used)
        clusters = cells if self._rhs is None else _each_once(self._cluster_of(cells), self._clusters.used)
        best = clusters if self._rhs is None else self._best[clusters]
        outside = self._outside_in(clusters)
        totals = self._totals_of(cells, clusters, outside)
        return _Before(cells, self._cells.counts[cells], self._oldest[cells], clusters, best, outside, totals)

    def _totals_of(self, cells: Ids, clusters: Ids, outside: Ids) -> Ids:
        """What some cells, and their clusters, of which so many rows are outside, add to the totals."""
        counts, sizes = self._cells.counts[cells], self._clusters.counts[clusters]
        pairs = [(each * (each - 1) // 2).sum() for each in (counts, sizes)]
        return np.array([*pairs, outside.sum(), np.count_nonzero(counts), self._named_in(clusters)], np.int64)

    def _named_in(self, clusters: Ids) -> int:
        """How many rows of some clusters have no null on the left."""
        return int(self._clusters.counts[clusters[~self._nameless[clusters]]].sum())

    @property
    def _values(self) -> int:
        """Codes on the right are below this; those of nulls that differ are not."""
        return 0 if self._rhs is None else len(self._table.dictionaries[self._rhs])

    def _seen(self) -> Cells:
        """What kernels see of the cells."""
        clusters, cells = self._clusters.used, self._cells.used
        chains = self._next[:cells], self._clusters.counts, self._head[:clusters], self._best[:clusters]
        return Cells(self._cells.keys, self._cells.counts, *chains, self._nameless[:clusters])

    def _count(self, gone: Ids, come: Ids) -> None:
        for cells, step in ((gone, -1), (come, 1)):
            known = cells[cells >= 0]
            np.add.at(self._cells.counts, known, step)
            if self._rhs is not None:
                np.add.at(self._clusters.counts, self._cluster_of(known), step)

    def _renew_oldest(self, before: _Before, born: Ids, come: Ids, dead: Ids) -> None:
        """The oldest row of cells that were empty, or that lost theirs."""
        empty = np.zeros(self._cells.used + 1, np.bool_)
        empty[before.cells] = before.counts == 0
        filled = np.flatnonzero(empty[come])[::-1]
        self._oldest[come[filled]] = born[filled]  # of several rows the first is written last
        lost = before.cells[(before.counts > 0) & np.isin(before.oldest, dead)]
        lost = self._with_older_rows(lost[self._cells.counts[lost] > 0], born, come)
        for ids, cells in self._rows_of(np.unique(self._cluster_of(lost))):
            found, first = np.unique(cells, return_index=True)  # the first is the oldest
            there = np.isin(found, lost)
            self._oldest[found[there]] = ids[first[there]]
            lost = np.setdiff1d(lost, found)
            if not len(lost):
                break

    def _with_older_rows(self, cells: Ids, born: Ids, come: Ids) -> Ids:
        """Those of some cells that have rows which are older than the batch. The others, such as those of updated rows,
        have the first row that came as their oldest.
        """
        own = np.flatnonzero(np.isin(come, cells))[::-1] if len(cells) else cells
        self._oldest[come[own]] = born[own]
        fresh = np.bincount(np.searchsorted(cells, come[own]), minlength=len(cells))
        return cells[self._cells.counts[cells] > fresh]

    def _swapped(self, before: _Before, come: Ids, first_born: int) -> Swapped:
        """Of the rows that neither came nor went, those that are outside now, and those that are no more."""
        if self._rhs is None:
            moved = (before.counts > 0) & (self._cells.counts[before.cells] > 0)
            oldest = self._oldest[before.cells[moved]]
            returned = oldest[(oldest != before.oldest[moved]) & (oldest < first_born)]
            return Swapped(0, len(returned), lambda: (returned[:0], returned))
        best = self._best[before.clusters]
        moved = (best != before.best) & (best >= 0) & (before.best >= 0)
        were, are, clusters = before.best[moved], best[moved], before.clusters[moved]
        now = copy(self)  # which later batches don't change: tables of clusters and cells only grow

        def find() -> tuple[Ids, Ids]:
            left, returned = [best[:0]], [best[:0]]
            for ids, cells in now._rows_of(clusters):
                old = ids < first_born
                left.append(ids[old & np.isin(cells, were)])
                returned.append(ids[old & np.isin(cells, are)])
            return np.concatenate(left), np.concatenate(returned)

        return Swapped(self._older_in(were, come), self._older_in(are, come), find)

    def _older_in(self, cells: Ids, come: Ids) -> int:
        """How many rows of some cells did not just come, given the cells of those that did."""
        return int(self._cells.counts[cells].sum()) - int(np.isin(come, cells).sum()) if len(cells) else 0

    def _make_room(self) -> None:
        """Have room for what is kept of each cluster and each cell."""
        self._head, self._best = (_with_room(array, self._clusters.used) for array in (self._head, self._best))
        self._next, self._oldest = (_with_room(array, self._cells.used) for array in (self._next, self._oldest))
        if (known := len(self._nameless)) < self._clusters.used:
            fresh = (self._clusters.keys[known:] == NULL_CODE).any(axis=1) & bool(self._lhs)
            self._nameless = np.concatenate([self._nameless, fresh])


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


def _with_room(array: Ids, room: int) -> Ids:
    """The array, or a longer one; what is new is NONE."""
    if room <= len(array):
        return array
    longer = np.full(max(room, 2 * len(array), 64), NONE)
    longer[: len(array)] = array
    return longer


def _fill(table: KeyCounter, keys: NDArray[np.uint64], counts: Ids, slots: NDArray[np.uint64] | None) -> None:
    """Put entries with their counts into an empty table, in their order, given their slots if these are known."""
    if not len(counts):
        return
    if slots is None:
        table.entries(keys.reshape(len(counts), -1))
    else:
        table.restore(keys.reshape(len(counts), -1), slots.copy())
    table.counts[:] = counts
