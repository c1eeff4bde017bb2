"""The database of a state: how it is opened to write, and to read where nothing may be written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from holdfast.errors import BadInput, BadSurroundings
from holdfast.store.figures import start_figures

DATABASE = "holdfast.db"
FORMAT = 5
# Format 1 has no checksums in its segments, and no identity; 1 and 2 keep what engines share in each engine's state; up
# to 3, nothing is remembered but events, with the values of rows in their witnesses; up to 4, a batch has one table.
_READ = ("1", "2", "3", "4", "5")
_ATTEMPTS = 20
_LONGEST_PATH = 504  # bytes: SQLite takes 512, with the endings of its other files
# Reading a database with a log needs a file beside it, in memory that processes share. Where none can be made (nobody
# may write there, or the disk is full), SQLite gives up with one of these.
_NEEDS_ROOM = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL)


def connect(path: Path) -> sqlite3.Connection:
    """The database, to read and write."""
    if len(os.fsencode(path.absolute())) > _LONGEST_PATH:  # SQLite would say no more than that it can't open it
        raise BadSurroundings(f"{path.parent}: the path is too long for a state (SQLite's limit); choose a shorter one")
    return sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)


class ReadDatabase:
    """The database of a folder that perhaps nobody may write to: if need be, a private copy of it as it is now."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._copied = folder, 0
        self._private: tempfile.TemporaryDirectory[str] | None = None
        self.connection = connect(folder / DATABASE)
        try:
            self.connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.DatabaseError as error:
            self.connection.close()
            if error.sqlite_errorcode & 0xFF not in _NEEDS_ROOM:
                raise
            self._private = tempfile.TemporaryDirectory(prefix="holdfast-")
            try:
                self._copied = _copy_at_rest(folder, Path(self._private.name))
                self.connection = connect(Path(self._private.name) / DATABASE)
            except BaseException:
                self._private.cleanup()
                raise

    @property
    def is_copy(self) -> bool:
        """Whether this is a private copy, which later batches don't reach."""
        return self._private is not None

    def version(self) -> int:
        """A number that is another one once someone else has committed."""
        return data_version(self.connection) if self._private is None else _version_of(_stamps(self._folder))

    def version_read(self) -> int:
        """The version that is read here: of a private copy, that of when it was made."""
        return data_version(self.connection) if self._private is None else self._copied

    def close(self) -> None:
        """Let go of it."""
        self.connection.close()
        if self._private is not None:
            self._private.cleanup()


def data_version(database: sqlite3.Connection) -> int:
    """SQLite's number of the version that a connection reads: another one once a different connection has committed."""
    return int(database.execute("PRAGMA data_version").fetchone()[0])


def _copy_at_rest(folder: Path, to: Path) -> int:
    """Copy the database and its log, both as of one moment: again, if someone wrote meanwhile. Gives the version."""
    for _ in range(_ATTEMPTS):
        before = _stamps(folder)
        for name in (DATABASE, f"{DATABASE}-wal"):
            (to / name).unlink(missing_ok=True)
            if name in before:
                shutil.copyfile(folder / name, to / name)
        if _stamps(folder) == before:
            return _version_of(before)
    raise BadInput(f"{folder}: the state is written to without a pause; try again")


def _version_of(stamps: dict[str, tuple[int, int, int]]) -> int:
    return hash(tuple(sorted(stamps.items())))


def _stamps(folder: Path) -> dict[str, tuple[int, int, int]]:
    found = {}
    for name in (DATABASE, f"{DATABASE}-wal"):
        if (folder / name).exists():
            about = (folder / name).stat()
            found[name] = (about.st_ino, about.st_size, about.st_mtime_ns)
    return found


def fresh(folder: Path, facts: Mapping[str, str]) -> sqlite3.Connection:
    """A new database, which does not count as a state yet."""
    database = connect(folder / DATABASE)
    try:
        database.execute("PRAGMA journal_mode = WAL")  # the file remembers it
        database.execute("PRAGMA synchronous = FULL")
        for name in ("schema.sql", "memory.sql", "parts.sql"):
            database.executescript(_script(name))
        known = {**facts, "format": str(FORMAT), "state": "unfinished", "checkpoint": "0"}
        database.executemany("INSERT INTO meta VALUES (?, ?)", known.items())
    except BaseException:
        database.close()
        raise
    return database


def _script(name: str) -> str:
    return resources.files("holdfast.store").joinpath(name).read_text()


def remembers(database: sqlite3.Connection) -> bool:
    """Whether a state has the tables of what is remembered, which states of older formats lack."""
    return _has(database, "witness_rows")


def has_parts(database: sqlite3.Connection) -> bool:
    """Whether a state has the table of what batches of several tables did, which states of older formats lack."""
    return _has(database, "batch_parts")


def _has(database: sqlite3.Connection, table: str) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return database.execute(query, (table,)).fetchone() is not None


def bring_up_to_date(database: sqlite3.Connection) -> None:
    """Add to a state of an older format the tables that it lacks. Needs a transaction."""
    if not remembers(database):
        _give_memory(database)
    if not has_parts(database):
        _run(database, "parts.sql")


def _run(database: sqlite3.Connection, name: str) -> None:
    for statement in _script(name).split(";\n"):  # one by one: a whole script ends the transaction
        database.execute(statement)


def _give_memory(database: sqlite3.Connection) -> None:
    """Add the tables of what is remembered, with what events and results tell."""
    _run(database, "memory.sql")
    database.execute("INSERT INTO event_counts SELECT seq, event, count(*) FROM events GROUP BY seq, event")
    for column in ("gained", "lost"):  # given rules were not counted here
        told = "SELECT rules FROM event_counts WHERE event_counts.seq = batches.seq AND event = ?"
        database.execute(f"UPDATE batches SET {column} = coalesce(({told}), 0)", (column,))
    start_figures(database)


def check_format(database: sqlite3.Connection, folder: Path) -> None:
    """Refuse a database that is of another version, or that an init did not finish."""
    facts = dict(database.execute("SELECT key, value FROM meta WHERE key IN ('format', 'state')").fetchall())
    if (found := facts.get("format")) not in _READ:
        raise BadInput(
            f"{folder}: the state has format {found}, and this version of Holdfast reads formats up to {FORMAT}; "
            "use the version that wrote it"
        )
    if facts.get("state") != "ready":
        raise BadInput(f"{folder}: init did not finish here; run it again")


def fact(folder: Path, key: str) -> str | None:
    """A fact that the database in a folder keeps, if there is one that keeps facts."""
    if not (folder / DATABASE).is_file():
        return None
    try:
        database = ReadDatabase(folder)
    except (sqlite3.DatabaseError, OSError):
        return None
    try:
        row = database.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    except sqlite3.DatabaseError:
        return None
    finally:
        database.close()
    return str(row[0]) if row else None
