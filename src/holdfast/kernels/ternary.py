"""Signatures of order as numbers: a digit a column, and how often each number occurs among pairs of rows.

A query row is compared with a block of rows (see `agree`), column by column. Row j has in a column the digit 0 where it
is less than the query, 1 where it is equal and 2 where it is more. A column that is compared for equality alone has two
digits, 0 where the rows differ and 1 where they are equal; and one in which a null makes the comparison unknown has a
fourth, 3. Five columns of three digits, 3^5 = 243 numbers, fit a byte: digits are summed up in **planes** of bytes, so
that one vector instruction decides a column for 32 rows, and planes make the number of a pair, which is its cell in a
plain table.

Cost, on one core, with 12 columns of one byte each: 0.4 ns to compare two rows, 0.1 to make the number and 0.7 to count
it. The table of 12 columns has 531,441 cells and does not fit the caches next to a core; but no count waits for the one
before it, so that the processor fetches many cells at a time.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.agree import BLOCK, NEVER, Cells, row_of, weights_in
from holdfast.kernels.jit import kernel

_SECOND, _THIRD = np.uint64(BLOCK), np.uint64(2 * BLOCK)
LESS, SAME, MORE, UNKNOWN = 0, 1, 2, 3  # digits: what a row is to the query; two rows that differ have the first


class Digits(NamedTuple):
    """How digits make a number: that of column c has the weight `weight[c]` in the plane `plane[c]`, and plane p the
    weight `scale[p]` in the number; there are three planes at least, of which some may be empty. `equal_only[c]`: the
    column is compared for equality alone. `unknown[c]`: nulls, whose cells are 0, are neither below nor equal to nor
    above anything.
    """

    plane: NDArray[np.int64]
    weight: NDArray[np.uint8]
    scale: NDArray[np.uint32]
    equal_only: NDArray[np.bool_]
    unknown: NDArray[np.bool_]


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
def compare(
    rows: Cells, block: int, first: int, n: int, digits: Digits, codes: NDArray[np.uint32], planes: NDArray[np.uint8]
) -> None:
    """The digits of n rows of a block, from `first` on, against a query with these codes. OUT planes[p * BLOCK + j]"""
    count = np.uint64(n)
    for p in range(len(digits.scale)):
        planes[p * BLOCK : p * BLOCK + n] = 0
    for c in range(len(codes)):
        plane = np.uint64(digits.plane[c] * BLOCK)
        if rows.only[c] != NEVER or (digits.unknown[c] and codes[c] == 0):  # all rows have the same digit
            digit = _digit(rows.only[c], codes[c], digits.equal_only[c], digits.unknown[c])
            added = np.uint8(digits.weight[c] * digit)
            for j in range(count):
                planes[plane + j] += added
            continue
        at = block * rows.stride + rows.start[c]
        form = digits.equal_only[c], digits.unknown[c]
        if rows.width[c] == 1:
            _add(rows.bytes1, np.uint64(at + first), count, codes[c], digits.weight[c], form, planes, plane)
        elif rows.width[c] == 2:
            _add(rows.bytes2, np.uint64(at // 2 + first), count, codes[c], digits.weight[c], form, planes, plane)
        else:
            _add(rows.bytes4, np.uint64(at // 4 + first), count, codes[c], digits.weight[c], form, planes, plane)


@kernel
def number_pairs(planes: NDArray[np.uint8], n: Any, scale: NDArray[np.uint32], numbers: NDArray[np.uint32]) -> None:
    """The numbers of n rows. IN planes[p * BLOCK + j], scale[p]: three at least; OUT numbers[j]"""
    first, second, third = scale[0], scale[1], scale[2]
    for j in range(n):
        low = first * np.uint32(planes[j]) + second * np.uint32(planes[_SECOND + j])
        numbers[j] = low + third * np.uint32(planes[_THIRD + j])
    for p in range(3, len(scale)):
        plane, weight = np.uint64(p * BLOCK), scale[p]
        for j in range(n):
            numbers[j] += weight * np.uint32(planes[plane + j])


@kernel
def _odd_rows(
    weights: NDArray[np.int64], own: NDArray[np.int64], tile: NDArray[np.int64], odd: NDArray[np.int64]
) -> int:
    """The rows of a block whose weight is not 1, or changes as the queries of the tile come. OUT odd[k]; how many"""
    found, begin = 0, tile[2] * BLOCK
    for j in range(len(weights)):
        if weights[j] != 1:
            odd[found] = j
            found += 1
    for q in range(tile[0], min(tile[1], len(own))):
        j = own[q] - begin
        if 0 <= j < len(weights) and weights[j] == 1:
            odd[found] = j
            found += 1
    return found


@kernel
def _count(numbers: NDArray[np.uint32], n: Any, times: Any, counts: NDArray[Any]) -> None:
    """Count each of n numbers `times` times. OUT counts[number]"""
    for j in range(n):
        counts[numbers[j]] += times


@kernel
def tally_numbers(
    queries: Cells,
    rows: Cells,
    own: NDArray[np.int64],
    tiles: NDArray[np.int64],
    used: int,
    digits: Digits,
    counts: NDArray[Any],
) -> None:
    """Count the numbers of pairs. All rows count once, and then those whose weight is not 1 as much more or less.

    IN  own, tiles, used: see `agree.tally_plain`. Where queries have own places, all rows count, not only later ones.
    OUT counts[number]
    """
    codes, numbers = np.empty(len(queries.width), np.uint32), np.empty(BLOCK, np.uint32)
    planes = np.empty(len(digits.scale) * BLOCK, np.uint8)
    room, odd = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    for t in range(len(tiles)):
        begin = tiles[t, 2] * BLOCK
        weights = room[: min(BLOCK, used - begin)]
        weights_in(queries, rows, own, tiles[t, 2], tiles[t, 0], weights)
        odds, passed = _odd_rows(weights, own, tiles[t], odd), 0
        for q in range(tiles[t, 0], tiles[t, 1]):
            first = max(0, q + 1 - begin) if tiles[t, 3] else 0
            n = len(weights) - first
            if n > 0 and queries.weights[q] != 0:
                row_of(queries, q, codes)
                times = counts.dtype.type(queries.weights[q])
                compare(rows, tiles[t, 2], first, n, digits, codes, planes)
                number_pairs(planes, np.uint64(n), digits.scale, numbers)
                _count(numbers, np.uint64(n), times, counts)
                while passed < odds and odd[passed] < first:
                    passed += 1
                for k in range(passed, odds):
                    counts[numbers[odd[k] - first]] += times * (weights[odd[k]] - 1)
            if len(own) and begin <= own[q] < begin + len(weights):
                weights[own[q] - begin] += queries.weights[q]


@kernel
def decode(
    numbers: NDArray[Any], sizes: NDArray[np.uint32], known: NDArray[np.uint64], words: NDArray[np.uint64]
) -> None:
    """The two words of each number, given what its planes say: plane p has `sizes[p]` numbers.

    IN known[side, plane, number]; OUT words[i, side]
    """
    for i in range(len(numbers)):
        rest, low, high = np.uint32(numbers[i]), np.uint64(0), np.uint64(0)
        for p in range(len(sizes)):
            own = rest % sizes[p]
            rest //= sizes[p]
            low |= known[0, p, own]
            high |= known[1, p, own]
        words[i, 0], words[i, 1] = low, high
