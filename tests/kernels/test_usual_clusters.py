"""Clusters of rows under batches: their sums and largest cells, against the definition."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.functional.fd_score import UNIT
from holdfast.kernels import usual_clusters as kernels
from holdfast.kernels.usual_clusters import ClusterCells, ValueCells
from tests.oracle.evidence import evidence

CLUSTERS, VALUES = 4, 3
NAMELESS = 3  # a cluster with a null on the left
# All cells that there may be; those of values that are not known have one row at most.
KEYS = [*product(range(CLUSTERS), range(VALUES)), *((cluster, 100 + cluster) for cluster in range(CLUSTERS))]
batches = st.lists(st.dictionaries(st.integers(0, len(KEYS) - 1), st.integers(0, 4), max_size=5), max_size=6)


def no_rows() -> tuple[ClusterCells, ValueCells]:
    """All cells, linked in two steps."""
    keys, count = np.array(KEYS, np.uint64), len(KEYS)
    in_cluster, of_value = np.full((2, count), -1)
    head, best, of_values = np.full(CLUSTERS, -1), np.full(CLUSTERS, -1), np.full(VALUES, -1)
    for first, end in ((0, 5), (5, count)):
        kernels.link(keys[:end], 0, first, head, in_cluster)
        kernels.link(keys[:end], 1, first, of_values, of_value)
    nameless = np.arange(CLUSTERS) == NAMELESS
    cells = ClusterCells(
        keys, np.zeros(count, np.int64), in_cluster, np.zeros(CLUSTERS, np.int64), head, best, nameless
    )
    usual, (majorities, rows) = np.zeros(VALUES, np.bool_), np.zeros((2, VALUES), np.int64)
    return cells, ValueCells(usual, majorities, rows, of_values, of_value)


def follow(
    cells: ClusterCells, values: ValueCells, sums: np.ndarray, batch: dict[int, int], oldest: np.ndarray
) -> None:
    """Give cells new counts of rows."""
    changed = np.array(sorted(batch), np.int64)
    clusters = np.unique(cells.keys[changed, 0]).astype(np.int64)
    majority, before = np.empty(len(clusters), np.int64), cells.counts[changed].copy()
    kernels.leave(clusters, cells, values, sums, UNIT, majority)
    cells.counts[changed] = [min(batch[cell], 1) if KEYS[cell][1] >= VALUES else batch[cell] for cell in sorted(batch)]
    np.add.at(cells.sizes, cells.keys[changed, 0].astype(np.int64), cells.counts[changed] - before)
    kernels.choose(clusters, cells, oldest)
    kernels.count(changed, before, cells, values, sums)
    kernels.enter(clusters, cells, values, sums, UNIT, majority)


@settings(max_examples=80)
@given(batches, st.permutations(range(len(KEYS))))
def test_after_each_batch_as_the_definition_says(stream: list[dict[int, int]], ages: list[int]) -> None:
    (cells, values), sums, oldest = no_rows(), np.zeros(7, np.int64), np.array(ages)
    for batch in stream:
        follow(cells, values, sums, batch, oldest)
        rows = [key for key, count in zip(KEYS, cells.counts.tolist(), strict=True) for _ in range(count)]
        left = [(None if cluster == NAMELESS else cluster,) for cluster, _ in rows]
        every = evidence(left, [value if value < VALUES else None for _, value in rows], "distinct")
        expected = [every.tested, every.usual, every.groups, every.paired, every.agreement, every.known, every.same]
        assert sums.tolist() == expected
        for cluster in range(CLUSTERS):
            own = [place for place, key in enumerate(KEYS) if key[0] == cluster and cells.counts[place]]
            best = max(own, key=lambda place: (cells.counts[place], -ages[place]), default=-1)
            assert cells.best[cluster] == best
