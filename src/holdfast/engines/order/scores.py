"""Interestingness of rules (papers: fastod, section 4.7): how many ordered pairs of rows their context puts together.

The score of a context is the sum of the squared sizes of its groups, those of one row included. It falls as a context
grows. Where nulls are distinct, a row with a null in the context is a group of its own.

Groups are refined column by column, and contexts that start with the same columns share that work. Columns of many
values come first: a row that is alone stays so, and is looked at no more.
Cost: for each context a look at each row that is not alone yet.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels import scores as kernels
from holdfast.kernels.partitions import Room
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.keys import KeyTable
from holdfast.table.table import Table
from holdfast.table.threads import each

Numbers = NDArray[np.int64]

_ROWS_AT_ONCE = 1 << 24  # looks at rows between two chances to stop: a tenth of a second or so


class Scores:
    """The scores of a table's contexts, each reckoned once."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._contexts: KeyTable | None = None
        self._scores = np.empty(0, np.int64)  # of each context in the order of their numbers

    def of(self, contexts: Words) -> Numbers:
        """The scores of some contexts."""
        known, had = self._known(contexts)
        numbers = known.entries(contexts)
        if known.used > had:
            self._scores = np.concatenate([self._scores, self._reckoned(known.keys[had:])])
        return self._scores[numbers]

    def know(self, contexts: Words, within: Numbers) -> None:
        """Learn how many ordered pairs of different rows some contexts put together: with each row and itself, that is
        their score.
        """
        known, had = self._known(contexts)
        numbers = known.entries(contexts)
        fresh = np.empty(known.used - had, np.int64)
        fresh[numbers[numbers >= had] - had] = within[numbers >= had] + self._table.rows
        self._scores = np.concatenate([self._scores, fresh])

    def _known(self, contexts: Words) -> tuple[KeyTable, int]:
        """The contexts whose scores are known, and how many they are."""
        if self._contexts is None:
            self._contexts = KeyTable(contexts.shape[1], len(contexts))
        return self._contexts, self._contexts.used

    @cached_property
    def _order(self) -> Numbers:
        """The columns, those of many values first."""
        return np.argsort([-len(dictionary) for dictionary in self._table.dictionaries], kind="stable")

    @cached_property
    def _cells(self) -> NDArray[np.uint32]:
        """The codes of all rows, `[column, row]`."""
        cells = np.empty((len(self._table.schema.columns), self._table.rows), np.uint32)
        for column in range(len(cells)):
            cells[column] = self._table.column_codes(column)
        return cells

    def _reckoned(self, contexts: Words) -> Numbers:
        bits = np.ascontiguousarray(bitsets.unpacked(contexts)[:, self._order])
        order = np.lexsort(np.packbits(bits, axis=1).T[::-1])  # those that start with the same columns come together
        step = max(1, _ROWS_AT_ONCE // max(1, self._table.rows))
        pieces = [order[begin : begin + step] for begin in range(0, len(order), step)]
        scores = np.empty(len(contexts), np.int64)
        found = each(pieces, lambda piece, _: self._piece(bits[piece]), None if len(pieces) > 1 else 0)
        scores[order] = np.concatenate(found)
        return scores

    def _piece(self, bits: NDArray[np.uint8]) -> Numbers:
        """The scores of contexts that are given as marks of columns, in the order of those."""
        own, places = np.nonzero(bits)
        sizes = np.bincount(own, minlength=len(bits))
        rows, depth = self._table.rows, max(1, int(sizes.max(initial=0)))
        levels = kernels.Levels(
            np.empty((depth, rows), np.int32),  # what is not written takes no memory
            np.empty((depth, rows // 2 + 2), np.int32),
            np.zeros(depth, np.int64),
            np.empty(depth, np.int64),
        )
        levels.rows[0], levels.starts[0, :2], levels.groups[0] = np.arange(rows), (0, rows), 1
        most = max((len(dictionary) for dictionary in self._table.dictionaries), default=1)
        keys = np.empty(0, np.uint64)
        room = Room(keys, keys, np.empty(0, np.int64), np.empty(rows, np.uint32), np.zeros(most, np.int32))
        scores, starts = np.empty(len(bits), np.int64), np.r_[0, np.cumsum(sizes)]
        kernels.score(starts, self._order[places], self._cells, self._distinct, levels, room, scores)
        return scores

    @property
    def _distinct(self) -> bool:
        return self._table.schema.nulls == "distinct"
