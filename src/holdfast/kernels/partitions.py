"""Stripped partitions: the rows of a table in groups that agree on some columns, without those that are alone.

A partition is `rows`, group by group, and `starts`, where each group begins, with the end behind the last.
Codes are dense numbers from 0 on, `cells[column, row]`; 0 is null. Rows from `fresh` on are new: where only pairs with
new rows matter, groups without one are left out (`fresh` = 0: all rows are new). The rows of a group are ascending.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Codes, Ints, Mask, Rows, Words
from holdfast.kernels.copying import copy_to
from holdfast.kernels.jit import inlined, kernel

_SHORT = 24  # rows up to which they are sorted by insertion
_ZERO, _ONE, _BYTE, _HALF, _LOW = (np.uint64(n) for n in (0, 1, 255, 32, 0xFFFFFFFF))
_ODD = np.uint64(0x94D049BB133111EB)


@kernel
def by_value(cells: Codes, values: int, alive: Mask, rows: Rows, ends: Ints) -> None:
    """The living rows in the order of their cells. OUT rows; ends[value]: where those with a value end"""
    ends[:] = 0
    for row in range(len(cells)):
        if alive[row]:
            ends[cells[row]] += 1
    total = 0
    for value in range(values):
        total += ends[value]
        ends[value] = total - ends[value]
    for row in range(len(cells)):
        if alive[row]:
            at = ends[cells[row]]
            rows[at] = row
            ends[cells[row]] = at + 1


@kernel
def strip(ordered: Rows, ends: Ints, skip_null: bool, fresh: int, rows: Rows, starts: Rows) -> Any:
    """The partition by one column. IN what `by_value` gives; OUT rows, starts. Returns how many groups there are."""
    groups, size, begin = 0, 0, 0
    starts[0] = 0
    for value in range(len(ends)):
        end = ends[value]
        if end - begin > 1 and not (skip_null and value == 0) and ordered[end - 1] >= fresh:
            for at in range(begin, end):
                rows[size] = ordered[at]
                size += 1
            groups += 1
            starts[groups] = size
        begin = end
    return groups


@inlined
def _mark(one: Any, other: Any, marks: int) -> Any:
    """Where a pair of values is marked."""
    return (((np.uint64(one) << _HALF) | np.uint64(other)) * _ODD >> _HALF) & np.uint64(marks - 1)


@kernel
def matching(one: Codes, other: Codes, alive: Mask, fresh: int, marks: Mask, rows: Rows) -> Any:
    """The living rows whose two values some new row may have. OUT rows; marks: False before. Returns how many.

    A mark stands for many pairs of values, so some rows are found that match no new one.
    """
    for row in range(fresh, len(alive)):
        if alive[row]:
            marks[_mark(one[row], other[row], len(marks))] = True
    found = 0
    for row in range(len(alive)):
        rows[found] = row
        found += marks[_mark(one[row], other[row], len(marks))] and alive[row]
    return found


@inlined
def sort_keys(keys: Words, spare: Words, count: int, values: int) -> None:
    """Sort keys by their high halves, which are below `values`. Equals stay as they are. spare: anything"""
    if count <= _SHORT:
        for i in range(1, count):
            key = keys[i]
            at = i
            while at > 0 and keys[at - 1] >> _HALF > key >> _HALF:
                keys[at] = keys[at - 1]
                at -= 1
            keys[at] = key
    else:
        counts = np.empty(256, np.int64)
        shift, left = _HALF, values - 1
        while left > 0:
            counts[:] = 0
            for i in range(count):
                counts[(keys[i] >> shift) & _BYTE] += 1
            total = 0
            for byte in range(256):
                total += counts[byte]
                counts[byte] = total - counts[byte]
            for i in range(count):
                byte = (keys[i] >> shift) & _BYTE
                spare[counts[byte]] = keys[i]
                counts[byte] += 1
            copy_to(keys[:count], spare[:count])
            shift += np.uint64(8)
            left >>= 8


class PartitionScratch(NamedTuple):
    """Scratch arrays: `counts` as many as a column has values, the others longer by one than the largest group. Before
    and after each call `counts` is 0.
    """

    keys: Words
    spare: Words
    before: Ints
    behind: Ints
    seen: Codes
    counts: NDArray[np.int32]


@kernel
def refine(
    rows: Rows,
    starts: Rows,
    cells: Codes,
    skip_null: bool,
    fresh: int,
    scratch: PartitionScratch,
    finer: Rows,
    finer_starts: Rows,
) -> Any:
    """Split the groups of a partition by the cells of one more column. Returns how many groups come of it.

    IN cells[row]; OUT finer, finer_starts
    The values of a group are counted, from the new rows back to the old ones, which count only together with new ones.
    Values that occur more than once get a stretch, and rows go to that of their value: they stay in ascending order.
    """
    groups, size, seen, counts = 0, 0, scratch.seen, scratch.counts
    finer_starts[0] = 0
    for group in range(len(starts) - 1):
        begin, end = starts[group], starts[group + 1]
        if end - begin == 2:
            one, other = rows[begin], rows[begin + 1]
            value = cells[one]
            if value == cells[other] and not (skip_null and value == 0):
                finer[size], finer[size + 1] = one, other
                size += 2
                groups += 1
                finer_starts[groups] = size
            continue
        distinct, at = 0, end
        while at > begin and rows[at - 1] >= fresh:
            at -= 1
            value = cells[rows[at]]
            if counts[value] == 0:
                seen[distinct] = value
                distinct += 1
            counts[value] += 1
        for old in range(begin, at):
            value = cells[rows[old]]
            if counts[value] > 0:
                counts[value] += 1
        before = size
        for i in range(distinct):
            count = counts[seen[i]]
            counts[seen[i]] = 0
            if count > 1 and not (skip_null and seen[i] == 0):
                counts[seen[i]] = size + 1
                size += count
                groups += 1
                finer_starts[groups] = size
        if size > before:
            for each in range(begin, end):
                value = cells[rows[each]]
                to = counts[value]
                if to > 0:
                    finer[to - 1] = rows[each]
                    counts[value] = to + 1
            for i in range(distinct):
                counts[seen[i]] = 0
    return groups


@kernel
def neighbours(rows: Rows, starts: Rows, most: int, pairs: Ints) -> Any:
    """Some pairs of rows that are next to each other in a group, evenly over all. OUT pairs[pair, 2]. Returns how
    many.
    """
    groups = len(starts) - 1
    total = len(rows) - groups
    step = max(1, total // most)
    found, seen = 0, 0
    for group in range(groups):
        for at in range(starts[group], starts[group + 1] - 1):
            if seen % step == 0 and found < most:
                pairs[found, 0], pairs[found, 1] = rows[at], rows[at + 1]
                found += 1
            seen += 1
    return found


@kernel
def pairs_within(starts: Rows) -> Any:
    """How many ordered pairs of different rows the groups put together."""
    total = np.int64(0)
    for group in range(len(starts) - 1):
        size = np.int64(starts[group + 1] - starts[group])
        total += size * (size - 1)
    return total


@kernel
def pairs_joined(rows: Rows, starts: Rows, cells: Codes, skip_null: bool, weights: Ints, sums: Ints) -> Any:
    """How many pairs of rows the groups put together that have equal cells in one more column, too.

    IN cells[row], weights[row]: a row stands for as many, which make no pairs with each other; none: for one.
    sums: as many as the column has values, 0 before and after each call
    """
    total, is_weighted = np.int64(0), len(weights) > 0
    for group in range(len(starts) - 1):
        begin, end = starts[group], starts[group + 1]
        for at in range(begin, end):
            value = cells[rows[at]]
            weight = weights[rows[at]] if is_weighted else 1
            if not (skip_null and value == 0):
                total += weight * sums[value]
                sums[value] += weight
        if end - begin > len(sums):
            sums[:] = 0
        else:
            for at in range(begin, end):
                sums[cells[rows[at]]] = 0
    return total


@kernel
def compare(cells: Codes, pairs: Ints, skip_null: bool, agree: Words, less: Words, more: Words) -> None:
    """What two rows are to each other. IN cells[column, row], pairs[pair, 2]; OUT agree, less, more [pair, word], zero
    before: sets of columns
    """
    for c in range(len(cells)):
        word, bit = c >> 6, _ONE << np.uint64(c & 63)
        own = cells[c]
        for j in range(len(pairs)):
            one, other = own[pairs[j, 0]], own[pairs[j, 1]]
            if skip_null and (one == 0 or other == 0):
                continue
            if one == other:
                agree[j, word] |= bit
            elif one < other:
                less[j, word] |= bit
            else:
                more[j, word] |= bit


@kernel
def sort_rows(rows: Rows, cells: Codes, ends: Ints, ordered: Rows, falling: bool = False) -> None:
    """Rows in the order of their cells, from the highest down where `falling`; those with equal cells stay as they are.
    OUT ordered; ends[value]: anything
    """
    ends[:] = 0
    for row in rows:
        ends[cells[row]] += 1
    total = 0
    for i in range(len(ends)):
        value = len(ends) - 1 - i if falling else i
        total += ends[value]
        ends[value] = total - ends[value]
    for row in rows:
        ordered[ends[cells[row]]] = row
        ends[cells[row]] += 1
