"""Text tables with types, as a small CSV file gets them."""

from __future__ import annotations

import pyarrow as pa

from holdfast.sources.dialect import CsvOptions
from holdfast.sources.local import infer_schema, typed_dictionaries


def typed_table(
    text: pa.Table, options: CsvOptions, schema: pa.Schema | None, name: str
) -> tuple[pa.Table, tuple[str, ...]]:
    """The table with the types of a schema, or those that its values show, and the texts that are nulls."""
    table = encoded(text)
    nulls = ("",) if options.nulls is None else options.nulls
    if schema is None:
        schema, nulls, _ = infer_schema(table, options)
    return typed_dictionaries(table, nulls, schema, name).cast(schema), nulls


def encoded(text: pa.Table) -> pa.Table:
    """The table with each column as indices into its distinct texts."""
    columns = [
        column if pa.types.is_dictionary(column.type) else column.dictionary_encode().unify_dictionaries()
        for column in text.columns
    ]
    return pa.Table.from_arrays(columns, names=text.column_names)
