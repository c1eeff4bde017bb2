"""Violations that are single rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import NOBODY, PairChange

Ids = NDArray[np.int64]


def alone(rows: Ids) -> Ids:
    """Rows as pairs with nobody."""
    return np.stack([rows, np.full(len(rows), NOBODY)], axis=1)


def row_change(added: Ids, resolved: Ids, updated: tuple[Ids, Ids]) -> PairChange:
    """The rows that a batch made violations, and those that are none any more. Updated rows, given by their old ids and
    their new ones, that were violations and still are, are told anew.
    """
    if not len(added) or not len(resolved):
        return PairChange(alone(added), alone(resolved))
    old, new = updated
    again = new[np.isin(old, resolved) & np.isin(new, added)]
    first = added[~np.isin(added, again)][:1]
    return PairChange(alone(added), alone(resolved), len(again), lambda: tuple(first.tolist()))
