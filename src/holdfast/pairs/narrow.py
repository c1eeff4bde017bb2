"""Rows of a table, as ranks, in as few bytes as fit, column by column: for kernels that compare one row with many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.agree import NEVER, Cells
from holdfast.kernels.scanning import PADDING

_MOST = (0xFE, 0xFFFE)  # the highest ranks in one byte and in two


def narrow_rows(columns: Sequence[NDArray[np.uint32]], tops: Sequence[int], places: NDArray[np.int64]) -> Cells:
    """The rows at some places, in their order, in one block. `tops` are ranks that none in a column exceeds."""
    width = np.int64(1) << np.searchsorted(_MOST, tops)
    lengths = width * (len(places) + PADDING + -len(places) % 4)  # each column begins at a multiple of 4
    start = np.cumsum(lengths) - lengths
    flat = np.zeros(int(lengths.sum()), np.uint8)
    for column, begin, size in zip(columns, start, width, strict=True):
        flat[begin : begin + size * len(places)].view(f"u{size}")[:] = column.take(places)
    only, weights = np.full(len(columns), NEVER, np.uint32), np.empty(0, np.int64)
    return Cells(flat, flat.view(np.uint16), flat.view(np.uint32), width, start, only, 0, weights)
