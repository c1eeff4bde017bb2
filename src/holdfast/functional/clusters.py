"""Clusters: the rows that agree on a left side, and how they differ on the right one. From codes, rule by rule.

A rule is named by column numbers: a left side, and a right side or None for a key (where every row differs from every
other). Where nulls are distinct, a row with a null on the left agrees with none, and nulls on the right differ.
Cost: a sort of the living rows for each column of the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

Ids = NDArray[np.int64]


def column_codes(table: Table, column: int) -> Ids:
    """The codes of one column, of the living rows in the order of their ids."""
    parts = [
        shard.columns[column] if alive is None else shard.columns[column][alive] for shard, alive in table.living()
    ]
    return np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Clusters:
    """The rows in clusters: `ids`, `cluster` and `value` run in parallel, sorted by cluster, then value, then id."""

    rows: int  # of the table, rows that agree with none included
    ids: Ids
    cluster: Ids
    value: Ids

    @staticmethod
    def of(table: Table, lhs: Sequence[int], rhs: int | None) -> Clusters:
        """The clusters of a left side, with the values of a right side (None: all values differ)."""
        distinct = table.schema.nulls == "distinct"
        ids = table.living_ids()
        codes = [column_codes(table, c) for c in lhs]
        value = np.arange(len(ids)) if rhs is None else column_codes(table, rhs)
        if distinct and rhs is not None:
            nulls = value == NULL_CODE
            value[nulls] = -1 - np.arange(np.count_nonzero(nulls))
        if distinct and codes:
            known = np.logical_and.reduce([column != NULL_CODE for column in codes])
            ids, value, codes = ids[known], value[known], [column[known] for column in codes]
        cluster = _numbered(codes, len(ids))
        order = np.lexsort((ids, value, cluster))
        return Clusters(table.rows, ids[order], cluster[order], value[order])

    @cached_property
    def _value_starts(self) -> Ids:
        """Where a new value or cluster begins."""
        fresh = (np.diff(self.cluster) != 0) | (np.diff(self.value) != 0)
        return np.concatenate([[0], 1 + np.flatnonzero(fresh)]) if len(self.ids) else np.empty(0, np.int64)

    @cached_property
    def _value_sizes(self) -> Ids:
        return np.diff(np.append(self._value_starts, len(self.ids)))

    @property
    def broken_pairs(self) -> int:
        """How many pairs of rows break the rule."""
        sizes = np.bincount(self.cluster) if len(self.cluster) else np.empty(0, np.int64)
        alike = self._value_sizes
        return int((sizes * (sizes - 1) // 2).sum() - (alike * (alike - 1) // 2).sum())

    @cached_property
    def majority(self) -> NDArray[np.bool_]:
        """Which rows have the most frequent value of their cluster; of equals, the one with the oldest row."""
        starts, sizes = self._value_starts, self._value_sizes
        if not len(starts):
            return np.empty(0, np.bool_)
        order = np.lexsort((self.ids[starts], -sizes, self.cluster[starts]))
        first = np.ones(len(order), np.bool_)
        first[1:] = np.diff(self.cluster[starts][order]) != 0
        best = np.zeros(len(starts), np.bool_)
        best[order[first]] = True
        return np.repeat(best, sizes)

    @property
    def to_remove(self) -> Ids:
        """The fewest rows without which the rule holds: those outside the majority of their cluster."""
        return np.sort(self.ids[~self.majority])

    @property
    def g3(self) -> float:
        """The share of rows to remove so that the rule holds."""
        return len(self.to_remove) / self.rows if self.rows else 0.0

    def broken(self) -> list[slice]:
        """Where the clusters with more than one value stand, those with the most rows outside the majority first."""
        if not len(self.ids):
            return []
        starts = np.concatenate([[0], 1 + np.flatnonzero(np.diff(self.cluster))])
        ends = np.append(starts[1:], len(self.ids))
        wrong = np.add.reduceat((~self.majority).astype(np.int64), starts)
        order = np.lexsort((starts, -wrong))
        return [slice(int(starts[i]), int(ends[i])) for i in order if wrong[i]]


def _numbered(codes: Sequence[Ids], rows: int) -> Ids:
    """A number for each combination of codes that occurs, from 0 on."""
    number = np.zeros(rows, np.int64)
    for column in codes:
        _, number = np.unique(number * (1 + int(column.max(initial=0))) + column, return_inverse=True)
    return number
