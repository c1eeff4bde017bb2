"""Which rows of words occur among others, in a hash table with open addressing; and which are inside others."""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.hitting_bits import Words
from holdfast.kernels.jit import kernel

Places = NDArray[np.int64]

_MIX = np.uint64(0x9E3779B97F4A7C15)


@kernel
def enter_all(rows: Words, slots: Places) -> None:
    """OUT slots: all -1 before, a power of two of them, more than there are rows."""
    for i in range(len(rows)):
        slots[_slot_of(rows, i, rows, slots)] = i


@kernel
def find_all(rows: Words, others: Words, slots: Places, places: Places) -> None:
    """OUT places: where each row stands among the others, which were entered in the slots; -1 where it doesn't."""
    for i in range(len(rows)):
        places[i] = slots[_slot_of(rows, i, others, slots)]


@kernel
def _slot_of(rows: Words, i: int, others: Words, slots: Places) -> np.uint64:
    """The slot of a row, or the free one where it would be."""
    mask = np.uint64(len(slots) - 1)
    mixed = np.uint64(0)
    for w in range(rows.shape[1]):
        mixed = (mixed ^ rows[i, w]) * _MIX
        mixed ^= mixed >> np.uint64(29)
    slot = mixed & mask
    while slots[slot] >= 0 and not _same(rows, i, others, slots[slot]):
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def _same(rows: Words, i: int, others: Words, j: int) -> bool:
    for w in range(rows.shape[1]):  # noqa: SIM110  # kernels have no generators
        if rows[i, w] != others[j, w]:
            return False
    return True


@kernel
def first_above(sets: Words, others: Words, places: Places) -> None:
    """OUT places: for each set the first of the others that contains it, -1 where none does."""
    for i in range(len(sets)):
        places[i] = -1
        for j in range(len(others)):
            if _is_inside(sets, i, others, j):
                places[i] = j
                break


@kernel
def _is_inside(sets: Words, i: int, others: Words, j: int) -> bool:
    for w in range(sets.shape[1]):  # noqa: SIM110
        if sets[i, w] & ~others[j, w]:
            return False
    return True
