"""The clusters and cells of one rule (see `groups`): found by the codes of rows in hash tables, and what is kept.

The cells of a cluster hang in a chain. A key's clusters have one cell each, so that clusters are cells.
Memory: some 80 bytes a cluster and a cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.usual_clusters import ClusterCells, link
from holdfast.pairs.counter import KeyCounter
from holdfast.table.dictionary import NULL_CODE

Ids = NDArray[np.int64]

NONE = -1  # the cell of a row that is in none; the end of a chain
_SLOTS = ("cluster slots", "cell slots")
KEPT = ("oldest", "clusters", "sizes", "cells", "counts", "head", "best", "next", *_SLOTS)  # of a dump
_OWN = 1 << 32  # nulls that differ are values of their own, beyond all codes


class Clusters:
    """Clusters and cells by number, with counts of their rows; for a left side of some columns."""

    def __init__(self, columns: int, is_key: bool, distinct: bool) -> None:
        self.is_key, self._columns, self._distinct = is_key, columns, distinct
        self.clusters = KeyCounter(max(columns, 1))
        self.cells = self.clusters if is_key else KeyCounter(2)
        self._head, self.best, self._next, self.oldest = (np.empty(0, np.int64) for _ in range(4))
        self.nameless = np.empty(0, np.bool_)  # clusters with a null on the left

    def place(self, ids: Ids, codes: Sequence[NDArray[np.integer]], value: NDArray[np.integer] | None) -> Ids:
        """The cell of each row, given its codes on the left and on the right; new ones are made."""
        if not len(ids):
            return np.empty(0, np.int64)
        if not self._distinct:
            return self._place(len(ids), codes, value)
        cells, known = np.full(len(ids), NONE), np.ones(len(ids), np.bool_)
        known = np.logical_and.reduce([known, *(column != NULL_CODE for column in codes)])
        if value is not None:
            right = value[known].astype(np.int64)
            value = np.where(right == NULL_CODE, _OWN + ids[known], right)
        cells[known] = self._place(int(np.count_nonzero(known)), [column[known] for column in codes], value)
        return cells

    def _place(self, rows: int, codes: Sequence[NDArray[np.integer]], value: NDArray[np.integer] | None) -> Ids:
        """The cells of some rows that all have one."""
        left = np.zeros((max(len(codes), 1), rows), np.uint64)
        for lane, column in zip(left, codes, strict=False):
            lane[:] = column
        found, had = self.clusters.entries_of_lanes(left), self.cells.used
        if value is not None:
            both = np.empty((2, rows), np.uint64)
            both[0], both[1] = found, value
            found = self.cells.entries_of_lanes(both)
        self._make_room()
        self._link(had)
        return found

    def of(self, cells: Ids) -> Ids:
        """The clusters of some cells."""
        return cells if self.is_key else self.cells.keys[cells, 0].astype(np.int64)

    def cells_in(self, cluster: int) -> Ids:
        """The cells of a cluster that have rows."""
        own = np.array([cluster]) if self.is_key else np.flatnonzero(self.cells.keys[:, 0] == cluster)
        return np.asarray(own[self.cells.counts[own] > 0])

    def codes(self, cells: Ids) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """The codes of the rows in some cells, `[column, cell]`, those of the left side first; and which of the cells
        are that of a null that differs: they have one row.
        """
        left = self.left(self.of(cells))
        if self.is_key:
            return left, np.zeros(len(cells), np.bool_)
        right = self.cells.keys[cells, 1]
        return np.vstack([left, right]), right >= _OWN

    def usual(self, cells: Ids) -> tuple[Ids, Ids]:
        """The code on the right of some cells, and how many rows each has."""
        right = self.cells.keys[cells, 1].astype(np.int64)
        return np.where(right >= _OWN, NULL_CODE, right), self.cells.counts[cells]

    def left(self, clusters: Ids) -> NDArray[np.uint64]:
        """The codes of the left sides of some clusters, `[column, cluster]`."""
        return self.clusters.keys[clusters, : self._columns].T

    def seen(self) -> ClusterCells:
        """What kernels see of the cells."""
        clusters, cells = self.clusters.used, self.cells.used
        chains = self._next[:cells], self.clusters.counts, self._head[:clusters], self.best[:clusters]
        return ClusterCells(self.cells.keys, self.cells.counts, *chains, self.nameless[:clusters])

    def without_empty(self) -> Clusters:
        """The same without clusters and cells that have no rows."""
        made = Clusters(self._columns, self.is_key, self._distinct)
        clusters, cells = np.flatnonzero(self.clusters.counts), np.flatnonzero(self.cells.counts)
        _fill(made.clusters, self.clusters.keys[clusters], self.clusters.counts[clusters])
        if not self.is_key:
            keys = np.stack([np.searchsorted(clusters, self.of(cells)), self.cells.keys[cells, 1].astype(np.int64)], 1)
            _fill(made.cells, keys.astype(np.uint64), self.cells.counts[cells])
        made._make_room()
        made._link(0)
        made.oldest[: len(cells)] = self.oldest[cells]
        made.best[: len(clusters)] = np.searchsorted(cells, self.best[clusters])
        return made

    # ---- in files ---------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `load` makes the same."""
        clusters, cells = self.clusters.used, self.cells.used
        arrays: dict[str, NDArray[Any]] = {"oldest": self.oldest[:cells]}
        arrays |= {"clusters": self.clusters.keys.reshape(-1), "sizes": self.clusters.counts}
        arrays |= {"cluster slots": self.clusters.compact_slots()}
        if not self.is_key:
            arrays |= {"cells": self.cells.keys.reshape(-1), "counts": self.cells.counts}
            arrays |= {"cell slots": self.cells.compact_slots()}
            arrays |= {"head": self._head[:clusters], "best": self.best[:clusters], "next": self._next[:cells]}
        return arrays

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take in what `dump` described, into what is empty."""
        _fill(self.clusters, arrays["clusters"], arrays["sizes"], arrays["cluster slots"])
        self.oldest = arrays["oldest"].copy()
        if not self.is_key:
            _fill(self.cells, arrays["cells"], arrays["counts"], arrays["cell slots"])
            self._head, self.best, self._next = (arrays[name].copy() for name in ("head", "best", "next"))
        self._make_room()

    # ---- room -------------------------------------------------------------------------------------------------------

    def _link(self, had: int) -> None:
        if not self.is_key:
            link(self.cells.keys, 0, had, self._head, self._next)

    def _make_room(self) -> None:
        """Have room for what is kept of each cluster and each cell."""
        self._head, self.best = (with_room(array, self.clusters.used, NONE) for array in (self._head, self.best))
        self._next, self.oldest = (with_room(array, self.cells.used, NONE) for array in (self._next, self.oldest))
        if (known := len(self.nameless)) < self.clusters.used:
            fresh = (self.clusters.keys[known:] == NULL_CODE).any(axis=1) & bool(self._columns)
            self.nameless = np.concatenate([self.nameless, fresh])


def with_room(array: NDArray[Any], room: int, new: int) -> NDArray[Any]:
    """The array, or a longer one in which what is new has this value."""
    if room <= len(array):
        return array
    longer = np.full(max(room, 2 * len(array)), new, array.dtype)
    longer[: len(array)] = array
    return longer


def _fill(table: KeyCounter, keys: NDArray[np.uint64], counts: Ids, slots: NDArray[np.uint64] | None = None) -> None:
    """Put entries with their counts into an empty table, in their order, given their slots if these are known."""
    if not len(counts):
        return
    if slots is None:
        table.entries(keys.reshape(len(counts), -1))
    else:
        table.restore(keys.reshape(len(counts), -1), slots.copy())
    table.counts[:] = counts
