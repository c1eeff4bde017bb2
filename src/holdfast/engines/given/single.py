"""Violations that are single rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import NOBODY

Ids = NDArray[np.int64]


def alone(rows: Ids) -> Ids:
    """Rows as pairs with nobody."""
    pairs = np.full((len(rows), 2), NOBODY, np.int64)
    pairs[:, 0] = rows
    return pairs
