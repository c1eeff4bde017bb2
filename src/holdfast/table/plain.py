"""Values as JSON knows them."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa

Plain = int | float | str | bool | None


def plain_values(values: pa.Array) -> list[Plain]:
    """Values as JSON knows them: dates, times and decimals as text, and so the floats that JSON lacks."""
    if pa.types.is_temporal(values.type):  # as text by Arrow: Python's dates end with the year 9999
        return [value if value is None else str(value) for value in values.cast(pa.string()).to_pylist()]
    return [_plain(value) for value in values.to_pylist()]


def _plain(value: Any) -> Plain:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, int | float | str):
        return value
    return str(value)


def plain_rows(table: pa.Table) -> list[dict[str, Plain]]:
    """The rows of a table, with plain values."""
    columns = [plain_values(column.combine_chunks()) for column in table.columns]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]
