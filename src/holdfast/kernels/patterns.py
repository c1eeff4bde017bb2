"""Patterns: what pairs of rows have in every few columns, and which pairs are needed to show all of them.

A pair has one of four digits, two bits, in each column; its **pattern** in some columns is the number that these make.
All sets of few columns are the leaves of a tree, where a set hangs below the one without its last column: so each
pattern is that of the set above with one digit more. A pattern and its mirror image are one, and so are their counts.

Cost: a nanosecond or two a pair and set of columns.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import inlined, kernel


class ColumnSets(NamedTuple):
    """Sets of columns as a tree: node 0 is the empty set, each other one has a `parent` before it and one `column`
    more. The sets that patterns are kept of are the nodes from `first` on. `folded[pattern]`: of a pattern and its
    mirror image one.
    """

    parent: NDArray[np.int32]
    column: NDArray[np.int32]
    first: int
    folded: NDArray[np.int32]


@inlined
def _patterns_of(digits: Any, sets: ColumnSets, patterns: Any) -> None:
    """OUT patterns[node]: of one pair"""
    patterns[0] = 0
    for node in range(1, len(sets.parent)):
        patterns[node] = (patterns[sets.parent[node]] << 2) | digits[sets.column[node]]


@kernel
def keep_needed(
    digits: NDArray[np.uint8], sets: ColumnSets, most: int, counts: NDArray[np.int32], kept: NDArray[np.bool_]
) -> None:
    """Keep each pair that has a pattern which fewer than `most` kept pairs have.

    IN digits[pair, column]; IN OUT counts[set, pattern]: kept pairs that have it; OUT kept[pair]
    """
    patterns, folded, first = np.empty(len(sets.parent), np.int32), sets.folded, sets.first
    for pair in range(len(digits)):
        _patterns_of(digits[pair], sets, patterns)
        needed = False
        for node in range(first, len(patterns)):
            if counts[node - first, folded[patterns[node]]] < most:
                needed = True
                break
        kept[pair] = needed
        if needed:
            for node in range(first, len(patterns)):
                counts[node - first, folded[patterns[node]]] += 1


@kernel
def drop(digits: NDArray[np.uint8], sets: ColumnSets, counts: NDArray[np.int32]) -> None:
    """Count pairs no longer that were kept. IN digits[pair, column]; IN OUT counts[set, pattern]"""
    patterns, folded, first = np.empty(len(sets.parent), np.int32), sets.folded, sets.first
    for pair in range(len(digits)):
        _patterns_of(digits[pair], sets, patterns)
        for node in range(first, len(patterns)):
            counts[node - first, folded[patterns[node]]] -= 1
