"""What rows say of `{X}: A ~ B`: how many pairs could have swapped, how many do, and how many rows are to remove.

All comes from one sorted array. A row is a number: its group, then its A, then its B, each with room for the next; so
sorted numbers are rows sorted by group, A and B. Now drop A: the remaining (group, B) decreases exactly where two rows
of a group swap, as groups ascend.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast.borders.cover import Numbers
from holdfast.engines.thresholds import LONGER, tested_weight
from holdfast.kernels import rising
from holdfast.rules import error_measures

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
class OrderCandidate:
    """A pair of columns in a context, which may be none, for those of some rows that nothing leaves out."""

    keys: Numbers  # each row as a number; see above
    a_room: int  # how many numbers there are for A
    b_room: int
    rows: int  # with those left out

    def measured(self, most: float = 1.0) -> MeasuredOrder | None:
        """What the rows say; None where more than this share of them must go."""
        rows, keys = self.rows, np.sort(self.keys)
        falling = self.values(keys)
        to_remove = int(rising.count_out(falling, np.empty(len(keys), np.int64), int(most * rows)))
        if to_remove > most * rows:
            return None
        climb = int(rising.longest_climb(keys // self.b_room, falling, np.empty(len(keys), np.int64)))
        swapped = int(rising.count_falls(falling, np.empty(len(keys), np.int64))) if to_remove else 0
        both, ones = _Runs.of(keys, self.a_room * self.b_room), _Runs.of(keys // self.b_room, self.a_room)
        others = _Runs.of(np.sort(falling), self.b_room)
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
        return keys // (self.a_room * self.b_room) * self.b_room + keys % self.b_room

    def rows_out(self) -> Numbers:
        """The rows that must go, of the fewest that must: their places among the keys, ascending."""
        order = np.argsort(self.keys, kind="stable")
        out = np.empty(len(order), np.bool_)
        tails, places, before = np.empty((3, len(order)), np.int64)
        rising.mark_out(self.values(self.keys[order]), tails, places, before, out)
        return np.sort(order[out])


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
