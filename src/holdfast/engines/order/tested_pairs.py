"""Tested pairs, the interestingness of rules (papers: fastod, section 4.7): how many ordered pairs of rows their
context puts together.

The number of a context is the sum of the squared sizes of its groups, those of one row included. It falls as a context
grows. Where nulls are distinct, only rows count that could break the rule: those with values in all columns of the
context, and in both columns of a pair. So the number is that of a context and of the columns of which the values must
be there, and an empty rule has 0 or 1, less than any other.

Groups are refined column by column, and contexts that start with the same columns share that work. Columns of many
values come first: a row that is alone stays so, and is looked at no more.
Cost: for each context a look at each row that is not alone yet.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels import scores as kernels
from holdfast.kernels.partitions import PartitionScratch
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.filled import Filled
from holdfast.pairs.keys import KeyTable
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table
from holdfast.table.threads import each

Numbers = NDArray[np.int64]

_ROWS_AT_ONCE = 1 << 24  # looks at rows between two chances to stop: a tenth of a second or so


class TestedPairs:
    """The tested pairs of a table's contexts with the columns of pairs, each counted once."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._known = KeyTable(2 * bitsets.words_for(len(table.schema.columns) + 1))  # contexts with pairs
        self._numbers = np.empty(0, np.int64)  # of each context in the order of their numbers

    def of(self, contexts: Words, pairs: Words) -> Numbers:
        """The tested pairs of some contexts, each with the columns of a pair, or with none."""
        known, had = self._known, self._known.used
        numbers = known.entries(np.concatenate([contexts, pairs & self._nullable], axis=1))
        if known.used > had:
            self._numbers = np.concatenate([self._numbers, self._counted(known.keys[had:])])
        return self._numbers[numbers]

    def know(self, contexts: Words, within: Numbers) -> None:
        """Learn how many ordered pairs of different rows some contexts put together: with each row that has values
        there and itself, that is their number without a pair.
        """
        known, had = self._known, self._known.used
        numbers = known.entries(np.concatenate([contexts, np.zeros_like(contexts)], axis=1))
        fresh = np.empty(known.used - had, np.int64)
        fresh[numbers[numbers >= had] - had] = (within + self._rows(contexts))[numbers >= had]
        self._numbers = np.concatenate([self._numbers, fresh])

    @cached_property
    def _filled(self) -> Filled | None:
        """The columns in which rows have values; None where nulls are equal, and are values like others."""
        return Filled.of(self._table) if self._distinct else None

    @cached_property
    def _nullable(self) -> Words:
        """The columns that nulls keep rows from being counted in."""
        words = bitsets.words_for(len(self._table.schema.columns) + 1)
        return np.zeros(words, np.uint64) if self._filled is None else self._filled.nullable

    def _rows(self, columns: Words) -> Numbers | int:
        """How many rows have values in some columns."""
        return self._table.rows if self._filled is None else self._filled.rows(columns)

    @cached_property
    def _tested(self) -> list[int]:
        """The columns with nulls: where one is in a pair, its cells, present or not, refine groups like a context's."""
        return bitsets.elements(self._nullable & bitsets.first(len(self._table.schema.columns), len(self._nullable)))

    @cached_property
    def _order(self) -> Numbers:
        """The columns, those of many values first; behind them those that say which rows have a value."""
        by_values = np.argsort([-len(dictionary) for dictionary in self._table.dictionaries], kind="stable")
        return np.concatenate([by_values, len(by_values) + np.arange(len(self._tested))])

    @cached_property
    def _cells(self) -> NDArray[np.uint32]:
        """The codes of all rows, `[column, row]`, and for each column with nulls whether there is a value."""
        columns = len(self._table.schema.columns)
        cells = np.empty((columns + len(self._tested), self._table.rows), np.uint32)
        for column in range(columns):
            cells[column] = self._table.column_codes(column)
        for place, column in enumerate(self._tested):
            cells[columns + place] = cells[column] != NULL_CODE
        return cells

    def _counted(self, keys: Words) -> Numbers:
        """The numbers of contexts with the columns of pairs, which follow them in the keys."""
        contexts, pairs = np.split(keys, 2, axis=1)
        columns = len(self._table.schema.columns)
        masks = [bitsets.unpacked(contexts)[:, :columns], bitsets.unpacked(pairs)[:, self._tested]]
        bits = np.ascontiguousarray(np.concatenate(masks, axis=1)[:, self._order])
        order = np.lexsort(np.packbits(bits, axis=1).T[::-1])  # those that start with the same columns come together
        step = max(1, _ROWS_AT_ONCE // max(1, self._table.rows))
        pieces = [order[begin : begin + step] for begin in range(0, len(order), step)]
        counts = np.empty(len(keys), np.int64)
        found = each(pieces, lambda piece, _: self._piece(bits[piece]), None if len(pieces) > 1 else 0)
        counts[order] = np.concatenate(found)
        return counts - self._table.rows + self._rows(contexts | pairs)  # a row with a null counted as a group

    def _piece(self, bits: NDArray[np.uint8]) -> Numbers:
        """The numbers of contexts that are given as masks of columns, in the order of those; a row with a null in one
        of them is a group of its own.
        """
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
        keys, none = np.empty(0, np.uint64), np.empty(0, np.int64)
        scratch = PartitionScratch(keys, keys, none, none, np.empty(rows, np.uint32), np.zeros(most, np.int32))
        counts, starts = np.empty(len(bits), np.int64), np.r_[0, np.cumsum(sizes)]
        kernels.score(starts, self._order[places], self._cells, self._distinct, levels, scratch, counts)
        return counts

    @property
    def _distinct(self) -> bool:
        return self._table.schema.nulls.are_distinct
