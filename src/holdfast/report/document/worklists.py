"""Which rows to remove, so that a rule holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import NOBODY

MOST_PAIRS = 100_000  # beyond, nobody works through a list
_MOST_ROWS = 50


def to_remove(pairs: NDArray[np.int64] | None, rows_alone: bool) -> tuple[list[int], int | None]:
    """Rows to remove, and how many more there are; None where these are not all, and nobody counted the others.

    Where each violation is a row to remove, as with FDs and keys, the first row of each is. Of pairs of rows, those
    that are in most of what is left are taken one after the other: few, though perhaps not the fewest.
    """
    if pairs is None or len(pairs) > MOST_PAIRS:
        return [], None
    if rows_alone or (pairs[:, 1:] == NOBODY).all():
        rows = list(dict.fromkeys(pairs[:, 0].tolist()))
        return rows[:_MOST_ROWS], max(0, len(rows) - _MOST_ROWS)
    return _cover(pairs)


def _cover(pairs: NDArray[np.int64]) -> tuple[list[int], int | None]:
    """Rows that meet all pairs, or the first that meet most of them."""
    chosen: list[int] = []
    left = pairs
    while len(left) and len(chosen) < _MOST_ROWS:
        rows, counts = np.unique(left, return_counts=True)
        row = int(rows[np.argmax(counts)])
        chosen.append(row)
        left = left[(left != row).all(axis=1)]
    return chosen, None if len(left) else 0
