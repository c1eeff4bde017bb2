"""The columns that a setting names."""

from __future__ import annotations

from holdfast.errors import BadInput
from holdfast.table.table import Schema
from holdfast.text.quotes import listed_names


def columns_named(option: str, names: str | None, schema: Schema) -> tuple[int, ...] | None:
    """The columns of a table that a setting names; None where it is not given."""
    if names is None:
        return None
    named = listed_names(names)
    for name in named:
        if name not in schema.names:
            known = ", ".join(schema.names)
            raise BadInput(f"--{option}: there is no column {name!r} in {schema.name}; choose from: {known}")
    return tuple(sorted({schema.names.index(name) for name in named}))
