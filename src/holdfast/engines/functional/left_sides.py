"""How often the values of a left side come back: what tests a dependency apart from rows that follow one another.

In a file that is sorted by flight, the rows of a flight follow one another, and all have its time of arrival. Then
`arrival -> block of departure` holds in all rows, and was not tested once: no other flight had that time yet. So a row
tests a dependency where its left side comes back after other rows. Where the table is sorted by the left side itself,
the order of the rows says nothing of when they came, and all rows with the same left side count.
"""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.engines.functional.group_counts import CodedRows, LeftSide


def tests_apart(coded: CodedRows, side: LeftSide) -> int:
    """How many rows have a left side that came before, with other rows between; all that share it with another, where
    the table is sorted by it.
    """
    rows, starts = side.partition.rows, side.partition.starts[:-1]
    if not len(rows):
        return 0
    steps = np.diff(rows, prepend=rows[0])
    steps[starts] = 1  # to the first row of a group there is no way back
    back = int(np.count_nonzero(steps > 1))
    if back >= len(starts) or len(side.columns) > 1:
        return back
    return side.tested if _is_sorted(coded, side.columns[0], np.sort(rows[starts])) else back


def _is_sorted(coded: CodedRows, column: int, places: NDArray[np.int32]) -> bool:
    """Whether the values of a column rise from place to place, or fall."""
    values = coded.table.dictionaries[column].values(coded.cells[column][places])
    order = pc.sort_indices(values).to_numpy()
    rising = np.arange(len(order), dtype=order.dtype)
    return bool((order == rising).all() or (order == rising[::-1]).all())
