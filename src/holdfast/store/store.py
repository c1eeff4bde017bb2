"""The store: a folder that is always the state before a batch or the state after it.

    STATE/holdfast.db     SQLite (WAL): tables, batches, results, events, and which segment files count
    STATE/holdfast.sums   checksums of the pages of the database (`sums`)
    STATE/segments/       immutable Arrow files; a file that no commit names does not exist
    STATE/lock            held by the one writer

Segment files reach the disk first, then one SQLite transaction names them: that is the commit. Engines' states are
stored as of a **checkpoint**; batches after it are replayed through the engines when the state is opened, so a commit
writes nothing that grows with the table. Readers need no lock.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import Result
from holdfast.errors import BadInput, Missing, clear_sentences, refuse_not_utf8
from holdfast.expectations.figures import Layout
from holdfast.store import identity
from holdfast.store.batch_numbers import BatchNumbers
from holdfast.store.batches import batch_with, last_batch, last_batches, steps_since
from holdfast.store.bulk_files import BulkFiles, put_checkpoint
from holdfast.store.commits import put_commit, put_creation, put_handled
from holdfast.store.creation import Creation, create
from holdfast.store.database import (
    UNREADABLE,
    ReadDatabase,
    check_format,
    connect,
    data_version,
    put_fact,
    put_facts,
    refuse_unready,
    unreadable,
)
from holdfast.store.erasure import Expired, expire_rows, forget_rows, is_due
from holdfast.store.expected import StoredExpectations, forget_sentences, put_layouts
from holdfast.store.later import make_later_tables
from holdfast.store.layout import DATABASE, LOCK, SEGMENTS
from holdfast.store.lock import WriterLock
from holdfast.store.memory import StoredMemory
from holdfast.store.records import (
    AppliedBatch,
    BatchRecord,
    Commit,
    Expected,
    HandledFile,
    IncidentChange,
    StateFiles,
    TableRecord,
)
from holdfast.store.rule_events import put_incidents
from holdfast.store.stored_rules import StoredRules
from holdfast.store.sums import SumsWriter, checked, wrong_files
from holdfast.store.watch_change import WatchChange, changes, put_change, stored_tables
from holdfast.table import files
from holdfast.table.nulls import Nulls
from holdfast.table.table import Segment, TableFiles
from holdfast.text.quotes import command

KEEP_ROWS = "keep_rows"  # the fact that says how long rows are kept that broke rules; empty: for ever
_EXPIRED = "expired"  # the fact that says which of them are gone

T = TypeVar("T")
P = ParamSpec("P")


class Store:
    """A state folder. Give `write=True` to hold the writer's lock until `close`; `note` is called with what that
    changed.
    """

    _creation: Creation  # of a state that was just made
    _db: sqlite3.Connection
    _sums: SumsWriter | None = None  # of the writer

    def __init__(
        self, path: str | Path, *, write: bool = False, note: Callable[[str], None] = lambda _text: None
    ) -> None:
        self.path = Path(path)
        with clear_sentences(self.path):
            if not (self.path / DATABASE).is_file():
                words = ("state/", self.path) if self.path.exists() else (self.path, "SOURCE")
                raise BadInput(f"{self.path}: not a Holdfast state; start one with: {command('init', *words)}")
            self._lock = WriterLock(self.path / LOCK) if write else None
            self._reading: ReadDatabase | None = None
            try:
                self._open()
                if write:
                    self._own_files(note)
            except BaseException:
                self.close()
                raise

    def _open(self) -> None:
        path = self.path / DATABASE
        try:
            if self.writable:
                self._db = database = connect(path)
                refuse_unready(database, self.path)
                self._sums = SumsWriter(self.path, database, checked(database, path).sums)
                database.execute("PRAGMA synchronous = FULL")
            else:
                self._reading = ReadDatabase(self.path)
                refuse_unready(self._reading.file, self.path)
                self._db = self._reading.look()
            check_format(self._db, self.path)
        except UNREADABLE as error:
            raise unreadable(self.path, error) from None
        place = self.meta("segments") or str(self.path.resolve() / SEGMENTS)
        self.folder: str = place.removeprefix("file://")
        self.next_checkpoint = int(self.meta("next_checkpoint") or 0)  # no checkpoint before this batch

    @staticmethod
    def create(path: str | Path, facts: Mapping[str, str], segments: str | None = None) -> Store:
        """A new state folder, held for writing. It counts as a state once `finish_creation` has run."""
        store = Store.__new__(Store)
        store.path = Path(path)
        with clear_sentences(store.path):
            store._creation = made = create(store.path, facts, segments)
        store._lock, store._reading, store._db, store.folder = made.lock, None, made.database, made.place
        store._sums = made.sums
        store.next_checkpoint = 0
        return store

    def _own_files(self, note: Callable[[str], None]) -> None:
        """Make sure that the state owns all files that it names, before one of them is removed."""
        known = self._ownership()
        try:
            facts = identity.owning(self.path, known, self.folder, self.bulk.named, note)
        except Missing as error:
            raise self.explained(error) from None
        self.folder = facts.get("segments", self.folder)
        if changed := {key: value for key, value in facts.items() if known[key] != value}:
            with self._at_once():
                put_facts(self._db, changed)

    def _ownership(self) -> dict[str, str]:
        return {key: self.meta(key) or "" for key in identity.FACTS}

    def explained(self, error: BaseException) -> BaseException:
        """An error, or its cause: a copy lacks files that the original has removed since."""
        if isinstance(error, Missing):
            return identity.explained(error, self.path, self._ownership(), self.folder)
        return error

    @property
    def writable(self) -> bool:
        """Whether this process holds the writer's lock."""
        return self._lock is not None

    def close(self) -> None:
        """Let go of the state."""
        if self._reading is not None:
            self._reading.close()
        elif self._sums is not None:
            self._sums.close()
            self._sums = None
        elif hasattr(self, "_db"):
            self._db.close()
        if self._lock:
            self._lock.release()
            self._lock = None

    def abandon(self) -> None:
        """Undo a creation that failed: remove what it made, and let go."""
        self._creation.undo.close()
        self._lock = None

    # ---- reading ----------------------------------------------------------------------------------------------------

    def meta(self, key: str) -> str | None:
        """A fact about the state."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", key)
        return rows[0][0] if rows else None

    def facts(self, key: str) -> dict[str, Any]:
        """A fact that is a JSON object; empty where it was never put."""
        return dict(json.loads(self.meta(key) or "{}"))

    def _rows(self, query: str, *values: object) -> list[Any]:
        with clear_sentences(self.path):
            return self._db.execute(query, values).fetchall()

    def _read(self, read: Callable[Concatenate[sqlite3.Connection, P], T], *values: P.args, **named: P.kwargs) -> T:
        """What a function reads from the database."""
        with clear_sentences(self.path):
            return read(self._db, *values, **named)

    @property
    def watched(self) -> list[str]:
        """The names of the engines that run."""
        return list(json.loads(self.meta("watch") or "[]"))

    @property
    def nulls(self) -> Nulls:
        """How nulls compare."""
        return Nulls(self.meta("nulls") or "")

    def tables(self, as_of: int | None = None) -> list[TableRecord]:
        """The watched tables, with their segments now or as of a batch."""
        known = self._read(stored_tables, self.nulls)
        return [replace(each, where=self._files(each.where, as_of)) for each in known]

    def _files(self, now: TableFiles, as_of: int | None) -> TableFiles:
        name = now.schema.name
        segments = self.bulk.segments("table_name = ? AND seq <= ?", name, 1 << 62 if as_of is None else as_of)
        later = [] if as_of is None else self._read(steps_since, as_of, name)
        return TableFiles(now.schema, segments, later[0].next_id - later[0].inserted if later else now.next_id)

    def batch(self, batch_id: str) -> BatchRecord | None:
        """The applied batch with an id, if there is one."""
        refuse_not_utf8(batch_id)
        return self._read(batch_with, batch_id)

    def history(self, last: int | None = None) -> list[BatchRecord]:
        """The applied batches, the oldest first."""
        return self._read(last_batches, last)

    def last_batch(self) -> BatchRecord | None:
        """The last batch, whatever was changed since."""
        return self._read(last_batch)

    def numbers(self) -> BatchNumbers:
        """The numbers of batches."""
        return self.memory.numbers()

    def changes(self) -> dict[int, dict[str, Any]]:
        """What changes of rules, columns and tables did, by their `seq`, the oldest first."""
        return self._read(changes)

    def handled_files(self, paths: Sequence[str]) -> dict[str, HandledFile]:
        """Those of some files of a watched folder that were applied, by path."""
        query = "SELECT path, looks, digest, version FROM handled_files WHERE path IN (SELECT value FROM json_each(?))"
        return {row[0]: HandledFile(*row) for row in self._rows(query, json.dumps(paths))} if paths else {}

    @property
    def expectations(self) -> StoredExpectations:
        """What batches usually look like."""
        return StoredExpectations(self._rows)

    @property
    def rules(self) -> StoredRules:
        """What is stored of rules."""
        return StoredRules(self._rows)

    @property
    def bulk(self) -> BulkFiles:
        """The segments, and the engines' states."""
        return BulkFiles(self.path, self.folder, self._rows)

    @property
    def memory(self) -> StoredMemory:
        """What is remembered of batches and rules."""
        return StoredMemory(self._rows)

    def checkpoint(self) -> int:
        """The batch of the last checkpoint."""
        return int(self.meta("checkpoint") or 0)

    def steps_after(self, seq: int) -> list[AppliedBatch]:
        """What the batches after one did to each table, with the segments that each added there."""
        return [
            replace(each, segments=self.bulk.segments("seq = ? AND table_name = ?", each.seq, each.table))
            for each in self._read(steps_since, seq)
        ]

    def births(self, table: str) -> list[tuple[int, int]]:
        """The batches that inserted rows into a table, each with the number of its first row."""
        return [(each.seq, each.next_id - each.inserted) for each in self._read(steps_since, 0, table) if each.inserted]

    def complaints(self) -> list[str]:
        """What is wrong with the database and its other files, though it was opened."""
        return list(map(str, wrong_files(self._db, self.path / DATABASE)))

    def snapshot(self, path: Path) -> None:
        """Copy the database to a new file, as of one moment, whatever a writer commits meanwhile."""
        with clear_sentences(path), closing(connect(path)) as copy:
            self._db.backup(copy)

    def version(self) -> int:
        """A number that changes when another process commits. Cheap."""
        with clear_sentences(self.path):
            return self._reading.version() if self._reading is not None else data_version(self._db)

    def version_read(self) -> int:
        """The version of what is read here."""
        return self._reading.version_read if self._reading is not None else self.version()

    def look_again(self) -> None:
        """See what was committed since."""
        if self._reading is not None:
            with clear_sentences(self.path):
                self._db = self._reading.look()

    # ---- writing ----------------------------------------------------------------------------------------------------

    def put_handled(self, handled: Iterable[HandledFile]) -> None:
        """Remember files of a watched folder."""
        with self._at_once():
            put_handled(self._db, handled)

    def put_incidents(self, seq: int, changes: Iterable[IncidentChange]) -> None:
        """Store which values violate rules since a batch."""
        with self._at_once():
            make_later_tables(self._db)
            put_incidents(self._db, seq, changes)

    def put_meta(self, key: str, value: str) -> None:
        """Keep a fact about the state."""
        with self._at_once():
            put_fact(self._db, key, value)

    def finish_creation(
        self,
        tables: Iterable[TableRecord],
        results: Mapping[tuple[str, str], Result],
        accepted: Mapping[tuple[str, str], Mapping[str, Any]],
        states: StateFiles,
        expected: Expected | None = None,
    ) -> None:
        """Make a new state count: tables, first results with what of them is accepted, the files of the engines'
        states, and what batches are expected to look like, all at once.
        """
        with self._transaction():
            put_creation(self._db, tables, results, accepted, states, expected)

    def commit(self, commit: Commit) -> None:
        """Make one batch durable. This is the moment at which it counts."""
        with self._transaction():
            put_commit(self._db, commit)

    def write_checkpoint(self, seq: int, states: StateFiles, replaced: Mapping[str, tuple[Segment, ...]]) -> None:
        """A checkpoint: name the files of the engines' states, and the segments of compacted tables."""
        with self._transaction():
            old = self.bulk.named()
            put_checkpoint(self._db, seq, states, replaced)
        self.bulk.remove(old)

    def commit_change(self, change: WatchChange, states: StateFiles) -> None:
        """Make a change of what is watched durable, with the engines' new states."""
        with self._transaction():
            old = self.bulk.named()
            put_checkpoint(self._db, put_change(self._db, change), states, change.replaced)
        self.bulk.remove(old)

    def expire(self, before: datetime) -> int:
        """Remove what is stored of rows that broke rules with batches before a moment; gives the number of events that
        this concerned.
        """
        done = Expired(*json.loads(self.meta(_EXPIRED) or "[]"))
        if not self._read(is_due, before, done):
            return 0
        self._db.execute("PRAGMA secure_delete = ON")  # free space of pages keeps nothing
        with self._at_once():
            now = expire_rows(self._db, before, done)
            put_fact(self._db, _EXPIRED, json.dumps(now))
        return now.events - done.events

    def forget(self, living: Mapping[str, NDArray[np.int64]] | None, layouts: Mapping[str, Layout]) -> int:
        """Remove dead rows from the database: from events, unless `living` (the ids of each table's living rows) is
        None, and from its free pages and its log. `layouts` are those of tables that no longer hold some values that
        were watched. Gives the number of events that this concerned.
        """
        with self._transaction():
            stripped = 0 if living is None else forget_rows(self._db, living)
            if layouts:
                put_layouts(self._db, layouts)
                forget_sentences(self._db, layouts)
        assert self._sums is not None
        if not self._sums.shrink():
            raise BadInput(
                f"{self.path}: rewritten, but a process that reads it holds its log, which may still have deleted "
                "values; run this again when that process has ended"
            )
        return stripped

    def room_for_checkpoint(self) -> bool:
        """Whether the disk seems to have room for a checkpoint."""
        return self.bulk.have_room(self.checkpoint())

    def postpone_checkpoint(self, seq: int) -> None:
        """Have the next checkpoint wait for a batch, which another process may apply."""
        self.next_checkpoint = seq
        with suppress(sqlite3.OperationalError):  # the disk is too full even for this
            self.put_meta("next_checkpoint", str(seq))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        files.flush_folder(self.folder)  # the names of new files, too, must be on the disk before the commit
        with self._at_once():
            yield

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # on a full disk SQLite may have taken it back already
                self._db.execute("ROLLBACK")
            raise
        if self._sums is not None:
            self._sums.add()
