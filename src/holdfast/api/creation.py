"""A state is created: its tables are read whole, and all that holds in them is found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.api.checks import bound, classes_of
from holdfast.api.open_state import Loaded
from holdfast.api.stored import kept_settings, settings_text, written_states
from holdfast.api.suggestions import suggestions_in
from holdfast.api.upkeep import Upkeep
from holdfast.engines.registry import names_in
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import Built, build_table
from holdfast.rules.file import Rules
from holdfast.store.records import TableRecord
from holdfast.table.rewrite import bytes_a_row


def read_table(
    loaded: Loaded, name: str, source: Any, options: ReadOptions | None, key: Sequence[str], columns: Sequence[str]
) -> Built:
    """A new table, read whole."""
    store, read = loaded.store, options or ReadOptions()
    return build_table(name, source, read, key, store.nulls, store.folder, loaded.spark, loaded.progress, columns)


def record_of(built: Built) -> TableRecord:
    """A new table as a state keeps it."""
    table = built.admitted.table
    assert table.where is not None
    return TableRecord(table.schema, built.options.to_dict(), built.left_out, table.rows, table.where)


def start(loaded: Loaded, built: Mapping[str, Built], given: Rules | None, suggest: int | None) -> None:
    """Find what holds in tables that were just read, and keep it."""
    store, watched = loaded.store, loaded.watched
    for name, one in built.items():
        watched.add(name, one)
        loaded.records[name] = record_of(one)
    store.put_meta("ways", json.dumps({name: one.way for name, one in built.items()}))
    rules = given
    if suggest:
        suggested = suggestions_in(watched, loaded.progress).rules(suggest)
        rules = suggested if given is None else given.with_others(suggested)
    if rules is not None:
        own = bound(rules, watched.schemas, loaded.progress)
        store.put_meta("watch", json.dumps(names_in([*store.watched, *classes_of(rules)])))
        store.put_meta("settings", settings_text(kept_settings(store), own))
    watched.engines = loaded.made_engines()
    for at in watched.subjects():
        watched.states[at] = watched.found(at, loaded.progress)
    Upkeep(loaded).remember_needed({name: bytes_a_row(each.table) for name, each in watched.tables.items()})
    results = {at: each for at, each in watched.results().items() if not watched.engines[at[0]].declared.many}
    store.finish_creation(loaded.records.values(), results, written_states(store, watched, {}))
    store.remove_orphans()
