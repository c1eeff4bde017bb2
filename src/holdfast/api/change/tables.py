"""Tables come and go while a state lives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from holdfast.api.change.transaction import Draft, make_change, table_draft
from holdfast.api.creation import read_table, record_of
from holdfast.api.open_state import Loaded
from holdfast.engines.registry import ALL_TABLES
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput, suggest
from holdfast.intake.source import ReadOptions
from holdfast.results.changed import Changed
from holdfast.store.records import TABLES
from holdfast.store.state_change import Reshaped
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
        table, record, ways = built.admitted.table, record_of(built), {**_ways(loaded), name: built.way}
        replaced = {name: record.where.segments}
        change = _change(own_id, table, "added", ways, tables=[record], replaced=replaced)
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
        ways = {each: way for each, way in _ways(loaded).items() if each != name}
        change = _change(own_id, tables[name].table, "dropped", ways, replaced={name: ()}, gone=[name])
        return table_draft(loaded, change, {each: own for each, own in tables.items() if each != name}, {})

    return make_change(loaded, change_id, draft)


def _ways(loaded: Loaded) -> dict[str, str]:
    """In which way each table was read."""
    ways: dict[str, str] = json.loads(loaded.store.meta("ways") or "{}")
    return ways


def _change(own_id: str, table: Table, done: str, ways: dict[str, str], **more: Any) -> Reshaped:
    """The change in which a table comes or goes."""
    name, about = table.schema.name, {"done": done, "rows": table.rows, "columns": len(table.schema.columns)}
    told, facts = {"tables": [{"table": name, **about}]}, {"ways": json.dumps(ways)}
    return Reshaped(own_id, TABLES, name, 0.0, told, facts, next_id=table.next_id, **more)
