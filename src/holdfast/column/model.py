"""The facts of one column."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

Plain = int | float | str | bool | None


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


def plain_values(values: pa.Array) -> list[Plain]:
    """Values as JSON knows them: dates, times and decimals as text, and so the floats that JSON lacks."""
    return [_plain(value) for value in values.to_pylist()]


def _plain(value: Any) -> Plain:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, int | float | str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
