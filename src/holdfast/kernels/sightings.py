"""Signatures of order as numbers (see `digits`): which occur among chosen pairs of rows.

Rows lie column by column in one block, however many they are. What was seen is a bit a number, so that the bits of 14
columns take 0.6 MB; noting is rare, and looking costs a load that no other waits for.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Bytes, Codes, Ints
from holdfast.kernels.cells import BLOCK, Cells, row_at
from holdfast.kernels.digits import UNKNOWN, Digits, compare, number_pairs
from holdfast.kernels.jit import kernel

_1, _3, _7 = np.uint32(1), np.uint32(3), np.uint32(7)


@kernel
def _mirrored(number: Any, digits: Digits) -> Any:
    """The number of the same pair from its other row: less and more change places."""
    found = number
    for c in range(len(digits.weight)):
        if not digits.equal_only[c]:
            weight = np.int64(digits.scale[digits.plane[c]]) * np.int64(digits.weight[c])
            digit = number // weight % (4 if digits.unknown[c] else 3)
            if digit != UNKNOWN:
                found += weight * (2 - 2 * digit)
    return found


class Seen(NamedTuple):
    """What was seen: `bits`, one a number. Of those seen first since it was emptied, `used[0]` of them, the two places
    `pairs[i]` and the number `found[i]`.
    """

    bits: Bytes
    used: Ints
    pairs: Ints
    found: Ints


@kernel
def _note(seen: Seen, number: Any, first: Any, second: Any, digits: Digits) -> None:
    """Note a pair that was seen first, from both its rows."""
    other = _mirrored(number, digits)
    seen.bits[number >> 3] |= np.uint8(1 << (number & 7))
    seen.bits[other >> 3] |= np.uint8(1 << (other & 7))
    at = seen.used[0]
    seen.pairs[at, 0], seen.pairs[at, 1], seen.found[at] = first, second, number
    seen.used[0] += 1


@kernel
def _look(numbers: Codes, n: Any, first: int, step: int, second: int, digits: Digits, seen: Seen) -> None:
    """Note those of n pairs that are seen first: row `first + j * step` and row `second + j`, unless they are one."""
    bits = seen.bits
    for j in range(n):
        number = numbers[j]
        if bits[number >> _3] >> (number & _7) & _1 == 0:
            one, other = first + step * np.int64(j), second + np.int64(j)
            if one != other:
                _note(seen, np.int64(number), one, other, digits)


@kernel
def scan(rows: Cells, firsts: Ints, begin: int, end: int, digits: Digits, at: Ints, seen: Seen) -> bool:
    """Compare each row of `firsts` with the rows at the places from `begin` to before `end`, itself aside. All of them
    pass over some rows before the next come, so that these stay in the cache.

    IN  rows: in one block, however many they are
    IN OUT at: how many rows are done, and how many of `firsts` with the next ones; seen. False: it needs to be emptied
        first, then go on.
    """
    codes, numbers = np.empty((len(firsts), len(rows.width)), np.uint32), np.empty(BLOCK, np.uint32)
    planes = np.empty(len(digits.scale) * BLOCK, np.uint8)
    for k in range(len(firsts)):
        row_at(rows, 0, firsts[k], codes[k])
    while begin + at[0] < end:
        place = begin + at[0]
        n = min(BLOCK, end - place)
        while at[1] < len(firsts):
            if seen.used[0] + n > len(seen.found):
                return False
            compare(rows, 0, place, n, digits, codes[at[1]], planes)
            number_pairs(planes, np.uint64(n), digits.scale, numbers)
            _look(numbers, np.uint64(n), firsts[at[1]], 0, place, digits, seen)
            at[1] += 1
        at[0] += n
        at[1] = 0
    return True


@kernel
def _add_apart(
    cells: NDArray[Any], at: Any, apart: Any, n: Any, weight: Any, form: tuple[bool, bool], planes: Any, plane: Any
) -> None:
    """Add the digits of a column for n rows, from `at` on, as queries, each with the row so far behind it.

    IN OUT planes[plane + j]; as `_add`
    """
    equal_only, unknown = form
    none, thrice = np.uint8(0), np.uint8(3 * weight)
    for j in range(n):
        x, cell = cells[at + j], cells[at + apart + j]
        if equal_only:
            known = weight if cell == x else none
        else:
            known = (weight if cell >= x else none) + (weight if cell > x else none)
        no_answer = unknown & ((cell == 0) | (x == 0))
        planes[plane + j] += (none if equal_only else thrice) if no_answer else known


@kernel
def _compare_apart(rows: Cells, place: int, apart: int, n: int, digits: Digits, planes: Bytes) -> None:
    """The digits of n pairs: each row from `place` on with the row so far behind it. OUT planes[p * BLOCK + j]"""
    for p in range(len(digits.scale)):
        planes[p * BLOCK : p * BLOCK + n] = 0
    count, far = np.uint64(n), np.uint64(apart)
    for c in range(len(rows.width)):
        plane, weight = np.uint64(digits.plane[c] * BLOCK), digits.weight[c]
        form, start = (digits.equal_only[c], digits.unknown[c]), rows.start[c]
        if rows.width[c] == 1:
            _add_apart(rows.bytes1, np.uint64(start + place), far, count, weight, form, planes, plane)
        elif rows.width[c] == 2:
            _add_apart(rows.bytes2, np.uint64(start // 2 + place), far, count, weight, form, planes, plane)
        else:
            _add_apart(rows.bytes4, np.uint64(start // 4 + place), far, count, weight, form, planes, plane)


@kernel
def scan_apart(rows: Cells, used: int, distances: Ints, digits: Digits, at: Ints, seen: Seen) -> bool:
    """Compare each row with the rows that are so far behind it.

    IN  used: how many rows there are
    IN OUT at: which distance, and how many rows are done; the rest as above
    """
    numbers, planes = np.empty(BLOCK, np.uint32), np.empty(len(digits.scale) * BLOCK, np.uint8)
    while at[0] < len(distances):
        apart = distances[at[0]]
        while at[1] + apart < used:
            n = min(BLOCK, used - apart - at[1])
            if seen.used[0] + n > len(seen.found):
                return False
            _compare_apart(rows, at[1], apart, n, digits, planes)
            number_pairs(planes, np.uint64(n), digits.scale, numbers)
            _look(numbers, np.uint64(n), at[1], 1, at[1] + apart, digits, seen)
            at[1] += n
        at[0] += 1
        at[1] = 0
    return True
