"""Which rows of words occur among others, in a hash table with open addressing; and which are inside others."""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.hitting_bits import Words, is_subset
from holdfast.kernels.jit import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)


@kernel
def mark_among(rows: Words, others: Words, slots: NDArray[np.int64], marks: NDArray[np.bool_]) -> None:
    """OUT marks: which rows are among others. IN slots: all -1, a power of two of them, more than there are others."""
    for i in range(len(others)):
        slot = _slot_of(others[i], others, slots)
        slots[slot] = i
    for i in range(len(rows)):
        marks[i] = slots[_slot_of(rows[i], others, slots)] >= 0


@kernel
def _slot_of(row: Words, others: Words, slots: NDArray[np.int64]) -> np.uint64:
    """The slot of a row, or the free one where it would be."""
    mask = np.uint64(len(slots) - 1)
    mixed = np.uint64(0)
    for w in range(len(row)):
        mixed = (mixed ^ row[w]) * _MIX
        mixed ^= mixed >> np.uint64(29)
    slot = mixed & mask
    while slots[slot] >= 0 and not _same(row, others[slots[slot]]):
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def _same(a: Words, b: Words) -> bool:
    for w in range(len(a)):  # noqa: SIM110  # kernels have no generators
        if a[w] != b[w]:
            return False
    return True


@kernel
def first_above(sets: Words, others: Words, places: NDArray[np.int64]) -> None:
    """OUT places: for each set the first of the others that contains it, -1 where none does."""
    for i in range(len(sets)):
        places[i] = -1
        for j in range(len(others)):
            if is_subset(sets[i], others[j]):
                places[i] = j
                break
