"""Whether a row lies below another one: in every column of a conjunction of comparisons, within a group of equal rows.

Values are turned so that each comparison asks for t's value to be less than s's, or at most as large: then t comes
before s, or equals it, in the lexicographic order of the columns. One sweep in that order is enough: rows enter a
Fenwick tree over up to three columns that holds the least value of a last one, and each row asks the tree for those
that entered before it. Groups need no clean-up: entries of earlier groups are lower than all of later ones.

Cost: O(log) of the number of values of each column of the tree, a row.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Bytes, Codes, Ints, Mask, Rows
from holdfast.kernels.jit import kernel

Ranks = NDArray[np.int32]

BELOW, ABOVE, FRESH = 1, 2, 4  # what a row may be: t, s; and whether it is new
_LOW = 0xFFFFFFFF


@kernel
def beside_new(
    rows: Rows, starts: Rows, fresh: int, cells: Codes, columns: Ints, falling: Mask, strict: Mask, roles: Bytes
) -> None:
    """Take the roles from old rows in which they can make no pair: t where in some column no new row of the group is
    above them, s where none is below.

    IN  rows, starts: a partition; cells[column, row], not turned; falling[i], strict[i]: of columns[i]
    IN OUT roles[row]
    """
    low, high = np.empty(len(columns), np.int64), np.empty(len(columns), np.int64)
    for group in range(len(starts) - 1):
        new = starts[group + 1]
        low[:], high[:] = _LOW, -1
        while new > starts[group] and rows[new - 1] >= fresh:  # the rows of a group are ascending
            new -= 1
            for i in range(len(columns)):
                cell = np.int64(cells[columns[i], rows[new]])
                low[i], high[i] = min(low[i], cell), max(high[i], cell)
        for place in range(starts[group], new):
            row, below, above = rows[place], True, True
            for i in range(len(columns)):
                cell = np.int64(cells[columns[i], row])
                under, over = cell + strict[i] <= high[i], cell >= low[i] + strict[i]
                below &= over if falling[i] else under
                above &= under if falling[i] else over
            roles[row] &= FRESH | (BELOW if below else 0) | (ABOVE if above else 0)


class SweptRows(NamedTuple):
    """Rows in the order of a sweep, and the comparisons to check. Ranks are turned, and 0 where a column is missing."""

    groups: Codes  # from 1 on
    roles: Bytes  # BELOW, ABOVE, FRESH as bits
    first: Ranks  # the column of the order
    inner: Ranks  # [3, row]: the columns of the tree
    last: Ranks
    strict: Mask  # of the first column, those of the tree, the last one
    sizes: Ints  # [3] above all ranks of the tree's columns


@kernel
def _enter(tree: Any, swept: SweptRows, row: int, key: int) -> None:
    """Put a row's key into all cells above it. A cell that holds as much has all that lie above it hold as much."""
    inner, sizes, full = swept.inner, swept.sizes, False
    i = np.int64(inner[0, row])
    while i < sizes[0] and not full:
        j = np.int64(inner[1, row])
        while j < sizes[1] and not full:
            k = np.int64(inner[2, row])
            while k < sizes[2]:
                at = (i * sizes[1] + j) * sizes[2] + k
                if tree[at] >= key:
                    full = k == inner[2, row]
                    break
                tree[at] = key
                k |= k + 1
            if full:
                full = j == inner[1, row]
                break
            j |= j + 1
        i |= i + 1


@kernel
def _holds(tree: Any, swept: SweptRows, row: int, least: int) -> Any:
    """Whether the tree has a key of at least so much among those below a row."""
    inner, sizes, strict, found = swept.inner, swept.sizes, swept.strict, False
    i = np.int64(inner[0, row]) - strict[1]
    while i >= 0 and not found:
        j = np.int64(inner[1, row]) - strict[2]
        while j >= 0 and not found:
            k = np.int64(inner[2, row]) - strict[3]
            while k >= 0:
                if tree[(i * sizes[1] + j) * sizes[2] + k] >= least:
                    found = True
                    break
                k = (k & (k + 1)) - 1
            j = (j & (j + 1)) - 1
        i = (i & (i + 1)) - 1
    return found


@kernel
def sweep(swept: SweptRows, trees: Ints) -> Any:
    """The first row, by its place in the order, that a row before it lies below; -1 where there is none.

    trees[0]: of all rows that entered, trees[1]: of the new ones; 0 before. A row that is not new asks the second, for
    one of the two has to be new.

    A key is a group's number and, below it, what the rank in the last column lacks to the highest: so the greatest key
    is that of the least rank in the group that is being swept, and keys of other groups are never enough.

    Where the first column is strict, rows that tie in it ask before they enter, so that nobody finds one that ties.
    Where it is not, rows are in the lexicographic order of all columns, and each asks and then enters: a row t that
    lies below s is at most s in every column, so it comes before s, or it is equal to s in all of them. That only
    happens where no column is strict; then of equal rows either lies below the other. Where their roles differ, those
    that may only be t come first, and those that may only be s last: so t comes before s, or both may be either, and
    s, which comes before t, lies below it.
    """
    first, groups, roles, last, entered = swept.first, swept.groups, swept.roles, swept.last, 0
    strict_first, strict_last = swept.strict[0], np.int64(swept.strict[4])
    found = -1
    for row in range(len(groups)):
        group = groups[row]
        if strict_first:
            if row > 0 and groups[row - 1] != group:
                entered = row
            elif row > 0 and first[row - 1] != first[row]:
                for before in range(entered, row):
                    if roles[before] & BELOW:
                        key = (np.int64(group) << 32) + _LOW - last[before]
                        _enter(trees[0], swept, before, key)
                        if trees.shape[0] > 1 and roles[before] & FRESH:
                            _enter(trees[1], swept, before, key)
                entered = row
        if roles[row] & ABOVE:
            tree = trees[0] if roles[row] & FRESH else trees[1]
            if _holds(tree, swept, row, (np.int64(group) << 32) + _LOW - last[row] + strict_last):
                found = row
                break
        if not strict_first and roles[row] & BELOW:
            key = (np.int64(group) << 32) + _LOW - last[row]
            _enter(trees[0], swept, row, key)
            if trees.shape[0] > 1 and roles[row] & FRESH:
                _enter(trees[1], swept, row, key)
    return found
