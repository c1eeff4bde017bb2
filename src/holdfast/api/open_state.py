"""A state that is open: its store, and its tables and engines in memory as of one moment.

A store has the tables and what engines know as of a checkpoint. The batches since then are replayed when someone asks
for what the engines know, and so are those that another process commits meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from holdfast.api.naming import named_record
from holdfast.api.settings import stored_rules, stored_settings
from holdfast.api.workspace import Subject, Workspace
from holdfast.changes.diff import Diff
from holdfast.engines.contract import Engine
from holdfast.engines.registry import make_engine, rule_class
from holdfast.engines.watched import FILES, WatchedTable
from holdfast.errors import BadInput, Missing, clear_sentences
from holdfast.progress import SILENT, Progress
from holdfast.store.batches import replayed
from holdfast.store.records import AppliedBatch, StateFiles, TableRecord
from holdfast.store.store import Store
from holdfast.store.watch_change import SHAPE
from holdfast.table import files
from holdfast.table.change import Batch, Change
from holdfast.table.load import load_table
from holdfast.table.row_names import naming_key
from holdfast.table.table import Table

T = TypeVar("T")

_PARTS = "parts"  # stands where the name of an engine would, for what engines share of a table
_ATTEMPTS = 5
_TO_GET_READY = 1.0  # seconds of the first change that don't count: kernels are loaded, indexes made or opened


@contextmanager
def opened_store(path: str | Path, write: bool, progress: Progress | None) -> Iterator[Store]:
    """The store of a state; where a step fails it is closed again, and the error says why in one sentence."""
    with clear_sentences(path):
        store = Store(path, write=write, note=(progress or SILENT).note)
        try:
            yield store
        except BaseException as error:
            explained = store.explained(error)
            store.close()
            raise explained from None


class OpenState:
    """A store, and what is watched in it: `workspace` is as of the last call of `now`, `records` say how files of each
    table are read, and `replay_seconds` and `replay_batches` what replaying the batches since the checkpoint costs.

    A change of memory and disk sets `stale` first and unsets it when both are done: if anything fails between, memory
    is read from disk again before it is used.
    """

    def __init__(self, store: Store, spark: Any = None, progress: Progress | None = None) -> None:
        self.store, self.spark, self.progress = store, spark, progress or Progress()
        self.workspace = Workspace()
        self.records: dict[str, TableRecord] = {}
        self.replay_seconds, self.replay_batches = 0.0, 0
        self.stale = self.closed = False
        self._waiting: list[Change] = []  # what the engines have not seen yet
        self._lines: dict[Subject, list[dict[str, Any]]] = {}  # results of given rules in the database
        self._shape: str | None = None  # the last change of rules or columns that is known
        self._seen = self._version = 0  # the last batch that is known, and the version of the database
        self._allowance = _TO_GET_READY

    # ---- as of now ---------------------------------------------------------------------------------------------------

    def now(self) -> Workspace:
        """What is watched, up to date: refused if closed, read again after a batch that failed, and replayed."""
        self.refuse_closed()
        if self.stale:
            self.load()
        if self._waiting:
            self._replay()
        return self.workspace

    @property
    def tables(self) -> dict[str, Table]:
        """The tables, up to date; while a batch is applied, or once the store is closed, as they are in memory."""
        if self._waiting:
            self._replay()
        return {name: watched.table for name, watched in self.workspace.tables.items()}

    def table_name(self, wanted: str | None) -> str:
        """The name of the table that is meant: of several, one must be chosen."""
        names = list(self.workspace.tables)
        if wanted is None and len(names) == 1:
            return names[0]
        if wanted in names:
            return str(wanted)
        wrong = f"there is no table {wanted!r}" if wanted else "this state watches several tables"
        raise BadInput(f"{wrong}; choose one with --table: {', '.join(names)}")

    def row_names(self) -> dict[str, list[str]]:
        """The columns by which messages name the rows of each table: its key, or the best one that was suggested."""
        return {name: naming_key(record.schema) for name, record in self.records.items()}

    def last_seq(self) -> int:
        """The last entry of the history, a batch or a change."""
        latest = self.store.history(1)
        return latest[-1].seq if latest else 0

    def last_batch(self) -> int:
        """The number of the last batch."""
        latest = self.store.history(1)
        return latest[-1].number if latest else 0

    def refuse_closed(self) -> None:
        """Raise BadInput if the state is closed."""
        if self.closed:
            raise BadInput(f"{self.store.path}: this monitor is closed; open the state again")

    def close(self) -> None:
        """Let go of the state."""
        self.closed = True
        self.store.close()

    # ---- loading -----------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read the tables and the engines' states as of the checkpoint, and the batches since, which the engines see
        when someone asks for what they know.
        """
        store, self._waiting, self._seen = self.store, [], self.store.checkpoint()
        self._shape = store.meta(SHAPE)
        dumps = {subject: files.read(path) for subject, path in store.bulk.states().items()}
        given = stored_rules(store)
        records = [named_record(record, given) for record in store.tables(as_of=store.checkpoint())]
        self.records = {record.schema.name: record for record in records}
        tables = {
            name: WatchedTable(load_table(record.where), *dumps.get((_PARTS, name), ({}, {})))
            for name, record in self.records.items()
        }
        now = self.workspace = Workspace(tables, self.made_engines(), runner=self.workspace.runner)
        now.left_out = {name: record.left_out for name, record in self.records.items()}
        for at in now.subjects():
            now.states[at] = now.engines[at[0]].load(now.subject(at[1]), *dumps.get(at, ({}, {})))
        steps = store.steps_after(self._seen)
        self._await(steps)
        if not self._waiting:
            self._recall()
        self.replay_seconds, self.replay_batches = 0.0, len(steps)
        self.stale = False

    def made_engines(self) -> dict[str, Engine[Any, Any]]:
        """The engines of the classes that the store names, with its settings and given rules."""
        settings, given = stored_settings(self.store), stored_rules(self.store)
        return {name: make_engine(name, settings, given.get(name)) for name in self.store.watched}

    def catch_up(self) -> bool:
        """Take in what others committed; gives whether there was anything.

        The engines see the new batches alone, unless files were merged meanwhile: then all is loaded again.
        """
        self.refuse_closed()
        if self.store.writable or self.store.version() == self._version:
            return False
        self.store.look_again()
        return self.while_others_write(self._take_in_steps)

    def _take_in_steps(self) -> bool:
        steps = self.store.steps_after(self._seen)
        if self.stale or self.store.meta(SHAPE) != self._shape or self._were_merged(steps):
            self.load()
            return True
        self._await(steps)
        return bool(steps)

    def _were_merged(self, steps: Sequence[AppliedBatch]) -> bool:
        """Whether the tables have other files than the known ones and those of the new batches."""
        known = {name: table.files.segments for name, table in self.tables.items()}
        for step in steps:
            known[step.table] += step.segments
        return known != {record.schema.name: record.where.segments for record in self.store.tables()}

    def while_others_write(self, read: Callable[[], T]) -> T:
        """Read; if a writer's compaction removes a file before it is open, look at what there is now."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return read()
            except Missing:
                self.store.look_again()
        return read()

    def _await(self, steps: Sequence[AppliedBatch]) -> None:
        """Open the files of batches that the engines have not seen, and read the results as of the last."""
        tables, waiting = self.tables, []
        for name, change in replayed(tables, steps):
            waiting.append(change)
            tables[name] = change.after
        self._lines = {at: self.store.rules.recalled(*at) for at in self.workspace.states if rule_class(at[0]).given}
        self._waiting += waiting
        self._seen = steps[-1].seq if steps else self._seen
        self._version = self.store.version_read()

    def _recall(self) -> None:
        """Give the engines what the database has of given rules, and no table shows."""
        for at, lines in self._lines.items():
            self.workspace.engines[at[0]].recall(self.workspace.states[at], lines)

    def _replay(self) -> None:
        """Let the engines see the batches that wait."""
        waiting, self._waiting, self.stale = self._waiting, [], True
        for change in waiting:
            self.follow(Batch([change]), batches=0)
        self._recall()
        self.stale = False

    # ---- changing ----------------------------------------------------------------------------------------------------

    def follow(self, batch: Batch, batches: int = 1) -> dict[Subject, Diff]:
        """Let the engines see a batch, which counts as this many to replay."""
        started = time.perf_counter()
        diffs = self.workspace.follow(batch, self.progress)
        allowed, self._allowance = self._allowance, 0.0
        self.replay_seconds += max(time.perf_counter() - started - allowed, 0.0)
        self.replay_batches += batches
        return diffs

    def write_states(self, now: Workspace, unchanged: Mapping[Subject, str]) -> StateFiles:
        """Write what the engines know, and what they share of each table, to files: one each, where there is anything.
        Gives these, and the files that go with them. Unchanged states keep the files they have.
        """
        written = dict(unchanged)
        with_them = self.store.bulk.with_states() if written else set()
        dumps = chain(  # one after the other, as each may be large
            ((at, now.engines[at[0]].dump(state)) for at, state in now.states.items() if at not in unchanged),
            (((_PARTS, name), table.dump()) for name, table in now.tables.items()),
        )
        for subject, (arrays, facts) in dumps:
            if arrays or facts:
                written[subject] = files.write_new(self.store.folder, arrays, facts)
                with_them |= set(facts.get(FILES, ()))
        return StateFiles(written, with_them)

    def go_on(self) -> None:
        """Go on with what is in memory after a change of rules, whose files say the same. Where rows are named by other
        columns from now on, the state is read again before it is used.
        """
        given = stored_rules(self.store)
        if all(named_record(record, given) == record for record in self.records.values()):
            self._seen, self._shape = self.store.checkpoint(), self.store.meta(SHAPE)
            self.replay_seconds, self.replay_batches = 0.0, 0
            self.stale = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Remove the files of a batch or a checkpoint that fails: they may fill the disk."""
        with clear_sentences(self.store.path):
            try:
                yield
            except BaseException:
                with suppress(Exception):
                    self.store.bulk.remove_orphans()
                raise
