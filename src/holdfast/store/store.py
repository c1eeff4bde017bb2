"""The store: a folder that is always the state before a batch or the state after it.

    STATE/holdfast.db     SQLite (WAL): tables, batches, results, events, and which segment files count
    STATE/segments/       immutable Arrow files; a file that no commit names does not exist
    STATE/lock            held by the one writer

Segment files reach the disk first, then one SQLite transaction names them: that is the commit. Engines' states are
kept as of a **checkpoint**; batches after it are replayed through the engines when the state is opened, so a commit
writes nothing that grows with the table. Readers need no lock.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import fs

from holdfast.changes.diff import Diff, Result, Witness
from holdfast.errors import BadInput, no_space
from holdfast.store.forget import shrink, strip_witnesses
from holdfast.store.handled import HandledFiles
from holdfast.store.lock import WriterLock
from holdfast.store.records import BatchRecord, Commit, Step, TableRecord
from holdfast.table import files
from holdfast.table.table import Nulls, Schema, Segment, TableFiles
from holdfast.table.types import Column

FORMAT = 1
_DATABASE = "holdfast.db"
_ROOM_TO_OPEN = 1 << 17  # SQLite shares memory in a file beside the database; without room for it, it just fails
_BATCH_COLUMNS = "seq, batch_id, table_name, at, kind, inserted, deleted, ignored, seconds, gained, lost, changed"


class Store:
    """A state folder. Give `write=True` to hold the writer's lock until `close`."""

    def __init__(self, path: str | Path, *, write: bool = False) -> None:
        self.path = Path(path)
        if not (self.path / _DATABASE).is_file():
            raise BadInput(f"{self.path}: not a Holdfast state; start one with: holdfast init {self.path} SOURCE")
        self._lock = WriterLock(self.path / "lock") if write else None
        try:
            self._db = _connect(self.path / _DATABASE)
            self._check_format()
            self._db.execute("PRAGMA synchronous = FULL")
        except BaseException:
            self.close()
            raise
        self.folder: str = self.meta("segments") or str(self.path.resolve() / "segments")

    @staticmethod
    def create(path: str | Path, facts: Mapping[str, str], segments: str | None = None) -> Store:
        """A new state folder, held for writing. It counts as a state once `finish_creation` has run."""
        folder = Path(path)
        if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not _is_unfinished(folder))):
            raise BadInput(f"{folder}: already there; choose another folder, or remove this one first")
        folder.mkdir(parents=True, exist_ok=True)
        lock = WriterLock(folder / "lock")
        try:
            if not _is_unfinished(folder):
                raise BadInput(f"{folder}: another init has just finished here; choose another folder")
            place = _segments_folder(segments, folder)
            database = _fresh_database(folder, {**facts, **({"segments": place} if segments else {})})
        except BaseException:
            lock.release()
            raise
        store = Store.__new__(Store)
        store.path, store._lock, store._db, store.folder = folder, lock, database, place
        files.make_folder(store.folder)
        return store

    @property
    def writable(self) -> bool:
        """Whether this process holds the writer's lock."""
        return self._lock is not None

    def close(self) -> None:
        """Let go of the state."""
        if hasattr(self, "_db"):
            self._db.close()
        if self._lock:
            self._lock.release()
            self._lock = None

    def abandon(self) -> None:
        """Take back a creation that failed: remove what it made, and let go."""
        with suppress(OSError):
            for name in files.names(self.folder):
                files.remove(f"{self.folder}/{name}")
        self._db.close()
        with suppress(OSError):
            for each in (*self.path.glob(f"{_DATABASE}*"), self.path / "lock"):
                each.unlink(missing_ok=True)
            for each in (self.path / "segments", self.path):
                if each.exists():
                    each.rmdir()
        self.close()

    # ---- reading ----------------------------------------------------------------------------------------------------

    def meta(self, key: str) -> str | None:
        """A fact about the state."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    @property
    def watched(self) -> list[str]:
        """The names of the engines that run."""
        return list(json.loads(self.meta("watch") or "[]"))

    @property
    def nulls(self) -> Nulls:
        """How nulls compare."""
        return "distinct" if self.meta("nulls") == "distinct" else "equal"

    def tables(self, as_of: int | None = None) -> list[TableRecord]:
        """The watched tables, with their segments now or as of a batch."""
        found = []
        query = "SELECT name, columns, key, options, left_out, next_id, row_count FROM tables ORDER BY rowid"
        for name, columns, key, options, left_out, next_id, rows in self._db.execute(query).fetchall():
            schema = Schema(
                name, tuple(Column.from_json(c) for c in json.loads(columns)), tuple(json.loads(key)), self.nulls
            )
            segments = self._segments("table_name = ? AND seq <= ?", name, 1 << 62 if as_of is None else as_of)
            if as_of is not None:
                next_id = self._next_id(name, as_of, next_id)
            where = TableFiles(schema, segments, next_id)
            found.append(TableRecord(schema, json.loads(options), tuple(json.loads(left_out)), rows, where))
        return found

    def _next_id(self, table: str, as_of: int, now: int) -> int:
        later = "SELECT next_id - inserted FROM batches WHERE table_name = ? AND seq > ? ORDER BY seq LIMIT 1"
        row = self._db.execute(later, (table, as_of)).fetchone()
        return int(row[0]) if row else now

    def _segments(self, condition: str, *values: object) -> tuple[Segment, ...]:
        query = f"SELECT file, first_id FROM segments WHERE {condition} ORDER BY id"
        return tuple(Segment(f"{self.folder}/{file}", first) for file, first in self._db.execute(query, values))

    def batch(self, batch_id: str) -> BatchRecord | None:
        """The applied batch with an id, if there is one."""
        query = f"SELECT {_BATCH_COLUMNS} FROM batches WHERE batch_id = ?"
        row = self._db.execute(query, (batch_id,)).fetchone()
        return BatchRecord(*row) if row else None

    def history(self, last: int | None = None) -> list[BatchRecord]:
        """The applied batches, the oldest first."""
        query = f"SELECT {_BATCH_COLUMNS} FROM batches ORDER BY seq DESC LIMIT ?"
        return [BatchRecord(*row) for row in self._db.execute(query, (-1 if last is None else last,))][::-1]

    def rule_events(self) -> dict[tuple[str, str, str], tuple[int, int]]:
        """For each rule that a batch gained or lost, by engine, table and text: the last batch that gained it (0: none
        did), and how many broke it.
        """
        query = """
            SELECT engine, table_name, text, coalesce(max(CASE event WHEN 'gained' THEN seq END), 0),
                   sum(event = 'lost')
            FROM events GROUP BY engine, table_name, text"""
        return {
            (engine, table, text): (gained, broke) for engine, table, text, gained, broke in self._db.execute(query)
        }

    def kept_rows(self, rows: Iterable[int]) -> list[tuple[int, str, str, dict[str, Any]]]:
        """The events, the newest first, that keep values of some rows: batch, table (or all), rule and witness."""
        query = """
            SELECT DISTINCT seq, table_name, text, witness FROM events, json_each(witness, '$.rows') AS told
            WHERE witness LIKE '%"values"%' AND told.value IN (SELECT value FROM json_each(?)) ORDER BY seq DESC"""
        found = self._db.execute(query, (json.dumps(list(rows)),))
        return [(seq, table, text, json.loads(witness)) for seq, table, text, witness in found]

    def results(self, engine: str | None = None) -> list[dict[str, Any]]:
        """What holds now, as JSON objects."""
        query = "SELECT json FROM results WHERE ?1 IS NULL OR engine = ?1 ORDER BY engine, table_name, text"
        return [json.loads(row[0]) for row in self._db.execute(query, (engine,))]

    def checkpoint(self) -> int:
        """The batch as of which the engines' states are kept."""
        return int(self.meta("checkpoint") or 0)

    def kept_states(self) -> dict[tuple[str, str], str]:
        """The file of each engine's state of each table."""
        rows = self._db.execute("SELECT engine, table_name, file FROM checkpoints")
        return {(engine, table): f"{self.folder}/{file}" for engine, table, file in rows}

    def steps_after(self, seq: int) -> list[Step]:
        """The batches after one, with the segments that each added."""
        rows = self._db.execute("SELECT seq, table_name, next_id FROM batches WHERE seq > ? ORDER BY seq", (seq,))
        return [Step(n, table, self._segments("seq = ?", n), next_id) for n, table, next_id in rows.fetchall()]

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Everything read inside is as of one moment, whatever a writer commits meanwhile."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    # ---- writing ----------------------------------------------------------------------------------------------------

    def handled_files(self) -> HandledFiles:
        """The files of watched folders that were applied."""
        return HandledFiles(self._db)

    def put_meta(self, key: str, value: str) -> None:
        """Keep a fact about the state."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def finish_creation(
        self,
        tables: Iterable[TableRecord],
        results: Mapping[tuple[str, str], Result],
        states: Mapping[tuple[str, str], str],
    ) -> None:
        """Make a new state count: its tables, its first results, the files of the engines' states, all at once."""
        with self._transaction():
            for record in tables:
                self._add_table(record)
                self._add_segments(record.schema.name, record.where.segments, 0)
            for (engine, table), result in results.items():
                self._put_results(engine, table, result)
            self._put_states(states)
            self._db.execute("UPDATE meta SET value = 'ready' WHERE key = 'state'")

    def commit(self, commit: Commit) -> int:
        """Make one batch durable; gives its number. This is the moment at which it counts."""
        gained, lost, changed = (
            sum(len(getattr(diff, part)) for diff in commit.diffs.values())
            for part in ("gained", "witnesses", "changed")
        )
        row = (
            commit.batch_id, commit.table, now(), commit.kind, commit.inserted, commit.deleted, commit.ignored,
            commit.seconds, commit.next_id, gained, lost, changed,
        )  # fmt: skip
        with self._transaction():
            columns = (
                "batch_id, table_name, at, kind, inserted, deleted, ignored, seconds, next_id, gained, lost, changed"
            )
            marks = ", ".join("?" * len(row))
            seq = self._db.execute(f"INSERT INTO batches ({columns}) VALUES ({marks})", row).lastrowid
            assert seq is not None
            self._add_segments(commit.table, commit.segments, seq)
            self._db.execute(
                "UPDATE tables SET next_id = ?, row_count = ? WHERE name = ?",
                (commit.next_id, commit.rows, commit.table),
            )
            for (engine, subject), diff in commit.diffs.items():
                self._put_diff(seq, engine, subject, diff, engine in commit.many)
        return seq

    def keep_states(
        self, seq: int, states: Mapping[tuple[str, str], str], replaced: Mapping[str, tuple[Segment, ...]]
    ) -> None:
        """A checkpoint: name the files of the engines' states as of a batch, and the segments of compacted tables."""
        old = set(self.kept_states().values())
        with self._transaction():
            self._db.execute("DELETE FROM checkpoints")
            self._put_states(states)
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'checkpoint'", (str(seq),))
            for table, segments in replaced.items():
                old |= {segment.path for segment in self._segments("table_name = ?", table)}
                self._db.execute("DELETE FROM segments WHERE table_name = ?", (table,))
                self._add_segments(table, segments, seq)
        used = {segment.path for segments in replaced.values() for segment in segments} | set(states.values())
        for path in old - used:
            files.remove(path)

    def forget(self, living: Mapping[str, NDArray[np.int64]] | None) -> int:
        """Remove what the database still knows of rows that died: from events, unless `living` (the ids of each table's
        living rows) is None, and from its free pages and its log. Gives how many events had values of such rows.
        """
        with self._transaction():
            stripped = 0 if living is None else strip_witnesses(self._db, living)
        if not shrink(self._db):
            raise BadInput(
                f"{self.path}: written anew, but a process that reads it keeps the log of its database, in which "
                "deleted values may be; run this again when that process has ended"
            )
        return stripped

    def size(self) -> int:
        """The bytes of the whole state, segments that lie elsewhere included."""
        own = [each for each in self.path.rglob("*") if each.is_file() and not each.name.endswith("-shm")]
        elsewhere = 0 if Path(self.folder).is_relative_to(self.path.resolve()) else files.size(self.folder)
        return elsewhere + sum(each.stat().st_size for each in own)

    def remove_orphans(self) -> None:
        """Delete files that no commit names: leftovers of a crash."""
        used = {row[0] for row in self._db.execute("SELECT file FROM segments UNION SELECT file FROM checkpoints")}
        for name in set(files.names(self.folder)) - used:
            files.remove(f"{self.folder}/{name}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        if "://" not in self.folder:
            files.flush(Path(self.folder))  # the names of new files, too, must be on the disk before the commit
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _add_table(self, record: TableRecord) -> None:
        schema = record.schema
        self._db.execute(
            "INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                schema.name,
                json.dumps([column.to_json() for column in schema.columns]),
                json.dumps(schema.key),
                json.dumps(record.options),
                json.dumps(record.left_out),
                record.where.next_id,
                record.rows,
            ),
        )

    def _add_segments(self, table: str, segments: Iterable[Segment], seq: int) -> None:
        rows = [(table, Path(segment.path).name, segment.first_id, seq) for segment in segments]
        self._db.executemany("INSERT INTO segments (table_name, file, first_id, seq) VALUES (?, ?, ?, ?)", rows)

    def _put_states(self, states: Mapping[tuple[str, str], str]) -> None:
        rows = [(engine, table, Path(path).name) for (engine, table), path in states.items()]
        self._db.executemany("INSERT INTO checkpoints VALUES (?, ?, ?)", rows)

    def _put_results(self, engine: str, table: str, result: Result) -> None:
        rows = [(engine, table, text, json.dumps(finding.to_json())) for text, finding in result.items()]
        self._db.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", rows)

    def _put_diff(self, seq: int, engine: str, table: str, diff: Diff, many: bool) -> None:
        if not many:
            self._put_results(engine, table, diff.gained)
            self._put_results(engine, table, {text: new for text, (_, new) in diff.changed.items()})
            gone = [(engine, table, text) for text in diff.lost]
            self._db.executemany("DELETE FROM results WHERE engine = ? AND table_name = ? AND text = ?", gone)
        rows = ((seq, engine, table, *event) for event in _events(diff, many))
        self._db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def _check_format(self) -> None:
        try:
            found, state = self.meta("format"), self.meta("state")
        except sqlite3.DatabaseError as error:
            if shutil.disk_usage(self.path).free < _ROOM_TO_OPEN:
                raise no_space(self.path) from None
            raise BadInput(f"{self.path}: {_DATABASE} is damaged or not a Holdfast state ({error})") from None
        if found != str(FORMAT):
            raise BadInput(
                f"{self.path}: the state has format {found}, and this version of Holdfast reads format {FORMAT}; "
                "use the version that wrote it"
            )
        if state != "ready":
            raise BadInput(f"{self.path}: init did not finish here; run it again")


def _events(diff: Diff, many: bool) -> Iterator[tuple[str, str, str, str | None]]:
    """What happened to each rule: the event, its text, the finding and the witness. Of many rules, of which the text
    tells all, there is no finding, and the values of a row that broke many are kept with the first of them alone.
    """
    broken, mended = _turned(diff)
    known: set[int] = set()  # rows whose values an event keeps
    for text in (*diff.lost, *broken):
        witness = diff.witnesses.get(text)
        untested = not many and getattr(diff.lost.get(text), "empty", False)
        event = "lost" if witness or text in broken else "untested" if untested else "implied"
        told = "" if many else json.dumps((broken.get(text) or diff.lost[text]).to_json())
        yield event, text, told, None if witness is None else _kept(witness, known if many else set())
    for text in (*diff.gained, *mended):
        yield "gained", text, "" if many else json.dumps((mended.get(text) or diff.gained[text]).to_json()), None


def _kept(witness: Witness, known: set[int]) -> str:
    if known.issuperset(witness.rows):
        return json.dumps({"rows": witness.rows})
    known.update(witness.rows)
    return json.dumps(witness.to_json())


def _turned(diff: Diff) -> tuple[Result, Result]:
    """The given rules that had no violations and have some now, and those that have none any more."""
    broken, mended = {}, {}
    for text, (old, new) in diff.changed.items():
        before, after = (getattr(finding, "violations", None) for finding in (old, new))
        if before == 0 and after:
            broken[text] = new
        elif before and after == 0:
            mended[text] = new
    return broken, mended


def now() -> str:
    """The time as history tells it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)


def _fresh_database(folder: Path, facts: Mapping[str, str]) -> sqlite3.Connection:
    for leftover in folder.glob(f"{_DATABASE}*"):
        leftover.unlink()
    database = _connect(folder / _DATABASE)
    database.execute("PRAGMA journal_mode = WAL")  # the file remembers it
    database.execute("PRAGMA synchronous = FULL")
    database.executescript(resources.files("holdfast.store").joinpath("schema.sql").read_text())
    known = {**facts, "format": str(FORMAT), "state": "unfinished", "checkpoint": "0"}
    database.executemany("INSERT INTO meta VALUES (?, ?)", known.items())
    return database


def _segments_folder(asked: str | None, folder: Path) -> str:
    """Where the segments of a new state go: a folder of its own, since files there that no commit names are removed."""
    if not asked:
        return str(folder.resolve() / "segments")
    try:
        where, name = (fs.LocalFileSystem(), asked) if "://" not in asked else fs.FileSystem.from_uri(asked)
    except pa.ArrowInvalid as error:
        raise BadInput(f"{asked}: segments can't go there: {error}; give a folder, or an address like s3://…") from None
    place = str(Path(name).resolve()) if isinstance(where, fs.LocalFileSystem) else asked
    if files.names(place) and _leftover(folder) != place:
        raise BadInput(f"{asked}: not empty; give the segments a folder of their own")
    return place


def _leftover(folder: Path) -> str | None:
    """The folder of segments of an init that did not finish."""
    if not (folder / _DATABASE).exists():
        return None
    database = _connect(folder / _DATABASE)
    try:
        row = database.execute("SELECT value FROM meta WHERE key = 'segments'").fetchone()
    except sqlite3.DatabaseError:
        return None
    finally:
        database.close()
    return row[0] if row else None


def _is_unfinished(folder: Path) -> bool:
    """Whether a folder holds what an interrupted init left behind, and nothing else."""
    known = {_DATABASE, f"{_DATABASE}-wal", f"{_DATABASE}-shm", "lock", "segments"}
    if any(each.name not in known for each in folder.iterdir()):
        return False
    if not (folder / _DATABASE).exists():
        return True
    database = _connect(folder / _DATABASE)
    try:
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "meta" not in tables:
            return not tables
        row = database.execute("SELECT value FROM meta WHERE key = 'state'").fetchone()
    except sqlite3.DatabaseError:
        return False  # something else that has the name
    finally:
        database.close()
    return row is None or row[0] != "ready"
