"""Tested pairs, the interestingness of rules (papers: fastod, section 4.7): how many ordered pairs of rows their
context puts together.

The number of a context is the sum of the squared sizes of its groups, those of one row included. It falls as a context
grows. Where nulls are distinct, only rows count that could break the rule: those with values in all columns of the
context, and in both columns of a pair. So the number is that of a context and of the columns of which the values must
be there, and an empty rule has 0 or 1, less than any other.

They are counted as borders prove contexts: partitions are refined column by column, and contexts that start with the
same columns share that work.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from holdfast.borders.cover import Numbers
from holdfast.borders.partitions import ColumnPartitions
from holdfast.borders.proving import pairs_together
from holdfast.borders.rows import CodedColumns
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.filled import Filled
from holdfast.pairs.keys import KeyTable
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table


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
        return Filled.of(self._table) if self._table.schema.nulls.are_distinct else None

    @cached_property
    def _nullable(self) -> Words:
        """The columns that nulls keep rows from being counted in."""
        words = bitsets.words_for(len(self._table.schema.columns) + 1)
        return np.zeros(words, np.uint64) if self._filled is None else self._filled.nullable

    def _rows(self, columns: Words) -> Numbers | int:
        """How many rows have values in some columns."""
        return self._table.rows if self._filled is None else self._filled.rows(columns)

    def _counted(self, keys: Words) -> Numbers:
        """The numbers of contexts with the columns of pairs, which follow them in the keys."""
        contexts, pairs = np.split(keys, 2, axis=1)
        held, marked = bitsets.unpacked(contexts)[:, : len(self._table.schema.columns)], bitsets.unpacked(pairs)
        bits = np.concatenate([held, marked[:, self._marked]], axis=1)
        sets = bitsets.packed(bits.astype(np.bool_), bitsets.words_for(bits.shape[1]))
        return pairs_together(self._columns, sets) + self._rows(contexts | pairs)

    @cached_property
    def _marked(self) -> list[int]:
        """The columns with nulls. Where one is in a pair, its mark in the context drops the rows without a value."""
        return bitsets.elements(self._nullable & bitsets.first(len(self._table.schema.columns), len(self._nullable)))

    @cached_property
    def _columns(self) -> ColumnPartitions:
        """The codes of all rows, and behind them the marks: 0 where there is no value, 1 elsewhere."""
        rows = CodedColumns(self._table)
        if self._marked:
            marks = (rows.cells[self._marked] != NULL_CODE).astype(np.uint32)
            values = np.r_[rows.value_counts, np.full(len(marks), 2)]
            rows = CodedColumns.of_cells(np.concatenate([rows.cells, marks]), values, rows.distinct)
        return ColumnPartitions(rows)
