"""Columns change while a state lives: they join, leave, get other names and wider types.

The history names the rules that a change makes meaningless. Rules of a column that is renamed stay, and so does what is
remembered of them. The engines search the changed table again, unless nothing but names change: then those that find
rules go on with what they know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, count

from holdfast.api.change.transaction import Draft, make_change, table_draft
from holdfast.api.open_state import Loaded
from holdfast.engines.contract import Json
from holdfast.engines.watched import WatchedTable
from holdfast.intake.evolution import columns_in, evolution
from holdfast.intake.tables import BatchReader, Sources
from holdfast.progress import Progress
from holdfast.results.changed import Changed
from holdfast.store.records import COLUMNS, TableRecord
from holdfast.store.state_change import Reshaped
from holdfast.table import files
from holdfast.table.columns import ColumnChange, changed_schema, with_columns
from holdfast.table.load import load_table
from holdfast.table.rewrite import used_codes
from holdfast.table.table import Schema, Table, TableFiles
from holdfast.table.types import show_type

Trial = Callable[[TableRecord, Table], None]  # raises where a changed table would not do


def change_columns(
    loaded: Loaded, table: str | None, change_id: str | None, change: ColumnChange, tried: Trial | None = None
) -> Changed:
    """Change the columns of a table; `tried` may refuse to, when it sees the table as it would be."""

    def draft(own_id: str) -> Draft | None:
        name, tables = loaded.table_name(table), loaded.watched.tables
        old = tables[name].table
        new = changed_schema(old.schema, change)
        if new.schema == old.schema:
            return None
        loaded.progress.step(f"Changing the columns of {name}")
        loaded.stale = True
        assert old.where is not None
        if change.only_names:
            where = TableFiles(new.schema, old.where.segments, old.next_id)
        else:
            where = with_columns(old, new, loaded.store.folder)
        now, record = load_table(where), _record(loaded.records[name], change, where, old.rows)
        if tried is not None:
            tried(record, now)
        about = {"columns": _columns_told(old.schema, change)}
        replaced = {} if change.only_names else {name: where.segments}
        made = Reshaped(own_id, COLUMNS, name, 0.0, about, tables=[record], replaced=replaced, next_id=where.next_id)
        parts = tables[name].dump() if change.only_names else ({}, {})
        changed = {**tables, name: WatchedTable(now, *parts)}
        return table_draft(loaded, made, changed, change.renamed, only_names=change.only_names)

    return make_change(loaded, change_id, draft)


def evolve(loaded: Loaded, sources: Sources, reader: BatchReader, batch_id: str) -> None:
    """Change a table so that the rows of a batch fit in, where they don't; says so. The rows are tried with the
    changed table first: where they would be refused still, nothing changes. With a quarantine, records that are no
    rows are passed over, and none are refused.
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

    def tried(record: TableRecord, changed: Table) -> None:
        trial = replace(reader, table=changed, left_out=record.left_out, progress=Progress())
        for segment in trial.admit(sources).segments:
            files.remove(segment.path)

    if change:
        own_id = _free_id(loaded, f"{batch_id}:columns")
        done = change_columns(loaded, name, own_id, change, None if tolerant else tried)
        loaded.progress.note(done.sentence())
        loaded.now()


def _free_id(loaded: Loaded, name: str) -> str:
    """A name for a change that no other has: a batch may change several tables, or be tried with another file."""
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(each for each in names if loaded.store.batch(each) is None)


def _record(before: TableRecord, change: ColumnChange, where: TableFiles, rows: int) -> TableRecord:
    """The table from now on; its files may have the columns that left still."""
    left_out = {*before.left_out, *change.dropped} - {*where.schema.names}
    return TableRecord(where.schema, before.options, tuple(sorted(left_out)), rows, where)


def _columns_told(schema: Schema, change: ColumnChange) -> list[Json]:
    """What is done to each column of a table that has a schema before."""
    types = {column.name: column.type for column in schema.columns}
    lines: list[Json] = [{"column": each.name, "done": "added", "type": show_type(each.type)} for each in change.added]
    lines += [{"column": name, "done": "dropped"} for name in change.dropped]
    lines += [{"column": old, "done": "renamed", "name": new} for old, new in change.renamed.items()]
    for name, kind in change.retyped.items():
        lines.append({"column": name, "done": "retyped", "before": show_type(types[name]), "type": show_type(kind)})
    return lines
