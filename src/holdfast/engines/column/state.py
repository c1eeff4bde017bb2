"""The facts of columns, and the state: of each column the least, the greatest and the most frequent values, by how
often its codes occur.

Invariant: `distinct` is the number of codes, null's aside, that occur in living rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.table.dictionary import NULL_CODE
from holdfast.table.frequencies import Frequencies, Moved, ValueCounts
from holdfast.table.leaders import Leaders, LeaderState
from holdfast.table.plain import Plain, plain_values
from holdfast.table.table import Table
from holdfast.table.types import show_type


@dataclass(frozen=True)
class ColumnFacts:
    """Exact facts of one column. Nulls are counted apart: they are neither distinct, nor least, nor frequent."""

    table: str
    column: str
    type: str
    rows: int
    nulls: int
    distinct: int
    minimum: Plain
    maximum: Plain
    frequent: tuple[tuple[Plain, int], ...]

    kind = "column"

    def __str__(self) -> str:
        spread = f", from {self.minimum!r} to {self.maximum!r}" if self.minimum is not None else ""
        return f"{self.column}: {self.type}, {self.distinct:,} distinct, {self.nulls:,} nulls{spread}"

    @property
    def text(self) -> str:
        """What names these facts within a table."""
        return f"column({self.column})"

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {
            "kind": self.kind,
            "table": self.table,
            "column": self.column,
            "type": self.type,
            "rows": self.rows,
            "nulls": self.nulls,
            "distinct": self.distinct,
            "min": self.minimum,
            "max": self.maximum,
            "frequent": [list(pair) for pair in self.frequent],
            "text": self.text,
        }


FREQUENT = 5


class ColumnState:
    """One column: how many values it has, and its least, greatest and most frequent codes. Where these were kept by
    another process, nobody looks at all values.
    """

    def __init__(
        self, table: Table, column: int, counts: ValueCounts, distinct: int, kept: Sequence[LeaderState | None]
    ) -> None:
        self.column, self.counts, self.table, self.distinct = column, counts, table, distinct
        self._generation = table.order_keys(column).generation
        living, (least, greatest, frequent) = counts.occurring, kept
        self.leaders = (
            Leaders(lambda codes: (self._keys(codes), codes), living, 1, least),
            Leaders(lambda codes: (-self._keys(codes), codes), living, 1, greatest),
            Leaders(lambda codes: (-counts.of(codes), self._keys(codes)), living, FREQUENT, frequent, lasting=True),
        )

    @staticmethod
    def of(table: Table, column: int, counts: ValueCounts) -> ColumnState:
        """From all values."""
        return ColumnState(table, column, counts, int(np.count_nonzero(counts.array[1:])), (None, None, None))

    def _keys(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.table.order_keys(self.column).of(codes)

    def update(self, table: Table, moved: Moved) -> None:
        """Take in that some codes occur more or less often."""
        self.table = table
        values = moved.codes != NULL_CODE
        codes, steps = moved.codes[values], moved.steps[values]
        after = self.counts.of(codes)
        self.distinct += int((after > 0).sum()) - int((after > steps).sum())
        generation = table.order_keys(self.column).generation
        for leaders in self.leaders:
            if generation != self._generation:
                leaders.remake()
            else:
                leaders.update(codes, after > 0, self.distinct)
        self._generation = generation

    def facts(self) -> ColumnFacts:
        """The facts now."""
        schema = self.table.schema
        column = schema.columns[self.column]
        least, greatest, frequent = (each.best() for each in self.leaders)
        codes = np.concatenate([least, greatest, frequent])
        values = plain_values(self.table.dictionaries[self.column].values(codes))
        ends = len(codes) - len(frequent)
        counts = self.counts.of(frequent).tolist()
        return ColumnFacts(
            schema.name,
            column.name,
            show_type(column.type),
            self.table.rows,
            int(self.counts.array[NULL_CODE]),
            self.distinct,
            values[0] if ends else None,
            values[1] if ends else None,
            tuple(zip(values[ends:], counts, strict=True)),
        )


class FactsState:
    """All columns of one table, with the facts as they are now."""

    def __init__(self, frequencies: Frequencies, columns: list[ColumnState]) -> None:
        self._frequencies, self.columns = frequencies, columns
        self.facts = self._look()

    @staticmethod
    def of(table: Table, frequencies: Frequencies) -> FactsState:
        """From how often values occur."""
        return FactsState(frequencies, [ColumnState.of(table, c, own) for c, own in enumerate(frequencies.columns)])

    def dump(self) -> tuple[dict[str, NDArray[np.int64]], dict[str, Any]]:
        """The codes of the leaders, column by column, and the few numbers that go with them."""
        leaders = [each.state() for column in self.columns for each in column.leaders]
        arrays = {"leaders": np.concatenate([np.empty(0, np.int64), *(each.codes for each in leaders)])}
        floors = [[len(each.codes), each.floor_code, each.floor_primary] for each in leaders]
        return arrays, {"distinct": [column.distinct for column in self.columns], "floors": floors}

    @staticmethod
    def load(
        table: Table, frequencies: Frequencies, arrays: Mapping[str, NDArray[np.int64]], facts: Mapping[str, Any]
    ) -> FactsState:
        """The state that `dump` described."""
        ends = np.cumsum([count for count, _, _ in facts["floors"]])
        codes = np.split(np.array(arrays["leaders"]), ends[:-1])
        leaders = [
            LeaderState(own, code, primary) for own, (_, code, primary) in zip(codes, facts["floors"], strict=True)
        ]
        columns = [
            ColumnState(table, c, own, distinct, leaders[3 * c : 3 * c + 3])
            for c, (own, distinct) in enumerate(zip(frequencies.columns, facts["distinct"], strict=True))
        ]
        return FactsState(frequencies, columns)

    def update(self, table: Table) -> None:
        """Take in a batch that the frequencies have followed."""
        for column, moved in zip(self.columns, self._frequencies.moved, strict=True):
            column.update(table, moved)
        self.facts = self._look()

    def _look(self) -> dict[str, ColumnFacts]:
        return {facts.text: facts for facts in (column.facts() for column in self.columns)}
