"""What rows say of `{X}: A ~ B`: how many pairs could have swapped, how many do, and how many rows are to remove.

All comes from one sorted array. A row is a number: its group, then its A, then its B, each with room for the next; so
sorted numbers are rows sorted by group, A and B. Now drop A: the remaining (group, B) decreases exactly where two rows
of a group swap, as groups ascend.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.thresholds import LONGER, tested_weight
from holdfast.kernels import rising
from holdfast.rules import error_measures

Numbers = NDArray[np.int64]

RISES = 2.0  # two values that rise one after the other make half the score


@dataclass(frozen=True)
class MeasuredOrder:
    """What rows say of a pair of columns in a context; pairs are those of rows of the same group."""

    rows: int  # of the table
    support: int  # rows of groups in which some pair could swap
    pairs: int  # pairs of rows in these groups
    differing: int  # pairs that differ on both columns: they could swap, and by chance half of them would
    swapped: int  # pairs that do
    rises: int  # over all groups, how many times both columns rise, one rise after the other, at most
    to_remove: int  # rows that must go so that none swaps
    determines: bool  # whether A determines B in each group
    determined: bool  # whether B determines A

    @property
    def g3(self) -> float:
        """The share of rows that must go."""
        return error_measures.g3(self.to_remove, self.rows)

    @property
    def coverage(self) -> float:
        """The share of pairs that could have swapped."""
        return self.differing / self.pairs if self.pairs else 0.0

    def score(self, context: int = 0) -> float:
        """From 0, nothing speaks for the rule, to 1; given how many columns the context has.

        Pairs that could swap do so half of the time, by chance: what counts is how much less they do. Ties, constants
        and groups of one row test nothing, and few values that rise may do so by chance.
        """
        beyond = 1.0 - 2.0 * self.swapped / self.differing if self.differing else 0.0
        if beyond <= 0.0:
            return 0.0
        tested = tested_weight(self.coverage) * tested_weight(self.support / self.rows)
        shown = tested * self.rises / (self.rises + RISES)
        return beyond * (1.0 - self.to_remove / self.support) * shown * LONGER**context


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """A column of some rows: a number each, and how many numbers there may be."""

    of: NDArray[np.signedinteger]
    room: int

    def chosen(self, rows: NDArray[np.bool_] | slice) -> Numbers:
        """Those of some rows."""
        return self.of[rows].astype(np.int64)


@dataclass(frozen=True, eq=False)
class OrderCandidate:
    """A pair of columns in a context, which may be none, one of them read downwards or not; for some rows, of which
    those may be left out that have a null in these columns.
    """

    a: ColumnCells
    b: ColumnCells
    descending: bool
    context: ColumnCells | None = None
    without_nulls: bool = False

    def keys(self) -> Numbers:
        """Each row as a number; see above."""
        rows = self._rows()
        b = self.b.chosen(rows)
        keys = self.a.chosen(rows) * self.b.room + (self.b.room - 1 - b if self.descending else b)
        if self.context is None:
            return keys
        return self.context.chosen(rows) * (self.a.room * self.b.room) + keys

    def _rows(self) -> NDArray[np.bool_] | slice:
        if not self.without_nulls:
            return slice(None)
        used = [cells.of > 0 for cells in (self.a, self.b, self.context) if cells is not None]
        return np.asarray(np.logical_and.reduce(used))

    def measured(self, most: float = 1.0) -> MeasuredOrder | None:
        """What the rows say; None where more than this share of them must go."""
        rows, keys = len(self.a.of), np.sort(self.keys())
        falling = self.values(keys)
        to_remove = int(rising.count_out(falling, np.empty(len(keys), np.int64), int(most * rows)))
        if to_remove > most * rows:
            return None
        climb = int(rising.longest_climb(keys // self.b.room, falling, np.empty(len(keys), np.int64)))
        swapped = int(rising.count_falls(falling, np.empty(len(keys), np.int64))) if to_remove else 0
        whole = self.a.room * self.b.room
        both, ones = _Runs.of(keys, whole), _Runs.of(keys // self.b.room, self.a.room)
        others = _Runs.of(np.sort(falling), self.b.room)
        pairs = both.sizes * (both.sizes - 1) // 2
        differing = pairs - ones.pairs - others.pairs + both.pairs
        tests = differing > 0
        return MeasuredOrder(
            rows,
            int(both.sizes[tests].sum()),
            int(pairs[tests].sum()),
            int(differing.sum()),
            swapped,
            climb - len(both.sizes),
            to_remove,
            ones.distinct.sum() == both.distinct.sum(),
            others.distinct.sum() == both.distinct.sum(),
        )

    def values(self, keys: Numbers) -> Numbers:
        """Group and B of sorted rows."""
        return keys // (self.a.room * self.b.room) * self.b.room + keys % self.b.room

    def rows_out(self) -> Numbers:
        """The places of rows that must go, of the fewest that must, ascending."""
        keys = self.keys()
        order = np.argsort(keys, kind="stable")
        out = np.empty(len(keys), np.bool_)
        tails, before = np.empty((2, len(keys)), np.int64)
        rising.mark_out(self.values(keys[order]), tails, before, out)
        rows = self._rows()
        places = np.arange(len(keys)) if isinstance(rows, slice) else np.flatnonzero(rows)
        return np.sort(places[order[out]])


@dataclass(frozen=True, eq=False)
class _Runs:
    """Equal numbers among sorted ones, group by group: the rows of each group, how many distinct numbers it has, and
    how many pairs of equal ones.
    """

    sizes: Numbers
    distinct: Numbers
    pairs: Numbers

    @staticmethod
    def of(keys: Numbers, room: int) -> _Runs:
        """Of sorted numbers; each group has `room` numbers of its own."""
        starts = _starts(keys)
        lengths = np.diff(starts, append=len(keys))
        first = _starts(keys[starts] // room)
        if not len(first):
            return _Runs(first, first, first)
        pairs = np.add.reduceat(lengths * (lengths - 1) // 2, first)
        return _Runs(np.add.reduceat(lengths, first), np.diff(first, append=len(starts)), pairs)


def _starts(sorted_numbers: Numbers) -> Numbers:
    """Where each number comes first."""
    return np.flatnonzero(np.diff(sorted_numbers, prepend=sorted_numbers[:1] - 1))
