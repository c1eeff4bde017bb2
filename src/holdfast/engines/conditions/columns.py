"""Rows as conditions look at them: their columns by name, each code once, and the values of codes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.rules.check import types_of
from holdfast.table.rows import Rows
from holdfast.table.table import Table

Codes = NDArray[np.integer[Any]]
Array = TypeVar("Array", bound=NDArray[Any])
_FEW = 8  # codes that are at most an eighth of a dictionary's are sorted, rather than marked among all


class Distinct(NamedTuple):
    """The codes of a column that some rows have, each once; and how what is known of these becomes what is known of
    the rows.
    """

    codes: NDArray[np.int64]
    spread: Callable[[Any], Any]


class NamedColumns:
    """The columns of some rows. Values are decoded when they are first read."""

    def __init__(self, encoding: Table, count: int, codes_of: Callable[[int], Codes], distinct: bool = False) -> None:
        self.encoding, self.count, self.is_distinct = encoding, count, distinct
        self._codes_of = codes_of
        self._values: dict[str, pa.Array] = {}
        self._distinct: dict[str, Distinct] = {}

    @staticmethod
    def of(rows: Rows) -> NamedColumns:
        """Those of rows of a table."""
        return NamedColumns(rows.encoding, len(rows), rows.codes)

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        """The types of the columns."""
        return dict(types_of(self.encoding.schema))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.encoding.schema.names)}

    def codes(self, column: str) -> Codes:
        """The codes of a column."""
        return self._codes_of(self._places[column])

    def values(self, column: str) -> pa.Array:
        """The values of a column."""
        if column not in self._values:
            dictionary = self.encoding.dictionaries[self._places[column]]
            self._values[column] = dictionary.values(self.codes(column))
        return self._values[column]

    def distinct(self, column: str) -> Distinct:
        """The codes of a column, each once."""
        if column not in self._distinct:
            size = len(self.encoding.dictionaries[self._places[column]])
            self._distinct[column] = _distinct(self.codes(column), size)
        return self._distinct[column]

    def with_values(self, column: str) -> NamedColumns:
        """Rows of one column that has each of its values once."""
        codes = self.distinct(column).codes
        return NamedColumns(self.encoding, len(codes), lambda _: codes, distinct=True)


def _distinct(codes: Codes, size: int) -> Distinct:
    """The codes among `size` that occur: sorted where they are few, else marked."""
    if len(codes) * _FEW < size:
        found, places = np.unique(codes, return_inverse=True)
        return Distinct(found.astype(np.int64), lambda known: known[places])
    marks = np.zeros(size, np.bool_)
    marks[codes] = True
    occurring = np.flatnonzero(marks)

    def spread(known: Array) -> Array:
        of_code = np.zeros(size, known.dtype)
        of_code[occurring] = known
        return of_code[codes]  # type: ignore[return-value]  # an array like the one given

    return Distinct(occurring, spread)
