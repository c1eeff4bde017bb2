"""Pairs of row ids, stored so that all pairs of a row are found and dropped at the cost of these alone.

`holdfast.kernels.edges` says how it works. Readers get copies, made under a lock that writers take too, so another
thread may read while pairs change.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels import edges
from holdfast.kernels.edges import COUNT, FACTS, NOBODY, SLOTS_USED, Edges

Ids = NDArray[np.int64]
Pairs = NDArray[np.int64]  # [pair, side]
MOST_PAIRS = (1 << 30) - 1  # half-edges are counted in 31 bits


class PairGraph:
    """A set of pairs of rows."""

    def __init__(self, lefts: Ids | None = None, rights: Ids | None = None) -> None:
        self._lock = threading.RLock()
        self._graph = Edges(
            np.empty((16, 2), np.int64),
            np.empty(32, np.int32),
            np.empty(32, np.int32),
            np.full(64, NOBODY, np.int64),
            np.full(64, NOBODY, np.int64),
            np.zeros(64, np.int64),
            np.zeros(FACTS, np.int64),
        )
        if lefts is not None and rights is not None:
            self.add(lefts, rights)

    def __len__(self) -> int:
        return int(self._graph.facts[COUNT])

    @property
    def nbytes(self) -> int:
        """The bytes of the pools."""
        return sum(pool.nbytes for pool in self._graph)

    def add(self, lefts: Ids, rights: Ids) -> None:
        """Add pairs that aren't there yet."""
        if len(lefts):
            with self._lock:
                self._make_room(len(lefts))
                edges.add(self._graph, lefts, rights)

    def remove_rows(self, rows: Ids) -> Pairs:
        """Remove all pairs in which one of some rows (distinct) is, and give them."""
        if not len(self) or not len(rows):
            return np.empty((0, 2), np.int64)
        with self._lock:
            gone = np.empty((int(self.degrees(rows).sum()), 2), np.int64)
            return gone[: edges.remove_rows(self._graph, rows, gone)]

    def pairs(self) -> Pairs:
        """All pairs, in any order."""
        with self._lock:
            return self._graph.ends[: len(self)].copy()

    def degrees(self, rows: Ids) -> NDArray[np.int64]:
        """In how many pairs each of some rows is."""
        degrees = np.zeros(len(rows), np.int64)
        with self._lock:
            edges.degrees_of(self._graph, rows, degrees)
        return degrees

    def pairs_of(self, row: int) -> Pairs:
        """The pairs of one row, in order."""
        with self._lock:
            found = np.empty(int(self.degrees(np.array([row], np.int64))[0]), np.int64)
            edges.pairs_of(self._graph, row, found)
            pairs = self._graph.ends[found]
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def _make_room(self, more: int) -> None:
        graph = self._graph
        need = len(self) + more
        if need > MOST_PAIRS:
            raise OverflowError(f"{need:,} pairs are more than can be kept")
        if need > len(graph.ends):
            room = min(max(need, 2 * len(graph.ends) if need < 1 << 20 else need + need // 4), MOST_PAIRS)
            graph.ends.resize((room, 2), refcheck=False)
            graph.after.resize(2 * room, refcheck=False)
            graph.before.resize(2 * room, refcheck=False)
        used = int(graph.facts[SLOTS_USED]) + 2 * more
        if 3 * used > 2 * len(graph.rows):
            self._rehash(2 * more)

    def _rehash(self, more: int) -> None:
        graph = self._graph
        living = int(np.count_nonzero(graph.degrees))
        size = 64
        while 2 * (living + more) > size:
            size *= 2
        rows, heads = np.full(size, NOBODY, np.int64), np.full(size, NOBODY, np.int64)
        degrees = np.zeros(size, np.int64)
        graph.facts[SLOTS_USED] = edges.rehash(graph, rows, heads, degrees)
        self._graph = graph._replace(rows=rows, heads=heads, degrees=degrees)
