"""The groups of a key in a process that opened a state: only those that its batches touch, the others stay in a file.

Of a key most groups are single rows, so that there are about as many groups as rows. What a status tells of all of them
is their totals, which a checkpoint keeps. A batch changes these by what it does to the clusters that it touches; such a
cluster is brought in, as it is before the batch, by an index of the rows (see `key_index`). From then on it is kept as
in `Groups`.

Invariant: the rows of a cluster that is not here are those that the index finds for it.
Cost: a batch costs what its rows and those that share their keys cost, however many rows the table has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from holdfast.engines.functional.groups import Groups, Ids
from holdfast.engines.functional.key_index import KeyIndex
from holdfast.engines.functional.row_change import RowChange
from holdfast.pairs.keys import KeyTable
from holdfast.table.change import Change
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table


class OpenedKey(Groups):
    """The groups of a key that batches touched. It follows batches; who wants to list rows needs all groups."""

    def __init__(self, table: Table, lhs: Sequence[int], totals: Sequence[int], index: KeyIndex) -> None:
        self._empty(table, lhs, None)
        self._totals[:] = totals
        self._index = index

    @property
    def are_few(self) -> bool:
        """A dump holds all groups, or none."""
        return False

    def follow(self, change: Change) -> RowChange:
        """Take in a batch."""
        self._bring_in(change)
        return super().follow(change)

    def _bring_in(self, change: Change) -> None:
        """Have the clusters that a batch touches, as they are before it."""
        left = np.concatenate([change.deleted[self._lhs], change.inserted[self._lhs]], axis=1).T.astype(np.uint64)
        if self._distinct:
            left = left[(left != NULL_CODE).all(axis=1)]
        fresh = KeyTable(left.shape[1])
        fresh.entries(left[self._clusters.find(left) < 0])
        codes = fresh.keys.T.astype(np.uint32)
        ids, of = self._index.rows(change.before, codes)
        cells = self._placed(ids, list(codes[:, of]), None)
        np.add.at(self._cells.counts, cells, 1)
        self._oldest[cells[::-1]] = ids[::-1]  # of several rows the oldest is written last

    def _rows_of(self, clusters: Ids, first: int = 0) -> Iterator[tuple[Ids, Ids]]:
        """The rows of some clusters and their cells: by the index, and by a look at the rows that came later."""
        ids, of = self._index.rows(self._table, self._clusters.keys[clusters].T.astype(np.uint32))
        yield ids, clusters[of]
        yield from super()._rows_of(clusters, max(first, self._index.end))
