"""Order dependencies by the paper's lattice (papers: fastod, Algorithms 1 to 4), in plain NumPy.

A second opinion on ours, and a rival: level by level over all sets of columns, with candidate sets and stripped
partitions. The paper's descending twin `A ~ B desc` has candidates of its own, apart from those of `A ~ B`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.int64]  # [column, row]: numbers that compare as the values do, 0 for null
Columns = frozenset[int]
Swap = tuple[int, int, str]  # two columns, the first one first in the schema, and "asc" or "desc"
Rule = tuple[Columns, int] | tuple[Columns, Swap]  # context and the constant column, or context and the pair


@dataclass(frozen=True)
class Partition:
    """A stripped partition: the rows that share their group with another, and the number of each one's group."""

    rows: NDArray[np.int64]
    groups: NDArray[np.int64]

    @property
    def surplus(self) -> int:
        """How many rows more than groups: it falls with a further column unless that is constant in each group."""
        return len(self.rows) - len(np.unique(self.groups))


@dataclass
class Node:
    """A set of columns with its partition and candidate sets: C_c+ and C_s+ of section 4.2."""

    partition: Partition
    constants: set[int]
    swaps: set[Swap] = field(default_factory=set)


Level = dict[Columns, Node]


def discover(ranks: Ranks, *, directions: Sequence[str] = ("asc", "desc"), nulls: str = "equal") -> set[Rule]:
    """All minimal canonical order dependencies (Algorithm 1)."""
    columns, rows = ranks.shape
    everything = Partition(np.arange(rows), np.zeros(rows, np.int64))
    above: Level = {frozenset(): Node(_stripped(everything.rows, everything.groups), set(range(columns)))}
    earlier: Level = {}  # the level above that one: contexts of pairs
    found: set[Rule] = set()
    level = {frozenset([c]): Node(_refined(everything, ranks[c], nulls), set()) for c in range(columns)}
    while level:
        for node_columns, node in level.items():
            _take_candidates(node_columns, node, above, directions)
        for node_columns, node in level.items():
            found |= _constants(node_columns, node, above, columns)
            found |= _compatible(node_columns, node, above, earlier, ranks, nulls)
        kept = {key: node for key, node in level.items() if len(key) < 2 or node.constants or node.swaps}
        earlier, above, level = above, kept, _next_level(kept, ranks, nulls)
    return found


def _next_level(level: Level, ranks: Ranks, nulls: str) -> Level:
    """Algorithm 2: the sets of one more column, all of whose parts are in this level."""
    following: Level = {}
    blocks: dict[tuple[int, ...], list[int]] = {}
    for key in level:
        *first, last = sorted(key)
        blocks.setdefault(tuple(first), []).append(last)
    for prefix, lasts in blocks.items():
        for b, c in combinations(sorted(lasts), 2):
            key = frozenset({*prefix, b, c})
            if all(key - {a} in level for a in key):
                following[key] = Node(_refined(level[key - {c}].partition, ranks[c], nulls), set())
    return following


def _take_candidates(key: Columns, node: Node, above: Level, directions: Sequence[str]) -> None:
    """Algorithm 3, lines 1 to 8."""
    node.constants = set.intersection(*(above[key - {a}].constants for a in key))
    if len(key) == 2:
        a, b = sorted(key)
        node.swaps = {(a, b, direction) for direction in directions}
    elif len(key) > 2:
        known = set.union(*(above[key - {c}].swaps for c in key))
        node.swaps = {pair for pair in known if all(pair in above[key - {d}].swaps for d in key - {*pair[:2]})}


def _constants(key: Columns, node: Node, above: Level, columns: int) -> set[Rule]:
    """Algorithm 3, lines 10 to 16."""
    found: set[Rule] = set()
    for a in sorted(key & node.constants):
        context = key - {a}
        if above[context].partition.surplus == node.partition.surplus:
            found.add((context, a))
            node.constants -= {a, *(set(range(columns)) - key)}
    return found


def _compatible(key: Columns, node: Node, above: Level, earlier: Level, ranks: Ranks, nulls: str) -> set[Rule]:
    """Algorithm 3, lines 17 to 24."""
    found: set[Rule] = set()
    for a, b, direction in sorted(node.swaps):
        if a not in above[key - {b}].constants or b not in above[key - {a}].constants:
            node.swaps.remove((a, b, direction))
        elif not _swapped(earlier[key - {a, b}].partition, ranks[a], ranks[b], direction, nulls):
            found.add((key - {a, b}, (a, b, direction)))
            node.swaps.remove((a, b, direction))
    return found


def _swapped(partition: Partition, one: Ranks, other: Ranks, direction: str, nulls: str) -> bool:
    """Whether two rows of a group swap: after sorting by group, A and B, then B falls somewhere within a group."""
    a, b, groups = one[partition.rows], other[partition.rows], partition.groups
    if nulls == "distinct":
        valued = (a > 0) & (b > 0)
        a, b, groups = a[valued], b[valued], groups[valued]
    b = -b if direction == "desc" else b
    order = np.lexsort((b, a, groups))
    return bool(((np.diff(b[order]) < 0) & (np.diff(groups[order]) == 0)).any())


def _refined(partition: Partition, column: Ranks, nulls: str) -> Partition:
    """The partition with one more column."""
    rows, groups = partition.rows, partition.groups
    if nulls == "distinct":
        valued = column[rows] > 0
        rows, groups = rows[valued], groups[valued]
    return _stripped(rows, groups * (int(column.max(initial=0)) + 1) + column[rows])


def _stripped(rows: NDArray[np.int64], groups: NDArray[np.int64]) -> Partition:
    _, numbers, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    shared = sizes[numbers] > 1
    return Partition(rows[shared], numbers[shared])
