"""A batch on its way into a state: read, resolved against its tables, taken in by every engine, and committed at once.

A batch of several tables is one transaction: each table's part is read and resolved before any engine sees one of them.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path

from holdfast.api.open_state import Loaded
from holdfast.api.stored import kept_marks
from holdfast.api.upkeep import Upkeep
from holdfast.api.witness_rows import given_witnesses, kept_rows
from holdfast.errors import BadInput
from holdfast.intake.feed import FeedOptions, split_feed
from holdfast.intake.quarantine import Quarantine
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import BatchReader, Sources
from holdfast.results.outcome import Outcome
from holdfast.sources.dialect import CsvOptions
from holdfast.store.records import Commit, CommitPart
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


class Batches:
    """Applies batches to what is loaded."""

    def __init__(self, loaded: Loaded, upkeep: Upkeep) -> None:
        self.loaded, self._upkeep = loaded, upkeep

    def apply(self, sources: Sources, how: BatchOptions, batch_id: str | None) -> Outcome:
        """Apply one batch, unless one with its id was applied before."""
        loaded = self.loaded
        loaded.refuse_closed()
        given = sources_by_table(sources, how)
        kind = kind_of(given.values())
        if batch_id is not None and (known := loaded.store.batch(batch_id)):
            return Outcome(known, {}, already_applied=True)
        loaded.now()
        started = time.perf_counter()
        batch_id = batch_id or uuid.uuid4().hex
        aside = None if how.quarantine is None else Quarantine(how.quarantine, batch_id)
        with loaded.writing(), self._setting_aside(aside, batch_id):
            if how.table_column is None:
                parts = {loaded.table_name(name): own.lasting() if how.evolve else own for name, own in given.items()}
            else:
                tables = {name: (each.schema, each.left_out) for name, each in loaded.records.items()}
                feed = FeedOptions(how.table_column, how.operation_column, how.options or ReadOptions())
                parts = split_feed(sources, tables, feed, loaded.spark, aside)
            for name, own in parts.items() if how.evolve else ():
                from holdfast.api.change.columns import evolve  # what most batches need not load

                evolve(loaded, own, self._reader(name, how, aside), batch_id)
            admitted = {name: self._reader(name, how, aside).admit(own) for name, own in parts.items()}
            outcome = self._take_in(kind, admitted, batch_id, started)
        return outcome if aside is None else replace(outcome, quarantined=aside.told)

    def _reader(self, name: str, how: BatchOptions, aside: Quarantine | None) -> BatchReader:
        """What reads the rows of a table in a batch."""
        loaded = self.loaded
        record = loaded.records[name]
        return BatchReader(
            loaded.tables[name],
            record.left_out,
            _as_first_read(how.options or ReadOptions(), CsvOptions.from_dict(record.options)),
            how.operation_column,
            how.on_missing,
            loaded.store.folder,
            loaded.spark,
            loaded.progress,
            aside,
        )

    @contextmanager
    def _setting_aside(self, aside: Quarantine | None, batch_id: str) -> Iterator[None]:
        """Where a batch isn't applied, nothing of it stays aside; where it is, staged rows of the first try go."""
        try:
            yield
        except BaseException:
            if aside is not None and self.loaded.store.batch(batch_id) is None:
                aside.withdraw()
            raise
        if aside is not None and aside.told.rows:
            self.loaded.store.remove_orphans()

    def _take_in(self, kind: str, admitted: Mapping[str, Admitted], batch_id: str, started: float) -> Outcome:
        """Let the engines see the changes, say why rules broke and what is kept of that, and commit: the history has
        the seconds up to then. From here on a failure leaves memory behind the disk.
        """
        loaded = self.loaded
        loaded.stale = True
        tables = loaded.tables
        done = {name: _without_nothing(tables[name], each) for name, each in admitted.items()}
        changes = [Change(tables[name], each.table, each.born, each.dead) for name, each in done.items()]
        batch = Batch([change for change in changes if len(change.born) or len(change.dead)])
        diffs = loaded.watched.explained(batch, loaded.follow(batch)) if batch.changes else {}
        many = tuple(rules for rules, engine in loaded.watched.engines.items() if engine.declared.many)
        given = given_witnesses(diffs, loaded.tables)
        kept = kept_rows(diffs, given, loaded.tables)
        parts = tuple(_to_commit(name, each) for name, each in done.items())
        decided = time.perf_counter()
        loaded.store.commit(Commit(batch_id, kind, parts, decided - started, diffs, many, given, kept))
        commit_seconds = time.perf_counter() - decided
        loaded.stale = False
        record = loaded.store.batch(batch_id)
        assert record is not None
        self._upkeep.checkpoint_if_due(admitted)
        return Outcome(record, diffs, marks=kept_marks(loaded.store), commit_seconds=commit_seconds)


def _as_first_read(given: ReadOptions, kept: CsvOptions) -> ReadOptions:
    """The options of a batch; where they leave something open, it is as when the table was first read."""
    csv = given.csv
    nulls = kept.nulls if csv.nulls is None else csv.nulls
    header = kept.header if csv.header is None else csv.header
    return replace(given, csv=replace(csv, nulls=nulls, header=header), before=kept)


def sources_by_table(sources: Sources, how: BatchOptions) -> dict[str | None, Sources]:
    """What each table gets: sources may be given by the names of tables, in whose order they are taken. No source is
    itself a mapping. What is given without a name stands under that which was asked for.
    """
    given = {each.name: getattr(sources, each.name) for each in fields(sources)}
    named = {part: source for part, source in given.items() if isinstance(source, Mapping)}
    plain = [part for part, source in given.items() if source is not None and part not in named]
    if not named:
        if how.table_column is not None:
            _refuse_beside_column(sources, how)
        return {how.table: sources}
    if plain:
        raise BadInput(f"{plain[0]}: say whose rows these are; give them by the names of tables, as the others are")
    if how.table is not None or how.table_column is not None:
        raise BadInput("what is given by the names of tables needs no other name of a table; leave it out")
    names = dict.fromkeys(name for own in named.values() for name in own)
    return {name: Sources(**{part: own.get(name) for part, own in named.items()}) for name in names}


def _refuse_beside_column(sources: Sources, how: BatchOptions) -> None:
    """Say so where something can't be, as a column names the table of each row."""
    if how.table is not None:
        named, table = how.table_column, how.table
        raise BadInput(f"the column {named!r} names the table of each row; leave out the table {table!r}")
    if sources.snapshot is not None:
        raise BadInput("a snapshot is that of one table; give those of several by the names of tables")
    if how.evolve:
        raise BadInput("of rows of several tables nobody can tell whose a new column is; leave out evolve")


def kind_of(parts: Iterable[Sources]) -> str:
    """What a batch is made of, in a word; refuses parts that can't be."""
    words = [word for own in list(parts) or [Sources()] for word in own.kind.split("+")]
    return "+".join(each.name for each in fields(Sources) if each.name in words)


def _without_nothing(before: Table, admitted: Admitted) -> Admitted:
    """What a batch does to a table. Where nothing changes, the history has it, and no file needs to."""
    if len(admitted.born) or len(admitted.dead):
        return admitted
    for segment in admitted.segments:
        files.remove(segment.path)
    return replace(admitted, table=before, segments=())


def _to_commit(name: str, done: Admitted) -> CommitPart:
    """What is made durable of it."""
    after, born, dead = done.table, len(done.born), len(done.dead)
    return CommitPart(name, done.segments, after.next_id, after.rows, born, dead, done.ignored)
