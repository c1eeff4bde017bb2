"""Columns of a table are added, dropped, renamed and retyped, and declared sensitive.

The history names the rules that a change makes meaningless. Rules of a renamed column stay, with their history. The
engines search the changed table again; where only names change, those that find rules go on with what they know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, count

from holdfast.api.change.renames import Renames
from holdfast.api.change.spec import stored_spec
from holdfast.api.change.watch_change import Draft, make_change, table_draft
from holdfast.api.open_state import OpenState
from holdfast.engines.contract import Json
from holdfast.engines.watched import WatchedTable
from holdfast.errors import refuse_none_of
from holdfast.intake.evolution import columns_in, evolution
from holdfast.intake.tables import BatchReader, Sources
from holdfast.progress import Progress
from holdfast.results.changed import Changed
from holdfast.store.records import COLUMNS, TableRecord
from holdfast.store.watch_change import WatchChange
from holdfast.table import files
from holdfast.table.columns import ColumnChange, changed_schema, with_columns
from holdfast.table.load import load_table
from holdfast.table.rewrite import used_codes
from holdfast.table.table import Schema, Table, TableFiles
from holdfast.table.types import show_type

Trial = Callable[[TableRecord, Table], None]  # raises where the changed table would not fit


def change_columns(
    state: OpenState, table: str | None, change_id: str | None, change: ColumnChange, trial: Trial | None = None
) -> Changed:
    """Change the columns of a table; `trial` sees the table as it would be, and may refuse it."""

    def draft(own_id: str) -> Draft | None:
        name, tables = state.table_name(table), state.workspace.tables
        old = tables[name].table
        new = changed_schema(old.schema, change)
        if new.schema == old.schema:
            return None
        state.progress.step(f"Changing the columns of {name}")
        state.stale = True
        if change.only_names:
            where = TableFiles(new.schema, old.files.segments, old.next_id)
        else:
            where = with_columns(old, new, state.store.folder)
        now, record = load_table(where), _record(state.records[name], change, where, old.rows)
        if trial is not None:
            trial(record, now)
        about = {"columns": _described(old.schema, change)}
        replaced = {} if change.only_names else {name: where.segments}
        made = WatchChange(own_id, COLUMNS, name, 0.0, about, tables=[record], replaced=replaced, next_id=where.next_id)
        parts = tables[name].dump() if change.only_names else ({}, {})
        changed = {**tables, name: WatchedTable(now, *parts)}
        return table_draft(state, made, changed, change.renamed, only_names=change.only_names)

    return make_change(state, change_id, draft)


def declare_sensitive(
    state: OpenState, table: str | None, columns: Sequence[str], undo: bool, change_id: str | None
) -> Changed:
    """Declare columns sensitive, or no longer so."""

    def draft(own_id: str) -> Draft:
        name, spec = state.table_name(table), stored_spec(state.store)
        known = spec.sensitive.get(name, ())
        if undo:
            refuse_none_of(columns, known, f"no sensitive column of {name}")
        else:
            refuse_none_of(columns, state.workspace.tables[name].table.schema.names, f"no column of {name}")
        done = "not sensitive" if undo else "sensitive"
        lines = [{"column": each, "done": done} for each in columns if undo or each not in known]
        change = WatchChange(own_id, COLUMNS, name, 0.0, {"columns": lines} if lines else {})
        return Draft(change, spec.with_sensitive(name, columns, undo), state.workspace.tables, Renames(name, {}))

    return make_change(state, change_id, draft)


def evolve(state: OpenState, sources: Sources, reader: BatchReader, batch_id: str) -> None:
    """Change a table so that the rows of a batch fit, where they don't, and say so. The rows are first tried with the
    changed table: if they would still be refused, nothing changes. With a quarantine nothing is refused, and records
    that are no rows are skipped.
    """
    table, tolerant = reader.table, reader.quarantine is not None
    name = table.schema.name
    if sources.of_rows is None:
        return
    found = columns_in(sources.of_rows, name, reader.options, reader.spark, reader.folder, tolerant=tolerant)
    if not found:
        return
    change = evolution(
        table.schema,
        found,
        reader.left_out,
        lambda place: len(used_codes(table, place)) == 1,
        reader.operation_column,
        is_feed=sources.changes is not None,
    )

    def trial(record: TableRecord, changed: Table) -> None:
        other = replace(reader, table=changed, left_out=record.left_out, progress=Progress())
        for segment in other.admit(sources).segments:
            files.remove(segment.path)

    if change:
        own_id = _free_id(state, f"{batch_id}:columns")
        done = change_columns(state, name, own_id, change, None if tolerant else trial)
        state.progress.note(done.sentence())
        state.now()


def _free_id(state: OpenState, name: str) -> str:
    """An unused id for a change: a batch may change several tables, or be tried again with another file."""
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(each for each in names if state.store.batch(each) is None)


def _record(before: TableRecord, change: ColumnChange, where: TableFiles, rows: int) -> TableRecord:
    """The table from now on; later files may still have the columns that were dropped."""
    left_out = {*before.left_out, *change.dropped} - {*where.schema.names}
    return TableRecord(where.schema, before.options, tuple(sorted(left_out)), rows, where)


def _described(schema: Schema, change: ColumnChange) -> list[Json]:
    """What is done to each column of a table with a schema."""
    types = {column.name: column.type for column in schema.columns}
    lines: list[Json] = [{"column": each.name, "done": "added", "type": show_type(each.type)} for each in change.added]
    lines += [{"column": name, "done": "dropped"} for name in change.dropped]
    lines += [{"column": old, "done": "renamed", "name": new} for old, new in change.renamed.items()]
    for name, kind in change.retyped.items():
        lines.append({"column": name, "done": "retyped", "before": show_type(types[name]), "type": show_type(kind)})
    return lines
