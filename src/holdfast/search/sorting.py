"""Sorting rows by several integers, fast: one sort of one number wherever the numbers fit side by side into 63 bits.

Sorting plain 64-bit numbers is several times as fast as NumPy's stable sort of indexes, so a row's keys and its place
are packed into one number; keys that are too wide are first replaced by their ranks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ROOM = 1 << 63


def sorted_order(keys: list[NDArray[np.int64]], rows: int) -> NDArray[np.int64]:
    """The places of the rows, sorted by the first key, then the second and so on, and last by the place itself."""
    packed = np.zeros(rows, np.int64)
    width = 1
    for key in keys if rows else []:
        low, high = int(key.min()), int(key.max())
        if (high - low + 1) * width * rows >= _ROOM:
            key = ranks(key)
            low, high = 0, int(key.max())
        if (high - low + 1) * width * rows >= _ROOM:
            packed = ranks(packed)
            width = int(packed.max()) + 1
        packed *= high - low + 1
        packed += key - low
        width *= high - low + 1
    packed *= rows
    packed += np.arange(rows)
    packed.sort()
    packed %= max(rows, 1)
    return packed


def ranks(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many distinct keys are below each key."""
    rank: NDArray[np.int64] = np.unique(keys, return_inverse=True)[1]
    return rank
