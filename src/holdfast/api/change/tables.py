"""Tables come and go while a state lives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from holdfast.api.change.reshape import Draft, make_change, table_draft
from holdfast.api.creation import read_table, record_of
from holdfast.api.loaded import Loaded
from holdfast.engines.contract import Json
from holdfast.engines.registry import ALL_TABLES
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput, suggest
from holdfast.intake.reading import ReadOptions
from holdfast.results.changed import Changed
from holdfast.store.records import TABLES
from holdfast.store.reshape import Reshaped
from holdfast.table.table import Table


def add_table(
    loaded: Loaded,
    name: str,
    source: Any,
    key: str | Sequence[str],
    columns: str | Sequence[str],
    options: ReadOptions | None,
    change_id: str | None,
) -> Changed:
    """Watch one more table."""

    def draft(own_id: str) -> Draft:
        tables = loaded.watched.tables
        if name in tables or name == ALL_TABLES:
            raise BadInput(f"there is a table {name!r} already; choose another name")
        names, chosen = ([each] if isinstance(each, str) else list(each) for each in (key, columns))
        built = read_table(loaded, name, source, options, names, chosen)
        table, record = built.admitted.table, record_of(built)
        about, facts = {"tables": [_told(table, "added")]}, {"ways": _ways(loaded, name, built.way)}
        where = record.where
        change = Reshaped(
            own_id, TABLES, name, 0.0, about, facts,
            tables=[record], replaced={name: where.segments}, next_id=where.next_id,
        )  # fmt: skip
        return table_draft(loaded, change, {**tables, name: WatchedTable(table)}, {})

    return make_change(loaded, change_id, draft)


def drop_table(loaded: Loaded, name: str, change_id: str | None) -> Changed:
    """Watch a table no longer."""

    def draft(own_id: str) -> Draft:
        tables = loaded.watched.tables
        if name not in tables:
            raise BadInput(f"there is no table {name!r}; {suggest(name, tables)}")
        if len(tables) == 1:
            raise BadInput(
                f"{name} is the only table here, and a state without tables is none; remove its folder instead"
            )
        table = tables[name].table
        about, facts = {"tables": [_told(table, "dropped")]}, {"ways": _ways(loaded, name, None)}
        change = Reshaped(
            own_id, TABLES, name, 0.0, about, facts, replaced={name: ()}, next_id=table.next_id, gone=[name]
        )
        return table_draft(loaded, change, {each: own for each, own in tables.items() if each != name}, {})

    return make_change(loaded, change_id, draft)


def _ways(loaded: Loaded, name: str, way: str | None) -> str:
    """In which way each table was read, with another one or without it."""
    ways = json.loads(loaded.store.meta("ways") or "{}")
    others = {table: known for table, known in ways.items() if table != name}
    return json.dumps(others if way is None else {**others, name: way})


def _told(table: Table, done: str) -> Json:
    return {"table": table.schema.name, "done": done, "rows": table.rows, "columns": len(table.schema.columns)}
