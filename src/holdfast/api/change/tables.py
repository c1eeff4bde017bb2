"""Tables are added to a state and dropped from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from holdfast.api.change.watch_change import Draft, make_change, table_draft
from holdfast.api.creation import read_table, record_of
from holdfast.api.expectations import first_expected
from holdfast.api.open_state import OpenState
from holdfast.engines.registry import ALL_TABLES
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput, suggest
from holdfast.intake.source import ReadOptions
from holdfast.results.changed import Changed
from holdfast.store.records import TABLES
from holdfast.store.watch_change import WatchChange
from holdfast.table.table import Table


def add_table(
    state: OpenState,
    name: str,
    source: Any,
    key: str | Sequence[str],
    columns: str | Sequence[str],
    options: ReadOptions | None,
    change_id: str | None,
) -> Changed:
    """Watch one more table."""

    def draft(own_id: str) -> Draft:
        tables = state.workspace.tables
        if name in tables or name == ALL_TABLES:
            raise BadInput(f"there is a table {name!r} already; choose another name")
        names, chosen = ([each] if isinstance(each, str) else list(each) for each in (key, columns))
        built = read_table(state, name, source, options, names, chosen)
        table, record, ways = built.admitted.table, record_of(built), {**state.store.facts("ways"), name: built.reader}
        replaced = {name: record.where.segments}
        new = {name: table} if state.store.expectations.are_on else {}
        expected = first_expected(new, None, state.progress)
        change = _change(own_id, table, "added", ways, tables=[record], replaced=replaced, expected=expected)
        return table_draft(state, change, {**tables, name: WatchedTable(table)}, {})

    return make_change(state, change_id, draft)


def drop_table(state: OpenState, name: str, change_id: str | None) -> Changed:
    """Stop watching a table."""

    def draft(own_id: str) -> Draft:
        tables = state.workspace.tables
        if name not in tables:
            raise BadInput(f"there is no table {name!r}; {suggest(name, tables)}")
        if len(tables) == 1:
            raise BadInput(f"{name} is the only table here, and a state needs one; remove its folder instead")
        ways = {each: way for each, way in state.store.facts("ways").items() if each != name}
        change = _change(own_id, tables[name].table, "dropped", ways, replaced={name: ()}, gone=[name])
        return table_draft(state, change, {each: own for each, own in tables.items() if each != name}, {})

    return make_change(state, change_id, draft)


def _change(own_id: str, table: Table, done: str, ways: dict[str, str], **more: Any) -> WatchChange:
    """The change in which a table is added or dropped."""
    name, about = table.schema.name, {"done": done, "rows": table.rows, "columns": len(table.schema.columns)}
    done_to, facts = {"tables": [{"table": name, **about}]}, {"ways": json.dumps(ways)}
    return WatchChange(own_id, TABLES, name, 0.0, done_to, facts, next_id=table.next_id, **more)
