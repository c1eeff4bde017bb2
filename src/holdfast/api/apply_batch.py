"""A batch on its way into a state: read, resolved against its tables, followed by every engine, and committed at once.

A batch of several tables is one transaction: each table's part is read and resolved before any engine sees one of them.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path

from holdfast.api.expectations import Expecting, lane_of
from holdfast.api.incidents import incidents_of
from holdfast.api.new_rows import examples_of
from holdfast.api.open_state import OpenState
from holdfast.api.settings import stored_marks, stored_sensitive
from holdfast.api.upkeep import Upkeep
from holdfast.api.witness_rows import given_witnesses, witness_rows
from holdfast.engines.contract import open_violations
from holdfast.engines.registry import ALL_TABLES
from holdfast.errors import BadInput
from holdfast.intake.feed import FeedOptions, split_feed
from holdfast.intake.other_columns import OtherColumns
from holdfast.intake.quarantine import Quarantine
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import BatchReader, Sources
from holdfast.results.alarms import FailOn, alarming
from holdfast.results.changed import Changed
from holdfast.results.outcome import Outcome
from holdfast.results.standing import standing
from holdfast.results.verdict import Around
from holdfast.sources.dialect import CsvOptions
from holdfast.store.batches import now
from holdfast.store.records import BatchRecord, Commit, CommitPart, HandledFile
from holdfast.table import files
from holdfast.table.admit import Admitted
from holdfast.table.change import Batch, Change
from holdfast.table.resolve import OnMissing
from holdfast.table.table import Table


@dataclass(frozen=True)
class BatchOptions:
    """Which table the rows of a batch are for, and how they are read, as `Monitor.apply` describes it."""

    table: str | None
    table_column: str | None
    on_missing: OnMissing
    operation_column: str | None
    options: ReadOptions | None
    quarantine: str | Path | None
    evolve: bool
    fail_on: FailOn = "likely"


class Batches:
    """Applies batches to an open state."""

    def __init__(self, state: OpenState, upkeep: Upkeep) -> None:
        self.state, self._upkeep, self._expecting = state, upkeep, Expecting()
        self._one_at_a_time = threading.Lock()

    def apply(
        self, sources: Sources, how: BatchOptions, batch_id: str | None, handled: Sequence[HandledFile] = ()
    ) -> Outcome:
        """Apply one batch, unless one with its id was applied before. The state remembers which files of a watched
        folder it consists of. Streams apply theirs from threads of their own, so one batch waits for another.
        """
        with self._one_at_a_time:
            return self._apply(sources, how, batch_id, handled)

    def _apply(
        self, sources: Sources, how: BatchOptions, batch_id: str | None, handled: Sequence[HandledFile]
    ) -> Outcome:
        state = self.state
        state.refuse_closed()
        given = sources_by_table(sources, how)
        kind = kind_of(given.values())
        alarming(how.fail_on)  # refuses an unknown one
        if batch_id is not None and (known := state.store.batch(batch_id)):
            return Outcome(known, {}, already_applied=True)
        state.now()
        started = time.perf_counter()
        self.give_alarmed()
        batch_id = batch_id or uuid.uuid4().hex
        quarantine = None if how.quarantine is None else Quarantine(how.quarantine, batch_id)
        with state.writing(), self._withdrawing(quarantine, batch_id), self._advising():
            if how.table_column is None:
                parts = {state.table_name(name): own.lasting() if how.evolve else own for name, own in given.items()}
            else:
                tables = {name: (each.schema, each.left_out) for name, each in state.records.items()}
                feed = FeedOptions(how.table_column, how.operation_column, how.options or ReadOptions())
                parts = split_feed(sources, tables, feed, state.spark, quarantine)
            for name, own in parts.items() if how.evolve else ():
                from holdfast.api.change.columns import evolve  # what most batches need not load

                evolve(state, own, self._reader(name, how, quarantine), batch_id)
            admitted = {name: self._reader(name, how, quarantine).admit(own) for name, own in parts.items()}
            lanes = {name: lane for name, own in parts.items() if (lane := lane_of(own)) is not None}
            outcome = self._follow(kind, admitted, batch_id, started, how.fail_on, handled, lanes)
            outcome = self._with_rows(outcome, how.fail_on, {name or "": own.file for name, own in given.items()})
        outcome = replace(outcome, now_given=self.give_alarmed().about.get("added", ()))
        outcome = replace(outcome, now_muted=self._mute_noise(outcome).about.get("muted", ()))
        return outcome if quarantine is None else replace(outcome, quarantined=quarantine.contents)

    def give_alarmed(self) -> Changed:
        """Give the found rules that raised an alarm; those that can't be stored now wait for the next batch."""
        if not self.state.store.rules.alarmed():
            return Changed(None)
        from holdfast.api.change.alarmed import give_alarmed  # what most batches need not load

        try:
            return give_alarmed(self.state)
        except BadInput as error:
            self.state.progress.note(
                f"The batch is stored; the rules that raised an alarm will be given later: {error}"
            )
            return Changed(None)

    def _with_rows(self, outcome: Outcome, fail_on: FailOn, files: Mapping[str, str]) -> Outcome:
        """The outcome with what people want to know of it: the rows of new violations, and how all rules stand."""
        state = self.state
        given = [
            {"violations": getattr(rule, "violations", 0), "accepted": getattr(rule, "accepted", None)}
            for result in state.workspace.given_results()
            for rule in result.values()
        ]
        around = Around(
            str(state.store.path),
            {name: file for name, file in files.items() if file},
            several=len(state.tables) > 1,
            searched=any(not (own.declared.given or own.declared.facts) for own in state.workspace.engines.values()),
            broke=sum(len(diff.witnesses) for diff in outcome.diffs.values()),
            given=len(given),
            violated=sum(bool(open_violations(rule)) for rule in given),
            standing=standing(given),
            sensitive=stored_sensitive(state.store),
        )
        return replace(outcome, around=around, examples=examples_of(outcome, fail_on, state.tables))

    def _mute_noise(self, outcome: Outcome) -> Changed:
        """Mute suggested rules that the batch showed to be noise; where that can't be stored now, a later one will."""
        if not (noise := outcome.noise):
            return Changed(None)
        from holdfast.api.change.rules import change_rules  # what most batches need not load

        with suppress(BadInput):
            return change_rules(self.state, None, lambda edit: edit.spec.with_muted(noise))
        return Changed(None)

    def _reader(self, name: str, how: BatchOptions, quarantine: Quarantine | None) -> BatchReader:
        """The reader of a table's rows in a batch."""
        state = self.state
        record = state.records[name]
        return BatchReader(
            state.tables[name],
            record.left_out,
            as_first_read(how.options or ReadOptions(), CsvOptions.from_dict(record.options)),
            how.operation_column,
            how.on_missing,
            state.store.folder,
            state.spark,
            state.progress,
            quarantine,
        )

    @contextmanager
    def _advising(self) -> Iterator[None]:
        """Say with which commands other columns can be taken over."""
        try:
            yield
        except OtherColumns as error:
            store, several = self.state.store, len(self.state.tables) > 1
            raise BadInput(f"{error}; {error.advice(store.path, several)}") from None

    @contextmanager
    def _withdrawing(self, quarantine: Quarantine | None, batch_id: str) -> Iterator[None]:
        """Where a batch isn't applied, nothing of it stays in quarantine; where it is, staged rows of the first try
        go.
        """
        try:
            yield
        except BaseException:
            if quarantine is not None and self.state.store.batch(batch_id) is None:
                quarantine.withdraw()
            raise
        if quarantine is not None and quarantine.contents.rows:
            self.state.store.bulk.remove_orphans()

    def _follow(
        self,
        kind: str,
        admitted: Mapping[str, Admitted],
        batch_id: str,
        started: float,
        fail_on: FailOn,
        handled: Sequence[HandledFile],
        lanes: Mapping[str, str],
    ) -> Outcome:
        """Let the engines see the changes, explain what is stored of them, and commit: the history has the seconds up
        to then. A failure from here on leaves memory behind the disk.
        """
        state = self.state
        state.stale = True
        tables = state.tables
        done = {name: _without_files_of_nothing(tables[name], each) for name, each in admitted.items()}
        changes = [Change(tables[name], each.table, each.born, each.dead) for name, each in done.items()]
        at = now()
        batch = Batch([change for change in changes if len(change.born) or len(change.dead)], at)
        state.workspace.refuse_long(batch)
        diffs = state.workspace.explained(batch, state.follow(batch)) if batch.changes else {}
        many = tuple(rules for rules, engine in state.workspace.engines.items() if engine.declared.many)
        given = given_witnesses(diffs, state.tables)
        rows = witness_rows(diffs, given, state.tables)
        records = state.workspace.records(batch)
        parts = tuple(_to_commit(name, each) for name, each in done.items())
        marks = stored_marks(state.store)
        incidents, repeats = incidents_of(diffs, batch, state.tables, state.store)
        expected = self._expecting.of_batch(
            state.store.expectations, {name: each.table for name, each in done.items()}, batch, lanes
        )
        unstored = BatchRecord(0, batch_id, ALL_TABLES, "", kind, 0, 0, 0, 0.0)
        outcome = Outcome(unstored, diffs, marks=marks, repeats=repeats, unusual=expected.unusual)
        alarmed = outcome.alarmed(fail_on)
        decided = time.perf_counter()
        seconds = decided - started
        commit = Commit(
            batch_id, kind, parts, seconds, diffs, many, given, rows, records, incidents, alarmed, handled, at, expected
        )
        state.store.commit(commit)
        commit_seconds = time.perf_counter() - decided
        state.stale = False
        record = state.store.batch(batch_id)
        assert record is not None
        self._upkeep.checkpoint_if_due(admitted)
        self._upkeep.expire_rows()
        return replace(outcome, batch=record, commit_seconds=commit_seconds)


def as_first_read(given: ReadOptions, first: CsvOptions) -> ReadOptions:
    """The options of a batch; where they leave something open, it is as when the table was first read."""
    csv = given.csv
    nulls = first.nulls if csv.nulls is None else csv.nulls
    header = first.header if csv.header is None else csv.header
    return replace(given, csv=replace(csv, nulls=nulls, header=header), before=first)


def sources_by_table(sources: Sources, how: BatchOptions) -> dict[str | None, Sources]:
    """The sources of each table, in the order in which the tables are named. Sources without names belong to the table
    of the options. A mapping is never a source itself.
    """
    given = {each.name: getattr(sources, each.name) for each in fields(sources)}
    named = {part: source for part, source in given.items() if isinstance(source, Mapping)}
    plain = [part for part, source in given.items() if source is not None and part not in named]
    if not named:
        if how.table_column is not None:
            _refuse_with_table_column(sources, how)
        return {how.table: sources}
    if plain:
        raise BadInput(f"{plain[0]}: say which table these rows are for; give them per table, as the others are")
    if how.table is not None or how.table_column is not None:
        raise BadInput("sources are given per table; don't name a table as well")
    names = dict.fromkeys(name for own in named.values() for name in own)
    return {name: Sources(**{part: own.get(name) for part, own in named.items()}) for name in names}


def _refuse_with_table_column(sources: Sources, how: BatchOptions) -> None:
    """Refuse what makes no sense where a column names the table of each row."""
    if how.table is not None:
        named, table = how.table_column, how.table
        raise BadInput(f"the column {named!r} names the table of each row; leave out the table {table!r}")
    if sources.snapshot is not None:
        raise BadInput("a snapshot holds one table; give each table its own snapshot")
    if how.evolve:
        raise BadInput("leave out evolve: a new column could belong to any of the tables")


def kind_of(parts: Iterable[Sources]) -> str:
    """What a batch is made of, in a word; refuses parts that don't go together."""
    words = [word for own in list(parts) or [Sources()] for word in own.kind.split("+")]
    return "+".join(each.name for each in fields(Sources) if each.name in words)


def _without_files_of_nothing(before: Table, admitted: Admitted) -> Admitted:
    """What a batch does to a table. Where nothing changes, no file is stored."""
    if len(admitted.born) or len(admitted.dead):
        return admitted
    for segment in admitted.segments:
        files.remove(segment.path)
    return replace(admitted, table=before, segments=())


def _to_commit(name: str, done: Admitted) -> CommitPart:
    """The part of a commit that a table has."""
    after, born, dead = done.table, len(done.born), len(done.dead)
    return CommitPart(name, done.segments, after.next_id, after.rows, born, dead, done.ignored)
