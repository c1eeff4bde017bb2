"""Loading a state: its tables and what engines know of them, as of one moment.

The tables and the engines' states are kept as of a checkpoint, and the batches since are replayed when a state is
opened. `View` and `Monitor` build on this.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

from holdfast.api.applying import Watching
from holdfast.api.kept import PARTS, kept_rules, kept_settings
from holdfast.changes.diff import Diff
from holdfast.engines.contract import Engine
from holdfast.engines.registry import ALL_TABLES, make_engine, rule_class
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput, Missing, clear_sentences
from holdfast.progress import SILENT, Progress
from holdfast.store.records import AppliedBatch, TableRecord
from holdfast.store.replay import replayed
from holdfast.store.reshape import SHAPE
from holdfast.store.store import Store
from holdfast.table import files
from holdfast.table.change import Batch, Change
from holdfast.table.load import load_table
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Table

T = TypeVar("T")

_ATTEMPTS = 5
_TO_GET_READY = 1.0  # seconds of the first change that don't count: kernels are loaded, indexes made or opened


@contextmanager
def opened_store(path: str | Path, write: bool, progress: Progress | None) -> Iterator[Store]:
    """The store of a state; closed again, and the reason told in a sentence, where what is done with it fails."""
    with clear_sentences(path):
        store = Store(path, write=write, note=(progress or SILENT).note)
        try:
            yield store
        except BaseException as error:
            explained = store.explained(error)
            store.close()
            raise explained from None


class Loaded:
    """The tables of a state and what its engines know of them, as of one moment."""

    def __init__(self, store: Store, spark: Any, progress: Progress | None) -> None:
        self._store, self._spark, self._progress = store, spark, progress or Progress()
        self._runner: Runner = Threads()
        self._engines: dict[str, Engine[Any, Any]] = {}
        self._watched: dict[str, WatchedTable] = {}
        self._states: dict[tuple[str, str], Any] = {}
        self._records: dict[str, TableRecord] = {}
        self._waiting: list[Change] = []  # what the engines have not seen yet
        self._told: dict[tuple[str, str], list[dict[str, Any]]] = {}  # what the database tells of given rules
        self._shape: str | None = None  # the last change of rules or columns that is known
        self._seen = self._version = 0  # the last batch that is known, and the version of the database
        self._stale = self._closed = False
        self._replay_seconds, self._replay_batches = 0.0, 0
        self._allowance = _TO_GET_READY

    # ---- loading -----------------------------------------------------------------------------------------------------

    def follow(self) -> bool:
        """Bring a view up to date with what others committed since it was loaded; gives whether there was anything.

        The engines see the new batches alone, unless files were merged meanwhile: then all is loaded anew.
        """
        self._refuse_closed()
        if self._store.writable or self._store.version() == self._version:
            return False
        self._store.look_again()
        return self._while_others_write(self._catch_up)

    def _catch_up(self) -> bool:
        """Take in the batches since the last one that is known."""
        if self._stale or self._store.meta(SHAPE) != self._shape:
            self._load()
            return True
        steps, tables = self._store.steps_after(self._seen), self._tables
        known = {name: table.where.segments for name, table in tables.items() if table.where is not None}
        for step in steps:
            known[step.table] += step.segments
        if known != {record.schema.name: record.where.segments for record in self._store.tables()}:
            self._load()
            return True
        self._await(steps)
        return bool(steps)

    def _while_others_write(self, read: Callable[[], T]) -> T:
        """Read; if a writer's compaction removes a file before it is open, look at what there is now."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return read()
            except Missing:
                self._store.look_again()
        return read()

    def _load(self) -> None:
        """Read the tables and the engines' states as of the checkpoint, and the batches since, which the engines see
        when someone asks for what they know.
        """
        store, self._waiting, self._seen = self._store, [], self._store.checkpoint()
        self._engines, self._shape = self._make_engines(), store.meta(SHAPE)
        kept = {subject: files.read(path) for subject, path in store.kept_states().items()}
        self._records = {record.schema.name: record for record in store.tables(as_of=store.checkpoint())}
        self._watched = {
            name: WatchedTable(load_table(record.where), *kept.get((PARTS, name), ({}, {})))
            for name, record in self._records.items()
        }
        self._states = {
            (rules, name): self._engines[rules].load(self._subject(name), *kept.get((rules, name), ({}, {})))
            for rules, name in self._subjects()
        }
        steps = store.steps_after(self._seen)
        self._await(steps)
        if not self._waiting:
            self._recall()
        self._replay_seconds, self._replay_batches = 0.0, len(steps)
        self._stale = False

    def _await(self, steps: Sequence[AppliedBatch]) -> None:
        """Open the files of batches that the engines have not seen, and read what the database tells as of the last."""
        tables, waiting = self._tables, []
        for name, change in replayed(tables, steps):
            waiting.append(change)
            tables[name] = change.after
        self._told = {at: self._store.results(*at) for at in self._states if rule_class(at[0]).given}
        self._waiting += waiting
        self._seen = steps[-1].seq if steps else self._seen
        self._version = self._store.version_read()

    def _recall(self) -> None:
        """Let the engines know what the database tells of given rules, and no table does."""
        for (rules, name), lines in self._told.items():
            self._engines[rules].recall(self._states[rules, name], lines)

    def _replay(self) -> None:
        """Let the engines see the batches that wait."""
        waiting, self._waiting, self._stale = self._waiting, [], True
        for change in waiting:
            self._maintain(Batch([change]), batches=0)
        self._recall()
        self._stale = False

    def close(self) -> None:
        """Let go of the state."""
        self._closed = True
        self._store.close()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise BadInput(f"{self._store.path}: this monitor is closed; open the state again")

    def _refresh(self) -> None:
        """Before anything is told: refuse if closed; after a batch that failed, read the state anew; and replay."""
        self._refuse_closed()
        if self._stale:
            self._load()
        if self._waiting:
            self._replay()

    def __enter__(self) -> Self:
        self._refuse_closed()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _maintain(self, batch: Batch, batches: int = 1) -> dict[tuple[str, str], Diff]:
        """Let the engines see a batch, which stands for so many more."""
        started = time.perf_counter()
        diffs = self._watching.follow(batch)
        allowed, self._allowance = self._allowance, 0.0
        self._replay_seconds += max(time.perf_counter() - started - allowed, 0.0)
        self._replay_batches += batches
        return diffs

    @property
    def _watching(self) -> Watching:
        return Watching(self._watched, self._engines, self._states, self._runner, self._progress)

    def _make_engines(self) -> dict[str, Engine[Any, Any]]:
        given = kept_rules(self._store)
        return {name: make_engine(name, self._settings(), given.get(name)) for name in self._store.watched}

    def _settings(self) -> dict[str, Any]:
        """What the user asks of engines, by the names of settings."""
        return kept_settings(self._store)

    def _subjects(self) -> Iterator[tuple[str, str]]:
        """Each engine with the name of each table that it has a state of, or with the name for all of them."""
        for rules, engine in self._engines.items():
            for name in [ALL_TABLES] if engine.declared.across else self._watched:
                yield rules, name

    def _subject(self, name: str) -> Any:
        return dict(self._watched) if name == ALL_TABLES else self._watched[name]

    @property
    def _tables(self) -> dict[str, Table]:
        if self._waiting:
            self._replay()
        return {name: watched.table for name, watched in self._watched.items()}

    def _table_name(self, asked: str | None) -> str:
        names = list(self._tables)
        if asked is None and len(names) == 1:
            return names[0]
        if asked in self._tables:
            return str(asked)
        wrong = f"there is no table {asked!r}" if asked else "this state watches several tables"
        raise BadInput(f"{wrong}; choose one with --table: {', '.join(names)}")
