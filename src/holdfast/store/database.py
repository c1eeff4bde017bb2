"""The database of a state: how it is opened to write, and to read where nothing may be written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Any

from holdfast.errors import BadInput, BadSurroundings, Damaged, HoldfastError, no_space, refuse_not_utf8
from holdfast.store.layout import DATABASE, SUMS, TO_OPEN
from holdfast.store.sums import Connection, checked

FORMAT = 6
UNREADABLE = (sqlite3.DatabaseError, UnicodeError)  # of a damaged one, even the errors may be no text
_ATTEMPTS = 20
_LONGEST_PATH = 504  # bytes: SQLite takes 512, with the endings of its other files
# To read a database with a log, SQLite needs a file next to it. Where that can't be made (the folder is read-only, or
# the disk is full), SQLite gives up with one of these.
_NEEDS_ROOM = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL)


def connect(path: Path) -> Connection:
    """The database, to read and write."""
    refuse_not_utf8(str(path.resolve()))  # SQLite can't take such a path
    if len(os.fsencode(path.absolute())) > _LONGEST_PATH:  # SQLite would say no more than that it can't open it
        raise BadSurroundings(f"{path.parent}: the path is too long for a state (SQLite's limit); choose a shorter one")
    return sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False, factory=Connection)


class ReadDatabase:
    """The database of a folder as of one moment, in memory: all pages are checked, and no lock is held. Where the
    folder is read-only, `file` is a private copy of the database.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._copied = folder, 0
        self._private: tempfile.TemporaryDirectory[str] | None = None
        self._read: sqlite3.Connection | None = None
        self.version_read = 0  # the version of what `look` gave last
        self.file = connect(folder / DATABASE)
        try:
            self.file.execute("SELECT 1 FROM sqlite_master").fetchone()
        except UNREADABLE as error:
            self.file.close()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NEEDS_ROOM:
                raise
            self._copy()

    def _copy(self) -> None:
        self._private = tempfile.TemporaryDirectory(prefix="holdfast-")
        try:
            self._copied = _copy_at_rest(self._folder, Path(self._private.name))
            self.file = connect(Path(self._private.name) / DATABASE)
        except BaseException:
            self._private.cleanup()
            raise

    def look(self) -> sqlite3.Connection:
        """The database as it is now. The one that was given before is closed."""
        if self._private is not None and self.version() != self._copied:
            self.file.close()
            self._private.cleanup()
            self._copy()
        image = checked(self.file, self._folder / DATABASE)
        if self._read is not None:
            self._read.close()
        self.version_read = image.version if self._private is None else self._copied
        self._read = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        pages = bytearray(image.pages)
        pages[18:20] = b"\x01\x01"  # says that the database has no log
        self._read.deserialize(pages)
        return self._read

    def version(self) -> int:
        """A number that changes when someone else commits."""
        return data_version(self.file) if self._private is None else _version_of(_stamps(self._folder))

    def close(self) -> None:
        """Let go of it."""
        if self._read is not None:
            self._read.close()
        self.file.close()
        if self._private is not None:
            self._private.cleanup()


def data_version(database: sqlite3.Connection) -> int:
    """SQLite's number of the version that a connection reads; it changes when another connection commits."""
    return int(database.execute("PRAGMA data_version").fetchone()[0])


def _copy_at_rest(folder: Path, to: Path) -> int:
    """Copy the database and its log as of one moment: again, if someone wrote meanwhile. Gives the version."""
    for _ in range(_ATTEMPTS):
        before = _stamps(folder)
        for name in (DATABASE, f"{DATABASE}-wal"):
            (to / name).unlink(missing_ok=True)
            if name in before:
                shutil.copyfile(folder / name, to / name)
        if _stamps(folder) == before:
            return _version_of(before)
    raise BadInput(f"{folder}: a writer changes the state without a pause; try again")


def _version_of(stamps: dict[str, tuple[int, int, int]]) -> int:
    return hash(tuple(sorted(stamps.items())))


def _stamps(folder: Path) -> dict[str, tuple[int, int, int]]:
    found = {}
    for name in (DATABASE, f"{DATABASE}-wal"):
        if (folder / name).exists():
            about = (folder / name).stat()
            found[name] = (about.st_ino, about.st_size, about.st_mtime_ns)
    return found


def fresh(folder: Path, facts: Mapping[str, str]) -> Connection:
    """A new database, which does not count as a state yet."""
    database = connect(folder / DATABASE)
    try:
        database.execute("PRAGMA journal_mode = WAL")  # the file remembers it
        database.execute("PRAGMA synchronous = FULL")
        database.executescript(resources.files("holdfast.store").joinpath("schema.sql").read_text())
        known = {**facts, "format": str(FORMAT), "state": "unfinished", "checkpoint": "0"}
        database.executemany("INSERT INTO meta VALUES (?, ?)", known.items())
    except BaseException:
        database.close()
        raise
    return database


def check_format(database: sqlite3.Connection, folder: Path) -> None:
    """Refuse a database of another format, or of an init that did not finish."""
    facts = dict(database.execute("SELECT key, value FROM meta WHERE key IN ('format', 'state')").fetchall())
    if (found := facts.get("format")) != str(FORMAT):
        raise BadInput(
            f"{folder}: the state has format {found}, and this version of Holdfast reads only format {FORMAT}; use "
            "the version that wrote it, or start a new state with: holdfast init"
        )
    if facts.get("state") != "ready":
        raise BadInput(f"{folder}: init did not finish here; run it again")


def refuse_unready(database: sqlite3.Connection, folder: Path) -> None:
    """Refuse a state without checksums if it has another format or was not finished."""
    if not (folder / SUMS).exists():
        check_format(database, folder)


def unreadable(folder: Path, error: BaseException) -> HoldfastError:
    """Why a database can't be read, in a sentence."""
    if shutil.disk_usage(folder).free < TO_OPEN:
        return no_space(folder)
    if not (folder / SUMS).exists():
        return BadInput(f"{folder}: {DATABASE} is damaged or not a Holdfast state ({error})")
    return Damaged(str(folder / DATABASE), str(error))


def fact(folder: Path, key: str) -> str | None:
    """A fact in the database of a folder, if there is one."""
    if not (folder / DATABASE).is_file():
        return None
    try:
        with closing(ReadDatabase(folder)) as database:
            row = database.file.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    except (*UNREADABLE, OSError):
        return None
    return str(row[0]) if row else None


def rows_of(database: sqlite3.Connection) -> Callable[..., list[Any]]:
    """A function that gives what a query finds with some values."""
    return lambda query, *values: database.execute(query, values).fetchall()


def put_facts(database: sqlite3.Connection, facts: Mapping[str, str]) -> None:
    """Keep facts about the state."""
    database.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())


def put_fact(database: sqlite3.Connection, key: str, value: str) -> None:
    """Keep one fact about the state."""
    put_facts(database, {key: value})
