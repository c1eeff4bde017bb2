"""Attribute clusters: which columns share which values (papers: inclusion, sections 4 and 5).

A value's cluster is the set of all columns that hold it. `A in B` holds iff every cluster that contains A contains B
(lemma 4.2). Besides the clusters we keep what deriving needs, summed over them: for each pair of columns how many
values of A are in B, too, and how many rows of A carry such a value. So deriving is a comparison of two matrices, and
how far a dependency holds is exact at no further cost, which the clusters alone, that know no rows, could not show.

Invariant: `counts[cluster]` is the number of values in that cluster, and no cluster has count 0. `values[a, b]` is the
sum of the counts of the clusters that contain both, `rows[a, b]` the number of rows of a whose value b holds.
Cost: a value of a cluster of k columns costs O(k²) when it moves; deriving costs O(columns²).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.inclusion import account, tally
from holdfast.pairs import bitsets
from holdfast.pairs.counter import KeyCounter

Matrix = NDArray[np.int64]
_VALUES_AT_ONCE = 1 << 14


class AttributeClusters:
    """AttributeClusters (sets of column numbers, as the bits of an integer) with their value counts, and their sums."""

    def __init__(self, columns: int) -> None:
        self.counts: dict[int, int] = {}
        self.values: Matrix = np.zeros((columns, columns), np.int64)
        self.rows: Matrix = np.zeros((columns, columns), np.int64)

    @property
    def words(self) -> int:
        """How many 64-bit words a cluster has."""
        return len(self.values) // 64 + 1

    def add_sorted(
        self, order: NDArray[np.int64], fresh: NDArray[np.bool_], column: NDArray[np.int64], count: NDArray[np.int64]
    ) -> None:
        """Add entries (a value of a column, with its rows) that lie in order, so that equal values are neighbours."""
        found = KeyCounter(self.words)
        masks, counts = np.empty((_VALUES_AT_ONCE, self.words), np.uint64), np.empty(_VALUES_AT_ONCE, np.int64)
        done = 0
        while done < len(order):
            done, many = tally(order, fresh, column, count, done, masks, counts, self.values, self.rows)
            found.add([(masks[:many], counts[:many])])
        self._count(*found.signed())

    def move(self, before: Matrix, after: Matrix, columns: NDArray[np.int64]) -> None:
        """Let values go from one frequency in some columns to another, `[value, column]`.

        That is merge and extract (definitions 4.4 and 4.8) in one: a value whose frequency leaves 0, or reaches it,
        changes its cluster; a new value comes from the empty cluster, and one that is gone goes there.
        """
        for start in range(0, len(before), _VALUES_AT_ONCE):
            part = slice(start, start + _VALUES_AT_ONCE)
            old, new = (np.zeros((len(before[part]), self.words), np.uint64) for _ in range(2))
            account(np.ascontiguousarray(before[part]), columns, -1, old, self.values, self.rows)
            account(np.ascontiguousarray(after[part]), columns, 1, new, self.values, self.rows)
            moved = np.flatnonzero((old != new).any(axis=1))
            self._count(old[moved], np.full(len(moved), -1))
            self._count(new[moved], np.full(len(moved), 1))

    def _count(self, masks: NDArray[np.uint64], steps: NDArray[np.int64]) -> None:
        distinct, places = np.unique(masks, axis=0, return_inverse=True)
        totals = np.zeros(len(distinct), np.int64)
        np.add.at(totals, places.reshape(-1), steps)
        for mask, step in zip(bitsets.integers(distinct), totals.tolist(), strict=True):
            self._step(mask, step)

    def _step(self, mask: int, step: int) -> None:
        if not mask:
            return  # values that no column holds
        count = self.counts.get(mask, 0) + step
        if count < 0:
            raise AssertionError(f"the cluster {members(mask)} has fewer than no values")
        if count:
            self.counts[mask] = count
        else:
            self.counts.pop(mask, None)

    def __iadd__(self, other: AttributeClusters) -> AttributeClusters:
        self.values += other.values
        self.rows += other.rows
        for mask, count in other.counts.items():
            self._step(mask, count)
        return self

    def dump(self) -> dict[str, NDArray[np.int64] | NDArray[np.uint64]]:
        """Arrays that `load` reads."""
        masks = bitsets.of_integers(self.counts, self.words)
        counts = np.fromiter(self.counts.values(), np.int64, len(self.counts))
        return {
            "cluster": masks.reshape(-1),
            "cluster_count": counts,
            "values": self.values.reshape(-1),
            "rows": self.rows.reshape(-1),
        }

    @staticmethod
    def load(columns: int, arrays: dict[str, NDArray[np.int64]]) -> AttributeClusters:
        """The clusters that `dump` described."""
        clusters = AttributeClusters(columns)
        clusters.values[:] = arrays["values"].reshape(columns, columns)
        clusters.rows[:] = arrays["rows"].reshape(columns, columns)
        masks = arrays["cluster"].astype(np.uint64).reshape(-1, clusters.words)
        clusters.counts = dict(zip(bitsets.integers(masks), arrays["cluster_count"].tolist(), strict=True))
        return clusters


def members(mask: int) -> tuple[int, ...]:
    """The columns of a cluster."""
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)
