"""Checksums of the database: the CRC-32 of each of its pages, in a file next to it, so that no bit turns unnoticed.

    STATE/holdfast.sums   groups of (page, CRC): first all pages, then, a group a commit, those that it changed

A commit leaves its pages in SQLite's log. There the writer reads which pages changed, and adds a group. A writer that
is killed between the commit and that leaves pages without checksums, but they are still in the log with SQLite's own
checksums, and the next writer adds the group. So the log must stay until then: only the writer copies it to the
database, after the checksums have reached the disk; other connections leave it when they are closed (`Connection`).

All pages are checked when a state is opened, as a connection sees them in one transaction. A reader goes on with that
image, and so with one moment (`ReadDatabase`).
Cost: opening takes some 5 ms a megabyte more; a batch pays for the pages that it changes, some 0.2 ms.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import Damaged, Missing
from holdfast.store.layout import SUMS
from holdfast.store.wal import Frame, Position, read_after, whole_up_to
from holdfast.table import files

_GROUP = struct.Struct("<8sIIII")  # salts and frames of the position in the log, pages of the database, records, CRC
_RECORD = np.dtype([("page", "<u4"), ("crc", "<u4")])
_LARGE_LOG = 1000  # frames: from here on the log is copied to the database
_LONG = 1 << 15  # bytes of groups: from here on one group says it all
_ATTEMPTS = 20
Crcs = NDArray[np.uint32]


@dataclass(frozen=True)
class Sums:
    """The CRCs of all pages, as of a position in the log. They are in the first `length` bytes of the file; `whole`
    says that this is all of it, and not cut by damage or by a write that goes on.
    """

    crcs: Crcs
    position: Position
    length: int
    whole: bool = True


class Image(NamedTuple):
    """A database as of one moment: its pages, SQLite's number of that version, and the checksums that it fits."""

    pages: bytes
    version: int
    sums: Sums


def log_of(database: Path) -> Path:
    """SQLite's log of a database."""
    return database.with_name(f"{database.name}-wal")


# ---- looking --------------------------------------------------------------------------------------------------------


def read_sums(path: Path) -> Sums:
    """The checksums in a file, up to the first group that is damaged or incomplete."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise Missing(str(path)) from None
    crcs, position, at = np.empty(0, np.uint32), Position(), 0
    while at + _GROUP.size <= len(raw):
        salts, frames, pages, count, crc = _GROUP.unpack_from(raw, at)
        end = at + _GROUP.size + count * _RECORD.itemsize
        if end > len(raw) or crc != _crc(raw[at : at + _GROUP.size - 4], raw[at + _GROUP.size : end]):
            break
        records = np.frombuffer(raw, _RECORD, count, at + _GROUP.size)
        crcs = _with(crcs, records["page"], records["crc"], pages)
        position, at = Position(salts, frames), end
    return Sums(crcs, position, at, at == len(raw))


def checked(database: sqlite3.Connection, path: Path) -> Image:
    """All pages of the database at a path, as a connection sees them now; a page that is not what was written is
    refused. If a writer commits meanwhile, look again.
    """
    sums, log = path.with_name(SUMS), log_of(_file_of(database))
    for _ in range(_ATTEMPTS):
        known = read_sums(sums)
        image, wrong = _seen(database, known, log)
        if wrong is None:
            return image
        if read_sums(sums).position == known.position:
            break
    for error in _wrong_others(path, known, log):
        raise error
    raise Damaged(str(path), f"page {wrong} differs from its checksum" if wrong else "it has more or fewer pages")


def wrong_files(database: sqlite3.Connection, path: Path) -> Iterator[Damaged]:
    """What is wrong with the database at a path and its other files, though all pages are what was written."""
    for (line,) in database.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield Damaged(str(path), line.replace("\n", " "))
    yield from _wrong_others(path, read_sums(path.with_name(SUMS)), log_of(path))


def _wrong_others(path: Path, known: Sums, log: Path) -> Iterator[Damaged]:
    if not known.whole:
        yield Damaged(str(path.with_name(SUMS)), "its checksums differ from one of their own")
    if not whole_up_to(log, known.position):
        yield Damaged(str(log_of(path)), "it differs from its checksums")


def _seen(database: sqlite3.Connection, known: Sums, log: Path) -> tuple[Image, int | None]:
    """The database as of one moment, and the first of its pages that is wrong, if any."""
    database.execute("BEGIN")
    try:
        pages = database.serialize()
        image = Image(pages, int(database.execute("PRAGMA data_version").fetchone()[0]), known)
        crcs = page_crcs(pages)
        if np.array_equal(crcs, known.crcs):
            return image, None
        frames = read_after(log, known.position).frames  # the transaction keeps SQLite from starting the log again
    finally:
        database.execute("COMMIT")
    return image, _wrong_page(crcs, known, frames)


def _wrong_page(crcs: Crcs, known: Sums, frames: list[Frame]) -> int | None:
    """The first page that fits neither its checksum nor the log since; 0 where the number of pages is wrong."""
    if len(crcs) not in {len(known.crcs), *(frame.pages for frame in frames)}:
        return 0
    since = {(frame.page, frame.crc) for frame in frames}
    right = dict(enumerate(known.crcs.tolist(), 1))
    pages = enumerate(crcs.tolist(), 1)
    return next((page for page, crc in pages if right.get(page) != crc and (page, crc) not in since), None)


def page_crcs(pages: bytes) -> Crcs:
    """The CRC of each page of a database. The size of a page stands in the first one, with 1 for 65,536."""
    size, view = int.from_bytes(pages[16:18], "big"), memoryview(pages)
    size = 1 << 16 if size == 1 else max(size, 512)
    return np.array([zlib.crc32(view[at : at + size]) for at in range(0, len(pages), size)], np.uint32)


class Connection(sqlite3.Connection):
    """A connection that leaves the log as it is when it is closed, even as the last one. SQLite would copy the log to
    the database, perhaps before the checksums of its pages were written.
    """

    def close(self) -> None:
        """Close it while another connection is open for reading: SQLite copies the log only with the last one."""
        with suppress(sqlite3.ProgrammingError):  # it is closed already
            path = _file_of(self)
            if log_of(path).exists() and log_of(path).stat().st_size:
                with closing(_only_reading(path)) as other:
                    with suppress(sqlite3.DatabaseError, UnicodeError):  # of a damaged one; it is open all the same
                        other.execute("SELECT 1 FROM sqlite_master").fetchone()
                    super().close()
        super().close()

    def close_with_log(self) -> None:
        """Close it as SQLite does."""
        super().close()


# ---- writing --------------------------------------------------------------------------------------------------------


class SumsWriter:
    """Keeps the checksums of a database, for the one connection that writes to it."""

    def __init__(self, folder: Path, database: Connection, known: Sums) -> None:
        self._path, self._db, self._log = folder / SUMS, database, log_of(_file_of(database))
        self._position, self._length = known.position, known.length
        self._file = os.open(self._path, os.O_WRONLY)
        self._on_disk, self._complete = True, False
        if known.length > _LONG + len(known.crcs) * _RECORD.itemsize:
            self.shorten()
        database.execute("PRAGMA wal_autocheckpoint = 0")
        self.add()

    @staticmethod
    def of_new(folder: Path, database: Connection) -> SumsWriter:
        """The same for a new database that nobody else has open."""
        crcs, position = page_crcs(database.serialize()), read_after(log_of(_file_of(database)), Position()).end
        return SumsWriter(folder, database, Sums(crcs, position, _write_all(folder / SUMS, crcs, position)))

    def add(self) -> None:
        """After a commit: add the checksums of the pages that it changed. On a full disk, they stay in the log."""
        self._complete = False
        with suppress(OSError):
            frames, position, _ = read_after(self._log, self._position)
            if frames:
                group = _group(frames, position)
                os.pwrite(self._file, group, self._length)
                self._position, self._length = position, self._length + len(group)
                self._on_disk = False
            self._complete = True
            if self._position.frames >= _LARGE_LOG:
                self.copy_log()

    def copy_log(self, how: str = "PASSIVE") -> bool:
        """Copy the log to the database; False where a reader or the disk prevents that."""
        if not self._complete:
            return False
        self._flush()
        with suppress(sqlite3.OperationalError):
            busy, *_ = self._db.execute(f"PRAGMA wal_checkpoint({how})").fetchone()
            return not busy
        return False

    def shrink(self) -> bool:
        """Rewrite the database without its free pages, and empty its log; False where a reader holds the log."""
        self._db.execute("PRAGMA secure_delete = ON")
        self._db.execute("VACUUM")
        self.add()
        emptied = self.copy_log("TRUNCATE")
        self.shorten()
        return emptied

    def shorten(self) -> None:
        """Replace all groups by one, if the disk has room for it."""
        known = read_sums(self._path)
        with suppress(OSError):
            self._length = _write_all(self._path, known.crcs, known.position)
            os.close(self._file)
            self._file = os.open(self._path, os.O_WRONLY)

    def close(self) -> None:
        """Close the connection, too: SQLite then copies its log to the database and removes it."""
        try:
            self.add()
            if self._complete:
                self._flush()
                self._db.close_with_log()
            else:
                self._db.close()
        finally:
            os.close(self._file)

    def _flush(self) -> None:
        if not self._on_disk:
            os.fsync(self._file)
            self._on_disk = True


def _only_reading(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)


def _file_of(database: sqlite3.Connection) -> Path:
    return Path(next(path for _, name, path in database.execute("PRAGMA database_list") if name == "main"))


def _write_all(path: Path, crcs: Crcs, position: Position) -> int:
    """Write the checksums of all pages to a new file that takes the place of the old one; gives its length."""
    frames = [Frame(page, crc, len(crcs)) for page, crc in enumerate(crcs.tolist(), 1)]
    group = _group(frames, position)
    fresh = path.with_name(f"{SUMS}.new")
    fresh.write_bytes(group)
    files.flush(fresh)
    fresh.rename(path)
    files.flush_folder(str(path.parent))
    return len(group)


def _group(frames: list[Frame], position: Position) -> bytes:
    records = b"".join(struct.pack("<II", frame.page, frame.crc) for frame in frames)
    head = _GROUP.pack(*position, frames[-1].pages, len(frames), 0)[:-4]
    return head + struct.pack("<I", _crc(head, records)) + records


def _crc(head: bytes, records: bytes) -> int:
    return zlib.crc32(records, zlib.crc32(head))


def _with(crcs: Crcs, pages: NDArray[np.uint32], own: Crcs, count: int) -> Crcs:
    """The CRCs of `count` pages, with new ones of some pages."""
    changed = np.zeros(max(count, len(crcs), int(pages.max(initial=0))), np.uint32)
    changed[: len(crcs)] = crcs
    changed[pages.astype(np.int64) - 1] = own
    return changed[:count]
