"""Distinct rows in blocks of cells, found again by their content.

`slots` is a hash table of row numbers, see `hashing`; the keys are the cells of the rows themselves.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.agree import BLOCK, NEVER, Cells, row_of
from holdfast.kernels.hashing import filled, first_slot, mask_of, may_be, next_slot, number_in
from holdfast.kernels.jit import kernel


@kernel
def _write(cells: Cells, row: int, codes: NDArray[np.uint32], i: int) -> None:
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
def _find_or_free(
    cells: Cells,
    slots: NDArray[np.uint64],
    hashed: Any,
    codes: NDArray[np.uint32],
    i: int,
    found: NDArray[np.uint32],
) -> Any:
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
    cells: Cells,
    slots: NDArray[np.uint64],
    hashes: NDArray[np.uint64],
    used: int,
    codes: NDArray[np.uint32],
    coming: NDArray[np.uint64],
    steps: NDArray[np.int64],
    places: NDArray[np.int64],
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
def unpack(cells: Cells, codes: NDArray[np.uint32]) -> None:
    """The first rows, at full width. OUT codes[row, column]"""
    for row in range(len(codes)):
        row_of(cells, row, codes[row])
