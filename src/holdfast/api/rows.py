"""Rows by number, or by their values: what they hold, whether they live, and which batches brought and removed them.

A row that died lies in the files of its table until they are merged. After that, what an event keeps of it (the rows
that broke a rule) is all there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.changes.naming import Values, by_key, by_number
from holdfast.engines.registry import table_of_rows
from holdfast.errors import BadInput
from holdfast.sources.infer import BadValue, cast_text
from holdfast.store.store import Store
from holdfast.table import files
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.encode import cast, column_images
from holdfast.table.naming import key_names, which_live
from holdfast.table.plain import plain_rows
from holdfast.table.shard import Shard
from holdfast.table.table import Table
from holdfast.table.types import Column, show_type

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Kept:
    """What is kept of a row, and where: in the files of the table, or with the event of a rule that it broke."""

    values: Values
    key: Values
    place: Literal["files", "event"] = "files"
    batch: int | None = None  # of the event
    rule: str | None = None


@dataclass(frozen=True)
class Row:
    """A row: the batch that inserted it (0: it was there from the start), and the one that deleted it, if that can be
    told; its values are None where they are not kept any more.
    """

    table: str
    number: int
    alive: bool
    inserted_by: int
    deleted_by: int | None
    kept: Kept | None

    @property
    def name(self) -> str:
        """What it is called: its key, or its number."""
        return by_key(self.kept.key) if self.kept and self.kept.key else by_number(self.number)

    @property
    def values(self) -> Values | None:
        """Its values by column, or those that are kept."""
        return self.kept.values if self.kept else None

    def __str__(self) -> str:
        came = f"inserted by batch {self.inserted_by}" if self.inserted_by else "there from the start"
        if self.alive:
            return f"{self._called()}: {came}"
        gone = f"deleted by batch {self.deleted_by}" if self.deleted_by else "deleted"
        return f"{self._called()}: {came}, {gone}; {self._where()}"

    def _called(self) -> str:
        number = by_number(self.number)
        return f"{number} of {self.table}" if self.name == number else f"{number} of {self.table} ({self.name})"

    def _where(self) -> str:
        if self.kept is None:
            return "its values are not kept any more"
        if self.kept.place == "files":
            return "its values still lie in the files"
        return f"of its values, those are kept that were told when {self.kept.rule} broke with batch {self.kept.batch}"

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        kept = self.kept
        event = {"event": {"batch": kept.batch, "rule": kept.rule}} if kept and kept.place == "event" else {}
        return {
            "kind": "row",
            "table": self.table,
            "row": self.number,
            **({"key": dict(kept.key)} if kept and kept.key else {}),
            "alive": self.alive,
            "inserted_by": self.inserted_by,
            "deleted_by": self.deleted_by,
            "kept_in": kept.place if kept else None,
            **event,
            "values": dict(kept.values) if kept else None,
        }


def rows_of(table: Table, store: Store, numbers: Sequence[int]) -> list[Row]:
    """Rows of a table by their numbers; those that never were there are refused."""
    unknown = [number for number in numbers if not 0 <= number < table.next_id]
    if unknown:
        known = f"its rows are numbered from 0 to {table.next_id - 1}" if table.next_id else "it never had a row"
        raise BadInput(f"table {table.schema.name} has no row {unknown[0]}: {known}")
    ids = np.array(numbers, np.int64)
    there, alive = which_live(table, ids)
    kept = _in_files(table, ids[there]) | _in_events(table, store, ids[~there].tolist())
    came = _insertions(table.schema.name, store, ids)
    gone = _deletions(table.schema.name, store, ids[~alive])
    return [
        Row(table.schema.name, number, lives, batch, gone.get(number), kept.get(number))
        for number, lives, batch in zip(ids.tolist(), alive.tolist(), came.tolist(), strict=True)
    ]


def _in_files(table: Table, ids: Ids) -> dict[int, Kept]:
    key = key_names(table.schema)
    values = plain_rows(table.values(ids))
    return {
        number: Kept(row, {name: row[name] for name in key}) for number, row in zip(ids.tolist(), values, strict=True)
    }


def _in_events(table: Table, store: Store, numbers: list[int]) -> dict[int, Kept]:
    """What is kept of each row from when it last broke a rule."""
    if not numbers:
        return {}
    name, key = table.schema.name, key_names(table.schema)
    found: dict[int, Kept] = {}
    for number, batch, rule, values in store.remembered.rows_by_number(name, numbers):
        found.setdefault(number, Kept(values, {column: values[column] for column in key}, "event", batch, rule))
    for engine, about, batch, rule, witness in store.remembered.witnesses_of([n for n in numbers if n not in found]):
        if name != table_of_rows(engine, about, rule):
            continue
        for number, own in zip(witness["rows"], witness["keys"], strict=True):
            if own:  # or it was forgotten
                found.setdefault(number, Kept(own, own, "event", batch, rule))
    return found


def _insertions(name: str, store: Store, ids: Ids) -> Ids:
    """The batch that brought each row: numbers are given in the order of batches."""
    born = store.births(name)
    return np.array([0, *(seq for seq, _ in born)])[np.searchsorted([first for _, first in born], ids, side="right")]


def _deletions(name: str, store: Store, ids: Ids) -> dict[int, int]:
    """The batches that removed some rows, where files tell.

    When files are merged, all that there are count as those of the last batch. So if none is left of the start, the
    first batch that has any tells of its own deaths and of earlier ones alike, and is not asked.
    """
    if not len(ids):
        return {}
    own = store.files_by_batch(name)
    deaths = [(seq, path) for seq, path in own if seq]
    merged = deaths[0][0] if deaths and len(deaths) == len(own) else 0
    found: dict[int, int] = {}
    for seq, path in deaths:
        if seq > merged:
            with suppress(FileNotFoundError):  # a writer may just have merged it
                dead = files.read(path)[0].get("dead", ids[:0])
                found |= dict.fromkeys(ids[np.isin(ids, dead)].tolist(), seq)
    return found


# ---- by values ------------------------------------------------------------------------------------------------------


def matching(table: Table, where: Mapping[str, Any]) -> Ids:
    """The rows in the table's files, dead or alive, that have some values; a text is read as the column's type."""
    codes = {}
    for name, value in where.items():
        if name not in table.schema.names:
            names = ", ".join(table.schema.names)
            raise BadInput(f"table {table.schema.name} has no column {name!r}; its columns are {names}")
        column = table.schema.names.index(name)
        codes[column] = _code(table, column, value)
    parts = [shard.ids_of(np.flatnonzero(_having(shard, codes))) for shard in table.shards]
    return np.concatenate([np.empty(0, np.int64), *parts])


def _having(shard: Shard, codes: Mapping[int, int]) -> NDArray[np.bool_]:
    good = np.ones(len(shard), np.bool_)
    for column, code in codes.items():
        good &= shard.columns[column] == code
    return good


def _code(table: Table, number: int, value: Any) -> int:
    """The code of a value; -1 where the column never had it."""
    column = table.schema.columns[number]
    if value is None:
        return NULL_CODE
    values = _from_text(column, value) if isinstance(value, str) else _from_python(column, value)
    return int(table.dictionaries[number].lookup(column_images(values, column))[0])


def _from_text(column: Column, text: str) -> pa.Array:
    """A value as text shows it; no text file has columns of times and durations, but tables have."""
    try:
        if pa.types.is_duration(column.type):
            return pa.array([text]).cast(pa.int64()).cast(column.type)
        if pa.types.is_time(column.type):
            return pa.array([f"1970-01-01 {text}"]).cast(pa.timestamp("us")).cast(column.type)  # Arrow reads no times
        return cast_text(pa.array([text]), column.type, ())
    except (BadValue, pa.ArrowInvalid):
        raise _no_value(column, text) from None


def _from_python(column: Column, value: Any) -> pa.Array:
    try:
        return cast(pa.array([value]), column)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        raise _no_value(column, value) from None


def _no_value(column: Column, value: Any) -> BadInput:
    return BadInput(f"column {column.name!r}: {value!r} is no value of type {show_type(column.type)}")
