"""The monitor: watches tables, applies batches, keeps the history. This is what users hold.

    with Monitor.create("state/", {"tax": "tax.csv"}, watch=["column"]) as watch:
        outcome = watch.apply(inserts=new_rows)

One batch is one transaction: it is read, resolved against its table and taken in by every engine, and then committed
at once. If anything fails before the commit, the state on disk is untouched, and the state in memory is read anew
from disk before it is used again.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from holdfast.api.applying import Part, kind_of, sources_by_table
from holdfast.api.kept import settings_text
from holdfast.api.loading import opened_store
from holdfast.api.opening import Opened
from holdfast.api.remembering import given_witnesses, kept_rows
from holdfast.api.tabling import Tabling, record_of
from holdfast.api.view import View
from holdfast.api.watching import Refused, follow, moving_aside
from holdfast.changes.diff import Result
from holdfast.engines.registry import ALL_TABLES, make_engine, names_in, refuse_given, refuse_unknown_settings
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput, Damaged, Missing, clear_sentences, no_space
from holdfast.intake.build import BatchReader, Built, Sources, by_table
from holdfast.intake.choosing import discovery_runner
from holdfast.intake.feed import FeedOptions, split_feed
from holdfast.intake.quarantine import Quarantine
from holdfast.intake.reading import ReadOptions
from holdfast.progress import Progress
from holdfast.results.outcome import Outcome
from holdfast.sources.dialect import CsvOptions
from holdfast.store.records import Commit
from holdfast.store.store import Store
from holdfast.table.admit import Admitted
from holdfast.table.change import Batch
from holdfast.table.nulls import GivenNulls
from holdfast.table.resolve import OnMissing, needs_key
from holdfast.table.rewrite import bytes_a_row

if TYPE_CHECKING:
    from holdfast.rules.file import Rules

# A checkpoint is due when replaying the batches since the last one would take this long, or they are this many; or when
# a table holds much more than it needs.
_REPLAY_SECONDS = 0.5
_REPLAY_BATCHES = 64
_MOST_BATCHES = 1024  # after a checkpoint that failed, the next is tried after so many batches at the latest


class Monitor(Tabling):
    """A state opened for writing. Use `create` or `open`; close it, or use it in a `with` statement.

    >>> import holdfast as hf, pyarrow as pa, tempfile
    >>> towns = pa.table({"id": [1, 2], "zip": ["10115", "20095"], "city": ["Berlin", "Hamburg"]})
    >>> more = pa.table({"id": [3], "zip": ["10115"], "city": ["Brelin"]})
    >>> with (
    ...     tempfile.TemporaryDirectory() as folder,
    ...     hf.Monitor.create(f"{folder}/state", {"towns": towns}, watch=[], rules="zip -> city", key="id") as watch,
    ... ):
    ...     outcome = watch.apply(inserts=more)
    ...     print(outcome)
    ...     print(outcome.broken, watch.violations("fd1")[0].count)
    batch 1 on towns: 1 rows inserted, 0 deleted
    rules of your own: 1
      fd1: violations 0 → 1
    True 1
    """

    # ---- opening and closing ----------------------------------------------------------------------------------------

    @staticmethod
    def create(
        path: str | Path,
        tables: Any,
        *,
        watch: str | Sequence[str] = ("column",),
        rules: str | Path | Sequence[str] | Rules | None = None,
        suggest: int | None = None,
        key: str | Sequence[str] | Mapping[str, str | Sequence[str]] = (),
        columns: str | Sequence[str] | Mapping[str, Sequence[str]] = (),
        nulls: GivenNulls = "equal",
        options: ReadOptions | None = None,
        segments: str | None = None,
        spark: Any = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Monitor:
        """Start watching a table, or several given by name: read them whole, and find what holds.

        `watch` names rule classes to discover and keep; `rules` is a rule file, or rules as texts, whose violations are
        kept; `suggest` gives so many more, the best that the data look as if they were meant. `key` names the key
        columns of the one table, or of each table by its name, and `columns` those to watch;
        none means all, and later files may have the others, too. `segments` may put the bulk files on shared storage
        (any URI that `pyarrow.fs` knows). `settings` are those of the rule classes, such as `error=0.01`.
        """
        from holdfast.api.checking import classes_of, given_rules  # what reads rules, applying a batch need not load

        tables = tables if isinstance(tables, Mapping) else {"table": tables}
        if not tables:
            raise BadInput("nothing to watch: give at least one table")
        given = None if rules is None else given_rules(rules)
        asked = names_in(watch)
        refuse_given(asked)
        refuse_unknown_settings(settings)
        watched = names_in([*asked, *(classes_of(given) if given else ())])
        for name in watched:
            make_engine(name, settings)
        facts = {"watch": json.dumps(watched), "nulls": nulls, "settings": settings_text(settings, {})}
        with clear_sentences(path):
            store = Store.create(path, facts, segments)
            try:
                monitor = Monitor(store, spark, progress)
                keys, chosen = by_table(key, tables, "a key is"), by_table(columns, tables, "columns are")
                built = {
                    name: monitor._built(name, source, options, keys.get(name, ()), chosen.get(name, ()))
                    for name, source in tables.items()
                }
                monitor._start(built, given, suggest)
            except BaseException:
                store.abandon()
                raise
        return monitor

    def _start(self, built: Mapping[str, Built], given: Rules | None, suggest: int | None) -> None:
        results: dict[tuple[str, str], Result] = {}
        ways: dict[str, str] = {}
        for name, one in built.items():
            self._watched[name] = WatchedTable(one.admitted.table)
            self._records[name] = record_of(one)
            ways[name] = one.way
            if self._runner.is_local:
                self._runner = discovery_runner(one.admitted.table.rows, one.runner)
        self._store.put_meta("ways", json.dumps(ways))
        self._bind(self._with_suggestions(given, suggest) if suggest else given)
        for rules, name in self._subjects():
            engine = self._engines[rules]
            self._progress.step(f"Finding {engine.declared.title}" + (f" of {name}" if name != ALL_TABLES else ""))
            self._states[rules, name] = engine.discover(self._subject(name), self._runner, self._progress)
            if not engine.declared.many:
                results[rules, name] = engine.result(self._states[rules, name])
        self._remember_needed({name: bytes_a_row(table) for name, table in self._tables.items()})
        self._store.finish_creation(self._records.values(), results, self._dump_states())
        self._store.remove_orphans()

    def _with_suggestions(self, given: Rules | None, most: int) -> Rules:
        """The given rules, and as many that look as if they were meant."""
        from holdfast.api.suggesting import suggestions_in

        opened = Opened(dict(self._watched), self.left_out, self._runner)
        suggested = suggestions_in(opened, self._progress).rules(most)
        return suggested if given is None else given.with_others(suggested)

    def _bind(self, given: Rules | None) -> None:
        """Check the given rules against the tables, keep them with the settings, and make the engines."""
        if given is not None:
            from holdfast.api.checking import classes_of

            bound = self._bound(given)
            self._store.put_meta("watch", json.dumps(names_in([*self._store.watched, *classes_of(given)])))
            self._store.put_meta("settings", settings_text(self._settings(), bound))
        self._engines = self._make_engines()

    @overload
    @staticmethod
    def open(
        path: str | Path, *, write: Literal[True] = True, spark: Any = None, progress: Progress | None = None
    ) -> Monitor: ...

    @overload
    @staticmethod
    def open(path: str | Path, *, write: Literal[False], progress: Progress | None = None) -> View: ...

    @staticmethod
    def open(path: str | Path, *, write: bool = True, spark: Any = None, progress: Progress | None = None) -> View:
        """Open a state to apply batches to it; with `write=False`, a view of it while another process does."""
        if not write:
            return View.open(path, progress=progress)
        with opened_store(path, True, progress) as store:
            monitor = Monitor(store, spark, progress)
            store.remove_orphans()
            monitor._load()
        return monitor

    # ---- applying batches -------------------------------------------------------------------------------------------

    def apply(
        self,
        inserts: Any = None,
        deletes: Any = None,
        changes: Any = None,
        snapshot: Any = None,
        upserts: Any = None,
        *,
        table: str | None = None,
        table_column: str | None = None,
        batch_id: str | None = None,
        on_missing: OnMissing = "error",
        operation_column: str | None = None,
        options: ReadOptions | None = None,
        quarantine: str | Path | None = None,
        evolve: bool = False,
    ) -> Outcome:
        """Apply one batch: inserts or upserts and deletes, a list of operations, or a new snapshot of the whole table.

        An upsert replaces the row that has its declared key, or is inserted where there is none. Each may be a mapping
        by the names of tables: then one batch changes all of these at once. With `table_column` each row goes to the
        table that this column names. A batch id that was applied before is not applied again. Rows that can't be read
        or applied go to a file in the folder `quarantine`, where one is given, and the others are applied.

        With `evolve` the table first takes over the columns of the rows: new ones join, ones that they lack leave, and
        types get wider where no value changes its meaning; that is a change of its own in the history, made only if the
        rows can be applied then. If this raises, nothing has changed; of several tables, the columns of some may have.
        """
        self._refuse_closed()
        sources = Sources(inserts, deletes, changes, snapshot, upserts)
        given = sources_by_table(sources, table, table_column, evolve)
        kind = kind_of(given.values())
        if batch_id is not None and (known := self._store.batch(batch_id)):
            return Outcome(known, {}, already_applied=True)
        self._refresh()
        started = time.perf_counter()
        batch_id = batch_id or uuid.uuid4().hex
        aside = None if quarantine is None else Quarantine(quarantine, batch_id)
        with clear_sentences(self._store.path), self._leaving_no_files(), self._setting_aside(aside, batch_id):
            if table_column is None:
                parts = {self._table_name(name): own.lasting() if evolve else own for name, own in given.items()}
            else:
                tables = {name: (each.schema, each.left_out) for name, each in self._records.items()}
                feed = FeedOptions(table_column, operation_column, options or ReadOptions())
                parts = split_feed(sources, tables, feed, self._spark, aside)
            for name, own in parts.items() if evolve else ():
                self._evolve(own, self._reader(name, options, operation_column, on_missing, aside), batch_id)
            admitted = {
                name: self._reader(name, options, operation_column, on_missing, aside).admit(own)
                for name, own in parts.items()
            }
            outcome = self._take_in(kind, admitted, batch_id, started)
        return outcome if aside is None else replace(outcome, quarantined=aside.told)

    def _reader(
        self,
        name: str,
        options: ReadOptions | None,
        operation_column: str | None,
        on_missing: OnMissing,
        aside: Quarantine | None,
    ) -> BatchReader:
        """What reads the rows of a table in a batch."""
        table, left_out, read = self._tables[name], self._records[name].left_out, self._read_options(name, options)
        folder, spark = self._store.folder, self._spark
        return BatchReader(table, left_out, read, operation_column, on_missing, folder, spark, self._progress, aside)

    @contextmanager
    def _setting_aside(self, aside: Quarantine | None, batch_id: str) -> Iterator[None]:
        """Where a batch isn't applied, nothing of it stays aside; where it is, staged rows of the first try go."""
        try:
            yield
        except BaseException:
            if aside is not None and self._store.batch(batch_id) is None:
                aside.withdraw()
            raise
        if aside is not None and aside.told.rows:
            self._store.remove_orphans()

    def _take_in(self, kind: str, admitted: Mapping[str, Admitted], batch_id: str, started: float) -> Outcome:
        """Let the engines see the changes, say why rules broke and what is kept of that, and commit: the history tells
        how long it took until then. From here on a failure leaves memory behind the disk.
        """
        self._stale = True
        parts = [Part.of(self._tables[name], each) for name, each in admitted.items()]
        batch = Batch([part.change for part in parts if not part.is_nothing])
        diffs = self._watching.explained(batch, self._maintain(batch)) if batch.changes else {}
        many = tuple(rules for rules, engine in self._engines.items() if engine.declared.many)
        given = given_witnesses(diffs, self._tables)
        kept = kept_rows(diffs, given, self._tables)
        done = tuple(part.to_commit() for part in parts)
        decided = time.perf_counter()
        self._store.commit(Commit(batch_id, kind, done, decided - started, diffs, many, given, kept))
        commit_seconds = time.perf_counter() - decided
        self._stale = False
        record = self._store.batch(batch_id)
        assert record is not None
        long = self._replay_seconds > _REPLAY_SECONDS or self._replay_batches >= _REPLAY_BATCHES
        if long or any(self._has_outgrown(name) for name in admitted):
            self._try_checkpoint()
        return Outcome(record, diffs, marks=self.marks(), commit_seconds=commit_seconds)

    def watch_folder(
        self,
        folder: str | Path,
        *,
        how: Literal["insert", "delete", "changes", "snapshot", "upsert"] = "insert",
        table: str | None = None,
        table_column: str | None = None,
        on_missing: OnMissing = "error",
        operation_column: str | None = None,
        options: ReadOptions | None = None,
        once: bool = False,
        applied: Callable[[str, Outcome], None] = lambda _path, _outcome: None,
        quarantine: str | Path | None = None,
        refused: Refused = lambda _path, _reason, _moved: None,
        evolve: bool = False,
    ) -> None:
        """Apply every file that arrives in a folder, each as one batch, each exactly once, until stopped.

        `how` says what the files hold; with `once` this returns when all files that are there now are applied. A file
        whose content is replaced under the same name is a new batch. With `quarantine`, bad rows go to files in that
        folder, as with `apply`; and a file that can't be applied at all, or a snapshot with bad rows, is moved there
        with the reason beside it, `refused` is called, and the next file follows. All else is as with `apply`.
        """
        self._refuse_closed()
        part = {"insert": "inserts", "delete": "deletes", "upsert": "upserts"}.get(how, how)
        sources_by_table(Sources(**{part: folder}), table, table_column, evolve)  # refuses what no file could mean
        watched = None if table_column is not None else self._tables[self._table_name(table)]
        if how == "upsert" and watched is not None and not watched.schema.key:
            raise needs_key(watched)

        def handle(path: str, batch_id: str) -> bool:
            source: dict[str, Any] = {part: path}
            outcome = self.apply(
                **source,
                table=table,
                table_column=table_column,
                batch_id=batch_id,
                on_missing=on_missing,
                operation_column=operation_column,
                options=options,
                quarantine=None if how == "snapshot" else quarantine,
                evolve=evolve,
            )
            applied(path, outcome)
            return True

        each = handle if quarantine is None else moving_aside(handle, folder, quarantine, refused)
        whose = table if table_column is None else f"by {table_column}"
        follow(self._store, self._spark, self._progress, folder, f"{whose}\n{how}", each, once)

    def _try_checkpoint(self) -> None:
        """The batch is kept already: where the disk is too full for a checkpoint, the next one waits until there are
        twice as many batches, so that they don't all pay for it in vain.
        """
        seq = self._last_batch()
        if seq < self._store.next_checkpoint:
            return
        try:
            with clear_sentences(self._store.path):
                if not self._store.room_for_checkpoint():
                    raise no_space(self._store.path)
                self.checkpoint()
        except (Damaged, Missing) as error:
            self._progress.note(f"The batch is kept, but its files can't be merged: {error}.")
        except BadInput:
            self._progress.note("The batch is kept; merging its files waits until the disk has room for it.")
        else:
            return
        self._store.postpone_checkpoint(seq + min(max(self._replay_batches, 1), _MOST_BATCHES))

    def _read_options(self, name: str, given: ReadOptions | None) -> ReadOptions:
        """The options of this batch; where they leave something open, it is as when the table was first read."""
        kept = CsvOptions.from_dict(self._records[name].options)
        given = given or ReadOptions()
        csv = given.csv
        nulls = kept.nulls if csv.nulls is None else csv.nulls
        header = kept.header if csv.header is None else csv.header
        return ReadOptions(
            CsvOptions(csv.separator, csv.quote, header, nulls, csv.types),
            given.schema, given.format, given.jdbc_table, given.jdbc_properties, given.reader, kept,
        )  # fmt: skip
