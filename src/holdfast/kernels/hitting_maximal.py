"""For which columns a set of a family is maximal, all columns at once.

A set S is maximal for a column A outside it iff no larger set of the family lacks A too: iff A is in every strict
superset of S. So a few words answer it for all columns: the **candidates** of S, at first all columns outside it, are
intersected with S's strict supersets until its **targets** are left, or nothing is. Sets without targets need not be
compared with others: their supersets stand in for them.

Supersets are found in an inverted index: for each block of BLOCK * 64 sets and each element, a bitmap of the sets that
hold the element. The bitmaps of S's rarest elements are ANDed, and what is left is compared with S; blocks of sets no
larger than S are left out. Sets that took candidates from others lately are tried before all that: they are few, and
where S has no targets, they mostly show it.

Rows are passed as an array and a place: a view of a row would be counted as one more reference to the array, and
threads that work on one array would wait for each other at that count.

Axes: w word of elements; b block, e element, j word of a block.
"""

from typing import NamedTuple

import numpy as np

from holdfast.kernels.arrays import Ints, Words
from holdfast.kernels.hitting_bits import ALL, ONE, ZERO, lowest, popcount
from holdfast.kernels.jit import kernel

BLOCK = 8
_LOOK = 32  # elements whose bitmaps are ANDed before sets are compared


class SetIndex(NamedTuple):
    """Sets, the largest first, and where they are found."""

    sets: Words  # [place, w] whole blocks, filled up with empty sets, which are below none
    filled: Ints  # [1] how many of them
    bitmaps: Words  # [b, e, j] the sets of a block that hold an element
    rarest: Ints  # all elements, those in the fewest sets first
    recent: Words  # [slot, w] sets that took candidates from others lately


@kernel
def enter(sets: Words, index: SetIndex) -> None:
    """Add sets to the OUT index, which has room for them."""
    for i in range(len(sets)):
        _enter(sets, i, index)


@kernel
def _enter(sets: Words, i: int, index: SetIndex) -> None:
    place = index.filled[0]
    block, word, bit = place // (64 * BLOCK), (place // 64) % BLOCK, ONE << np.uint64(place % 64)
    for w in range(sets.shape[1]):
        rest = sets[i, w]
        index.sets[place, w] = rest
        while rest:
            index.bitmaps[block, 64 * w + lowest(rest), word] |= bit
            rest &= rest - ONE
    index.filled[0] += 1


@kernel
def narrow(sets: Words, candidates: Words, index: SetIndex, enters: bool) -> None:
    """IN OUT candidates: of those of each set, the ones that all its strict supersets in the index hold.

    Where each set that has some left `enters` the index, and sets come the largest first, a set's supersets are in the
    index before it: then these are its targets within the family.
    """
    elements, some = np.empty(_LOOK, np.int64), np.empty(BLOCK, np.uint64)
    for i in range(len(sets)):
        if _narrow(sets, i, candidates, index, elements, some) and enters:
            _enter(sets, i, index)


@kernel
def gather(sets: Words, candidates: Words, index: SetIndex, targets: Words) -> None:
    """OUT candidates: the targets of all strict supersets in the index together."""
    elements, some = np.empty(_LOOK, np.int64), np.empty(BLOCK, np.uint64)
    for i in range(len(sets)):
        rare = _rare_elements(sets, i, index.rarest, elements)
        for block in range(_blocks_above(sets, i, index)):
            if not _with_all(index.bitmaps, block, elements, rare, some):
                continue
            for j in range(BLOCK):
                rest = some[j]
                while rest:
                    place = 64 * (block * BLOCK + j) + lowest(rest)
                    rest &= rest - ONE
                    if _is_below(sets, i, index.sets, place):
                        for w in range(candidates.shape[1]):
                            candidates[i, w] |= targets[place, w]


@kernel
def _narrow(sets: Words, i: int, candidates: Words, index: SetIndex, elements: Ints, some: Words) -> bool:
    """IN OUT candidates[i]; whether any is left. The largest sets are tried first, as the most sets are below them."""
    kept, recent = index.sets, index.recent
    if not _keep(candidates, i, candidates, i):
        return False
    for slot in range(len(recent)):
        if _is_below(sets, i, recent, slot) and not _keep(candidates, i, recent, slot):
            return False
    rare = _rare_elements(sets, i, index.rarest, elements)
    for block in range(_blocks_above(sets, i, index)):
        if not _with_all(index.bitmaps, block, elements, rare, some):
            continue
        for j in range(BLOCK):
            rest = some[j]
            while rest:
                place = 64 * (block * BLOCK + j) + lowest(rest)
                rest &= rest - ONE
                if _is_below(sets, i, kept, place) and _lacks_some(kept, place, candidates, i):
                    if len(recent):
                        _copy(kept, place, recent, place % len(recent))
                    if not _keep(candidates, i, kept, place):
                        return False
    return True


@kernel
def _blocks_above(sets: Words, i: int, index: SetIndex) -> int:
    """How many blocks, from the first on, hold sets larger than this one."""
    low, high = 0, (index.filled[0] + 64 * BLOCK - 1) // (64 * BLOCK)
    size = _size(sets, i)
    while low < high:
        middle = (low + high) // 2
        if _size(index.sets, 64 * BLOCK * middle) > size:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _rare_elements(sets: Words, i: int, rarest: Ints, elements: Ints) -> int:
    """OUT elements: the rarest ones of a set; gives how many."""
    size = 0
    for e in rarest:
        if sets[i, e >> 6] >> np.uint64(e & 63) & ONE:
            elements[size] = e
            size += 1
            if size == len(elements):
                break
    return size


@kernel
def _with_all(bitmaps: Words, block: int, elements: Ints, size: int, some: Words) -> bool:
    """OUT some: the sets of a block that hold all elements; false where there are none."""
    for j in range(BLOCK):
        some[j] = ALL
    for k in range(size):
        left, row = ZERO, bitmaps[block, elements[k]]
        for j in range(BLOCK):
            some[j] &= row[j]
            left |= some[j]
        if left == ZERO:
            return False
    return True


@kernel
def _size(sets: Words, i: int) -> int:
    size = 0
    for w in range(sets.shape[1]):
        size += popcount(sets[i, w])
    return size


@kernel
def _is_below(sets: Words, i: int, others: Words, j: int) -> bool:
    """Whether a set is a strict subset of another."""
    more = ZERO
    for w in range(sets.shape[1]):
        if sets[i, w] & ~others[j, w]:
            return False
        more |= sets[i, w] ^ others[j, w]
    return bool(more != ZERO)


@kernel
def _copy(sets: Words, i: int, others: Words, j: int) -> None:
    """OUT others[j]."""
    for w in range(sets.shape[1]):
        others[j, w] = sets[i, w]


@kernel
def _lacks_some(sets: Words, i: int, others: Words, j: int) -> bool:
    lack = ZERO
    for w in range(sets.shape[1]):
        lack |= others[j, w] & ~sets[i, w]
    return bool(lack != ZERO)


@kernel
def _keep(bits: Words, i: int, others: Words, j: int) -> bool:
    """Leave in OUT bits[i] only what is in others[j] too; whether any is left."""
    left = ZERO
    for w in range(bits.shape[1]):
        bits[i, w] &= others[j, w]
        left |= bits[i, w]
    return bool(left != ZERO)
