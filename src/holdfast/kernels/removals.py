"""The least number of rows that must go so that a rule holds, group by group of its context.

A partition is `rows`, group by group, and `starts`, where each group begins, with the end behind the last. Both kernels
stop as soon as more than `most` rows must go: what they return then is a lower bound.
"""

from typing import Any

import numpy as np

from holdfast.kernels.arrays import Codes, Ints, Rows
from holdfast.kernels.jit import kernel
from holdfast.kernels.rising import first_above


@kernel
def number_groups(rows: Rows, starts: Rows, group_of: Rows) -> None:
    """OUT group_of[row], for the rows of the partition."""
    for group in range(len(starts) - 1):
        for at in range(starts[group], starts[group + 1]):
            group_of[rows[at]] = group


@kernel
def leave_out(rows: Rows, starts: Rows, first: int, end: int, kept: Rows, kept_starts: Rows) -> Any:
    """A partition without the rows from `first` to before `end`. OUT kept, kept_starts. Returns how many groups of two
    rows and more are left.
    """
    groups, size = 0, 0
    kept_starts[0] = 0
    for group in range(len(starts) - 1):
        for at in range(starts[group], starts[group + 1]):
            if not first <= rows[at] < end:
                kept[size] = rows[at]
                size += 1
        if size - kept_starts[groups] > 1:
            groups += 1
            kept_starts[groups] = size
        else:
            size = kept_starts[groups]
    return groups


@kernel
def for_constant(rows: Rows, starts: Rows, cells: Codes, skip_null: bool, counts: Ints, most: int) -> Any:
    """All rows of a group but those of its most frequent value; with `skip_null` each null is a value of its own.

    IN cells[row] of the column; counts[value]: zero, before and after
    """
    removed = np.int64(0)
    for group in range(len(starts) - 1):
        begin, end = starts[group], starts[group + 1]
        best = np.int64(1)
        for at in range(begin, end):
            value = cells[rows[at]]
            if not (skip_null and value == 0):
                counts[value] += 1
                best = max(best, counts[value])
        for at in range(begin, end):
            counts[cells[rows[at]]] = 0
        removed += end - begin - best
        if removed > most:
            break
    return removed


@kernel
def for_pair(ordered: Rows, values: Codes, group_of: Rows, starts: Rows, ends: Rows, tails: Codes, most: int) -> Any:
    """All rows of a group but a longest subsequence in which the second column never falls.

    All groups are worked on at once, row by row in one order of the whole table. The tails of a group are ascending:
    the k-th is the least value at the end of a subsequence of k of its rows so far. A row prolongs the longest one, or
    takes the place of the first tail above it, and then one row more must go. A tail is looked for only where that
    happens, so a rule that holds but for r rows costs O(rows + r log rows).

    IN ordered[i]: rows by the first column, those equal there by the second; values[i]: the second column's;
    group_of[row], -1 for a row that is alone. Scratch: ends[group], where its tails end; tails, as long as rows and
    groups together: those of a group are behind a 0 that no value is below
    """
    for group in range(len(starts) - 1):
        tails[starts[group] + group] = 0
        ends[group] = starts[group] + group + 1
    removed = np.int64(0)
    for i in range(len(ordered)):
        group = group_of[ordered[i]]
        if group < 0:
            continue
        value, end = values[i], ends[group]
        if tails[end - 1] <= value:
            tails[end] = value
            ends[group] = end + 1
            continue
        tails[first_above(tails, starts[group] + group + 1, end - 1, value)] = value
        removed += 1
        if removed > most:
            break
    return removed
