"""The facts of columns, and the state: what is kept of the values of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.table.column_values import ColumnValues, Leading
from holdfast.table.frequencies import Frequencies
from holdfast.table.leaders import LeaderState
from holdfast.table.plain import Plain
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
    min: Plain
    max: Plain
    frequent: tuple[tuple[Plain, int], ...]

    kind = "column"

    def __str__(self) -> str:
        spread = f", from {self.min!r} to {self.max!r}" if self.min is not None else ""
        return f"{self.column}: {self.type}, {self.distinct:,} distinct, {self.nulls:,} nulls{spread}"

    @property
    def text(self) -> str:
        """What names these facts within a table."""
        return f"column({self.column})"

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        frequent = [list(pair) for pair in self.frequent]
        return {"kind": self.kind, **vars(self), "frequent": frequent, "text": self.text}


_LEADERS: tuple[Leading, ...] = ("min", "max", "frequent")


def _facts(column: ColumnValues) -> ColumnFacts:
    """The facts of a column now."""
    table, about = column.table, column.table.schema.columns[column.column]
    least, greatest, frequent = map(column.codes, _LEADERS)
    values = column.plain(np.concatenate([least, greatest, frequent]))
    ends = len(values) - len(frequent)
    extremes = (values[0], values[1]) if ends else (None, None)
    assert column.distinct is not None
    counts = table.rows, column.nulls, column.distinct
    often = tuple(zip(values[ends:], column.counts.of(frequent).tolist(), strict=True))
    return ColumnFacts(table.schema.name, about.name, show_type(about.type), *counts, *extremes, often)


class FactsState:
    """All columns of one table, with the facts as they are now."""

    def __init__(self, frequencies: Frequencies, columns: list[ColumnValues]) -> None:
        self._frequencies, self.columns = frequencies, columns
        self.facts = self._look()

    @staticmethod
    def of(table: Table, frequencies: Frequencies) -> FactsState:
        """From how often values occur."""
        none, counts = dict.fromkeys(_LEADERS), frequencies.columns
        distinct = [int(np.count_nonzero(own.array[1:])) for own in counts]
        return FactsState(frequencies, [ColumnValues(table, c, own, none, distinct[c]) for c, own in enumerate(counts)])

    def dump(self) -> tuple[dict[str, NDArray[np.int64]], dict[str, Any]]:
        """The codes of the leaders, column by column, and the few numbers that go with them."""
        leaders = [column.leaders[name].state() for column in self.columns for name in _LEADERS]
        arrays = {"leaders": np.concatenate([np.empty(0, np.int64), *(each.codes for each in leaders)])}
        floors = [[len(each.codes), each.floor_code, each.floor_primary] for each in leaders]
        return arrays, {"distinct": [column.distinct for column in self.columns], "floors": floors}

    @staticmethod
    def load(
        table: Table, frequencies: Frequencies, arrays: Mapping[str, NDArray[np.int64]], facts: Mapping[str, Any]
    ) -> FactsState:
        """The state that `dump` described."""
        codes = np.split(np.array(arrays["leaders"]), np.cumsum([count for count, _, _ in facts["floors"]])[:-1])
        states = iter(LeaderState(own, *floor) for own, (_, *floor) in zip(codes, facts["floors"], strict=True))
        kept = [{name: next(states) for name in _LEADERS} for _ in frequencies.columns]
        columns = zip(frequencies.columns, kept, facts["distinct"], strict=True)
        return FactsState(frequencies, [ColumnValues(table, c, *each) for c, each in enumerate(columns)])

    def follow(self, table: Table) -> None:
        """Take in a batch that the frequencies have followed."""
        for column, moved in zip(self.columns, self._frequencies.moved, strict=True):
            column.follow(table, moved, table.rows)
        self.facts = self._look()

    def _look(self) -> dict[str, ColumnFacts]:
        return {facts.text: facts for facts in map(_facts, self.columns)}
