"""Witnesses: a pair of rows that breaks a rule, one of them new where that can be.

A rule that a batch broke is broken by a pair with a row of that batch. Rows that can pair with one are narrowed down
column by column (whose value does some new row have?) and only what is left is compared pair by pair.
Cost: O(rows) for the first column, and little for the others; columns are read once for all witnesses of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.equal_rows import Codes
from holdfast.engines.functional.groups import Groups
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

Pair = tuple[int, int]
_ROWS_AT_ONCE = 4096
_CELLS_AT_ONCE = 1 << 22
_FEW = 8  # agree-sets that are looked for one by one


class Witnesses:
    """Finds pairs of rows in a table, one of them among the rows born in a batch."""

    def __init__(self, table: Table, born: range, inserted: Codes) -> None:
        self._table, self._born, self._new = table, np.asarray(born, np.int64), inserted.astype(np.int64)
        self._ids = table.living_ids()
        self._distinct = table.schema.nulls.are_distinct
        self._column = cache(table.column_codes)

    def new_pair(self, agree: Sequence[int], differ: Sequence[int]) -> Pair | None:
        """A pair with a new row that agrees on some columns and differs on each of some others."""
        if not len(self._born):
            return None
        rows = self._candidates(agree)
        for begin in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[begin : begin + _ROWS_AT_ONCE]
            good = self._ids[some][:, None] != self._born
            for c in agree:
                good &= self._same(c, some)
            for c in differ:
                if not good.any():
                    break
                good &= ~self._same(c, some)
            at, new = np.nonzero(good)
            if len(at):
                return _ordered(int(self._ids[some[at[0]]]), int(self._born[new[0]]))
        return None

    def with_agree_sets(self, sets: Words) -> dict[bytes, Pair]:
        """For each agree-set that came with the batch, by its bytes, a pair that has exactly it."""
        if len(sets) > _FEW:
            return self._compare_all(sets)
        found = {}
        for one in sets:
            same = bitsets.elements(one)
            pair = self.new_pair(same, [c for c in range(len(self._new)) if c not in same])
            if pair is not None:
                found[one.tobytes()] = pair
        return found

    def _compare_all(self, sets: Words) -> dict[bytes, Pair]:
        """The same by comparing the new rows with all rows, some at a time, until every set is found."""
        found: dict[bytes, Pair] = {}
        step = max(1, _CELLS_AT_ONCE // max(1, len(self._born) * len(self._new)))
        for begin in range(0, len(self._ids), step):
            rows = np.arange(begin, min(begin + step, len(self._ids)))
            agree = self._agree_sets(rows, sets.shape[1])
            hits = np.flatnonzero(bitsets.among(agree, sets) & (self._ids[rows][:, None] != self._born).reshape(-1))
            _, first = np.unique(bitsets.as_keys(agree[hits]), return_index=True)
            for hit in hits[first].tolist():
                row, new = divmod(hit, len(self._born))
                found[agree[hit].tobytes()] = _ordered(int(self._ids[rows[row]]), int(self._born[new]))
            sets = sets[[one.tobytes() not in found for one in sets]]
            if not len(sets):
                break
        return found

    def _agree_sets(self, rows: NDArray[np.int64], words: int) -> Words:
        """The agree-set of each row with each new row, a row of words each."""
        same = [self._same(c, rows).reshape(-1) for c in range(len(self._new))]
        return bitsets.packed(np.stack(same, axis=1), words)

    def any_pair(self, lhs: Sequence[int], rhs: int | None) -> Pair | None:
        """A pair that agrees on a left side and differs on a right one; with a new row if there is such a pair."""
        found = self.new_pair(lhs, [] if rhs is None else [rhs])
        if found is not None:
            return found
        groups = Groups(self._table, lhs, rhs)
        for row, beside in groups.outside_pairs()[:1].tolist():
            return _ordered(row, beside)
        return None

    def agree_set(self, pair: Pair, words: int) -> Words:
        """The columns on which two rows agree."""
        codes = self._table.codes(np.array(pair))
        same = codes[:, 0] == codes[:, 1]
        if self._distinct:
            same &= codes[:, 0] != NULL_CODE
        return bitsets.of(np.flatnonzero(same).tolist(), words)

    def _candidates(self, agree: Sequence[int]) -> NDArray[np.int64]:
        """Places of the rows that share each value with some new row; columns of many values first."""
        rows = np.arange(len(self._ids))
        for c in sorted(agree, key=lambda c: -len(self._table.dictionaries[c])):
            wanted = np.zeros(len(self._table.dictionaries[c]), np.bool_)
            wanted[self._new[c]] = True
            if self._distinct:
                wanted[NULL_CODE] = False
            rows = rows[wanted[self._column(c)[rows]]]
        return rows

    def _same(self, column: int, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        codes = self._column(column)[rows][:, None]
        same: NDArray[np.bool_] = codes == self._new[column]
        return same & (codes != NULL_CODE) if self._distinct else same


def _ordered(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
