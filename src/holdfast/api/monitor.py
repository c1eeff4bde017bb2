"""The monitor: watches tables, applies batches, keeps the history. This is what users hold.

    with Monitor.create("state/", {"tax": "tax.csv"}, watch=["column"]) as watch:
        outcome = watch.apply(inserts=new_rows)

One batch is one transaction: it is read, resolved against its table, followed by every engine, and then committed at
once. If anything fails before the commit, the state on disk is untouched, and the state in memory is read from disk
again before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from holdfast.api.apply_batch import Batches, BatchOptions
from holdfast.api.changing import Changing
from holdfast.api.expectations import History
from holdfast.api.open_state import OpenState, opened_store
from holdfast.api.upkeep import Upkeep
from holdfast.api.view import View
from holdfast.engines.thresholds import ALARM_BUDGET
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import Sources
from holdfast.progress import Progress
from holdfast.results.alarms import FailOn
from holdfast.results.outcome import Outcome
from holdfast.results.upkeep import Vacuumed
from holdfast.table.nulls import GivenNulls
from holdfast.table.resolve import OnMissing

if TYPE_CHECKING:
    from holdfast.report.ci.summary import Summary
    from holdfast.rules.file import Rules
    from holdfast.spark.stream import Stream


class Monitor(Changing, View):
    """A state opened for writing. Use `create` or `open`; close it, or use it in a `with` statement.

    >>> import holdfast as hf, pyarrow as pa, tempfile
    >>> towns = pa.table({"id": [1, 2], "zip": ["10115", "20095"], "city": ["Berlin", "Hamburg"]})
    >>> more = pa.table({"id": [3], "zip": ["10115"], "city": ["Brelin"]})
    >>> with (  # doctest: +ELLIPSIS
    ...     tempfile.TemporaryDirectory() as folder,
    ...     hf.Monitor.create(f"{folder}/state", {"towns": towns}, watch=[], rules="zip -> city", key="id") as watch,
    ... ):
    ...     outcome = watch.apply(inserts=more)
    ...     print(outcome)
    ...     print(outcome.broken, watch.violations("fd1")[0].count)
    Batch 1: 1 row. 1 rule failed.
    Failed: zip -> city has 1 new violation
      id 3: zip 10115, city Brelin (Berlin in 1 of 2)
      See: holdfast explain ... "zip -> city"
    True 1
    """

    def __init__(self, state: OpenState) -> None:
        super().__init__(state)
        self._upkeep = Upkeep(state)
        self._batches = Batches(state, self._upkeep)
        self._streams: list[Stream] = []

    # ---- opening and closing ----------------------------------------------------------------------------------------

    @staticmethod
    def create(
        path: str | Path,
        tables: Any,
        *,
        watch: str | Sequence[str] | None = None,
        rules: str | Path | Sequence[str] | Rules | None = None,
        suggest: int | None = None,
        alarm_budget: float = ALARM_BUDGET,
        key: str | Sequence[str] | Mapping[str, str | Sequence[str]] = (),
        columns: str | Sequence[str] | Mapping[str, Sequence[str]] = (),
        nulls: GivenNulls = "equal",
        options: ReadOptions | None = None,
        segments: str | None = None,
        sensitive: str | Sequence[str] | Mapping[str, str | Sequence[str]] = (),
        keep_rows: str | None = None,
        expect: bool | None = None,
        history: History = None,
        spark: Any = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Monitor:
        """Start watching a table, or several given by name: read them whole, and find what holds. One that is a file
        has the file's name.

        `watch` names the classes of rules to find and maintain; `rules` is a rule file, or rules as texts, whose
        violations are counted; `suggest` adds the most likely rules, this many of each table, and twice as many about
        one row. With neither, the facts of the columns are watched, and 20 likely rules of each table. `alarm_budget`
        is how many breaks by chance all suggested errors together may have in 100 usual batches. `key` names the key
        columns of the one table, or of each table by its name, and `columns` those to watch: none means all, and later
        files may also have the others. `segments` may put the bulk files on shared storage (any URI that `pyarrow.fs`
        knows). Values of the columns that `sensitive` names, as `key` does, are hashed in reports and left out of what
        `notify` sends. `keep_rows`, such as `30d`, says how long the state keeps values of rows that broke rules:
        always, if it does not. `settings` are those of the rule classes, such as `error=0.01`.

        With `expect`, each batch is compared with those before it (docs/expectations.md): None means where rules are
        suggested. `history` names the column of times by which the first rows are cut into past batches, for all tables
        or for each by its name; None means the best one, and `"off"` none.
        """
        from holdfast.api.creation import Wanted, created  # what applying a batch need not load

        wanted = Wanted(
            watch=watch, rules=rules, suggest=suggest, alarm_budget=alarm_budget, key=key, columns=columns, nulls=nulls,
            options=options, segments=segments, sensitive=sensitive, keep_rows=keep_rows, expect=expect,
            history=history, settings=settings,
        )  # fmt: skip
        return Monitor(created(path, tables, wanted, spark, progress))

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
            state = OpenState(store, spark, progress)
            store.bulk.remove_orphans()
            state.load()
            monitor = Monitor(state)
            monitor._batches.give_alarmed()
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
        fail_on: FailOn = "likely",
    ) -> Outcome:
        """Apply one batch: inserts or upserts and deletes, a list of operations, or a new snapshot of the whole table.

        An upsert replaces the row with the same declared key, or is inserted where there is none. Each source may be a
        mapping by the names of tables: then one batch changes all of them at once. With `table_column` each row goes to
        the table that this column names. A batch id that was applied before is not applied again. With a folder
        `quarantine`, rows that can't be read or applied go to a file there, and the others are applied.

        With `evolve` the table first takes over the columns of the rows: new columns are added, missing ones are
        dropped, and types get wider where no value changes its meaning. The history shows that as a change of its own,
        made only if the rows can then be applied. If this raises, nothing has changed; of several tables, the columns
        of some may have.

        A found rule that is an alarm by `fail_on` (see `Outcome.alarms`) is given from then on, as `promote` gives it.
        """
        how = BatchOptions(table, table_column, on_missing, operation_column, options, quarantine, evolve, fail_on)
        return self._batches.apply(Sources(inserts, deletes, changes, snapshot, upserts), how, batch_id)

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
        files: str | None = None,
        settle: float = 5.0,
        every: float = 1.0,
        once: bool = False,
        stop: Callable[[], bool] = lambda: False,
        applied: Callable[[Sequence[str], Outcome], None] = lambda _paths, _outcome: None,
        quarantine: str | Path | None = None,
        refused: Callable[[str, str, str | None], None] = lambda _path, _reason, _moved: None,
        evolve: bool = False,
        fail_on: FailOn = "likely",
    ) -> None:
        """Apply every file that arrives in a folder, each as one batch, each exactly once, until stopped.

        `how` says what the files hold; with `once` this returns when all files that are there now are applied. A file
        whose content is replaced under the same name is a new batch. With `quarantine`, bad rows go to files in that
        folder, as with `apply`. A file that can't be applied at all, or a snapshot with bad rows, is moved there
        together with a file that gives the reason; `refused` is called, and the next file follows. All else is as with
        `apply`.

        `files` is a regular expression for the names of files, such as `(?P<batch>[0-9]+)-(?P<table>[a-z]+)[.]csv`:
        files of the same `batch` are one batch, and `table` is the table of a file. A batch is applied once each table
        has a file, or once its newest file is `settle` seconds old. `every` is the number of seconds between two looks
        at the folder. This returns after the batch during which `stop()` became true. `applied` gets the paths of each
        batch, and what it did.
        """
        from holdfast.api.file_pattern import ANY, FilePattern
        from holdfast.api.folder import Watching, watch_folder  # what applying a batch need not load

        own = BatchOptions(table, table_column, on_missing, operation_column, options, quarantine, evolve, fail_on)
        pattern = ANY if files is None else FilePattern.of(files)
        watching = Watching(how, pattern, once, every, settle, stop, applied, refused)
        watch_folder(self._batches, folder, watching, own)

    def stream(
        self,
        frame: Any,
        *,
        how: Literal["insert", "delete", "changes", "upsert"] = "insert",
        table: str | None = None,
        table_column: str | None = None,
        on_missing: OnMissing = "error",
        operation_column: str | None = None,
        name: str | None = None,
        checkpoint: str | None = None,
        every: float = 1.0,
        once: bool = False,
        applied: Callable[[Outcome], None] = lambda _outcome: None,
        quarantine: str | Path | None = None,
        evolve: bool = False,
        fail_on: FailOn = "likely",
    ) -> Stream:
        """Apply each batch of a streaming DataFrame of Spark, exactly once, also across restarts and crashes.

        This returns at once. `wait()` of what it returns waits until the stream has ended, and raises the error that
        ended it; `stop()` ends it after the batch that has begun. With `once` it ends when all that is there now is
        applied. `close` stops it, too. The checkpoint of Spark is in the state, under the `name` of the stream, by
        default that of its table; `checkpoint` puts it elsewhere. All else is as with `apply`.
        """
        from holdfast.api.stream import Streaming, start_stream  # what applying a batch need not load

        own = BatchOptions(table, table_column, on_missing, operation_column, None, quarantine, evolve, fail_on)
        streaming = Streaming(how, name, checkpoint, once, every, applied)
        self._streams.append(start_stream(self._batches, frame, streaming, own))
        return self._streams[-1]

    def close(self) -> None:
        """Let go of the state; streams that run end after the batch that has begun."""
        for stream in self._streams:
            stream.stop()
        super().close()

    def ci_summary(
        self,
        outcome: Outcome,
        *,
        fail_on: FailOn = "likely",
        bad: str = "",
        inserted: Mapping[str | None, str] | None = None,
        options: ReadOptions | None = None,
        redact: bool = False,
    ) -> Summary:
        """What a CI host shows of the last batch. `bad` says why too many rows were set aside; `inserted` are the files
        whose rows it inserted, by table, and `options` how these are read.
        """
        from holdfast.api.ci import of_batch  # what applying a batch need not load

        return of_batch(self._state, outcome, fail_on, bad, inserted or {}, options or ReadOptions(), redact)

    def checkpoint(self) -> None:
        """Store the engines' states as of now, merge small segments, and rewrite tables that hold more than twice what
        they need. A batch does this when it is due.
        """
        self._upkeep.checkpoint()

    def vacuum(self, *, keep_events: bool = False) -> Vacuumed:
        """Rewrite all tables, and remove what is left of deleted rows from the whole state folder.

        Events keep the ids of rows that broke a rule, and the values of living ones; with `keep_events` also the values
        of dead ones. Costs reading and writing the tables, and making the engines' indexes.
        """
        return self._upkeep.vacuum(keep_events)

    def keep_rows(self, how_long: str | None) -> None:
        """Keep values of rows that broke rules for a while, such as `30d`; None: as long as the state. With each batch,
        and with `vacuum`, older ones are removed: of them stay the numbers of the rows.
        """
        self._state.refuse_closed()
        self._upkeep.keep_rows(how_long)
