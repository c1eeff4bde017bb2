"""A state is created: its tables are read whole, and all that holds in them is found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.api.checks import bound, classes_of
from holdfast.api.naming import named_record, named_table
from holdfast.api.open_state import OpenState
from holdfast.api.settings import settings_text, stored_settings
from holdfast.api.suggestions import suggestions_in
from holdfast.api.upkeep import Upkeep
from holdfast.engines.registry import names_in
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import BuiltTable, build_table
from holdfast.rules.file import Rules
from holdfast.store.records import TableRecord
from holdfast.table.rewrite import bytes_a_row


def read_table(
    state: OpenState, name: str, source: Any, options: ReadOptions | None, key: Sequence[str], columns: Sequence[str]
) -> BuiltTable:
    """A new table, read whole."""
    store, read = state.store, options or ReadOptions()
    return build_table(name, source, read, key, store.nulls, store.folder, state.spark, state.progress, columns)


def record_of(built: BuiltTable) -> TableRecord:
    """A new table as a state stores it."""
    table = built.admitted.table
    return TableRecord(table.schema, built.options.to_dict(), built.left_out, table.rows, table.files)


def start(state: OpenState, built: Mapping[str, BuiltTable], given: Rules | None, suggest: int | None) -> None:
    """Find what holds in tables that were just read, and make the state durable."""
    store, workspace = state.store, state.workspace
    for name, one in built.items():
        workspace.add(name, one)
        state.records[name] = record_of(one)
    store.put_meta("ways", json.dumps({name: one.reader for name, one in built.items()}))
    rules = given
    if suggest:
        found = suggestions_in(workspace, state.progress).rules(suggest)
        suggested = replace(found, entries=tuple(replace(each, origin="suggested") for each in found.entries))
        rules = suggested if given is None else given.with_others(suggested)
    if rules is not None:
        own = bound(rules, workspace.schemas, state.progress)
        store.put_meta("watch", json.dumps(names_in([*store.watched, *classes_of(rules)])))
        store.put_meta("settings", settings_text(stored_settings(store), own))
        for name, watched in workspace.tables.items():
            watched.table = named_table(watched.table, own)
            state.records[name] = named_record(state.records[name], own)
    workspace.engines = state.made_engines()
    for at in workspace.subjects():
        workspace.states[at] = workspace.discover(at, state.progress)
    Upkeep(state).remember_needed({name: bytes_a_row(each.table) for name, each in workspace.tables.items()})
    results = {at: each for at, each in workspace.results().items() if not workspace.engines[at[0]].declared.many}
    store.finish_creation(state.records.values(), results, state.write_states(workspace, {}))
    store.remove_orphans()
