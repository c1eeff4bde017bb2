"""How a row compares with many others: a digit a column, several digits a byte.

A query row is compared with a block of rows (see `cells`), column by column. Row j has in a column the digit 0 where it
is less than the query, 1 where it is equal and 2 where it is more. A column that is compared for equality alone has two
digits, 0 where the rows differ and 1 where they are equal; and one in which a null makes the comparison unknown has a
fourth, 3. Eight columns of two digits fit a byte, and five columns of three, 3^5 = 243 numbers: digits are summed up in
**planes** of bytes, so that one vector instruction decides a column for 32 rows.

Where numbers are few enough, planes make the number of a pair, which is its cell in a plain table. Where all columns
are compared for equality alone, this number is the agree-set, and so are the planes end to end.

Cost, on one core: 0.4 ns to compare two rows of 12 or 15 columns of one byte each, and 0.1 to make the number.
The paper (dynast, section 5.3) shares zip products between the rows of a batch. Here counting costs more than
comparing, so that was not built; what the rows of a batch share is the block, which stays in the cache meanwhile.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Bytes, Codes, Ints, Mask
from holdfast.kernels.cells import BLOCK, NEVER, Cells
from holdfast.kernels.jit import kernel

_SECOND, _THIRD = np.uint64(BLOCK), np.uint64(2 * BLOCK)
LESS, SAME, MORE, UNKNOWN = 0, 1, 2, 3  # what a row is to the query; two rows that differ have the first


class Digits(NamedTuple):
    """How digits make a number: that of column c has the weight `weight[c]` in the plane `plane[c]`, and plane p the
    weight `scale[p]` in the number; there are three planes at least, of which some may be empty. `equal_only[c]`: the
    column is compared for equality alone. `unknown[c]`: nulls, whose cells are 0, are neither below nor equal to nor
    above anything.
    """

    plane: Ints  # ascending
    weight: Bytes
    scale: Codes
    equal_only: Mask
    unknown: Mask


@kernel
def _digit(cell: int, value: int, equal_only: bool, unknown: bool) -> int:
    """What one cell is to the value of the query."""
    if unknown and (cell == 0 or value == 0):
        return LESS if equal_only else UNKNOWN
    if cell == value:
        return SAME
    return MORE if cell > value and not equal_only else LESS


@kernel
def _add(
    cells: NDArray[Any], at: Any, n: Any, value: Any, weight: Any, form: tuple[bool, bool], planes: Any, plane: Any
) -> None:
    """Add the digits of a column, which starts at `at`, for n rows. IN OUT planes[plane + j]

    Places are unsigned, and what is added is a byte: so the compiler makes vectors of 32 rows of it.
    """
    equal_only, unknown = form
    none, thrice = np.uint8(0), np.uint8(3 * weight)
    x = cells.dtype.type(value)
    if equal_only:
        for j in range(n):
            planes[plane + j] += weight if cells[at + j] == x else none
    elif unknown:
        for j in range(n):
            cell = cells[at + j]
            digit = (weight if cell >= x else none) + (weight if cell > x else none)
            planes[plane + j] += thrice if cell == 0 else digit
    else:
        for j in range(n):
            cell = cells[at + j]
            planes[plane + j] += (weight if cell >= x else none) + (weight if cell > x else none)


@kernel
def compare(rows: Cells, block: int, first: int, n: int, digits: Digits, codes: Codes, planes: Bytes) -> None:
    """The digits of n rows of a block, from `first` on, against a query with these codes. OUT planes[p * BLOCK + j]"""
    count = np.uint64(n)
    for p in range(len(digits.scale)):
        planes[p * BLOCK] = 0
    for c in range(len(codes)):
        if _is_common(rows, digits, codes, c):
            digit = _digit(rows.only[c], codes[c], digits.equal_only[c], digits.unknown[c])
            planes[digits.plane[c] * BLOCK] += np.uint8(digits.weight[c] * digit)
    for p in range(len(digits.scale)):
        planes[p * BLOCK : p * BLOCK + n] = planes[p * BLOCK]
    for c in range(len(codes)):
        if _is_common(rows, digits, codes, c):
            continue
        plane = np.uint64(digits.plane[c] * BLOCK)
        at = block * rows.stride + rows.start[c]
        form = digits.equal_only[c], digits.unknown[c]
        if rows.width[c] == 1:
            _add(rows.bytes1, np.uint64(at + first), count, codes[c], digits.weight[c], form, planes, plane)
        elif rows.width[c] == 2:
            _add(rows.bytes2, np.uint64(at // 2 + first), count, codes[c], digits.weight[c], form, planes, plane)
        else:
            _add(rows.bytes4, np.uint64(at // 4 + first), count, codes[c], digits.weight[c], form, planes, plane)


@kernel
def _is_common(rows: Cells, digits: Digits, codes: Codes, c: int) -> bool:
    """Whether all rows have the same digit in a column."""
    return bool(rows.only[c] != NEVER or (digits.unknown[c] and codes[c] == 0))


@kernel
def number_pairs(planes: Bytes, n: Any, scale: Codes, numbers: Codes) -> None:
    """The numbers of n rows. IN planes[p * BLOCK + j], scale[p]: three at least; OUT numbers[j]"""
    first, second, third = scale[0], scale[1], scale[2]
    for j in range(n):
        low = first * np.uint32(planes[j]) + second * np.uint32(planes[_SECOND + j])
        numbers[j] = low + third * np.uint32(planes[_THIRD + j])
    for p in range(3, len(scale)):
        plane, weight = np.uint64(p * BLOCK), scale[p]
        for j in range(n):
            numbers[j] += weight * np.uint32(planes[plane + j])
