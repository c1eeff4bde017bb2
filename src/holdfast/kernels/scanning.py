"""Comparing chosen rows with stretches of rows, and which of their signatures are wanted and new.

Rows lie column by column in one block, however many they are, with some room behind each column, so that no stretch
ends amid a vector; and pairs have numbers (see `ternary`). A bit a number says whether it is wanted; with 14 columns
these take 0.6 MB. Few pairs are wanted, so that looking is a load that no other waits for.
Cost, on one core: 1.7 ns a pair with 14 columns of which 9 take two bytes, and 0.3 µs for each stretch.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.agree import BLOCK, Cells
from holdfast.kernels.jit import kernel
from holdfast.kernels.ternary import Digits, compare, number_pairs

PADDING = 128  # rows: as many as the compiler compares in one go
_1, _3, _7 = np.uint32(1), np.uint32(3), np.uint32(7)


@kernel
def _row_at(rows: Cells, place: int, codes: NDArray[np.uint32]) -> None:
    """One row of rows that lie in one block. OUT codes[column]"""
    for c in range(len(codes)):
        if rows.width[c] == 1:
            codes[c] = rows.bytes1[rows.start[c] + place]
        elif rows.width[c] == 2:
            codes[c] = rows.bytes2[rows.start[c] // 2 + place]
        else:
            codes[c] = rows.bytes4[rows.start[c] // 4 + place]


@kernel
def _note(
    numbers: NDArray[np.uint32],
    n: Any,
    place: int,
    first: int,
    wanted: NDArray[np.uint8],
    found: int,
    pairs: NDArray[np.int64],
) -> int:
    """Note those of n pairs that are wanted, of rows from `place` on with the row `first`; gives how many are known."""
    for j in range(n):
        number = numbers[j]
        if wanted[number >> _3] >> (number & _7) & _1:
            other = place + np.int64(j)
            if other != first:
                wanted[number >> _3] ^= np.uint8(_1 << (number & _7))
                pairs[found, 0], pairs[found, 1] = other, first
                found += 1
    return found


@kernel
def scan(
    rows: Cells,
    firsts: NDArray[np.int64],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    digits: Digits,
    wanted: NDArray[np.uint8],
    pairs: NDArray[np.int64],
) -> int:
    """Compare each row `firsts[k]` with those from `begins[k]` to before `ends[k]`, itself aside; of each number that
    is wanted, the first pair. Gives how many pairs there are. Ends early, below zero, where there may be no more room:
    then do the same again, as what was found is wanted no more.

    IN OUT wanted: a bit a number; OUT pairs[pair, 2]: the row of the stretch, and the one that it is compared with
    """
    codes, numbers = np.empty(len(rows.width), np.uint32), np.empty(BLOCK, np.uint32)
    planes = np.empty(len(digits.scale) * BLOCK, np.uint8)
    found = 0
    for k in range(len(firsts)):
        _row_at(rows, firsts[k], codes)
        for place in range(begins[k], ends[k], BLOCK):
            n = min(BLOCK, ends[k] - place)
            if found + n > len(pairs):
                return -found
            whole = (n + PADDING - 1) // PADDING * PADDING
            compare(rows, 0, place, whole, digits, codes, planes)
            number_pairs(planes, np.uint64(whole), digits.scale, numbers)
            found = _note(numbers, np.uint64(n), place, firsts[k], wanted, found, pairs)
    return found
