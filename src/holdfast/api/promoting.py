"""A rule that was found as one that is given."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from holdfast.table.table import Schema


def texts_among(columns: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """Those of some columns that hold text: their order has to be declared."""
    types = {column.name: column.type for column in schema.columns}
    return tuple(name for name in columns if name in types and pa.types.is_string(types[name]))
