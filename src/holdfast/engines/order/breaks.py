"""The first pair of rows that breaks a rule in a table, and how many groups have such rows: splits of a constant, and
swaps of a pair of columns.

Rows are grouped by the context of the rule and sorted within; then one pass finds, for each row, whether a row before
it in its group swaps with it. Which pair is found depends on the rows and their values alone.
Cost: O(n log n) for n rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.targets import Targets
from holdfast.pairs.keys import KeyTable
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

Numbers = NDArray[np.int64]
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

    def groups(self, context: Sequence[int]) -> tuple[Numbers, Numbers]:
        """The rows that agree with themselves on a context, and the number of each one's group."""
        rows = np.arange(self.table.rows)
        if self._distinct:
            rows = rows[np.logical_and.reduce([rows >= 0, *(self.codes(c) != NULL_CODE for c in context)])]
        if not context:
            return rows, np.zeros(len(rows), np.int64)
        lanes = np.stack([self.codes(column)[rows] for column in context]).astype(np.uint64)
        return rows, KeyTable(len(context), len(rows)).entries_of_lanes(lanes)

    def broken(self, targets: Targets, target: int, context: Sequence[int]) -> Break | None:
        """Two rows that break a target in a context."""
        columns = targets.columns_of(target)
        if len(columns) == 1:
            return self.split(context, columns[0])
        return self.swap(context, (columns[0], columns[1]), targets.is_descending(target))

    def split(self, context: Sequence[int], column: int) -> Break | None:
        """Two rows of a group that differ on a column."""
        rows, groups = self.groups(context)
        values = self.codes(column)[rows]
        if self._distinct:  # a null differs from everything
            values = np.where(values == NULL_CODE, -1 - rows, values)
        first = np.full(groups.max(initial=-1) + 1, -1)  # the row of each group that others are compared with
        first[groups[::-1]] = np.arange(len(rows))[::-1]
        differ = np.flatnonzero(values != values[first[groups]])
        if not len(differ):
            return None
        return Break((rows[first[groups[differ[0]]]], rows[differ[0]]), len(np.unique(groups[differ])))

    def swap(self, context: Sequence[int], pair: tuple[int, int], descending: bool) -> Break | None:
        """Two rows of a group of which one has more on a column and less on another, or, descending, more on both."""
        rows, groups = self.groups(context)
        if self._distinct:  # a null is in no swap
            known = np.logical_and(*(self.codes(column)[rows] != NULL_CODE for column in pair))
            rows, groups = rows[known], groups[known]
        first, second = (self._key_of_code(column)[self.codes(column)[rows]] for column in pair)
        ranks = np.unique(second, return_inverse=True)[1]
        ranks = ranks.max(initial=0) - ranks if descending else ranks
        order = np.lexsort((ranks, first, groups))
        rows, groups, first, ranks = rows[order], groups[order], first[order], ranks[order]
        differs = (groups[1:] != groups[:-1]) | (first[1:] != first[:-1])
        start = np.maximum.accumulate(np.r_[0, np.where(differs, np.arange(1, len(rows)), 0)][: len(rows)])
        own = groups * (len(rows) + 1) + ranks + 1  # higher than all of the groups before
        highest = np.maximum.accumulate(own)
        before = np.where(start > 0, highest[start - 1], 0)  # of the rows that are less on the first column
        swapped = np.flatnonzero(before > own)
        if not len(swapped):
            return None
        one = np.flatnonzero(own == before[swapped[0]])[0]
        return Break((rows[one], rows[swapped[0]]), len(np.unique(groups[swapped])))


def _key_of_code(table: Table, column: int) -> Numbers:
    """A key for each code of a column that compares as its value does."""
    return table.order_keys(column).of(np.arange(len(table.dictionaries[column])))
