"""Violations of a list order dependency in words: a split or a swap, by which columns, with which values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.naming import listed
from holdfast.rules.lists import ListOD, SortColumn, SortList
from holdfast.table.plain import plain_rows
from holdfast.table.table import Table

Rows = Mapping[str, Mapping[str, Any]]  # the values of rows t and s, by column name


@dataclass(frozen=True)
class Breach:
    """How rows t and s violate a rule: the first column of each list on which they differ. They don't differ on the
    left where it is a split.
    """

    by: SortColumn | None
    then: SortColumn
    before: tuple[str, ...]  # the columns of both lists before these, on which they are equal

    @property
    def kind(self) -> Literal["split", "swap"]:
        """A split where the left list doesn't tell the rows apart, else a swap."""
        return "split" if self.by is None else "swap"

    def sentence(self, names: Mapping[str, str], rows: Rows) -> str:
        """`a swap: both have Year 2016; Salary 5 of row 0 comes before Salary 8 of row 1, but …`."""
        same = [f"{name} {rows['t'][name]!r}" for name in self.before]
        parts = [f"both have {listed(same)}"] if same else []
        if self.by is None:
            t, s = (f"{self.then.name} {rows[row][self.then.name]!r} of {names[row]}" for row in "ts")
            return f"a {self.kind}: {'; '.join([*parts, f'{t} differs from {s}'])}"
        parts.append(f"{_beside(self.by, 'before', names, rows)}, but {_beside(self.then, 'after', names, rows)}")
        return f"a {self.kind}: {'; '.join(parts)}"


def _beside(column: SortColumn, how: str, names: Mapping[str, str], rows: Rows) -> str:
    """`Salary 5 of row 0 comes before Salary 8 of row 1`."""
    t, s = (f"{column.name} {rows[row][column.name]!r} of {names[row]}" for row in "ts")
    return f"{t} comes {how} {s}{' downwards' if column.descending else ''}"


def breach_of(rule: ListOD, table: Table, ids: NDArray[np.int64]) -> Breach:
    """How two rows t and s that violate a rule do so. Equal values have equal codes."""
    codes = table.codes(ids)
    number = {name: place for place, name in enumerate(table.schema.names)}
    different = {name for name in rule.columns if codes[number[name]][0] != codes[number[name]][1]}
    by, equal = _first(rule.by, different)
    then, more = _first(rule.then, different)
    assert then is not None, "rows that violate a rule differ on its right side"
    return Breach(by, then, tuple(dict.fromkeys([*equal, *more])))


def _first(columns: SortList, different: set[str]) -> tuple[SortColumn | None, list[str]]:
    """The first of some columns on which two rows differ, and those before it."""
    for place, column in enumerate(columns):
        if column.name in different:
            return column, [each.name for each in columns[:place]]
    return None, [each.name for each in columns]


def values_of(table: Table, ids: NDArray[np.int64]) -> Rows:
    """The values of rows t and s, for people."""
    return dict(zip("ts", plain_rows(table.values(ids)), strict=True))
