"""Pairs of rows that break a rule in a table: splits of a constant, and swaps of a pair of columns.

Rows are grouped by the context of the rule and sorted within; then one pass finds, for each row, whether a row before
it in its group swaps with it. Some rows may be marked: then a pair has one of them at least. Which pair is found
depends on the rows and their values alone.
Cost: O(n log n) for n rows, after those that can't be in a pair were left out, column by column.

Witnesses are, for each rule that a batch broke, two rows that break it, one of them new where that can be. A rule that
held before a batch is broken by a pair with a new row. One pair may break many rules: the signature of each
pair that is found is tried on all rules that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.targets import Targets
from holdfast.changes.diff import NOBODY
from holdfast.engines.contexts import Listed
from holdfast.engines.order.result import columns_by_target
from holdfast.pairs import bitsets
from holdfast.pairs.keys import KeyTable
from holdfast.table.change import Change
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

Numbers = NDArray[np.int64]
Marks = NDArray[np.bool_]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Break:
    """Two rows that break a rule, by place, and how many groups have such rows."""

    rows: Pair
    groups: int


class LivingRows:
    """The living rows of a table by place, oldest first: their codes, and keys that compare as their values do."""

    def __init__(self, table: Table) -> None:
        self.table, self._distinct = table, table.schema.nulls.are_distinct
        self.codes = cache(table.column_codes)
        self._key_of_code = cache(partial(_key_of_code, table))

    @cached_property
    def ids(self) -> Numbers:
        """The id of each row."""
        return self.table.living_ids()

    def groups(self, context: Sequence[int], marked: Marks | None = None) -> tuple[Numbers, Numbers]:
        """The rows that agree with themselves on a context, and the number of each one's group; where some rows are
        marked, those alone that agree on each column with a marked one.
        """
        rows = np.arange(self.table.rows)
        for column in sorted(context, key=lambda c: -len(self.table.dictionaries[c])):
            wanted = np.ones(len(self.table.dictionaries[column]), np.bool_)
            if marked is not None:
                wanted[:] = False
                wanted[self.codes(column)[marked]] = True
            wanted[NULL_CODE] &= not self._distinct
            rows = rows[wanted[self.codes(column)[rows]]]
        if not context:
            return rows, np.zeros(len(rows), np.int64)
        lanes = np.stack([self.codes(column)[rows] for column in context]).astype(np.uint64)
        return rows, KeyTable(len(context), len(rows)).entries_of_lanes(lanes)

    def broken(
        self, targets: Targets, target: int, context: Sequence[int], marked: Marks | None = None
    ) -> Break | None:
        """Two rows that break a target in a context, one of them marked where some are."""
        columns = targets.columns_of(target)
        if len(columns) == 1:
            return self.split(context, columns[0], marked)
        one, other = columns
        return self.swap(context, one, other, targets.is_descending(target), marked)

    def split(self, context: Sequence[int], column: int, marked: Marks | None = None) -> Break | None:
        """Two rows of a group that differ on a column."""
        rows, groups = self.groups(context, marked)
        values = self.codes(column)[rows]
        if self._distinct:  # a null differs from everything
            values = np.where(values == NULL_CODE, -1 - rows, values)
        chosen = np.arange(len(rows)) if marked is None else np.flatnonzero(marked[rows])
        first = np.full(groups.max(initial=-1) + 1, -1)  # the row of each group that others are compared with
        first[groups[chosen[::-1]]] = chosen[::-1]
        beside = first[groups]
        differ = np.flatnonzero((beside >= 0) & (values != values[beside]))
        if not len(differ):
            return None
        pair = rows[beside[differ[0]]], rows[differ[0]]
        return Break(_ordered(*pair), len(np.unique(groups[differ])))

    def swap(
        self, context: Sequence[int], a: int, b: int, descending: bool, marked: Marks | None = None
    ) -> Break | None:
        """Two rows of a group of which one has more on a column and less on another, or, descending, more on both."""
        rows, groups = self.groups(context, marked)
        if self._distinct:  # a null is in no swap
            known = (self.codes(a)[rows] != NULL_CODE) & (self.codes(b)[rows] != NULL_CODE)
            rows, groups = rows[known], groups[known]
        first, second = (self._key_of_code(column)[self.codes(column)[rows]] for column in (a, b))
        ranks = np.unique(second, return_inverse=True)[1]
        sorted_rows = _Sorted.of(rows, groups, first, ranks.max(initial=0) - ranks if descending else ranks)
        every = np.ones(len(rows), np.bool_)
        if marked is None:
            return sorted_rows.swap(every, every)
        new = marked[sorted_rows.rows]
        return sorted_rows.swap(every, new) or sorted_rows.swap(new, every)


@dataclass(frozen=True, eq=False)
class _Sorted:
    """Rows by group, then by one column, then by another. `own` is the rank of each on the other, and higher than all
    of the groups before; `start` is the place of the first row that is equal in group and column.
    """

    rows: Numbers
    groups: Numbers
    own: Numbers
    start: Numbers

    @staticmethod
    def of(rows: Numbers, groups: Numbers, first: Numbers, ranks: Numbers) -> _Sorted:
        """From groups, keys of the one column, and ranks on the other."""
        order = np.lexsort((ranks, first, groups))
        rows, groups, first, ranks = rows[order], groups[order], first[order], ranks[order]
        differs = (groups[1:] != groups[:-1]) | (first[1:] != first[:-1])
        start = np.maximum.accumulate(np.r_[0, np.where(differs, np.arange(1, len(rows)), 0)][: len(rows)])
        return _Sorted(rows, groups, groups * (len(rows) + 1) + ranks + 1, start)

    def swap(self, early: Marks, late: Marks) -> Break | None:
        """Two rows that swap, the one that is less on the first column among the early, the other among the late."""
        highest = np.maximum.accumulate(np.where(early, self.own, 0))
        before = np.where(self.start > 0, highest[self.start - 1], 0)  # of the rows that are less on the first column
        swapped = np.flatnonzero((before > self.own) & late)
        if not len(swapped):
            return None
        one = np.flatnonzero(early & (self.own == before[swapped[0]]))[0]
        return Break(_ordered(self.rows[one], self.rows[swapped[0]]), len(np.unique(self.groups[swapped])))


def _key_of_code(table: Table, column: int) -> Numbers:
    """A key for each code of a column that compares as its value does."""
    return table.order_keys(column).of(np.arange(len(table.dictionaries[column])))


def _ordered(one: int, other: int) -> Pair:
    return (int(one), int(other)) if one < other else (int(other), int(one))


_FEW = 1 << 15  # pairs that are compared rather than looked for


def breaking_pairs(broken: Listed, targets: Targets, change: Change, known: Numbers) -> Numbers:
    """For each rule two row ids, NOBODY where no rows break it; `known` are pairs of which some may break some."""
    rules = _Open(broken, targets)
    born = np.asarray(change.born, np.int64)
    few = len(born) * change.after.rows <= _FEW
    rules.try_pairs(_all_new(born, change.after) if few else known[np.isin(known, born).any(axis=1)], change.after)
    if not len(rules.left):
        return rules.pairs
    rows = LivingRows(change.after)
    new = np.isin(rows.ids, born)
    while len(rules.left):
        target, context = rules.first
        found = rows.broken(targets, target, context, new) or rows.broken(targets, target, context)
        if found is not None:
            rules.try_pairs(rows.ids[[found.rows]], change.after)
        rules.leave(target, context)
    return rules.pairs


def _all_new(born: Numbers, table: Table) -> Numbers:
    """All pairs of rows of which one is new, the lower id first; those of two new rows come twice."""
    ids = table.living_ids()
    pairs = np.stack([np.repeat(born, len(ids)), np.tile(ids, len(born))], axis=1)
    return np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)


class _Open:
    """Rules that are broken, of which some are `left` without a pair; large contexts first: who agrees on much breaks
    more.
    """

    def __init__(self, broken: Listed, targets: Targets) -> None:
        self._broken, self._targets = broken, targets
        self.pairs = np.full((len(broken), 2), NOBODY)
        self.left = np.argsort(-bitsets.sizes(broken.contexts), kind="stable")

    @property
    def first(self) -> tuple[int, list[int]]:
        """The target and the context of a rule that is left."""
        place = self.left[0]
        return int(self._broken.targets[place]), bitsets.elements(self._broken.contexts[place])

    def leave(self, target: int, context: list[int]) -> None:
        """Go on without a pair for a rule, if it still is the first that is left."""
        if len(self.left) and self.first == (target, context):
            self.left = self.left[1:]

    def try_pairs(self, pairs: Numbers, table: Table) -> None:
        """Let pairs of rows stand for the rules that are left and that they break."""
        equal, signs = _compared(pairs, table)
        agree = bitsets.packed(equal, self._broken.contexts.shape[1])
        of = self._broken.targets[self.left]
        hit = np.full(len(self.left), -1)
        for target in np.unique(of):
            breaking = np.flatnonzero(self._break(int(target), equal, signs))
            mine = np.flatnonzero(of == target) if len(breaking) else of[:0]
            if len(mine):
                found = bitsets.containers(self._broken.contexts[self.left[mine]], agree[breaking])
                hit[mine[found >= 0]] = breaking[found[found >= 0]]
        self.pairs[self.left[hit >= 0]] = pairs[hit[hit >= 0]]
        self.left = self.left[hit < 0]

    def _break(self, target: int, equal: NDArray[np.bool_], signs: Numbers) -> NDArray[np.bool_]:
        """Which pairs break a target."""
        columns = columns_by_target(self._targets)[target]
        if len(columns) == 1:
            return ~equal[:, columns[0]]
        one, other = columns
        breaks: NDArray[np.bool_] = signs[:, one] * signs[:, other] == (
            1 if self._targets.is_descending(target) else -1
        )
        return breaks


def _compared(pairs: Numbers, table: Table) -> tuple[NDArray[np.bool_], Numbers]:
    """On which columns the two rows of each pair agree, and the sign of their difference on each, `[pair, column]`; 0
    where a null leaves it unknown.
    """
    rows, back = np.unique(pairs, return_inverse=True)
    codes = table.codes(rows)
    keys = np.array([table.order_keys(column).of(own) for column, own in enumerate(codes)]).reshape(len(codes), -1)
    one, other = (keys[:, back.reshape(-1, 2)[:, side]].T for side in (0, 1))
    equal, signs = one == other, (one > other).astype(np.int64) - (one < other)
    if table.schema.nulls.are_distinct:
        nulls = (codes == NULL_CODE)[:, back.reshape(-1, 2)].any(axis=2).T
        equal, signs = equal & ~nulls, np.where(nulls, 0, signs)
    return equal, signs
