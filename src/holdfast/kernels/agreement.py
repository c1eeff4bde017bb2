"""What the groups of a left side tell of a right side: sums over the groups of a stripped partition (see `partitions`).

Codes are dense numbers from 0 on; 0 is null. A **cell** is the rows of a group that have the same code. Where nulls
differ from each other (`lone_nulls`), each null is a cell of its own, and no usual value.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import inlined, kernel
from holdfast.kernels.partitions import Cells, Rows

Numbers = NDArray[np.int64]

_UNIT = np.int64(1 << 30)
TESTED, USUAL, GROUPS, PAIRED, AGREEMENT, KNOWN, SAME, OUTSIDE, BROKEN, COMPLETE = range(10)
SUMS = 10


class Scratch(NamedTuple):
    """Arrays to work in: three as long as the column with most values, three as long as the partition. Before and after
    each call `counts` is 0 and `usual` False.
    """

    counts: NDArray[np.int32]
    usual: NDArray[np.bool_]
    listed: NDArray[np.uint32]  # the usual values
    values: NDArray[np.uint32]  # of the cells, group by group
    sizes: NDArray[np.int32]  # of the cells
    ends: NDArray[np.int32]  # of the groups, among the cells


@kernel
def sum_up(
    rows: Rows,
    starts: Rows,
    unnamed: Rows,
    cells: Cells,
    rhs: Numbers,
    limits: Numbers,
    totals: NDArray[np.int32],
    first: Numbers,
    lone_nulls: bool,
    scratch: Scratch,
    sums: Numbers,
) -> None:
    """Sums for some right sides. Where more rows than `limits[i]` are outside, those of `rhs[i]` stay incomplete.

    IN rows, starts: the groups; unnamed: the rows with a null on the left; cells[column, row];
    totals[first[column] + code]: how many rows have a code. OUT sums[i, SUMS], 0 before
    """
    for i in range(len(rhs)):
        column = cells[rhs[i]]
        own = sums[i]
        own[TESTED] = len(rows)
        usual = _count_cells(rows, starts, column, limits[i], lone_nulls, scratch, own)
        if own[COMPLETE]:
            _sum_agreement(len(starts) - 1, scratch, own)
            _sum_chance(unnamed, column, totals[first[rhs[i]] : first[rhs[i] + 1]], usual, scratch, own)
        for j in range(usual):
            scratch.usual[scratch.listed[j]] = False


@inlined
def _count_cells(
    rows: Rows, starts: Rows, column: Any, limit: int, lone_nulls: bool, scratch: Scratch, own: Any
) -> Any:
    """The cells of each group, and which values are usual. Returns how many of these there are."""
    found, usual, outside, broken = 0, 0, np.int64(0), np.int64(0)
    own[COMPLETE] = 1
    for group in range(len(starts) - 1):
        begin, end = starts[group], starts[group + 1]
        before = found
        found = _cells_of(rows, begin, end, column, scratch.counts, scratch.values, scratch.sizes, found)
        size, best, alike, most = np.int64(end - begin), np.int64(1), np.int64(0), np.uint32(0)
        for cell in range(before, found):
            count = np.int64(scratch.sizes[cell])
            if lone_nulls and scratch.values[cell] == 0:
                continue
            alike += count * (count - 1)
            if count > best:
                best, most = count, scratch.values[cell]
        scratch.ends[group] = found
        outside += size - best
        broken += (size * (size - 1) - alike) // 2
        if best >= 2 and 2 * best > size and not scratch.usual[most]:
            scratch.usual[most] = True
            scratch.listed[usual] = most
            usual += 1
        if outside > limit:
            own[COMPLETE] = 0
            break
    own[OUTSIDE], own[BROKEN] = outside, broken
    return usual


@inlined
def _cells_of(rows: Rows, begin: int, end: int, column: Any, counts: Any, values: Any, sizes: Any, found: int) -> Any:
    """The cells of a group behind the `found` ones, in the order of their first rows. Returns how many there are now.

    Most groups start with many equal rows where a rule holds: these are counted apart.
    """
    same, at, before = column[rows[begin]], begin + 1, found
    while at < end and column[rows[at]] == same:
        at += 1
    values[found] = same
    sizes[found] = at - begin
    found += 1
    if at < end:
        counts[same] = at - begin
        for each in range(at, end):
            value = column[rows[each]]
            if counts[value] == 0:
                values[found] = value
                found += 1
            counts[value] += 1
        for cell in range(before, found):
            sizes[cell] = counts[values[cell]]
            counts[values[cell]] = 0
    return found


@inlined
def _sum_agreement(groups: int, scratch: Scratch, own: Any) -> None:
    """What the rows with usual values of each group agree on."""
    at = 0
    for group in range(groups):
        kept, alike = np.int64(0), np.int64(0)
        while at < scratch.ends[group]:
            if scratch.usual[scratch.values[at]]:
                size = np.int64(scratch.sizes[at])
                kept += size
                alike += size * (size - 1)
            at += 1
        own[USUAL] += kept
        if kept > 1:
            own[GROUPS] += 1
            own[PAIRED] += kept
            whole = alike // (kept - 1)  # times the unit, what is left would not fit a number
            own[AGREEMENT] += _UNIT * whole + _UNIT * (alike - whole * (kept - 1)) // (kept - 1)


@inlined
def _sum_chance(unnamed: Rows, column: Any, totals: Any, usual: int, scratch: Scratch, own: Any) -> None:
    """How often rows with a left side have the same usual value."""
    counts = scratch.counts
    for row in unnamed:
        counts[column[row]] += 1
    for j in range(usual):
        value = scratch.listed[j]
        count = np.int64(totals[value] - counts[value])
        own[KNOWN] += count
        own[SAME] += count * (count - 1)
    for row in unnamed:
        counts[column[row]] = 0


@kernel
def outside(
    rows: Rows, starts: Rows, column: NDArray[np.uint32], lone_nulls: bool, scratch: Scratch, found: Rows
) -> Any:
    """The rows outside the largest cell of their group, of equally large ones that with the first row. OUT found.
    Returns how many.
    """
    many = 0
    for group in range(len(starts) - 1):
        begin, end = starts[group], starts[group + 1]
        cells = _cells_of(rows, begin, end, column, scratch.counts, scratch.values, scratch.sizes, 0)
        if cells == 1 and not (lone_nulls and scratch.values[0] == 0):
            continue
        best = 0
        for cell in range(cells):
            if lone_nulls and scratch.values[cell] == 0:
                scratch.sizes[cell] = 1
            if scratch.sizes[cell] > scratch.sizes[best]:
                best = cell
        value, taken = scratch.values[best], False
        for at in range(begin, end):
            if column[rows[at]] != value or (lone_nulls and value == 0 and taken):
                found[many] = rows[at]
                many += 1
            else:
                taken = True
    return many
