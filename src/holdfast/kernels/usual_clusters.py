"""Clusters of rows, whose cells hang in chains: the largest cell of each, and what clusters say of a rule: the
usual values, and how well those rows of a cluster agree that have them.

A value is usual where it is that of most rows of some cluster, and of two at least. Each value has a count of the
clusters that make it so (`majorities`), and a chain of its cells: when the first such cluster comes or the last one
goes, the sums of all clusters with the value change. A cluster is subtracted as it was counted, and added as
it is now; so the order of batches does not matter.
"""

from typing import NamedTuple

import numpy as np

from holdfast.kernels.arrays import Ints, Mask, Words
from holdfast.kernels.jit import kernel, measured

Int = np.int64 | int

TESTED, USUAL, GROUPS, PAIRED, AGREEMENT, KNOWN, SAME = range(7)  # the sums


class ClusterCells(NamedTuple):
    """Rows in groups: `keys[cell]` is a cell's cluster and value; a cluster's cells hang in a chain."""

    keys: Words
    counts: Ints  # of each cell
    following: Ints  # of each cell, the next one of its cluster; -1 ends a chain
    sizes: Ints  # of each cluster
    head: Ints  # of each cluster, its first cell
    best: Ints  # of each cluster, its largest cell; -1 where it is empty
    nameless: Mask  # of each cluster, whether a null stands on its left side: then it counts for nothing


class ValueCells(NamedTuple):
    """The state of each value, and of each cell the next one of its value."""

    usual: Mask
    majorities: Ints  # clusters that have it in most of their rows
    rows: Ints
    head: Ints  # its first cell; -1 ends a chain
    following: Ints  # of each cell


def _cells_in(clusters: Ints, cells: ClusterCells) -> int:
    """About how many cells some clusters have."""
    return len(clusters) * (1 + len(cells.counts) // max(len(cells.sizes), 1))


@measured(lambda keys, _word, first, _head, _following: len(keys) - first)
def link(keys: Words, word: int, first: int, head: Ints, following: Ints) -> None:
    """Put the cells from `first` on into the chains of their clusters, or of their values. What has no chain, as values
    beyond those known, is nobody else's.

    IN keys[cell, word]: its cluster (word 0) or value (word 1)
    OUT head[number]: the first cell; following[cell]: the next one; -1: none
    """
    for cell in range(first, len(keys)):
        if keys[cell, word] < len(head):
            number = np.int64(keys[cell, word])
            following[cell] = head[number]
            head[number] = cell


@measured(lambda clusters, cells, *_: 2 * _cells_in(clusters, cells))
def choose(clusters: Ints, cells: ClusterCells, oldest: Ints) -> None:
    """The largest cell of some clusters, of equals the one with the oldest row; -1 where all are empty.

    IN clusters[i], oldest[cell]; OUT cells.best[cluster]
    """
    head, following, counts, best = cells.head, cells.following, cells.counts, cells.best
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


@measured(lambda clusters, cells, *_: 5 * _cells_in(clusters, cells))
def leave(clusters: Ints, cells: ClusterCells, values: ValueCells, sums: Ints, unit: int, majority: Ints) -> None:
    """Take clusters out of the sums, as they are before a batch.

    IN clusters[i]; OUT majority[i]: the value of most rows of the cluster, or -1
    """
    for i in range(len(clusters)):
        majority[i] = _majority(clusters[i], cells, values)
        if majority[i] >= 0:
            values.majorities[majority[i]] -= 1
        _add(clusters[i], -1, cells, values, sums, unit)


@measured(lambda changed, *_: 5 * len(changed))
def count(changed: Ints, before: Ints, cells: ClusterCells, values: ValueCells, sums: Ints) -> None:
    """Update the number of rows of values, given the cells that changed, and their counts before."""
    for i in range(len(changed)):
        cell = changed[i]
        if cells.keys[cell, 1] < len(values.usual) and not cells.nameless[np.int64(cells.keys[cell, 0])]:
            value = np.int64(cells.keys[cell, 1])
            old = values.rows[value]
            new = old + cells.counts[cell] - before[i]
            values.rows[value] = new
            if values.usual[value]:
                sums[SAME] += new * (new - 1) - old * (old - 1)


@measured(lambda clusters, cells, *_: 10 * _cells_in(clusters, cells))
def enter(clusters: Ints, cells: ClusterCells, values: ValueCells, sums: Ints, unit: int, before: Ints) -> None:
    """Bring clusters in again as they are after the batch, and see to the clusters of values that turned.

    IN clusters[i], before[i]: the value of most of its rows before; rows of values are counted already
    """
    touched = np.zeros(len(cells.sizes), np.bool_)
    others = np.empty(len(cells.sizes), np.int64)
    found = 0
    after = np.empty(len(clusters), np.int64)
    for i in range(len(clusters)):
        touched[clusters[i]] = True
        after[i] = _majority(clusters[i], cells, values)
        if after[i] >= 0:
            values.majorities[after[i]] += 1
    for i in range(2 * len(clusters)):
        value = before[i] if i < len(clusters) else after[i - len(clusters)]
        if value < 0 or values.usual[value] == (values.majorities[value] > 0):
            continue
        cell = values.head[value]
        while cell >= 0:
            cluster = np.int64(cells.keys[cell, 0])
            if cells.counts[cell] > 0 and not touched[cluster]:  # no value of it has turned before
                _add(cluster, -1, cells, values, sums, unit)
                touched[cluster] = True
                others[found] = cluster
                found += 1
            cell = values.following[cell]
        rows = values.rows[value]
        sums[SAME] += rows * (rows - 1) * (-1 if values.usual[value] else 1)
        values.usual[value] = not values.usual[value]
    for i in range(len(clusters)):
        _add(clusters[i], 1, cells, values, sums, unit)
    for i in range(found):
        _add(others[i], 1, cells, values, sums, unit)


@kernel
def _majority(cluster: Int, cells: ClusterCells, values: ValueCells) -> Int:
    """The value that most rows of a cluster have, and two at least; -1 where there is none."""
    best = cells.best[cluster]
    if best < 0 or cells.nameless[cluster] or cells.keys[best, 1] >= len(values.usual):
        return -1
    is_most = cells.counts[best] >= 2 and 2 * cells.counts[best] > cells.sizes[cluster]
    return np.int64(cells.keys[best, 1]) if is_most else -1


@kernel
def _add(cluster: Int, sign: int, cells: ClusterCells, values: ValueCells, sums: Ints, unit: int) -> None:
    """Add a cluster to the sums, or subtract it."""
    if cells.nameless[cluster]:
        return
    rows, same = 0, 0  # those with usual values, and their ordered pairs that agree
    cell = cells.head[cluster]
    while cell >= 0:
        count = cells.counts[cell]
        if cells.keys[cell, 1] < len(values.usual) and values.usual[np.int64(cells.keys[cell, 1])]:
            rows += count
            same += count * (count - 1)
        cell = cells.following[cell]
    sums[KNOWN] += sign * rows
    if cells.sizes[cluster] >= 2:
        sums[TESTED] += sign * cells.sizes[cluster]
        sums[USUAL] += sign * rows
    if rows >= 2:
        sums[GROUPS] += sign
        sums[PAIRED] += sign * rows
        whole, rest = same // (rows - 1), same % (rows - 1)  # or the product would be too large
        sums[AGREEMENT] += sign * (unit * whole + unit * rest // (rows - 1))
