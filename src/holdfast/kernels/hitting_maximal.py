"""For which columns a set of a family is maximal, all columns at once.

A set S counts for a column A outside it iff no larger set of the family lacks A too: iff A is in every strict superset
of S. So a few words, the **meet** of S's strict supersets, answer it for all columns: S counts for `meet - S`. A set
that equals its meet counts for nothing, and as the meet of its supersets stands in for it, nobody need look at it
again: only sets that count are kept and looked at.

Supersets are found in an inverted index: for each block of BLOCK * 64 kept sets and each element, a bitmap of the sets
that hold the element. The bitmaps of S's elements, the rarest first, are ANDed until nothing is left. The blocks
filled last come first: they hold the smallest sets, and so the supersets that say most.

Axes: w word of elements; b block, e element, j word of a block. Sets come the largest first.
Cost: for each set O(blocks * few elements * BLOCK), until its meet is reached.
"""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.hitting_bits import ALL, ONE, ZERO, Words, is_subset, lowest
from holdfast.kernels.jit import kernel

BLOCK = 8
Places = NDArray[np.int64]


@kernel
def sift(sets: Words, rarest: Places, kept: Words, meets: Words, index: Words, count: int) -> int:
    """Add the sets that count to OUT kept, meets and index, of which `count` are filled; gives how many then are.

    Sets come the largest first, so that a set's supersets are kept before it, and none of them is kept yet. `rarest`
    holds all elements, those in the fewest sets first.
    """
    meet = np.empty(sets.shape[1], np.uint64)
    elements = np.empty(len(rarest), np.int64)
    for i in range(len(sets)):
        size = _elements_of(sets[i], rarest, elements)
        if _meet_of(sets[i], elements[:size], kept, index, count, meet):
            kept[count], meets[count] = sets[i], meet
            enter(kept[count], index, count)
            count += 1
    return count


@kernel
def enter(one: Words, index: Words, place: int) -> None:
    """Note a kept set in the OUT index[b, e, j]."""
    block, word, bit = place // (64 * BLOCK), (place // 64) % BLOCK, ONE << np.uint64(place % 64)
    for w in range(len(one)):
        rest = one[w]
        while rest:
            index[block, 64 * w + lowest(rest), word] |= bit
            rest &= rest - ONE


@kernel
def enter_all(kept: Words, index: Words) -> None:
    """Note all kept sets in the OUT index."""
    for i in range(len(kept)):
        enter(kept[i], index, i)


@kernel
def _elements_of(one: Words, rarest: Places, elements: Places) -> int:
    """OUT elements: those of a set, the rarest first; gives how many."""
    size = 0
    for e in rarest:
        if one[e >> 6] >> np.uint64(e & 63) & ONE:
            elements[size] = e
            size += 1
    return size


@kernel
def _meet_of(one: Words, elements: Places, kept: Words, index: Words, count: int, meet: Words) -> bool:
    """OUT meet: what all kept supersets share. False, and early, where that is the set itself."""
    for w in range(len(meet)):
        meet[w] = ALL
    above = np.empty(BLOCK, np.uint64)
    for block in range((count - 1) // (64 * BLOCK), -1, -1):
        if not _supersets(index[block], elements, above):
            continue
        for j in range(BLOCK):
            rest = above[j]
            while rest:
                place = 64 * (block * BLOCK + j) + lowest(rest)
                rest &= rest - ONE
                if place < count and _lower(meet, kept[place], one):
                    return False
    return True


@kernel
def _supersets(index: Words, elements: Places, above: Words) -> bool:
    """OUT above: the sets of a block that hold all elements; false where there are none."""
    for j in range(BLOCK):
        above[j] = ALL
    for e in elements:
        left = ZERO
        for j in range(BLOCK):
            above[j] &= index[e, j]
            left |= above[j]
        if left == ZERO:
            return False
    return True


@kernel
def _lower(meet: Words, other: Words, one: Words) -> bool:
    """Let a superset lower the OUT meet; true where it is then the set itself."""
    more = ZERO
    for w in range(len(meet)):
        meet[w] &= other[w]
        more |= meet[w] & ~one[w]
    return bool(more == ZERO)


@kernel
def lower_all(arrived: Words, commonest: Places, kept: Words, meets: Words, index: Words) -> None:
    """Let sets that arrived lower the OUT meets of the kept sets that are subsets of theirs."""
    others = np.empty(len(commonest), np.int64)
    some = np.empty(BLOCK, np.uint64)
    for i in range(len(arrived)):
        size = _elements_of(~arrived[i], commonest, others)
        for block in range((len(kept) + 64 * BLOCK - 1) // (64 * BLOCK)):
            if not _subsets(index[block], others[:size], some):
                continue
            for j in range(BLOCK):
                rest = some[j]
                while rest:
                    place = 64 * (block * BLOCK + j) + lowest(rest)
                    rest &= rest - ONE
                    if place < len(kept):
                        _lower(meets[place], arrived[i], kept[place])


@kernel
def _subsets(index: Words, others: Places, some: Words) -> bool:
    """OUT some: the sets of a block that hold none of the other elements; false where there are none."""
    for j in range(BLOCK):
        some[j] = ALL
    for e in others:
        left = ZERO
        for j in range(BLOCK):
            some[j] &= ~index[e, j]
            left |= some[j]
        if left == ZERO:
            return False
    return True


@kernel
def mark_below(sets: Words, some: Words, marks: NDArray[np.bool_]) -> None:
    """OUT marks: which sets are subsets of one of some."""
    for i in range(len(sets)):
        for j in range(len(some)):
            if is_subset(sets[i], some[j]):
                marks[i] = True
                break
