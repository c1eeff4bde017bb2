"""Bit tricks on 64-bit words, shared by the kernels that work on bitsets; and which sets are inside others."""

import numpy as np

from holdfast.kernels.arrays import Ints, Words
from holdfast.kernels.jit import kernel

ONE = np.uint64(1)
ZERO = np.uint64(0)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def popcount(word: np.uint64) -> int:
    """How many bits are set. The compiler knows this pattern and makes one instruction of it."""
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]  # to the compiler it is one


@kernel
def lowest(word: np.uint64) -> int:
    """The place of the lowest bit of a word that isn't 0."""
    return popcount((word & (~word + ONE)) - ONE)


@kernel
def put(bits: Words, place: int) -> None:
    """Set one bit. OUT bits."""
    bits[place >> 6] |= ONE << np.uint64(place & 63)


@kernel
def members_of(one: Words, members: Ints) -> int:
    """OUT members: the elements of a set; gives how many."""
    size = 0
    for w in range(len(one)):
        rest = one[w]
        while rest:
            members[size] = 64 * w + lowest(rest)
            rest &= rest - ONE
            size += 1
    return size


@kernel
def first_above(sets: Words, others: Words, begins: Ints, ends: Ints, places: Ints) -> None:
    """OUT places: for each set i the first of the others from begins[i] to ends[i] that contains it, or -1."""
    for i in range(len(sets)):
        places[i] = -1
        for j in range(begins[i], ends[i]):
            if is_inside(sets, i, others, j):
                places[i] = j
                break


@kernel
def is_inside(sets: Words, i: int, others: Words, j: int) -> bool:
    """Whether a set is a part of another one."""
    for w in range(sets.shape[1]):  # noqa: SIM110
        if sets[i, w] & ~others[j, w]:
            return False
    return True
