"""The rival of our bitmaps: a prefix tree over agree-sets (papers: dynast, section 6), compiled.

Nodes lie in the order of a walk, each with the end of its subtree, so that a search is one pass that skips; counts
stand in the nodes, where the paper looks them up in a hash table beside the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes but for the root: the column of each, its depth, the end of its subtree, and the pairs that end there."""

    column: NDArray[np.int16]
    depth: NDArray[np.int16]
    end: NDArray[np.int32]
    count: Ints
    at_root: int

    @staticmethod
    def of(sets: NDArray[np.uint64], counts: Ints) -> Tree:
        """The tree of some sets."""
        bits = np.unpackbits(np.ascontiguousarray(sets).view(np.uint8), axis=1, bitorder="little")
        order = np.argsort(np.packbits(bits, axis=1).view(f"V{bits.shape[1] // 8}").ravel())[::-1]
        bits, counts = bits[order], counts[order]
        room = _nodes(bits)
        made = Tree(
            np.empty(room, np.int16), np.empty(room, np.int16), np.empty(room, np.int32), np.zeros(room, np.int64),
            int(counts[~bits.any(axis=1)].sum()),
        )  # fmt: skip
        _fill(bits, counts, made.column, made.depth, made.end, made.count)
        return made

    def agreeing(self, columns: Sequence[int], but_not: int) -> int:
        """How many pairs agree on these columns and not on that one."""
        wanted = np.sort(np.array(columns, np.int64))
        found = _search(self.column, self.depth, self.end, self.count, wanted, but_not)
        return int(found) + (0 if len(wanted) else self.at_root)


@njit(cache=True)
def _shared(bits: NDArray[np.uint8], row: int) -> int:
    """The first column on which a set differs from the one before it."""
    if row == 0:
        return 0
    c = 0
    while c < bits.shape[1] and bits[row, c] == bits[row - 1, c]:
        c += 1
    return c


@njit(cache=True)
def _nodes(bits: NDArray[np.uint8]) -> int:
    total = 0
    for row in range(len(bits)):
        total += int(bits[row, _shared(bits, row) :].sum())
    return total


@njit(cache=True)
def _fill(
    bits: NDArray[np.uint8],
    counts: Ints,
    column: NDArray[np.int16],
    depth: NDArray[np.int16],
    end: NDArray[np.int32],
    count: Ints,
) -> None:
    path = np.empty(bits.shape[1] + 1, np.int64)
    used, deep = np.int64(0), np.int64(0)
    for row in range(len(bits)):
        first = _shared(bits, row)
        common = np.int64(bits[row, :first].sum())
        for d in range(common, deep):
            end[path[d]] = used
        deep = common
        for c in range(first, bits.shape[1]):
            if bits[row, c]:
                column[used], depth[used] = c, deep
                path[deep] = used
                deep += 1
                used += 1
        if deep:
            count[path[deep - 1]] += counts[row]
    for d in range(deep):
        end[path[d]] = used


@njit(cache=True)
def _search(
    column: NDArray[np.int16],
    depth: NDArray[np.int16],
    end: NDArray[np.int32],
    count: Ints,
    wanted: Ints,
    but_not: int,
) -> int:
    met = np.zeros(1024, np.int64)  # how many of the wanted columns are on the path, by depth
    total, node = 0, 0
    while node < len(column):
        c = column[node]
        known = met[depth[node]]
        if c == but_not or (known < len(wanted) and c > wanted[known]):
            node = end[node]
            continue
        if known < len(wanted) and c == wanted[known]:
            known += 1
        met[depth[node] + 1] = known
        if known == len(wanted):
            total += count[node]
        node += 1
    return total
