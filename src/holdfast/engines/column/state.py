"""The state: how often each code of each column occurs, and from that the leaders.

Invariant: `counts[code]` is the number of living rows with that code; `distinct` counts the non-null codes above 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.column.leaders import Leaders
from holdfast.engines.column.model import ColumnFacts
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.plain import plain_values
from holdfast.table.table import Table
from holdfast.table.types import show_type

FREQUENT = 5


class ColumnState:
    """One column: counts by code, with the least, greatest and most frequent codes."""

    def __init__(self, table: Table, column: int, counts: NDArray[np.int64]) -> None:
        self.column = column
        self.counts = counts
        self.table = table
        self.distinct = int(np.count_nonzero(counts[1:]))
        self._generation = table.order_keys(column).generation
        self._least = Leaders(lambda codes: (self._keys(codes), codes), self._living, 1)
        self._greatest = Leaders(lambda codes: (-self._keys(codes), codes), self._living, 1)
        self._frequent = Leaders(lambda codes: (-self.counts[codes], self._keys(codes)), self._living, FREQUENT)

    def _keys(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.table.order_keys(self.column).of(codes)

    def _living(self) -> NDArray[np.int64]:
        return 1 + np.flatnonzero(self.counts[1:])

    def update(self, table: Table, born: NDArray[Any], died: NDArray[Any]) -> None:
        """Count the codes of the rows that were born and that died."""
        self.table = table
        size = len(table.dictionaries[self.column])
        if size > len(self.counts):
            self.counts = np.concatenate([self.counts, np.zeros(max(size - len(self.counts), size // 8), np.int64)])
        codes, places = np.unique(np.concatenate([born, died]).astype(np.int64), return_inverse=True)
        signs = np.repeat(np.array([1.0, -1.0]), [len(born), len(died)])
        step = np.bincount(places, signs, len(codes)).astype(np.int64)
        before = self.counts[codes]
        after = before + step
        if len(after) and after.min() < 0:
            raise AssertionError(f"column {self.column}: a count fell below zero")
        self.counts[codes] = after
        moved = (step != 0) & (codes != NULL_CODE)
        self.distinct += int((after[moved] > 0).sum()) - int((before[moved] > 0).sum())
        self._update_leaders(codes[moved], after[moved] > 0)

    def _update_leaders(self, codes: NDArray[np.int64], alive: NDArray[np.bool_]) -> None:
        generation = self.table.order_keys(self.column).generation
        for leaders in (self._least, self._greatest, self._frequent):
            if generation != self._generation:
                leaders.remake()
            else:
                leaders.update(codes, alive, self.distinct)
        self._generation = generation

    def facts(self) -> ColumnFacts:
        """The facts now."""
        schema = self.table.schema
        column = schema.columns[self.column]
        frequent = self._frequent.best()
        codes = np.concatenate([self._least.best(), self._greatest.best(), frequent])
        values = plain_values(self.table.dictionaries[self.column].values(codes))
        ends = len(codes) - len(frequent)
        counts = [int(count) for count in self.counts[frequent]]
        return ColumnFacts(
            schema.name,
            column.name,
            show_type(column.type),
            self.table.rows,
            int(self.counts[NULL_CODE]),
            self.distinct,
            values[0] if ends else None,
            values[1] if ends else None,
            tuple(zip(values[ends:], counts, strict=True)),
        )


class State:
    """All columns of one table, with the facts as they were last told."""

    def __init__(self, columns: list[ColumnState]) -> None:
        self.columns = columns
        self.facts = {facts.text: facts for facts in (column.facts() for column in columns)}
