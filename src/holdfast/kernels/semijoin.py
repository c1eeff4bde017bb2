"""Which rows may have a partner with an equal key: hashes of keys, and bitmaps of the hashes that were seen.

Hash 0 is that of rows that can't have a partner at all. Two keys may share a hash, so what is left may be too much,
never too little.
Axes: `i` is a row; the bitmaps have 2**bits places.
"""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Ints, Mask, Words
from holdfast.kernels.hashing import SEED, mixed
from holdfast.kernels.jit import kernel


@kernel
def _mixed(state: int, key: int) -> np.uint32:
    """A hash and one more key, well mixed; never 0."""
    return np.uint32(mixed(mixed(SEED, np.uint64(state)), np.uint64(key)) >> np.uint64(32)) | np.uint32(1)


@kernel
def marked(codes: NDArray[np.unsignedinteger], marks: Mask, places: Ints) -> int:
    """The rows whose code is marked. OUT places[:found], with room for one more"""
    found = 0
    for i in range(len(codes)):
        places[found] = i  # written in any case: a branch would cost more
        found += marks[codes[i]]
    return found


@kernel
def mix_codes(codes: NDArray[np.unsignedinteger], null_meets: bool, hashes: NDArray[np.uint32]) -> None:
    """Take in a column whose codes are its keys. IN OUT hashes[i]"""
    for i in range(len(codes)):
        if codes[i] == 0 and not null_meets:
            hashes[i] = 0
        elif hashes[i] != 0:
            hashes[i] = _mixed(hashes[i], codes[i])


@kernel
def mix_keys(codes: NDArray[np.unsignedinteger], keys: Ints, shared: Mask, hashes: NDArray[np.uint32]) -> None:
    """Take in a column whose codes have keys; a code that isn't shared has no partner. IN OUT hashes[i]"""
    for i in range(len(codes)):
        if not shared[codes[i]]:
            hashes[i] = 0
        elif hashes[i] != 0:
            hashes[i] = _mixed(hashes[i], keys[codes[i]])


@kernel
def see(hashes: NDArray[np.uint32], bits: int, once: Words, twice: Words) -> None:
    """Mark the hashes that are there, and those that are there twice. IN OUT once, twice"""
    shift = np.uint32(32 - bits)
    for i in range(len(hashes)):
        if hashes[i] != 0:
            place = hashes[i] >> shift
            word, bit = place >> np.uint32(6), np.uint64(1) << np.uint64(place & np.uint32(63))
            twice[word] |= once[word] & bit
            once[word] |= bit


@kernel
def seen(hashes: NDArray[np.uint32], bits: int, marks: Words, places: Ints) -> int:
    """The rows whose hash is marked. OUT places[:found]"""
    shift, found = np.uint32(32 - bits), 0
    for i in range(len(hashes)):
        if hashes[i] != 0:
            place = hashes[i] >> shift
            if (marks[place >> np.uint32(6)] >> np.uint64(place & np.uint32(63))) & np.uint64(1):
                places[found] = i
                found += 1
    return found
