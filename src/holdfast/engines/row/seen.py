"""The columns of a table as the search for rules about one row sees them: how often each distinct value occurs, its
numbers in order, and some of its rows.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.engines.row.tails import Floats, Numbers
from holdfast.table import arrow
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table
from holdfast.table.types import NUMBER, family

_DAY = 86_400.0  # seconds
_EPOCH_FAMILIES = (str(pa.date32()), str(pa.timestamp("us")), str(pa.timestamp("us", tz="UTC")))
_MOST_DECIMALS = 9
_FIRST, _LAST = (float((day - dt.date(1970, 1, 1)).days) for day in (dt.date.min, dt.date.max))  # days of rules


@dataclass(frozen=True, eq=False)
class SeenColumn:
    """A column of a table: the number of rows of each code, and the code of each row, the oldest first."""

    table: Table
    place: int
    counts: NDArray[np.int64]
    codes: NDArray[np.integer[Any]]

    @property
    def name(self) -> str:
        """Its name."""
        return self.table.schema.names[self.place]

    @property
    def type(self) -> pa.DataType:
        """Its type."""
        return self.table.schema.columns[self.place].type

    @property
    def family(self) -> str:
        """What it compares with."""
        return family(self.type)

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return self.family == NUMBER

    @property
    def is_time(self) -> bool:
        """Whether it holds dates, or moments."""
        return self.family in _EPOCH_FAMILIES

    @property
    def is_text(self) -> bool:
        """Whether it holds texts."""
        return bool(pa.types.is_string(self.type))

    @property
    def nulls(self) -> int:
        """How many rows have no value."""
        return int(self.counts[NULL_CODE])

    @cached_property
    def filled(self) -> int:
        """How many rows have a value."""
        return int(self.counts.sum()) - self.nulls

    @cached_property
    def occurring(self) -> NDArray[np.int64]:
        """The codes of its distinct values."""
        return 1 + np.flatnonzero(self.counts[1:])

    @property
    def distinct(self) -> int:
        """How many values it has."""
        return len(self.occurring)

    @cached_property
    def single(self) -> int:
        """How many of its values occur once."""
        return int(np.count_nonzero(self.counts[self.occurring] == 1))

    @cached_property
    def values(self) -> pa.Array:
        """Its distinct values, in the order of their codes."""
        return self.table.dictionaries[self.place].values(self.occurring)

    @cached_property
    def floats(self) -> Floats:
        """Its distinct values as floats, in the order of their codes; dates and moments as days."""
        return _as_floats(self.values)

    @cached_property
    def numbers(self) -> Numbers:
        """Its finite numbers, ascending."""
        order = np.argsort(self.floats, kind="stable")
        numbers = Numbers(self.floats[order], self.counts[self.occurring][order])
        finite = np.isfinite(numbers.values)
        return numbers if finite.all() else Numbers(numbers.values[finite], numbers.counts[finite])

    @cached_property
    def is_finite(self) -> bool:
        """Whether all of its numbers are finite, and its days have a date in rules: the years from 1 to 9999."""
        if self.is_time and self.distinct and not (_FIRST <= self.floats.min() <= self.floats.max() < _LAST):
            return False
        return len(self.numbers.values) == self.distinct

    @cached_property
    def decimals(self) -> int | None:
        """How many decimals its numbers have at most; None: they are no decimals."""
        if pa.types.is_integer(self.type):
            return 0
        if pa.types.is_decimal(self.type):
            return int(max(self.type.scale, 0))
        some = self.numbers.values[:: max(1, len(self.numbers.values) // 5000)]
        for digits in range(_MOST_DECIMALS + 1):
            scaled = some * 10.0**digits
            if np.all(np.abs(scaled - np.rint(scaled)) <= 1e-9 * np.maximum(np.abs(scaled), 1.0)):
                return digits
        return None

    @property
    def is_exact(self) -> bool:
        """Whether rules reckon exactly with its numbers."""
        return self.is_number and not pa.types.is_floating(self.type)

    @cached_property
    def runs(self) -> int:
        """How many times its value changes from row to row: rows that stand together may be one thing seen often."""
        return int(np.count_nonzero(self.codes[1:] != self.codes[:-1])) + 1

    def floats_at(self, rows: NDArray[np.int64]) -> Floats:
        """The numbers of some rows, by their places; NaN where there is none."""
        found: Floats = self._by_code[self.codes[rows]]
        return found

    @property
    def all_floats(self) -> Floats:
        """The numbers of all rows; NaN where there is none."""
        found: Floats = self._by_code[self.codes]
        return found

    @cached_property
    def _by_code(self) -> Floats:
        known = np.full(len(self.counts), np.nan)
        known[self.occurring] = self.floats
        return known

    def texts_at(self, rows: NDArray[np.int64]) -> pa.Array:
        """The values of some rows, by their places."""
        return self.table.dictionaries[self.place].values(self.codes[rows].astype(np.int64))


def evenly(rows: int, most: int) -> NDArray[np.int64]:
    """The places of at most `most` rows, evenly spread over all."""
    return np.unique(np.linspace(0, rows - 1, min(rows, most)).astype(np.int64)) if rows else np.empty(0, np.int64)


def _as_floats(values: pa.Array) -> Floats:
    kept = values.type
    if pa.types.is_date(kept):
        return np.asarray(arrow.to_numpy(values.cast(pa.int32())).astype(np.float64))
    if pa.types.is_timestamp(kept):
        return np.asarray(arrow.to_numpy(values.cast(pa.int64())) / (1e6 * _DAY))
    if pa.types.is_decimal(kept):
        return np.asarray(arrow.to_numpy(pc.cast(values, pa.float64(), safe=False)))
    return np.asarray(arrow.to_numpy(values).astype(np.float64))
