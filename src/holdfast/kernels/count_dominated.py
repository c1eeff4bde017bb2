"""How many rows lie below each other: in every column of a conjunction of comparisons, within a group of equal rows.

As in `dominance`, values are turned so that each comparison asks for t's value to be less than s's, or at most as
large. Rows come by group and by their first column, and enter a Fenwick tree over the other two, which counts those
that entered. A row asks for those below it, before or after those that tie with it in the first column have entered.

Cost: O(log) of the number of values of each column of the tree, a row.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Ints, Mask
from holdfast.kernels.jit import inlined, kernel


@inlined
def _add(tree: Any, sizes: Any, ranks: Any, begin: int, end: int, amount: int) -> None:
    """Let rows enter the tree, or leave it."""
    for row in range(begin, end):
        i = np.int64(ranks[1, row])
        while i < sizes[0]:
            j = np.int64(ranks[2, row])
            while j < sizes[1]:
                tree[i * sizes[1] + j] += amount
                j |= j + 1
            i |= i + 1


@inlined
def _up_to(tree: Any, sizes: Any, one: int, other: int) -> Any:
    """How many have entered with at most these values."""
    found, i = np.int64(0), np.int64(one)
    while i >= 0:
        j = np.int64(other)
        while j >= 0:
            found += tree[i * sizes[1] + j]
            j = (j & (j + 1)) - 1
        i = (i & (i + 1)) - 1
    return found


@kernel
def count_below(
    groups: NDArray[np.uint32],
    ranks: NDArray[np.int32],
    strict: Mask,
    sizes: Ints,
    tree: NDArray[np.int32],
    begin: int,
    fuel: int,
    done: Ints,
) -> int:
    """The pairs of a row and one below it, itself included where no column is strict; about `fuel` rows at a time.
    Gives the row to go on with.

    IN  groups[row], ascending; ranks[3, row], turned, within a group the first ascending; strict[3]; sizes[2]: above
        all ranks of the last two columns
    IN OUT tree: 0 at first; done: the pairs so far, and the first row of the group that is being swept
    """
    row = begin
    while row < min(begin + fuel, len(groups)):
        last = row + 1
        while last < len(groups) and groups[last] == groups[row] and ranks[0, last] == ranks[0, row]:
            last += 1
        if not strict[0]:
            _add(tree, sizes, ranks, row, last, 1)
        for i in range(row, last):
            done[0] += _up_to(tree, sizes, ranks[1, i] - strict[1], ranks[2, i] - strict[2])
        if strict[0]:
            _add(tree, sizes, ranks, row, last, 1)
        if last == len(groups) or groups[last] != groups[row]:
            _add(tree, sizes, ranks, done[1], last, -1)
            done[1] = last
        row = last
    return row
