"""Columns change while a state lives: they join, leave, get other names and wider types.

Each change is one transaction, stands in the history like a batch, and is told with the rules that it makes
meaningless. Rules of a column that is renamed stay, and so does what is remembered of them. The engines look at the
changed table anew, unless nothing but names change: then those that find rules go on with what they know.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from holdfast.api.rule_change import Results, events, is_found, told
from holdfast.api.ruling import Ruling, Subject
from holdfast.engines.contract import Json
from holdfast.engines.registry import ALL_TABLES
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.intake.build import BatchReader, Sources
from holdfast.intake.evolve import columns_in, evolution
from holdfast.progress import Progress
from holdfast.results.changed import Changed
from holdfast.sources.ddl import parse_plain_ddl
from holdfast.store.records import COLUMNS, TableRecord
from holdfast.store.reshape import Reshaped
from holdfast.table import files
from holdfast.table.columns import ColumnChange, NewSchema, changed_schema, with_columns
from holdfast.table.load import load_table
from holdfast.table.rewrite import used_codes
from holdfast.table.table import Schema, Table, TableFiles
from holdfast.table.types import Column, kept_type, show_type

if TYPE_CHECKING:
    from holdfast.api.renaming import Renaming
    from holdfast.api.wanted import Wanted

Trial = Callable[[TableRecord, Table], None]  # raises where a changed table would not do


class Evolving(Ruling):
    """A state whose tables' columns can be changed."""

    def add_column(
        self, name: str, kind: str | pa.DataType, *, table: str | None = None, change_id: str | None = None
    ) -> Changed:
        """A new column of a type such as `integer`, `decimal(10,2)` or `text`, null in all rows that are there."""
        return self._change_columns(table, change_id, ColumnChange(added=(Column(name, _type(kind)),)))

    def drop_column(self, name: str, *, table: str | None = None, change_id: str | None = None) -> Changed:
        """A column leaves, with the rules that speak of it; files may have it still."""
        return self._change_columns(table, change_id, ColumnChange(dropped=(name,)))

    def rename_column(self, old: str, new: str, *, table: str | None = None, change_id: str | None = None) -> Changed:
        """A column gets another name, and keeps its rules."""
        return self._change_columns(table, change_id, ColumnChange(renamed={old: new}))

    def retype_column(
        self, name: str, kind: str | pa.DataType, *, table: str | None = None, change_id: str | None = None
    ) -> Changed:
        """A column gets a wider type, in which every value means what it meant; or becomes text."""
        return self._change_columns(table, change_id, ColumnChange(retyped={name: _type(kind)}))

    def _evolve(self, sources: Sources, reader: BatchReader, batch_id: str) -> None:
        """Change a table so that the rows of a batch fit in, where they don't; says so. The rows are tried with the
        changed table first: where they would be refused still, nothing changes. With a quarantine, records that are no
        rows are passed over, and none are refused.
        """
        table, tolerant = reader.table, reader.quarantine is not None
        name = table.schema.name
        if sources.of_rows is None:
            return
        found = columns_in(sources.of_rows, name, reader.options, self._spark, reader.folder, tolerant=tolerant)
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
            own_id = self._free_id(f"{batch_id}:columns")
            done = self._change_columns(name, own_id, change, None if tolerant else tried)
            self._progress.note(done.sentence())
            self._refresh()

    def _free_id(self, name: str) -> str:
        """A name for a change that no other has: a batch may change several tables, or be tried with another file."""
        names = chain([name], (f"{name}-{number}" for number in count(2)))
        return next(each for each in names if self._store.batch(each) is None)

    # ---- a change ---------------------------------------------------------------------------------------------------

    def _change_columns(
        self, table: str | None, change_id: str | None, change: ColumnChange, tried: Trial | None = None
    ) -> Changed:
        """Change the columns of a table; `tried` may refuse to, when it sees the table as it would be."""

        def make(change_id: str) -> Changed:
            name = self._table_name(table)
            new = changed_schema(self._tables[name].schema, change)
            if new.schema == self._tables[name].schema:
                return Changed(None)
            started = time.perf_counter()
            self._progress.step(f"Changing the columns of {name}")
            self._stale = True
            where = self._written(name, change, new)
            record = self._record(name, change, where)
            if tried is not None:
                tried(record, load_table(where))
            return self._reshape_columns(change, record, change_id, started)

        return self._made(change_id, make)

    def _reshape_columns(self, change: ColumnChange, record: TableRecord, change_id: str, started: float) -> Changed:
        """Look at a table anew that was written with other columns."""
        where, name = record.where, record.schema.name
        before, old_results = self._wanted(), self._results()
        about = {"columns": _columns_told(self._tables[name].schema, change)}
        known_by_number = self._known_by_number(name) if change.only_names else {}
        parts = self._watched[name].dump() if change.only_names else ({}, {})
        self._watched[name] = WatchedTable(load_table(where), *parts)
        replaced = {} if change.only_names else {name: where.segments}
        made = Reshaped(
            change_id, COLUMNS, name, started, about, tables=[record], replaced=replaced, next_id=where.next_id
        )
        return self._reshape_table(made, before, old_results, change.renamed, known_by_number)

    def _reshape_table(
        self,
        change: Reshaped,
        before: Wanted,
        old_results: Results,
        renamed: Mapping[str, str],
        known_by_number: Mapping[Subject, tuple[Mapping[str, Any], Mapping[str, Any]]],
    ) -> Changed:
        """Let the engines see a table that came, has other columns or goes, and commit; `seconds` of the change are
        when it began. After that the state is read anew from disk, before it is used again.
        """
        from holdfast.api.renaming import Renaming  # reads rules, which applying a batch need not load

        rename, old = Renaming(change.table, renamed), self._states
        old_results = rename.results(old_results)
        wanted = rename.wanted(before, self._schemas())
        given = self._bound(wanted.rules, tell=False)
        self._make_engines_for(wanted, given)
        fresh = {at for at in self._subjects() if at[1] in (change.table, ALL_TABLES)}
        self._states = {
            at: self._anew(at, rename, known_by_number.get(at)) if at in fresh else old[at] for at in self._subjects()
        }
        results, known = self._results(), self._store.remembered.texts()
        reshaped = replace(
            change,
            seconds=time.perf_counter() - change.seconds,
            about={**change.about, **_rules_told(told(before, wanted, old_results, results), old_results, results)},
            facts={**self._facts(wanted, given), **change.facts},
            results={at: found for at, found in results.items() if at in fresh},
            dropped=[at for at in old if at not in self._states],
            events=[*events(old_results, results), *rename.gone(known, self._schemas())],
            renamed=rename.texts(known),
        )
        return Changed(self._commit(reshaped, {at for at in self._states if at not in fresh}), reshaped.about)

    def _written(self, name: str, change: ColumnChange, new: NewSchema) -> TableFiles:
        table = self._tables[name]
        assert table.where is not None
        if change.only_names:
            return TableFiles(new.schema, table.where.segments, table.next_id)
        return with_columns(table, new, self._store.folder)

    def _known_by_number(self, name: str) -> dict[Subject, tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """What engines that find rules know of a table: they know its columns by their numbers, and not by names."""
        return {
            at: self._engines[at[0]].dump(state)
            for at, state in self._states.items()
            if at[1] in (name, ALL_TABLES) and not self._engines[at[0]].declared.given
        }

    def _anew(self, at: Subject, rename: Renaming, known: tuple[Mapping[str, Any], Mapping[str, Any]] | None) -> Any:
        """What an engine finds in the changed table, or knows of it; of given rules, with what no table tells."""
        engine, subject = self._engines[at[0]], self._subject(at[1])
        if known is not None:
            return engine.load(subject, *known)
        self._progress.step(f"Finding {engine.declared.title}")
        state = engine.discover(subject, self._runner, self._progress)
        if engine.declared.given:
            lines = self._store.results(*at)
            engine.recall(state, [{**line, "text": rename.text(at, line["text"])} for line in lines])
        return state

    def _record(self, name: str, change: ColumnChange, where: TableFiles) -> TableRecord:
        """The table from now on; its files may have the columns that left still."""
        record = self._records[name]
        left_out = {*record.left_out, *change.dropped} - {*where.schema.names}
        return TableRecord(where.schema, record.options, tuple(sorted(left_out)), self._tables[name].rows, where)


def _columns_told(schema: Schema, change: ColumnChange) -> list[Json]:
    """What is done to each column of a table that has a schema before."""
    types = {column.name: column.type for column in schema.columns}
    lines: list[Json] = [{"column": each.name, "done": "added", "type": show_type(each.type)} for each in change.added]
    lines += [{"column": name, "done": "dropped"} for name in change.dropped]
    lines += [{"column": old, "done": "renamed", "name": new} for old, new in change.renamed.items()]
    for name, kind in change.retyped.items():
        lines.append({"column": name, "done": "retyped", "before": show_type(types[name]), "type": show_type(kind)})
    return lines


def _rules_told(about: Mapping[str, Any], old: Results, now: Results) -> dict[str, Any]:
    """Given rules that are no more, those that are written otherwise now, and how many of the others there are. A
    constant is written in the type of its column: a day as a time, where dates became timestamps.
    """
    counts = [_counts(name, old, now) for name in dict.fromkeys(at[0] for at in now) if is_found(name)]
    found = [each for each in counts if each["before"] != each["now"]]
    gone = {each["name"] for each in about.get("removed", [])}
    edited = [each for each in about.get("added", []) if each["name"] in gone]
    stay = {each["name"] for each in edited}
    removed = [each for each in about.get("removed", []) if each["name"] not in stay]
    told = {"removed": removed, "edited": edited, "found": found}
    return {event: listed for event, listed in told.items() if listed}


def _counts(name: str, old: Results, now: Results) -> dict[str, Any]:
    before, after = (sum(len(found) for at, found in each.items() if at[0] == name) for each in (old, now))
    return {"class": name, "before": before, "now": after}


def _type(kind: str | pa.DataType) -> pa.DataType:
    """The type that a word means, such as `integer`, `decimal(10,2)` or `text`."""
    if not isinstance(kind, str):
        kept = kept_type(kind) if isinstance(kind, pa.DataType) else None
        if kept is None:
            raise BadInput(f"values of type {kind} can't be compared; choose another")
        return kept
    parsed = parse_plain_ddl(f"c {'string' if kind.strip().lower() == 'text' else kind}")
    if parsed is None or len(parsed) != 1:
        raise BadInput(
            f"there is no type {kind!r}; choose from: integer, float, decimal(10,2), text, boolean, date, timestamp"
        )
    return parsed[0][1]
