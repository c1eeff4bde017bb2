"""For each of many boxes a pair of rows that lies in it. One pair may lie in many boxes: each that is found is tried on
all that are left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise.marks import Boxes, Space, compared, met
from holdfast.engines.pointwise.proving import first_pairs

_AT_ONCE = 16  # boxes that are looked for together

Pairs = NDArray[np.int64]


def pairs_within(rows: RankedColumns, space: Space, boxes: Boxes, fresh: int = 0) -> Pairs:
    """For each box the ids of a pair of rows in it, t first, or -1 twice; one of the two stands at the place `fresh` or
    behind it.
    """
    pairs, left = np.full((len(boxes), 2), -1, np.int64), np.arange(len(boxes))
    while len(left):
        tried, left = left[:_AT_ONCE], left[_AT_ONCE:]
        found = first_pairs(rows, space, boxes[tried], fresh)
        there = found[:, 0] >= 0
        pairs[tried[there]] = rows.ids(found[there])
        for place in found[there]:
            one, other = rows.cells[:, place].T
            within = met(boxes[left], compared(one[None], other[None], space))
            pairs[left[within]], left = rows.ids(place), left[~within]
    return pairs
