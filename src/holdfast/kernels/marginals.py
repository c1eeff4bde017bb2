"""What lies in boxes, joined from the numbers of cells: of combinations of values of some columns.

Numbers are joined by their sum, or as sets of bits. Axes: c column, b bit of a mask, w word.
"""

import numpy as np

from holdfast.kernels.arrays import Words
from holdfast.kernels.hitting_bits import ZERO
from holdfast.kernels.jit import inlined, kernel


@kernel
def pack(masks: np.ndarray, columns: int, words: Words) -> None:
    """OUT words[i, w]: the masks[i, c], `columns` of them to a word, four bits each."""
    for i in range(len(masks)):
        for w in range(words.shape[1]):
            word = ZERO
            for c in range(w * columns, min((w + 1) * columns, masks.shape[1])):
                word |= np.uint64(masks[i, c]) << np.uint64(4 * (c - w * columns))
            words[i, w] = word


@kernel
def to_table(cells: Words, weight: np.ndarray, numbers: np.ndarray, sums: bool, table: np.ndarray) -> None:
    """OUT table: the numbers of a list of cells, joined. `weight[w, place, value]` is what a value adds to the place of
    a cell in the table.
    """
    for i in range(len(cells)):
        at = 0
        for w in range(weight.shape[0]):
            word = cells[i, w]
            for place in range(weight.shape[1]):
                at += weight[w, place, word & np.uint64(15)]
                word >>= np.uint64(4)
        table[at] = _joined(table[at], numbers[i], sums)


@kernel
def from_table(
    table: np.ndarray, weight: np.ndarray, boxes: np.ndarray, sums: bool, room: np.ndarray, out: np.ndarray
) -> None:
    """OUT out[box], from a table of all cells. `weight[c, b]` is what a value adds to the place of a cell, -1 where the
    column does not have it; `room` is for as many places as there are cells.
    """
    for i in range(len(boxes)):
        total = np.int64(0)
        for j in range(_cells_of(boxes[i], weight, room)):
            total = _joined(total, table[room[j]], sums)
        out[i] = total


@kernel
def from_list(cells: Words, numbers: np.ndarray, boxes: Words, sums: bool, out: np.ndarray) -> None:
    """OUT out[box], from a list of the cells that occur: cells[i, w] and boxes[i, w] have four bits a column."""
    for i in range(len(boxes)):
        total = np.int64(0)
        for j in range(len(cells)):
            outside = ZERO
            for w in range(cells.shape[1]):
                outside |= cells[j, w] & ~boxes[i, w]
            if not outside:
                total = _joined(total, numbers[j], sums)
        out[i] = total


@inlined
def _joined(total: np.int64, number: np.int64, sums: bool) -> np.int64:
    return total + number if sums else total | number


@kernel
def _cells_of(box: np.ndarray, weight: np.ndarray, room: np.ndarray) -> int:
    """OUT room: the places of the cells of a box; gives how many."""
    room[0], count = 0, 1
    for c in range(len(box)):
        before, first = count, np.int64(-1)
        count = 0
        for b in range(weight.shape[1]):
            if not box[c] >> b & 1 or weight[c, b] < 0:
                continue
            if first < 0:  # the places so far stay as they are until those of other values are made of them
                first, count = weight[c, b], before
                continue
            for j in range(before):
                room[count + j] = room[j] + weight[c, b]
            count += before
        for j in range(min(before, count)):
            room[j] += first
    return count
