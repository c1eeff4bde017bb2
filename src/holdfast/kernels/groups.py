"""Cells of rows in chains, one chain a cluster: the largest cell of each."""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import measured

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Marks = NDArray[np.bool_]


@measured(lambda clusters, first, _head, _following: len(clusters) - first)
def link(clusters: Words, first: int, head: Ints, following: Ints) -> None:
    """Put the cells from `first` on into the chains of their clusters.

    IN clusters[cell]; OUT head[cluster]: the first cell, following[cell]: the next one; -1 ends a chain
    """
    for cell in range(first, len(clusters)):
        cluster = np.int64(clusters[cell])
        following[cell] = head[cluster]
        head[cluster] = cell


def _cells_in(clusters: Ints, head: Ints, following: Ints, *_: Ints) -> int:
    """How many steps it is about to go through the cells of some clusters."""
    return 2 * len(clusters) * (1 + len(following) // max(len(head), 1))


@measured(_cells_in)
def choose(clusters: Ints, head: Ints, following: Ints, counts: Ints, oldest: Ints, best: Ints) -> None:
    """The largest cell of some clusters, of equals the one with the oldest row; -1 where all are empty.

    IN clusters[i]; counts[cell], oldest[cell]; OUT best[cluster]
    """
    for cluster in clusters:
        chosen = -1
        cell = head[cluster]
        while cell >= 0:
            if counts[cell] > 0 and (
                chosen < 0
                or counts[cell] > counts[chosen]
                or (counts[cell] == counts[chosen] and oldest[cell] < oldest[chosen])
            ):
                chosen = cell
            cell = following[cell]
        best[cluster] = chosen
