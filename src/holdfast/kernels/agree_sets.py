"""Counting by key in a hash table of fixed-width keys of 64-bit words."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import kernel


class Counter(NamedTuple):
    """A hash table (see `hashing`) with counts: `slots[slot]`, `keys[entry, word]`, `used[0]`, `counts[entry]`.

    Of an addition under way, `touched[: known[0]]` are the entries it has touched, each once, `before` their counts
    before it, and `marks[entry]` says that an entry is among them. An entry comes with count 0 and no mark.
    """

    slots: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    used: NDArray[np.int64]
    counts: NDArray[np.int64]
    marks: NDArray[np.bool_]
    touched: NDArray[np.int64]
    before: NDArray[np.int64]
    known: NDArray[np.int64]


@kernel
def add_all(table: Counter, at: NDArray[np.int64], counts: NDArray[np.int64], times: int) -> None:
    """Add counts, each so many times, to entries, which may repeat; notes the entries that it touches.

    IN at[i], counts[i]; OUT table
    """
    totals, marks, touched, before, known = table.counts, table.marks, table.touched, table.before, table.known[0]
    for i in range(len(at)):
        entry = at[i]
        if not marks[entry]:
            marks[entry] = True
            touched[known] = entry
            before[known] = totals[entry]
            known += 1
        totals[entry] += times * counts[i]
    table.known[0] = known


@kernel
def settle(table: Counter, appeared: NDArray[np.int64], vanished: NDArray[np.int64]) -> tuple[int, int, bool]:
    """End an addition: which entries had count 0 and have more, which had more and have 0.

    OUT appeared[k], vanished[k]; gives how many there are of each, and whether all counts are 0 or more: if not, all
    are as they were before.
    """
    right = True
    for k in range(table.known[0]):
        right &= table.counts[table.touched[k]] >= 0
    come, gone = 0, 0
    for k in range(table.known[0]):
        entry, before = table.touched[k], table.before[k]
        table.marks[entry] = False
        if not right:
            table.counts[entry] = before
        elif before == 0 and table.counts[entry] > 0:
            appeared[come] = entry
            come += 1
        elif before > 0 and table.counts[entry] == 0:
            vanished[gone] = entry
            gone += 1
    table.known[0] = 0
    return come, gone, right
