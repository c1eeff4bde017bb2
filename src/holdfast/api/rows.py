"""Rows by number, or by their values: what they hold, whether they live, and which batches brought and removed them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.engines.registry import table_of_rows
from holdfast.errors import BadInput
from holdfast.results.rows import Row
from holdfast.sources.inference import BadValue, cast_text
from holdfast.store.store import Store
from holdfast.table import files
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.encode import cast, column_images
from holdfast.table.plain import plain_rows
from holdfast.table.row_names import key_names
from holdfast.table.table import Table
from holdfast.table.types import Column, show_type
from holdfast.text.row_names import Values

Ids = NDArray[np.int64]
_Stored = tuple[Values, Values, tuple[int, str] | None]  # values, key, and the batch and the rule that the row broke


def rows_of(table: Table, store: Store, numbers: Sequence[int]) -> list[Row]:
    """Rows of a table by their numbers; numbers that no row ever had are refused."""
    unknown = [number for number in numbers if not 0 <= number < table.next_id]
    if unknown:
        known = f"its rows are numbered from 0 to {table.next_id - 1}" if table.next_id else "it never had a row"
        raise BadInput(f"table {table.schema.name} has no row {unknown[0]}: {known}")
    ids = np.array(numbers, np.int64)
    there, alive = table.which_live(ids)
    stored = _in_files(table, ids[there]) | _in_events(table, store, ids[~there].tolist())
    came = _insertions(table.schema.name, store, ids)
    gone = _deletions(table.schema.name, store, ids[~alive])
    return [
        Row(table.schema.name, number, lives, batch, gone.get(number), *stored.get(number, ()))
        for number, lives, batch in zip(ids.tolist(), alive.tolist(), came.tolist(), strict=True)
    ]


def _in_files(table: Table, ids: Ids) -> dict[int, _Stored]:
    key, values = key_names(table.schema), plain_rows(table.values(ids))
    return {
        number: (row, {name: row[name] for name in key}, None) for number, row in zip(ids.tolist(), values, strict=True)
    }


def _in_events(table: Table, store: Store, numbers: list[int]) -> dict[int, _Stored]:
    """The values that each row had when it last broke a rule, as far as they are stored."""
    if not numbers:
        return {}
    name, key = table.schema.name, key_names(table.schema)
    found: dict[int, _Stored] = {}
    batch_number = store.numbers().of
    for number, seq, rule, values in store.memory.rows_by_number(name, numbers):
        found.setdefault(number, (values, {column: values[column] for column in key}, (batch_number(seq), rule)))
    for engine, about, seq, rule, witness in store.memory.witnesses_of([n for n in numbers if n not in found]):
        if name != table_of_rows(engine, about, rule):
            continue
        for number, own in zip(witness["rows"], witness["keys"], strict=True):
            if own:  # or it was forgotten
                found.setdefault(number, (own, own, (batch_number(seq), rule)))
    return found


def _insertions(name: str, store: Store, ids: Ids) -> Ids:
    """The number of the batch that brought each row: rows are numbered in the order of batches."""
    born, batch_number = store.births(name), store.numbers().of
    return np.array([0, *(batch_number(seq) for seq, _ in born)])[
        np.searchsorted([first for _, first in born], ids, side="right")
    ]


def _deletions(name: str, store: Store, ids: Ids) -> dict[int, int]:
    """The numbers of the batches that removed rows, where files show it.

    Merged files count as files of the last batch. So if no file of the start is left, the first batch with files has
    its own deaths and all earlier ones, and is skipped.
    """
    if not len(ids):
        return {}
    own = store.bulk.by_batch(name)
    deaths = [(seq, path) for seq, path in own if seq]
    merged = deaths[0][0] if deaths and len(deaths) == len(own) else 0
    found: dict[int, int] = {}
    batch_number = store.numbers().of
    for seq, path in deaths:
        if seq > merged:
            with suppress(FileNotFoundError):  # a writer may just have merged it
                dead = files.read(path)[0].get("dead", ids[:0])
                found |= dict.fromkeys(ids[np.isin(ids, dead)].tolist(), batch_number(seq))
    return found


# ---- by values ------------------------------------------------------------------------------------------------------


def matching(table: Table, where: Mapping[str, Any]) -> Ids:
    """The rows in the table's files, dead or alive, with given values; a text is read as the column's type."""
    codes = {}
    for name, value in where.items():
        if name not in table.schema.names:
            names = ", ".join(table.schema.names)
            raise BadInput(f"table {table.schema.name} has no column {name!r}; its columns are {names}")
        column = table.schema.names.index(name)
        codes[column] = _code(table, column, value)
    found = [np.empty(0, np.int64)]
    for shard in table.shards:
        good = np.ones(len(shard), np.bool_)
        for column, code in codes.items():
            good &= shard.columns[column] == code
        found.append(shard.ids_of(np.flatnonzero(good)))
    return np.concatenate(found)


def _code(table: Table, number: int, value: Any) -> int:
    """The code of a value; -1 where the column never had it."""
    column = table.schema.columns[number]
    if value is None:
        return NULL_CODE
    try:
        values = _from_text(column, value) if isinstance(value, str) else cast(pa.array([value]), column)
    except (BadValue, pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        shown = show_type(column.type)
        raise BadInput(f"column {column.name!r}: {value!r} is no value of type {shown}") from None
    return int(table.dictionaries[number].lookup(column_images(values, column))[0])


def _from_text(column: Column, text: str) -> pa.Array:
    """The value that a text shows; files of text have no times and durations, but tables have."""
    if pa.types.is_duration(column.type):
        return pa.array([text]).cast(pa.int64()).cast(column.type)
    if pa.types.is_time(column.type):
        return pa.array([f"1970-01-01 {text}"]).cast(pa.timestamp("us")).cast(column.type)  # Arrow reads no times
    return cast_text(pa.array([text]), column.type, ())
