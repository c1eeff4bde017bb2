"""Which constants and which orders hold within the groups of a partition, and a pair of rows that breaks each other.

Partitions and cells are those of `partitions`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import inlined, kernel
from holdfast.kernels.partitions import Room, sort_keys

Rows = NDArray[np.int32]
Ints = NDArray[np.int64]
Cells = NDArray[np.uint32]
Words = NDArray[np.uint64]

_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@kernel
def check_constants(rows: Rows, starts: Rows, cells: Cells, columns: Ints, skip_null: bool, pairs: Ints) -> None:
    """For each of some columns two rows of a group that differ there. OUT pairs[i, 2]: -1 where there are none"""
    for i in range(len(columns)):
        own = cells[columns[i]]
        pairs[i, 0] = pairs[i, 1] = -1
        for group in range(len(starts) - 1):
            first = rows[starts[group]]
            value = own[first]
            alone = skip_null and value == 0
            for at in range(starts[group] + 1, starts[group + 1]):
                if own[rows[at]] != value or alone:
                    pairs[i, 0], pairs[i, 1] = first, rows[at]
                    break
            if pairs[i, 0] >= 0:
                break


@inlined
def _two(one: int, other: int, own: Any, cells: Cells, others: Ints, falling: Any, skip_null: bool, pairs: Ints) -> Any:
    """A group of two rows. Returns how many of the orders it breaks that stood."""
    broken = 0
    a, b = own[one], own[other]
    if a != b and not (skip_null and (a == 0 or b == 0)):
        for i in range(len(others)):
            if pairs[i, 0] < 0:
                c, d = cells[others[i], one], cells[others[i], other]
                if c != d and not (skip_null and (c == 0 or d == 0)) and ((a < b) == (c < d)) == falling[i]:
                    pairs[i, 0], pairs[i, 1] = one, other
                    broken += 1
    return broken


@inlined
def _sorted(keys: Words, count: int, other: Any, falling: bool, skip_null: bool) -> Any:
    """Of a group in the order of a column, two rows that break the order with another; -1 where there are none."""
    one, two = np.int64(-1), np.int64(-1)
    best, reach = np.int64(-1), np.int64(-1)  # the farthest row before this value, and up to this row
    best_value, reach_value = np.int64(0), np.int64(0)
    for at in range(count):
        row = np.int64(keys[at] & _LOW)
        if at > 0 and keys[at] >> _HALF != keys[at - 1] >> _HALF:
            best, best_value = reach, reach_value
        value = np.int64(other[row])
        if skip_null and value == 0:
            continue
        if falling:
            value = -value
        if best >= 0 and value < best_value:
            one, two = best, row
            break
        if reach < 0 or value > reach_value:
            reach, reach_value = row, value
    return one, two


@kernel
def check_orders(
    rows: Rows,
    starts: Rows,
    cells: Cells,
    column: int,
    values: int,
    others: Ints,
    falling: NDArray[np.bool_],
    skip_null: bool,
    room: Room,
    pairs: Ints,
) -> None:
    """For a column and each of some others two rows of a group that break their order: the ascending one, or, where
    `falling`, the descending one.

    IN values: above all cells of the column; OUT pairs[i, 2]: -1 where there are none
    """
    own, standing, keys, spare = cells[column], len(others), room.keys, room.spare
    pairs[:, :] = -1
    for group in range(len(starts) - 1):
        if standing == 0:
            break
        begin, end = starts[group], starts[group + 1]
        if end - begin == 2:
            standing -= _two(rows[begin], rows[begin + 1], own, cells, others, falling, skip_null, pairs)
            continue
        count, first, varies = 0, own[rows[begin]], False
        for at in range(begin, end):
            value = own[rows[at]]
            varies |= value != first
            if not (skip_null and value == 0):
                keys[count] = (np.uint64(value) << _HALF) | np.uint64(rows[at])
                count += 1
        if not varies:
            continue
        sort_keys(keys, spare, count, values)
        for i in range(len(others)):
            if pairs[i, 0] < 0:
                one, two = _sorted(keys, count, cells[others[i]], falling[i], skip_null)
                if one >= 0:
                    pairs[i, 0], pairs[i, 1] = one, two
                    standing -= 1
