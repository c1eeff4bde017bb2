"""A quantile of a column's values, kept true under batches from how often they occur.

The quantile of a share q is the least value that at least that share of all values is less than or equal to, as SQL's
PERCENTILE_DISC: of n values the one at place ceil(q n), from 1. It is a value of the column, so nothing is rounded.

Kept is a stretch of neighbouring values around it, and how many values lie below the stretch. A batch is counted at the
ends of the stretch. Only when the place has left it, the stretch is cut again, in one pass over all values.

Invariant: the stretch holds every value that occurs from its first to its last; `_below` values are less than it.
Cost: a batch costs the values whose frequency it changed, and the stretch.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from holdfast.table.dictionary import NULL_CODE
from holdfast.table.frequencies import Moved, ValueCounts
from holdfast.table.table import Table

Codes = NDArray[np.int64]
_AROUND = 1024  # values on each side, when the stretch is cut


class Quantile:
    """The quantile of a share among the values of a column, nulls aside."""

    def __init__(self, table: Table, column: int, counts: ValueCounts, part: Fraction) -> None:
        self.table, self.column, self.counts, self._part = table, column, counts, part
        self._codes, self._at, self._below, self._values = np.empty(0, np.int64), 0, 0, 0
        self._cut()

    @property
    def codes(self) -> Codes:
        """The code of the quantile; none if there are no values."""
        return self._codes[self._at : self._at + 1]

    def follow(self, table: Table, moved: Moved) -> None:
        """Take in that some codes occur more or less often."""
        self.table = table
        if table.order_keys(self.column).generation != self._generation or not len(self._codes):
            self._cut()
            return
        given = moved.codes != NULL_CODE
        codes, steps = moved.codes[given], moved.steps[given]
        keys = self._keys(codes)
        first, last = self._keys(self._codes[[0, -1]])
        self._values += int(steps.sum())
        self._below += int(steps[keys < first].sum())
        inside = codes[(keys >= first) & (keys <= last)]
        if len(inside):
            joined = np.union1d(self._codes, inside)
            self._codes = joined[np.argsort(self._keys(joined), kind="stable")]
        self._find()

    def _keys(self, codes: Codes) -> NDArray[np.int64]:
        return self.table.order_keys(self.column).of(codes)

    @property
    def _place(self) -> int:
        """The place of the quantile among all values, from 1."""
        return max(math.ceil(self._part * self._values), 1)

    def _find(self) -> None:
        """Look for the quantile in the stretch; where it has left it, cut another one."""
        upto = self._below + np.cumsum(self.counts.of(self._codes))
        if not self._below < self._place <= (int(upto[-1]) if len(upto) else 0):
            self._cut()
            return
        self._at = int(np.searchsorted(upto, self._place))

    def _cut(self) -> None:
        """The stretch around the quantile, from all values."""
        occurring = self.counts.occurring()
        self._generation = self.table.order_keys(self.column).generation
        keys = self._keys(occurring)
        order = np.argsort(keys, kind="stable")
        codes = occurring[order]
        upto = np.cumsum(self.counts.of(codes))
        self._values = int(upto[-1]) if len(upto) else 0
        at = int(np.searchsorted(upto, self._place))
        first = max(at - _AROUND, 0)
        self._codes, self._at = codes[first : at + _AROUND + 1], at - first
        self._below = int(upto[first - 1]) if first else 0
