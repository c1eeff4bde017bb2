"""Creates a state folder, and undoes that where it fails: Holdfast deletes only files that it wrote.

The folder may exist already if it is empty or was left by a killed init. A folder with anything else is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from holdfast.errors import BadInput
from holdfast.store import identity
from holdfast.store.database import UNREADABLE, connect, fact, fresh
from holdfast.store.layout import DATABASE, LOCK, SEGMENTS, SUMS
from holdfast.store.lock import WriterLock
from holdfast.store.sums import Connection, SumsWriter
from holdfast.table import files

_OWN = (f"{DATABASE}-wal", f"{DATABASE}-shm", SUMS, f"{SUMS}.new", DATABASE)  # the database last


@dataclass
class Creation:
    """A state in the making: the place of its segments, and `undo`, which removes what was made."""

    place: str
    lock: WriterLock
    database: Connection
    sums: SumsWriter
    undo: ExitStack


def create(folder: Path, facts: Mapping[str, str], segments: str | None) -> Creation:
    """A new state folder, locked, with a database that does not count as a state yet."""
    if folder.exists() and (not folder.is_dir() or not _is_free(folder)):
        raise BadInput(f"{folder}: already there; choose another folder, or remove this one first")
    own = identity.new()
    place = _segments_folder(segments, folder, own)
    made: list[Path] = []
    with ExitStack() as undo:
        undo.callback(remove_folders, made)
        make_folders(folder, made)
        lock = WriterLock(folder / LOCK)
        undo.callback(lock.release)
        if not _is_free(folder):
            raise BadInput(f"{folder}: another init has just finished here; choose another folder")
        undo.callback(_remove_files, folder, place)
        _remove_leftovers(folder)
        database = fresh(folder, {**facts, **({"segments": place} if segments else {})})
        undo.callback(database.close)
        known = {"identity": own, "home": identity.home(folder)}
        database.executemany("INSERT INTO meta VALUES (?, ?)", known.items())
        sums = SumsWriter.of_new(folder, database)
        undo.callback(sums.close)
        _make_place(place, segments, made)
        return Creation(place, lock, database, sums, undo.pop_all())


def _remove_files(folder: Path, place: str) -> None:
    """Remove the files of a state that was not finished, as far as the disk allows."""
    with suppress(OSError):
        remove_own(place)
    for name in (*_OWN, LOCK):
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)


def _segments_folder(wanted: str | None, folder: Path, own: str) -> str:
    """Where the segments of a new state go: into a folder of their own, as several states may share the place."""
    if not wanted:
        return str(folder.resolve() / SEGMENTS)
    if "://" in wanted and "?" in wanted:
        raise BadInput(f"{wanted}: segments can't go there: leave out the part after the question mark, and set it in "
                       "the environment")  # fmt: skip
    from pyarrow import fs

    try:
        where, name = (fs.LocalFileSystem(), wanted) if "://" not in wanted else fs.FileSystem.from_uri(wanted)
    except (pa.ArrowException, OSError) as error:
        raise _no_place(wanted, error) from None
    if not isinstance(where, fs.LocalFileSystem):
        return f"{wanted.rstrip('/')}/{own}"
    place = Path(name).resolve()
    if place.is_relative_to(folder.resolve()):
        raise BadInput(f"{wanted}: this lies in the state folder, where segments go anyway; leave out --segments")
    return f"{place}/{own}"


def _no_place(wanted: str, error: Exception) -> BadInput:
    said = str(error).partition("\n")[0]
    return BadInput(f"{wanted}: segments can't go there: {said}; give a folder, or an address like s3://…")


def _make_place(place: str, wanted: str | None, made: list[Path]) -> None:
    if "://" not in place:
        return make_folders(Path(place), made)
    try:
        return files.make_folder(place)
    except (pa.ArrowException, OSError) as error:
        raise _no_place(wanted or place, error) from None


def make_folders(folder: Path, made: list[Path]) -> None:
    """Create a folder and its parents; adds to `made` those that did not exist."""
    lacking = [folder]
    while not lacking[-1].parent.exists():
        lacking.append(lacking[-1].parent)
    for each in reversed(lacking):
        if not each.is_dir():
            each.mkdir()
            made.append(each)


def remove_folders(made: list[Path]) -> None:
    """Remove the folders that were made and are empty."""
    for each in reversed(made):
        files.remove_empty(str(each))  # someone may have put something there meanwhile


def remove_own(place: str) -> None:
    """Remove the segment files that we wrote from a folder."""
    for name in filter(files.is_ours, files.sizes(place)):
        files.remove(f"{place}/{name}")


def _remove_leftovers(folder: Path) -> None:
    """Remove what a killed init has written: its database last, as it shows that the other files are ours."""
    if (folder / DATABASE).exists():
        place = fact(folder, "segments")
        remove_own(place or str(folder / SEGMENTS))
        if place:
            files.remove_empty(place)
    for name in _OWN:
        (folder / name).unlink(missing_ok=True)


def _is_free(folder: Path) -> bool:
    """Whether a folder holds nothing but the leftovers of an init."""
    if any((folder / name).is_symlink() for name in _OWN) or not holds_only(folder, _OWN):
        return False
    return not (folder / DATABASE).exists() or _is_unfinished(folder)


def holds_only(folder: Path, own: Sequence[str]) -> bool:
    """Whether a folder holds nothing but a lock, files of our own and segments that we wrote. The last of `own` shows
    that something was begun.
    """
    names = {each.name for each in folder.iterdir()} if folder.is_dir() else {""}
    begun = own[-1] in names
    return names <= {LOCK, SEGMENTS, *(own if begun else ())} and _is_free_place(folder / SEGMENTS, begun)


def _is_free_place(place: Path, begun: bool) -> bool:
    """Whether a folder of segments is missing or empty; where something was begun, whether all files are ours."""
    if not place.exists():
        return not place.is_symlink()
    return place.is_dir() and all(begun and each.is_file() and files.is_ours(each.name) for each in place.iterdir())


def _is_unfinished(folder: Path) -> bool:
    """Whether the database is ours, and does not count as a state."""
    try:
        with closing(connect(folder / DATABASE)) as database:
            tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if "meta" not in tables:
                return not tables
            row = database.execute("SELECT value FROM meta WHERE key = 'state'").fetchone()
    except UNREADABLE:
        return False  # another file with that name
    return row is None or row[0] != "ready"
