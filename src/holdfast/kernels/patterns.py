"""Patterns: what pairs of rows have in every few columns, and which pairs are needed to show all of them.

A pair has one of four digits, two bits, in each column; its **pattern** in some columns is the number that these make.
All sets of few columns are the leaves of a tree, where a set hangs below the one without its last column: so each
pattern is that of the set above with one digit more. A pattern and its mirror image are one, and so are their counts.

Cost: a nanosecond or two a pair and set of columns.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Bytes, Mask
from holdfast.kernels.jit import inlined, kernel

_BLOCK = 256  # pairs that are looked at together
_TWO = np.uint32(2)


class ColumnSets(NamedTuple):
    """Sets of columns as a tree: node 0 is the empty set, each other one has a `parent` before it and one `column`
    more. The sets that patterns are kept of are the nodes from `first` on. `folded[pattern]`: of a pattern and its
    mirror image one.
    """

    parent: NDArray[np.int32]
    column: NDArray[np.int32]
    first: int
    folded: NDArray[np.uint32]


@inlined
def _patterns_of(digits: Any, pair: int, sets: ColumnSets, patterns: Any) -> None:
    """OUT patterns[node]: of one pair"""
    patterns[0] = 0
    for node in range(1, len(sets.parent)):
        patterns[node] = (patterns[sets.parent[node]] << 2) | digits[sets.column[node], pair]


@inlined
def _mark_needed(
    digits: Any, begin: int, size: int, sets: ColumnSets, most: int, counts: Any, inner: Any, needed: Any
) -> None:
    """Mark which of some pairs have a pattern that fewer than `most` kept ones have. OUT needed[j]: of pair begin + j

    Set by set, so that its counts are at hand. inner[node, j]: anything
    """
    needed[:size], inner[0, :size] = False, 0
    for node in range(1, len(sets.parent)):
        column, above = digits[sets.column[node], begin : begin + size], inner[sets.parent[node]]
        if node < sets.first:
            own = inner[node]
            for j in range(np.uint64(size)):
                own[j] = (above[j] << _TWO) | column[j]
        else:
            counted = counts[node - sets.first]
            for j in range(np.uint64(size)):
                needed[j] |= counted[sets.folded[(above[j] << _TWO) | column[j]]] < most


@kernel
def keep_needed(digits: Bytes, sets: ColumnSets, most: int, counts: NDArray[np.int32], kept: Mask) -> None:
    """Keep each pair that has a pattern which fewer than `most` kept pairs have.

    IN digits[column, pair]; IN OUT counts[set, pattern]: kept pairs that have it; OUT kept[pair], False before
    """
    patterns, folded, first = np.empty(len(sets.parent), np.int32), sets.folded, sets.first
    inner, needed = np.empty((first, _BLOCK), np.uint32), np.empty(_BLOCK, np.bool_)
    for begin in range(0, digits.shape[1], _BLOCK):
        size = min(_BLOCK, digits.shape[1] - begin)
        _mark_needed(digits, begin, size, sets, most, counts, inner, needed)
        for j in range(size):
            if not needed[j]:  # nor with those kept since
                continue
            _patterns_of(digits, begin + j, sets, patterns)
            for node in range(first, len(patterns)):
                if counts[node - first, folded[patterns[node]]] < most:
                    kept[begin + j] = True
                    break
            if kept[begin + j]:
                for node in range(first, len(patterns)):
                    counts[node - first, folded[patterns[node]]] += 1


@kernel
def drop(digits: Bytes, sets: ColumnSets, counts: NDArray[np.int32]) -> None:
    """Count pairs no longer that were kept. IN digits[column, pair]; IN OUT counts[set, pattern]"""
    patterns, folded, first = np.empty(len(sets.parent), np.int32), sets.folded, sets.first
    for pair in range(digits.shape[1]):
        _patterns_of(digits, pair, sets, patterns)
        for node in range(first, len(patterns)):
            counts[node - first, folded[patterns[node]]] -= 1
