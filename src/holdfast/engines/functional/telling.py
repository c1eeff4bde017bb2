"""What the groups of one FD tell of it (see `evidence`), kept true under batches.

A batch costs what the cells of its clusters cost, and, where a value becomes usual or ceases to be, what the clusters
with that value cost. Memory: 16 bytes a cell and some 30 a value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.functional.evidence import UNIT, Evidence
from holdfast.kernels.usual import Cells, Values, count, enter, leave, link_values

Ids = NDArray[np.int64]


class Telling:
    """The sums of an `Evidence`; `cells` are always those of the same groups as they are at the time."""

    def __init__(self, cells: Cells, values: int) -> None:
        self._sums = np.zeros(7, np.int64)
        self._majority = np.full(len(cells.sizes), -1)  # of the clusters that left
        self._linked = 0
        self._values = _no_values()
        every, none = np.arange(len(cells.counts)), np.zeros(len(cells.counts), np.int64)
        self.enter(np.arange(len(cells.sizes)), every, none, cells, values)

    def leave(self, clusters: Ids, cells: Cells, values: int) -> None:
        """Some clusters are about to change."""
        self._make_room(cells, values)
        self._majority = np.empty(len(clusters), np.int64)
        leave(clusters, cells, self._values, self._sums, UNIT, self._majority)

    def enter(self, clusters: Ids, changed: Ids, counts: Ids, cells: Cells, values: int) -> None:
        """They have changed, and these are the cells that did, with their counts before."""
        self._make_room(cells, values)
        count(changed, counts, cells, self._values, self._sums)
        enter(clusters, cells, self._values, self._sums, UNIT, self._majority)

    def evidence(self, rows: int, outside: int) -> Evidence:
        """What is told, given the rows of the table, and how many to remove so that the rule holds."""
        tested, usual, groups, paired, agreement, known, same = self._sums.tolist()
        return Evidence(rows, tested, usual, groups, paired, agreement, known, same, outside)

    def _make_room(self, cells: Cells, values: int) -> None:
        """Have room for so many values, and link cells that are new."""
        kept = self._values
        if values > len(kept.head):
            room = max(values, 2 * len(kept.head))
            usual, majorities, numbers = (_longer(each, room, 0) for each in (kept.usual, kept.majorities, kept.rows))
            kept = Values(usual, majorities, numbers, _longer(kept.head, room, -1), kept.following)
        if len(cells.counts) > len(kept.following):
            room = max(len(cells.counts), 2 * len(kept.following))
            kept = kept._replace(following=_longer(kept.following, room, -1))
        self._values = kept
        link_values(cells.keys, self._linked, kept.head, kept.following)
        self._linked = len(cells.keys)


def _no_values() -> Values:
    usual = np.empty(0, np.bool_)
    return Values(usual, *(np.empty(0, np.int64) for _ in range(4)))


def _longer(array: NDArray[Any], room: int, new: int) -> NDArray[Any]:
    longer = np.full(room, new, array.dtype)
    longer[: len(array)] = array
    return longer
