"""The values of a column, kept true under batches from how often its codes occur: how many they are, how many rows have
none, and the least, the greatest and the most frequent ones.

Invariant: `nulls`, `distinct`, the least and the greatest value are those of the last batch taken in, also while the
frequencies have followed the next one already.
Cost: a batch costs the codes whose frequency it changed (see `table.leaders`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.table.dictionary import NULL_CODE
from holdfast.table.frequencies import Moved, ValueCounts
from holdfast.table.leaders import Leaders, LeaderState
from holdfast.table.plain import Plain, plain_values
from holdfast.table.table import Table

FREQUENT = 5
Leading = Literal["min", "max", "frequent"]


class ColumnValues:
    """The values of one column, with those leaders that are wanted. Where leaders and the number of values were kept by
    another process, nobody looks at all values; `distinct` is None where nobody wants it.
    """

    def __init__(
        self,
        table: Table,
        column: int,
        counts: ValueCounts,
        wanted: Mapping[Leading, LeaderState | None],
        distinct: int | None = None,
    ) -> None:
        self.table, self.column, self.counts, self.distinct = table, column, counts, distinct
        self.nulls = int(counts.array[NULL_CODE])
        self._generation = table.order_keys(column).generation
        self.leaders = {
            name: Leaders(
                partial(self._ranks, name),
                counts.occurring,
                FREQUENT if name == "frequent" else 1,
                kept,
                lasting=name == "frequent",
            )
            for name, kept in wanted.items()
        }

    def _ranks(self, name: Leading, codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        keys = self.table.order_keys(self.column).of(codes)
        if name == "frequent":
            return -self.counts.of(codes), keys
        return keys if name == "min" else -keys, codes

    def follow(self, table: Table, moved: Moved, rows: int) -> None:
        """Take in that some codes occur more or less often; the table has so many rows now."""
        self.table, self.nulls = table, int(self.counts.array[NULL_CODE])
        given = moved.codes != NULL_CODE
        codes, after = moved.codes[given], self.counts.of(moved.codes[given])
        if self.distinct is not None:
            self.distinct += int((after > 0).sum()) - int((after > moved.steps[given]).sum())
        generation = table.order_keys(self.column).generation
        for leaders in self.leaders.values():
            if generation != self._generation:
                leaders.remake()
            else:
                most = rows - self.nulls  # no fewer than values
                leaders.update(codes, after > 0, most if self.distinct is None else self.distinct)
        self._generation = generation

    def codes(self, name: Leading) -> NDArray[np.int64]:
        """The codes of some leaders, the first first."""
        return self.leaders[name].best()

    def plain(self, codes: NDArray[np.int64]) -> list[Plain]:
        """Values as in JSON."""
        return plain_values(self.table.dictionaries[self.column].values(codes))
