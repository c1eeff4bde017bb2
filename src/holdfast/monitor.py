"""The monitor: watches tables, applies batches, keeps the history. This is what users hold.

    with Monitor.create("state/", {"tax": "tax.csv"}, watch=["column"]) as watch:
        outcome = watch.apply(inserts=new_rows)

One batch is one transaction: it is read, resolved against its table and taken in by every engine, and then committed
at once. If anything fails before the commit, the state on disk is untouched, and the state in memory is read anew
from disk before it is used again.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from holdfast.changes.diff import Diff, Finding, Result
from holdfast.checking import bound_settings, engines_for, given_rules
from holdfast.engine import Change, Settings, hear
from holdfast.errors import BadInput, clear_sentences
from holdfast.functional.model import is_dependency
from holdfast.intake.build import Built, Sources, admit_batch, build_table, discovery_runner
from holdfast.intake.reading import ReadOptions
from holdfast.listing import Listing, Lists
from holdfast.outcome import Outcome
from holdfast.registry import engine
from holdfast.rules.file import Rules
from holdfast.sources.dialect import CsvOptions
from holdfast.store.records import BatchRecord, Commit, TableRecord
from holdfast.store.store import Store
from holdfast.table import files
from holdfast.table.admit import Admitted
from holdfast.table.compact import compacted
from holdfast.table.load import load_table
from holdfast.table.resolve import OnMissing
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Nulls, Table, TableFiles
from holdfast.voice import Voice

# A checkpoint is due when replaying the batches since the last one would take this long, or they are this many.
_REPLAY_SECONDS = 0.5
_REPLAY_BATCHES = 64
_ATTEMPTS = 5
ALL_TABLES = "*"


class Monitor:
    """A state opened for writing. Use `create` or `open`; close it, or use it in a `with` statement."""

    def __init__(self, store: Store, spark: Any, voice: Voice | None) -> None:
        self._store, self._spark, self._voice = store, spark, voice or Voice()
        self._runner: Runner = Threads()
        self._engines = {name: engine(name, self._settings()) for name in store.watched}
        self._tables: dict[str, Table] = {}
        self._states: dict[tuple[str, str], Any] = {}
        self._records: dict[str, TableRecord] = {}
        self._stale = False
        self._replay_seconds, self._replay_batches = 0.0, 0

    # ---- opening and closing ----------------------------------------------------------------------------------------

    @staticmethod
    def create(
        path: str | Path,
        tables: Mapping[str, Any],
        *,
        watch: Sequence[str] = ("column",),
        rules: str | Path | Sequence[str] | None = None,
        key: Sequence[str] | Mapping[str, Sequence[str]] = (),
        nulls: Nulls = "equal",
        settings: Settings | None = None,
        options: ReadOptions | None = None,
        segments: str | None = None,
        spark: Any = None,
        voice: Voice | None = None,
    ) -> Monitor:
        """Start watching tables: read them whole, and find what holds.

        `watch` names rule classes to discover and keep; `rules` is a rule file, or rules as texts, whose violations are
        kept. `key` names the key columns of the one table, or of each table by its name. `segments` may
        put the bulk files on shared storage (any URI that `pyarrow.fs` knows).
        """
        if not tables:
            raise BadInput("nothing to watch: give at least one table")
        settings = settings or Settings()
        given = None if rules is None else given_rules(rules)
        watch = list(dict.fromkeys([*watch, *(engines_for(given) if given else ())]))
        for name in watch:
            engine(name, settings)
        facts = {"watch": json.dumps(watch), "nulls": nulls, "settings": json.dumps(settings.to_json())}
        with clear_sentences(path):
            store = Store.create(path, facts, segments)
            return Monitor._create(store, tables, key, nulls, given, options, spark, voice)

    @staticmethod
    def _create(
        store: Store,
        tables: Mapping[str, Any],
        key: Sequence[str] | Mapping[str, Sequence[str]],
        nulls: Nulls,
        given: Rules | None,
        options: ReadOptions | None,
        spark: Any,
        voice: Voice | None,
    ) -> Monitor:
        try:
            monitor = Monitor(store, spark, voice)
            keys = dict(key) if isinstance(key, Mapping) else dict.fromkeys(tables, key)
            if unknown := set(keys) - set(tables):
                raise BadInput(f"a key is declared for {sorted(unknown)[0]!r}, which is no table here")
            built = {
                name: build_table(
                    name,
                    source,
                    options or ReadOptions(),
                    keys.get(name, ()),
                    nulls,
                    store.folder,
                    spark,
                    monitor._voice,
                )
                for name, source in tables.items()
            }
            monitor._start(built, given)
        except BaseException:
            store.abandon()
            raise
        return monitor

    def _start(self, built: Mapping[str, Built], given: Rules | None) -> None:
        results: dict[tuple[str, str], Result] = {}
        for name, one in built.items():
            table = one.admitted.table
            self._tables[name] = table
            assert table.where is not None
            self._records[name] = TableRecord(
                table.schema, one.options.to_dict(), one.left_out, table.rows, table.where
            )
            if isinstance(self._runner, Threads):
                self._runner = discovery_runner(one)
        self._bind(given)
        for rules, name in self._subjects():
            serving = self._engines[rules]
            self._voice.step(f"Finding {serving.title}" + (f" of {name}" if name != ALL_TABLES else ""))
            hear(serving, self._voice)
            self._states[rules, name] = serving.discover(self._subject(name), self._runner)
            results[rules, name] = serving.result(self._states[rules, name])
        self._store.finish_creation(self._records.values(), results, self._dump_states())
        self._store.remove_orphans()

    def _bind(self, given: Rules | None) -> None:
        """Check the given rules against the tables, and keep them with the settings."""
        if given is None:
            return
        schemas = {name: table.schema for name, table in self._tables.items()}
        settings = bound_settings(self._settings(), given, schemas, self._voice)
        self._store.put_meta("settings", json.dumps(settings.to_json()))
        self._engines = {name: engine(name, settings) for name in self._store.watched}

    def _settings(self) -> Settings:
        return Settings.from_json(json.loads(self._store.meta("settings") or "{}"))

    def _subjects(self) -> Iterator[tuple[str, str]]:
        """Each engine with the name of each table that it has a state of, or with the name for all of them."""
        for rules, serving in self._engines.items():
            for name in [ALL_TABLES] if serving.across else self._tables:
                yield rules, name

    def _subject(self, name: str) -> Any:
        return dict(self._tables) if name == ALL_TABLES else self._tables[name]

    @staticmethod
    def open(path: str | Path, *, write: bool = True, spark: Any = None, voice: Voice | None = None) -> Monitor:
        """Open a state to apply batches to it; or, with `write=False`, to look at it while another process does."""
        monitor = Monitor(Store(path, write=write), spark, voice)
        try:
            if write:
                monitor._store.remove_orphans()
                monitor._load()
            else:
                monitor._load_while_others_write()
        except BaseException:
            monitor.close()
            raise
        return monitor

    def _load_while_others_write(self) -> None:
        """Load as of one moment; if a writer's compaction removes a file before it is open, look again."""
        for attempt in range(_ATTEMPTS):
            try:
                with self._store.one_moment():
                    return self._load()
            except FileNotFoundError:
                if attempt == _ATTEMPTS - 1:
                    raise
        return None

    def _load(self) -> None:
        """Read the tables and the engines' states as of the checkpoint, and replay the batches since."""
        store = self._store
        kept = store.kept_states()
        self._records = {record.schema.name: record for record in store.tables(as_of=store.checkpoint())}
        self._tables = {name: load_table(record.where) for name, record in self._records.items()}
        self._states = {
            (rules, name): self._engines[rules].load(self._subject(name), *files.read(path))
            for (rules, name), path in kept.items()
        }
        self._replay_seconds, self._replay_batches = 0.0, 0
        for step in store.steps_after(store.checkpoint()):
            before = self._tables[step.table]
            assert before.where is not None
            where = TableFiles(before.schema, before.where.segments + step.segments, step.next_id)
            after = load_table(where).following(before)
            dead = [files.read(segment.path)[0].get("dead") for segment in step.segments]
            gone = np.concatenate([np.empty(0, np.int64), *(part for part in dead if part is not None)])
            self._maintain(step.table, Change(before, after, range(before.next_id, after.next_id), gone))
            self._tables[step.table] = after
        self._stale = False

    def close(self) -> None:
        """Let go of the state."""
        self._store.close()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- applying batches -------------------------------------------------------------------------------------------

    def apply(
        self,
        inserts: Any = None,
        deletes: Any = None,
        changes: Any = None,
        snapshot: Any = None,
        *,
        table: str | None = None,
        batch_id: str | None = None,
        on_missing: OnMissing = "error",
        operation_column: str | None = None,
        options: ReadOptions | None = None,
    ) -> Outcome:
        """Apply one batch: inserts and deletes, or a list of operations, or a new snapshot of the whole table.

        A batch id that was applied before is not applied again. If this raises, nothing has changed.
        """
        if not self._store.writable:
            raise BadInput(f"{self._store.path}: opened to look only; open it with write=True to apply batches")
        sources = Sources(inserts, deletes, changes, snapshot)
        kind = sources.kind
        if batch_id is not None and (known := self._store.batch(batch_id)):
            return Outcome(known, {}, already_applied=True)
        if self._stale:
            self._load()
        started = time.perf_counter()
        name = self._table_name(table)
        with clear_sentences(self._store.path), self._leaving_no_files():
            admitted = admit_batch(
                self._tables[name],
                sources,
                self._records[name].left_out,
                self._read_options(name, options),
                operation_column,
                on_missing,
                self._store.folder,
                self._spark,
                self._voice,
            )
            return self._take_in(name, kind, admitted, batch_id or uuid.uuid4().hex, started)

    @contextmanager
    def _leaving_no_files(self) -> Iterator[None]:
        """Where a batch fails, the files that it wrote go: on a full disk they are in the way."""
        try:
            yield
        except BaseException:
            with suppress(Exception):
                self._store.remove_orphans()
            raise

    def _take_in(self, name: str, kind: str, admitted: Admitted, batch_id: str, started: float) -> Outcome:
        """Let the engines see the change, and commit. From here on a failure leaves memory behind the disk."""
        self._stale = True
        change = Change(self._tables[name], admitted.table, admitted.born, admitted.dead)
        nothing = not len(change.born) and not len(change.dead)
        diffs = {} if nothing else self._maintain(name, change)
        if nothing:  # the history tells of the batch; no file needs to
            for segment in admitted.segments:
                files.remove(segment.path)
            admitted = replace(admitted, table=self._tables[name], segments=())
        self._store.commit(
            Commit(
                batch_id,
                name,
                kind,
                admitted.segments,
                admitted.table.next_id,
                admitted.table.rows,
                len(change.born),
                len(change.dead),
                admitted.ignored,
                time.perf_counter() - started,
                diffs,
            )
        )
        self._tables[name] = admitted.table
        self._stale = False
        record = self._store.batch(batch_id)
        assert record is not None
        if self._replay_seconds > _REPLAY_SECONDS or self._replay_batches >= _REPLAY_BATCHES:
            self._try_checkpoint()
        return Outcome(record, {rules: diff for (rules, _), diff in diffs.items()})

    def _maintain(self, name: str, change: Change) -> dict[tuple[str, str], Diff]:
        started = time.perf_counter()
        diffs = {
            (rules, table): self._engines[rules].maintain(state, change, self._runner)
            for (rules, table), state in self._states.items()
            if table in (name, ALL_TABLES)
        }
        self._replay_seconds += time.perf_counter() - started
        self._replay_batches += 1
        return diffs

    def watch_folder(
        self,
        folder: str | Path,
        *,
        how: Literal["insert", "delete", "changes", "snapshot"] = "insert",
        table: str | None = None,
        on_missing: OnMissing = "error",
        operation_column: str | None = None,
        options: ReadOptions | None = None,
        once: bool = False,
        told: Callable[[str, Outcome], None] = lambda _path, _outcome: None,
    ) -> None:
        """Apply every file that arrives in a folder, each as one batch, each exactly once, until stopped.

        `how` says what the files hold; with `once` this returns when all files that are there now are applied.
        """
        from holdfast.spark.session import session
        from holdfast.spark.stream import follow_folder

        here = Path(folder).resolve()
        if not here.is_dir():
            raise BadInput(f"{folder}: there is no such folder to watch")
        self._table_name(table)
        part = {"insert": "inserts", "delete": "deletes"}.get(how, how)

        def handle(path: str) -> None:
            outcome = self.apply(
                **{part: path},
                table=table,
                batch_id=f"file:{path}",
                on_missing=on_missing,
                operation_column=operation_column,
                options=options,
            )
            told(path, outcome)

        name = hashlib.sha256(f"{here}\n{table}\n{how}".encode()).hexdigest()[:16]
        checkpoint = self._store.path.resolve() / "streams" / name
        follow_folder(session(self._spark), str(here), str(checkpoint), handle, once)

    def checkpoint(self) -> None:
        """Keep the engines' states as of now, and merge small segments. Happens by itself when it is due."""
        self._stale = True
        replaced = {}
        for name, table in self._tables.items():
            segments = compacted(table, self._store.folder)
            if segments is not None:
                replaced[name] = segments
                self._tables[name] = load_table(TableFiles(table.schema, segments, table.next_id)).following(table)
        latest = self._store.history(1)
        self._store.keep_states(latest[-1].seq if latest else 0, self._dump_states(), replaced)
        self._replay_seconds, self._replay_batches = 0.0, 0
        self._stale = False

    def _try_checkpoint(self) -> None:
        """The batch is kept already: where the disk is too full for a checkpoint, the next batch tries again."""
        try:
            with clear_sentences(self._store.path), self._leaving_no_files():
                self.checkpoint()
        except BadInput:
            self._voice.note("The batch is kept; merging its files waits until the disk has room for it.")

    def _dump_states(self) -> dict[tuple[str, str], str]:
        kept = {}
        for (rules, name), state in self._states.items():
            path = f"{self._store.folder}/{uuid.uuid4().hex}.arrow"
            files.write(path, *self._engines[rules].dump(state))
            kept[rules, name] = path
        return kept

    def _table_name(self, asked: str | None) -> str:
        names = list(self._tables)
        if asked is None and len(names) == 1:
            return names[0]
        if asked in self._tables:
            return str(asked)
        told = f"there is no table {asked!r}" if asked else "this state watches several tables"
        raise BadInput(f"{told}; choose one with --table: {', '.join(names)}")

    def _read_options(self, name: str, given: ReadOptions | None) -> ReadOptions:
        """The options of this batch; where they leave nulls open, those that the table was first read with."""
        kept = CsvOptions.from_dict(self._records[name].options)
        given = given or ReadOptions()
        csv = given.csv
        nulls = kept.nulls if csv.nulls is None else csv.nulls
        header = kept.header if csv.header is None else csv.header
        return ReadOptions(
            CsvOptions(csv.separator, csv.quote, header, nulls, csv.types),
            given.schema, given.format, given.jdbc_table, given.jdbc_properties,
        )  # fmt: skip

    # ---- looking ----------------------------------------------------------------------------------------------------

    @property
    def tables(self) -> dict[str, Table]:
        """The watched tables as they are now, encoded."""
        if self._stale:
            self._load()
        return dict(self._tables)

    @property
    def left_out(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table that can't be compared, and so are not watched."""
        return {name: record.left_out for name, record in self._records.items()}

    def results(self, rules: str | None = None) -> list[Finding]:
        """What holds now."""
        if self._stale:
            self._load()
        return [
            finding
            for (name, _), state in self._states.items()
            if rules in (None, name)
            for finding in self._engines[name].result(state).values()
        ]

    def violations(self, rule: str | None = None) -> list[Listing]:
        """The violations of one given rule, by its name or text, or of all of them."""
        if self._stale:
            self._load()
        if not (given := self._given()):
            raise BadInput(f"{self._store.path}: no rules are watched here; give some with init --rules")
        found = [
            listing
            for (rules, name), state in self._states.items()
            if isinstance(serving := self._engines[rules], Lists)
            for listing in serving.listings(state, self._tables[name])
            if rule in (None, listing.rule.name, listing.rule.text)
        ]
        if rule is not None and not found:
            known = ", ".join(sorted(finding["name"] for finding in given))
            raise BadInput(f"there is no rule {rule!r}; the rules are: {known}")
        return found

    def given(self, rule: str) -> dict[str, Any] | None:
        """How the given rule with a name or text stands, if there is such a rule."""
        return next((finding for finding in self._given() if rule in (finding["name"], finding["text"])), None)

    def _given(self) -> list[dict[str, Any]]:
        return [finding for engine in ("dc", "named") for finding in self._store.results(engine)]

    def explain(self, rule: str, *, table: str | None = None) -> list[str]:
        """Whether a dependency or a key holds, how far, and which rows to look at: in lines of text.

        Functional dependencies (`Zip -> State`) and keys (`key(Zip)`) may be given by name, and need not be watched;
        inclusion dependencies (`orders.cust in customers.id`) must be.
        """
        if self._stale:
            self._load()
        if given := self.given(rule):
            rule, table = given["text"], given["table"]
        if is_dependency(rule):
            from holdfast.functional.explain import explain

            return explain(self._tables[self._table_name(table)], rule).lines()
        serving: Any = self._engines.get("ind")
        if serving is None:
            raise BadInput(f"can't explain {rule!r}: inclusion dependencies are not watched here (init --watch ind)")
        return str(serving.explain(self._states["ind", ALL_TABLES], rule)).splitlines()

    def history(self, last: int | None = None) -> list[BatchRecord]:
        """The applied batches, the oldest first."""
        return self._store.history(last)
