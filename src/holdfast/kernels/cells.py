"""Rows in blocks of cells, read one by one, added, and found again by their content.

Rows lie in blocks of `BLOCK` rows, column-major within a block, each column 1, 2 or 4 bytes wide. The rows that
`place` adds are distinct: `slots` is a hash table of row numbers, see `hashing`, and its keys are the cells themselves.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Bytes, Codes, Ints, Words
from holdfast.kernels.hashing import filled, first_slot, mask_of, may_be, next_slot, number_in
from holdfast.kernels.jit import inlined, kernel

BLOCK = 2048
NEVER = np.uint32(0xFFFFFFFF)  # cut to any width it is no code: columns are kept wide enough for that


class Cells(NamedTuple):
    """Rows in blocks. The three arrays of cells are one buffer, seen at three widths.

    `start[c]` is where column c begins in a block, and `stride` the length of a block, both in bytes. `only[c]` is the
    code that all rows have in column c (wide tables have many such columns), or NEVER where they differ.
    `weights[r]` says how many rows are equal to row r (in a batch: how many more).
    """

    bytes1: Bytes
    bytes2: NDArray[np.uint16]
    bytes4: Codes
    width: Ints
    start: Ints
    only: Codes
    stride: int
    weights: Ints


def cells_in(flat: Bytes, width: Ints, start: Ints, only: Codes, stride: int, weights: Ints) -> Cells:
    """The rows in a buffer."""
    return Cells(flat, flat.view(np.uint16), flat.view(np.uint32), width, start, only, stride, weights)


@kernel
def row_of(cells: Cells, row: int, codes: Codes) -> None:
    """One row, at full width. OUT codes[column]"""
    row_at(cells, (row // BLOCK) * cells.stride, row % BLOCK, codes)


@inlined
def row_at(cells: Cells, block: int, place: int, codes: Codes) -> None:
    """The row at a place of a block that begins at a byte. OUT codes[column]"""
    for c in range(len(codes)):
        at = block + cells.start[c]
        if cells.width[c] == 1:
            codes[c] = cells.bytes1[at + place]
        elif cells.width[c] == 2:
            codes[c] = cells.bytes2[at // 2 + place]
        else:
            codes[c] = cells.bytes4[at // 4 + place]


@kernel
def _write(cells: Cells, row: int, codes: Codes, i: int) -> None:
    inside = row % BLOCK
    for c in range(len(codes)):
        if row == 0:
            cells.only[c] = codes[c, i]
        elif codes[c, i] != cells.only[c]:
            cells.only[c] = NEVER
        at = (row // BLOCK) * cells.stride + cells.start[c]
        if cells.width[c] == 1:
            cells.bytes1[at + inside] = np.uint8(codes[c, i])
        elif cells.width[c] == 2:
            cells.bytes2[at // 2 + inside] = np.uint16(codes[c, i])
        else:
            cells.bytes4[at // 4 + inside] = codes[c, i]


@kernel
def _find_or_free(cells: Cells, slots: Words, hashed: Any, codes: Codes, i: int, found: Codes) -> Any:
    """The row's slot, and whether it is there yet. OUT found[column]: a row to compare with"""
    mask = mask_of(slots)
    at = first_slot(hashed, mask)
    while slots[at] != 0:
        if may_be(slots[at], hashed):
            row_of(cells, number_in(slots[at]), found)
            same = True
            for c in range(len(found)):
                same &= found[c] == codes[c, i]
            if same:
                return at, True
        at = next_slot(at, mask)
    return at, False


@kernel
def place(
    cells: Cells, slots: Words, hashes: Words, used: int, codes: Codes, coming: Words, steps: Ints, places: Ints
) -> int:
    """Add `steps[i]` to the weight of row `codes[:, i]`, which gets a place if it is new. Gives the rows in use.

    IN  codes[column, i], coming[i] (their hashes), steps[i]
    OUT cells, slots, hashes[row]: with room for all rows that may be new; places[i]: where each row stands
    """
    found = np.empty(len(codes), np.uint32)
    for i in range(len(steps)):
        at, there = _find_or_free(cells, slots, coming[i], codes, i, found)
        if not there:
            _write(cells, used, codes, i)
            hashes[used] = coming[i]
            cells.weights[used] = 0
            slots[at] = filled(used, coming[i])
            used += 1
        places[i] = number_in(slots[at])
        cells.weights[places[i]] += steps[i]
    return used


@kernel
def unpack(cells: Cells, codes: Codes) -> None:
    """The first rows, at full width. OUT codes[row, column]"""
    for row in range(len(codes)):
        row_of(cells, row, codes[row])
