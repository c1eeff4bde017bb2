"""How well groups of a left side agree on a right side: sums over the groups of a stripped partition (`partitions`).

Codes are dense numbers from 0 on; 0 is null. A **cell** is the rows of a group that have the same code. Where nulls
differ from each other (`lone_nulls`), each null is a cell of its own, and no usual value.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Codes, Ints, Mask
from holdfast.kernels.jit import inlined, kernel

Rows = NDArray[np.uint32]  # unsigned, as Numba looks at each signed index whether it counts from the end

_UNIT = np.int64(1 << 30)
TESTED, USUAL, GROUPS, PAIRED, AGREEMENT, KNOWN, SAME, OUTSIDE, BROKEN, COMPLETE = range(10)
SUMS = 10
_QUICK = 0.6  # neighbours are looked at where fewer rows than this share may differ
_LITTLE = 0.05  # chance that matters little for when a look ends


class AgreementScratch(NamedTuple):
    """Arrays to work in: three as long as the column with most values, three as long as the partition. Before and after
    each call `counts` is 0 and `usual` False.
    """

    counts: NDArray[np.int32]
    usual: Mask
    listed: Codes  # the usual values
    values: Codes  # of the cells, group by group
    sizes: NDArray[np.int32]  # of the cells
    ends: NDArray[np.int32]  # of the groups, among the cells


@kernel
def sum_up(
    rows: Rows,
    starts: Rows,
    unnamed: Rows,
    cells: Codes,
    rhs: Ints,
    worth: NDArray[np.float64],
    totals: NDArray[np.int32],
    first: Ints,
    lone_nulls: bool,
    scratch: AgreementScratch,
    sums: Ints,
) -> None:
    """Sums for some right sides. Those of `rhs[i]` stay incomplete where agreement beyond chance times the share of
    usual rows is surely below `worth[i]`.

    IN rows, starts: the groups; unnamed: the rows with a null on the left; cells[column, row];
    totals[first[column] + code]: how many rows have a code. OUT sums[i, SUMS], 0 before
    """
    for i in range(len(rhs)):
        column = cells[rhs[i]]
        own = sums[i]
        own[TESTED] = len(rows)
        if _differ(rows, starts, column, lone_nulls, len(rows) * (1.0 - worth[i]) + 1.0):
            continue
        counted = totals[first[rhs[i]] : first[rhs[i] + 1]]
        usual = _count_cells(
            rows, starts, len(column), len(unnamed), column, counted, worth[i], lone_nulls, scratch, own
        )
        if own[COMPLETE]:
            _sum_agreement(len(starts) - 1, scratch, own)
            _sum_chance(unnamed, column, counted, usual, scratch, own)
        for j in range(usual):
            scratch.usual[scratch.listed[j]] = False


@inlined
def _differ(rows: Rows, starts: Rows, column: Any, lone_nulls: bool, limit: float) -> Any:
    """Whether more rows than the limit have not the value of most of their group, judged by neighbours, four at a time:
    of the four, no more rows have it than share one value. This look is quick, and mostly enough.
    """
    differing = np.int64(0)
    if limit < _QUICK * len(rows):
        for group in range(len(starts) - 1):
            at, end = np.int64(starts[group]), np.int64(starts[group + 1])
            while at + 3 < end:
                a, b, c, d = column[rows[at]], column[rows[at + 1]], column[rows[at + 2]], column[rows[at + 3]]
                as_a = np.int64(a == b) + np.int64(a == c) + np.int64(a == d) if a or not lone_nulls else np.int64(0)
                as_b = np.int64(b == c) + np.int64(b == d) if b or not lone_nulls else np.int64(0)
                as_c = np.int64(c == d) if c or not lone_nulls else np.int64(0)
                differing += 3 - max(as_a, as_b, as_c)
                at += 4
            if at + 1 < end:
                a, b = column[rows[at]], column[rows[at + 1]]
                differing += a != b or (lone_nulls and a == 0)
            if differing > limit:
                break
    return differing > limit


@inlined
def _count_cells(
    rows: Rows,
    starts: Rows,
    all_rows: int,
    unnamed: int,
    column: Any,
    totals: Any,
    worth: float,
    lone_nulls: bool,
    scratch: AgreementScratch,
    own: Any,
) -> Any:
    """The cells of each group, and which values are usual. Returns how many of these there are.

    Let q be the share of tested rows that have the value of most rows of their group, u that of usual rows: agreement
    times u is at most q, so that agreement beyond chance times u is at most `(q - chance u) / (1 - chance)`, or q where
    u is less. What is usual so far stays it, so u and chance are at least what they are so far; rows that are not yet
    looked at count as if they were as most of their group, and where chance is little all others as if unusual.
    """
    found, usual, outside, broken, other = 0, 0, np.int64(0), np.int64(0), np.int64(0)
    named = np.float64(all_rows - unnamed)
    chance, tested = 0.0, np.float64(len(rows))
    own[COMPLETE] = 1
    for group in range(len(starts) - 1):
        begin, end = starts[group], starts[group + 1]
        before = found
        found = _cells_of(rows, begin, end, column, scratch.counts, scratch.values, scratch.sizes, found)
        scratch.ends[group] = found
        size, best, alike, most = np.int64(end - begin), np.int64(1), np.int64(0), np.uint32(0)
        for cell in range(before, found):
            value, count = scratch.values[cell], np.int64(scratch.sizes[cell])
            if lone_nulls and value == 0:
                continue
            alike += count * (count - 1)
            if count > best:
                best, most = count, value
        if best >= 2 and 2 * best > size and not scratch.usual[most]:
            scratch.usual[most] = True
            scratch.listed[usual] = most
            usual += 1
            least = max(np.float64(totals[most]) - unnamed, 0.0)
            chance += least / named * max(least - 1.0, 0.0) / (named - 1.0)
        if size > best:
            outside += size - best
            broken += (size * (size - 1) - alike) // 2
            if chance < _LITTLE:
                other += size
            else:
                for cell in range(before, found):
                    other += 0 if scratch.usual[scratch.values[cell]] else scratch.sizes[cell]
            if outside - chance * min(other, outside) > tested * (1.0 - worth) * (1.0 - chance) + 1.0:
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
            count = counts[value]
            values[found] = value  # stays if it is new
            found += count == 0
            counts[value] = count + 1
        for cell in range(before, found):
            sizes[cell] = counts[values[cell]]
            counts[values[cell]] = 0
    return found


@inlined
def _sum_agreement(groups: int, scratch: AgreementScratch, own: Any) -> None:
    """What the rows with usual values of each group agree on."""
    at = 0
    for group in range(groups):
        usual_rows, alike = np.int64(0), np.int64(0)
        while at < scratch.ends[group]:
            if scratch.usual[scratch.values[at]]:
                size = np.int64(scratch.sizes[at])
                usual_rows += size
                alike += size * (size - 1)
            at += 1
        own[USUAL] += usual_rows
        if usual_rows > 1:
            own[GROUPS] += 1
            own[PAIRED] += usual_rows
            whole = alike // (usual_rows - 1)  # times the unit, what is left would not fit a number
            own[AGREEMENT] += _UNIT * whole + _UNIT * (alike - whole * (usual_rows - 1)) // (usual_rows - 1)


@inlined
def _sum_chance(unnamed: Rows, column: Any, totals: Any, usual: int, scratch: AgreementScratch, own: Any) -> None:
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
def outside(rows: Rows, starts: Rows, column: Codes, lone_nulls: bool, scratch: AgreementScratch, found: Rows) -> Any:
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
