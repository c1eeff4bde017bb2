"""How many ordered pairs of rows contexts put together: the sum of the squared sizes of their groups."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import inlined, kernel
from holdfast.kernels.partitions import Cells, PartitionScratch, Rows, refine

Ints = NDArray[np.int64]


class Levels(NamedTuple):
    """Partitions on the way from no column to many: level l is by the first l columns of the way, `rows[l]` up to
    `starts[l, groups[l]]`. Level 0 is all rows in one group.
    """

    rows: NDArray[np.int32]
    starts: NDArray[np.int32]
    groups: Ints
    way: Ints


@inlined
def count_groups(rows: Rows, starts: Rows, cells: Cells, skip_null: bool, counts: NDArray[np.int32]) -> Any:
    """The sum of the squares of the groups that one more column leaves, those of one row included, without making
    them. Rows that are in no group of the partition are not looked at. IN cells[row]; counts: 0 before and after
    """
    total = np.int64(0)
    for group in range(len(starts) - 1):
        for at in range(starts[group], starts[group + 1]):
            counts[cells[rows[at]]] += 1
        for at in range(starts[group], starts[group + 1]):
            value = cells[rows[at]]
            count = np.int64(counts[value])
            total += count if skip_null and value == 0 else count * count
            counts[value] = 0
    return total


@kernel
def score(
    starts: Ints, places: Ints, cells: Cells, skip_null: bool, levels: Levels, scratch: PartitionScratch, scores: Ints
) -> None:
    """The scores of contexts. Those that start with the same columns follow one another.

    IN context i is the columns places[starts[i] : starts[i + 1]]; cells[column, row]; OUT scores[i]
    """
    known, count = 0, cells.shape[1]
    for i in range(len(starts) - 1):
        begin, last = starts[i], starts[i + 1] - 1
        if last < begin:
            scores[i] = count * count
            continue
        level = 0
        while level < known and begin + level < last and levels.way[level] == places[begin + level]:
            level += 1
        while begin + level < last:
            column = places[begin + level]
            rows, groups = levels.rows[level], levels.starts[level, : levels.groups[level] + 1]
            levels.groups[level + 1] = refine(
                rows, groups, cells[column], skip_null, 0, scratch, levels.rows[level + 1], levels.starts[level + 1]
            )
            levels.way[level] = column
            level += 1
        known = level
        rows, groups = levels.rows[level], levels.starts[level, : levels.groups[level] + 1]
        together = count_groups(rows, groups, cells[places[last]], skip_null, scratch.counts)
        scores[i] = count - groups[-1] + together
