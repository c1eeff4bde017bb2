"""Row ids that come at the end, as ids of rows born do, and leave anywhere.

Cost: adding m ids is O(m), and removing them O(m log n), both amortised: room grows by a quarter at a time, ids that
left are marked, and are cleared away once they are half of all. Nine bytes an id, or eight where none has left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
_ROOM = 64


class RowSet:
    """A set of row ids, ascending."""

    def __init__(self, ids: Ids) -> None:
        """Some ids, ascending; a file's array is copied when first written to."""
        self._ids, self._size = ids, len(ids)
        self._left: NDArray[np.bool_] | None = None  # a mask of those that left; None where none has
        self._gone = 0

    def __len__(self) -> int:
        return self._size - self._gone

    def ids(self) -> Ids:
        """All of them; don't write to the array."""
        ids = self._ids[: self._size]
        return ids if self._left is None else ids[~self._left[: self._size]]

    def add(self, born: Ids) -> None:
        """Add some ids, ascending, that are greater than all others."""
        if not len(born):
            return
        size = self._size + len(born)
        if size > len(self._ids):
            self._clear_away(size + size // 4 + _ROOM)
            size = self._size + len(born)
        self._ids[self._size : size] = born
        self._size = size

    def remove(self, dead: Ids) -> Ids:
        """Remove those of some ids, ascending, that are here; gives them."""
        if not len(self) or not len(dead):
            return dead[:0]
        at = np.searchsorted(self._ids[: self._size], dead)
        at[at == self._size] = 0
        there = self._ids[at] == dead
        if self._left is not None:
            there &= ~self._left[at]
        if there.any():
            self._mark(at[there])
        return np.asarray(dead[there])

    def _mark(self, places: Ids) -> None:
        if self._left is None:
            self._left = np.zeros(len(self._ids), np.bool_)
        self._left[places] = True
        self._gone += len(places)
        if 2 * self._gone > self._size:
            self._clear_away(len(self) + _ROOM)

    def _clear_away(self, room: int) -> None:
        """Keep what has not left, with some room."""
        ids = self.ids()
        grown = np.empty(room, np.int64)
        grown[: len(ids)] = ids
        self._ids, self._size, self._left, self._gone = grown, len(ids), None, 0
