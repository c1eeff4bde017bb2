"""The monitor: watches tables, applies batches, keeps the history. This is what users hold.

    with Monitor.create("state/", {"tax": "tax.csv"}, watch=["column"]) as watch:
        outcome = watch.apply(inserts=new_rows)

One batch is one transaction: it is read, resolved against its table, followed by every engine, and then committed at
once. If anything fails before the commit, the state on disk is untouched, and the state in memory is read from disk
again before it is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from holdfast.api.apply_batch import Batches, BatchOptions
from holdfast.api.expectations import History
from holdfast.api.open_state import OpenState, opened_store
from holdfast.api.settings import BUDGET, settings_text
from holdfast.api.upkeep import Upkeep, kept_for
from holdfast.api.view import View
from holdfast.api.workspace import named
from holdfast.engines.registry import make_engine, names_in, refuse_unknown_settings, to_find
from holdfast.engines.thresholds import ALARM_BUDGET, SUGGESTED
from holdfast.errors import BadInput, clear_sentences
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import Sources, by_table
from holdfast.progress import Progress
from holdfast.results.alarms import FailOn
from holdfast.results.changed import Changed
from holdfast.results.outcome import Outcome
from holdfast.results.upkeep import Vacuumed
from holdfast.rules.rule import Severity
from holdfast.sources.ddl import type_named
from holdfast.store.store import KEEP_ROWS, Store
from holdfast.table.columns import ColumnChange
from holdfast.table.nulls import GivenNulls
from holdfast.table.resolve import OnMissing
from holdfast.table.types import Column

if TYPE_CHECKING:
    import pyarrow as pa

    from holdfast.api.change.rules import RuleEdit
    from holdfast.api.change.spec import WatchSpec
    from holdfast.report.ci.summary import Summary
    from holdfast.rules.file import Rules
    from holdfast.spark.stream import Stream

DEFAULT_CLASSES = ("column",)


class Monitor(View):
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
        from holdfast.api.checks import classes_of, given_rules  # what applying a batch need not load
        from holdfast.api.creation import read_table, start

        tables = named(tables, options)
        if not tables:
            raise BadInput("nothing to watch: give at least one table")
        given = None if rules is None else given_rules(rules)
        if watch is None and given is None and suggest is None:
            suggest = SUGGESTED
        wanted = to_find(DEFAULT_CLASSES if watch is None else watch)
        refuse_unknown_settings(settings)
        if alarm_budget != ALARM_BUDGET:
            from holdfast.ranking.expectation import refuse_bad_budget

            refuse_bad_budget(alarm_budget)
        watched = names_in([*wanted, *(classes_of(given) if given else ())])
        for name in watched:
            make_engine(name, settings)
        facts = {"watch": json.dumps(watched), "nulls": nulls, "settings": settings_text(settings, {})}
        facts[KEEP_ROWS] = kept_for(keep_rows)
        facts[BUDGET] = repr(float(alarm_budget))
        with clear_sentences(path):
            store = Store.create(path, facts, segments)
            try:
                state = OpenState(store, spark, progress)
                keys, chosen = by_table(key, tables, "a key is"), by_table(columns, tables, "columns are")
                built = {
                    name: read_table(state, name, source, options, keys.get(name, ()), chosen.get(name, ()))
                    for name, source in tables.items()
                }
                expected = bool(suggest) if expect is None else expect
                start(state, built, given, suggest, by_table(sensitive, tables, "columns are"), history, expected)
                return Monitor(state)
            except BaseException:
                store.abandon()
                raise

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

    # ---- rules that are given ---------------------------------------------------------------------------------------

    def add_rules(
        self,
        rules: str | Path | Sequence[str] | Rules,
        *,
        table: str | None = None,
        change_id: str | None = None,
    ) -> Changed:
        """Give more rules: a rule file, a text, or texts, which are about `table` where they name none. A rule that is
        given already takes the new name, severity and note. A change id that was used before changes nothing.
        """
        return self._change_rules(change_id, lambda edit: edit.spec.with_rules(edit.checked(rules, table)))

    def remove_rules(self, rules: str | Path | Sequence[str] | Rules, *, change_id: str | None = None) -> Changed:
        """Remove rules, by their names or texts, or those of a rule file. The history keeps what they did."""
        return self._change_rules(change_id, lambda edit: edit.spec.without_rules(edit.named(rules)))

    def replace_rules(self, rules: str | Path | Sequence[str] | Rules, *, change_id: str | None = None) -> Changed:
        """Give exactly the rules of a file, a text, or texts: others are removed, new ones are added, and rules that
        were given before keep what is known of them.
        """
        return self._change_rules(change_id, lambda edit: replace(edit.spec, rules=edit.checked(rules)))

    def promote(
        self,
        rule: str,
        *,
        name: str | None = None,
        severity: Severity = "error",
        note: str = "",
        table: str | None = None,
        change_id: str | None = None,
    ) -> Changed:
        """Give a rule that was found: from now on its violations are counted and listed, and it stays when it breaks.

        An order dependency, also a pointwise one, is given as the denial constraint that says the same.
        """
        return self._change_rules(change_id, lambda edit: edit.promote(rule, name, severity, note, table))

    def accept(
        self, rule: str, *, table: str | None = None, undo: bool = False, change_id: str | None = None
    ) -> Changed:
        """Accept the violations that a given rule has now: they are counted and shown, and violations that come later
        raise an alarm. Name the rule, or give its text. `undo` takes that back.
        """
        from holdfast.api.change.rules import accept  # what applying a batch need not load

        return accept(self._state, rule, table, undo, change_id)

    def unmute(self, rule: str, *, change_id: str | None = None) -> Changed:
        """Have a suggested rule speak again that muted itself, as new rows broke it as often as chance does. It is a
        rule of your own from now on, and is never muted again.
        """
        return self._change_rules(change_id, lambda edit: edit.spec.with_own(edit.named(rule)))

    # ---- what batches are expected to look like ---------------------------------------------------------------------

    def expect(self, on: bool = True, *, history: History = None, change_id: str | None = None) -> Changed:
        """Compare each batch with those before it from now on, or no longer. `history` is as with `create`."""
        from holdfast.api.change.expectations import switch

        return switch(self._state, on, history, change_id)

    def accept_figure(self, figure: str, *, table: str | None = None, change_id: str | None = None) -> Changed:
        """Take a figure that was far outside of the last batch, such as `orders: rows_in_batch`, for what is usual from
        now on. Nothing is said of it before 8 batches of that kind.
        """
        from holdfast.api.change.expectations import accept

        return accept(self._state, figure, table, change_id)

    def mute_figure(
        self, figure: str, *, table: str | None = None, undo: bool = False, change_id: str | None = None
    ) -> Changed:
        """Say nothing of a figure of batches from now on. `undo` takes that back."""
        from holdfast.api.change.expectations import mute

        return mute(self._state, figure, table, undo, change_id)

    def alarm_budget(self, budget: float, *, change_id: str | None = None) -> Changed:
        """Change how many breaks by chance all suggested errors together may have in 100 usual batches. Suggested rules
        that hold become errors or warnings by it, and by how large batches were.
        """
        from holdfast.api.change.budget import change_budget

        return change_budget(self._state, budget, change_id)

    # ---- rules that were found --------------------------------------------------------------------------------------

    def ignore(
        self, rule: str, *, table: str | None = None, undo: bool = False, change_id: str | None = None
    ) -> Changed:
        """Ignore a found rule: it raises no alarm, and a page lists it last. `undo` takes that back."""
        return self._change_rules(change_id, lambda edit: edit.mark(rule, table, None if undo else "ignored"))

    def pin(self, rule: str, *, table: str | None = None, undo: bool = False, change_id: str | None = None) -> Changed:
        """Have a found rule matter, whatever its score is: it raises an alarm when it breaks, and a page lists it
        first. `undo` takes that back.
        """
        return self._change_rules(change_id, lambda edit: edit.mark(rule, table, None if undo else "pinned"))

    def watch(self, classes: str | Sequence[str], *, change_id: str | None = None, **settings: Any) -> Changed:
        """Find the rules of more classes, and maintain them from now on. `settings` are those of the classes."""
        wanted = to_find(classes)
        refuse_unknown_settings(settings)
        return self._change_rules(change_id, lambda edit: edit.spec.with_classes(wanted, settings))

    def unwatch(self, classes: str | Sequence[str], *, change_id: str | None = None) -> Changed:
        """Stop watching classes of rules. The history keeps what their rules did."""
        wanted = to_find(classes)
        return self._change_rules(change_id, lambda edit: edit.spec.without_classes(wanted))

    def _change_rules(self, change_id: str | None, edit: Callable[[RuleEdit], WatchSpec]) -> Changed:
        from holdfast.api.change.rules import change_rules  # what applying a batch need not load

        return change_rules(self._state, change_id, edit)

    # ---- columns and tables -----------------------------------------------------------------------------------------

    def add_column(
        self, name: str, kind: str | pa.DataType, *, table: str | None = None, change_id: str | None = None
    ) -> Changed:
        """Add a column of a type such as `integer`, `decimal(10,2)` or `text`; it is null in all rows that exist."""
        return self._change_columns(table, change_id, ColumnChange(added=(Column(name, type_named(kind)),)))

    def drop_column(self, name: str, *, table: str | None = None, change_id: str | None = None) -> Changed:
        """Drop a column with the rules that name it; later files may still have it."""
        return self._change_columns(table, change_id, ColumnChange(dropped=(name,)))

    def rename_column(self, old: str, new: str, *, table: str | None = None, change_id: str | None = None) -> Changed:
        """Rename a column; it keeps its rules."""
        return self._change_columns(table, change_id, ColumnChange(renamed={old: new}))

    def retype_column(
        self, name: str, kind: str | pa.DataType, *, table: str | None = None, change_id: str | None = None
    ) -> Changed:
        """Give a column a wider type, in which every value keeps its meaning; or make it text."""
        return self._change_columns(table, change_id, ColumnChange(retyped={name: type_named(kind)}))

    def declare_sensitive(
        self,
        columns: str | Sequence[str],
        *,
        table: str | None = None,
        undo: bool = False,
        change_id: str | None = None,
    ) -> Changed:
        """Declare columns sensitive: reports show hashes in place of their values, and what `notify` sends has none of
        them. `undo` takes that back.
        """
        from holdfast.api.change.columns import declare_sensitive  # what applying a batch need not load

        named = [columns] if isinstance(columns, str) else list(columns)
        return declare_sensitive(self._state, table, named, undo, change_id)

    def _change_columns(self, table: str | None, change_id: str | None, change: ColumnChange) -> Changed:
        from holdfast.api.change.columns import change_columns

        return change_columns(self._state, table, change_id, change)

    def add_table(
        self,
        name: str,
        source: Any,
        *,
        key: str | Sequence[str] = (),
        columns: str | Sequence[str] = (),
        options: ReadOptions | None = None,
        change_id: str | None = None,
    ) -> Changed:
        """Watch one more table: it is read whole, and the rules of all watched classes are found in it."""
        from holdfast.api.change.tables import add_table

        return add_table(self._state, name, source, key, columns, options, change_id)

    def drop_table(self, name: str, *, change_id: str | None = None) -> Changed:
        """Stop watching a table, and remove the rules that name it. The history keeps what happened to it."""
        from holdfast.api.change.tables import drop_table

        return drop_table(self._state, name, change_id)
