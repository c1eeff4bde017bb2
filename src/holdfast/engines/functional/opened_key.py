"""The groups of a key in a process that opened a state: only those that its batches touch, the others stay in a file.

Of a key most groups are single rows, so that there are about as many groups as rows. What a status tells of all of them
is their totals, which a checkpoint keeps. A batch changes these by what it does to the clusters that it touches; such a
cluster is brought in, as it is before the batch, by an index of the rows (see `key_index`). From then on it is kept as
in `Groups`.

Invariant: the rows of a cluster that is not here are those that the index finds for it.
Cost: a batch costs what its rows and those that share their keys cost, however many rows the table has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from holdfast.engines.functional.groups import Groups
from holdfast.engines.functional.key_index import IndexFinder, KeyIndex
from holdfast.pairs.keys import KeyTable
from holdfast.table.change import Change
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table


class OpenedKey(Groups):
    """The groups of a key that batches touched. It follows batches; who wants to list rows needs all groups."""

    def __init__(self, table: Table, lhs: Sequence[int], totals: Sequence[int], index: KeyIndex) -> None:
        self._empty(table, lhs, None)
        self._totals[:] = totals
        self.rows, self._index = table.rows, index

    def ready(self, change: Change) -> None:
        """Bring in the clusters that a batch touches, as they are before it."""
        super().ready(change)
        left = np.concatenate([change.deleted[self._lhs], change.inserted[self._lhs]], axis=1).T.astype(np.uint64)
        if self._distinct:
            left = left[(left != NULL_CODE).all(axis=1)]
        fresh = KeyTable(left.shape[1])
        fresh.entries(left[self._kept.clusters.find(left) < 0])
        codes = fresh.keys.T.astype(np.uint32)
        ids, of = self._index.rows(change.before, codes)
        cells = self._kept.place(ids, list(codes[:, of]), None)
        np.add.at(self._kept.cells.counts, cells, 1)
        self._kept.oldest[cells[::-1]] = ids[::-1]  # of several rows the oldest is written last
        self.finder = IndexFinder(self._index, change.after)
