"""Backup: a consistent copy of a state, made while a writer may be at work. The copy is a state of its own.

The database is copied as of one moment, then the files that it names; where a compaction has removed one of them
meanwhile, the database is copied anew. The copy becomes a state with its last step, when the database gets its name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import BadInput, Missing, clear_sentences
from holdfast.store import identity
from holdfast.store.creation import SEGMENTS, make_folders, remove_folders, remove_own
from holdfast.store.database import DATABASE, connect
from holdfast.store.named import named_files
from holdfast.store.store import Store
from holdfast.table import files

_ATTEMPTS = 20
_UNFINISHED = "unfinished.db"


@dataclass(frozen=True)
class Backup:
    """What was copied: so many files and bytes, as of a batch."""

    state: str
    folder: str
    files: int
    bytes: int
    batch: int

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {"kind": "backup", **asdict(self)}

    def __str__(self) -> str:
        return f"{self.folder}: {self.files:,} files, {self.bytes:,} bytes, as of batch {self.batch} of {self.state}"


def backup(path: str | Path, folder: str | Path, *, say: Callable[[str], None] = lambda _text: None) -> Backup:
    """Copy a state to a new folder, from which it can be opened. Segments that lie elsewhere come into the folder, too;
    what Spark remembers of watched folders does not, as the batches that came from there are known by name.
    """
    target = Path(folder)
    with clear_sentences(target):
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise BadInput(f"{target}: already there; give a new folder for the backup, or an empty one")
        if target.resolve().is_relative_to(Path(path).resolve()):
            raise BadInput(f"{target}: this lies in the state itself; give another folder for the backup")
        with closing(Store(path)) as store:
            made: list[Path] = []
            try:
                make_folders(target, made)
                make_folders(target / SEGMENTS, made)
                return _copied(store, target, say)
            except BaseException as error:
                _take_back(target, made)
                raise store.explained(error) from None


def _copied(store: Store, target: Path, say: Callable[[str], None]) -> Backup:
    sizes: dict[str, int] = {}
    for left in reversed(range(_ATTEMPTS)):
        for each in target.glob(f"{_UNFINISHED}*"):
            each.unlink()
        store.snapshot(target / _UNFINISHED)
        with closing(connect(target / _UNFINISHED)) as database:
            names = named_files(database)
            try:
                _fetch(store.folder, names, target / SEGMENTS, sizes, say)
            except Missing:
                if not left:
                    raise
                store.look_again()
                continue
            latest = _made_a_state(database, target)
        break
    (target / _UNFINISHED).rename(target / DATABASE)
    files.flush_folder(str(target))
    return Backup(str(store.path), str(target), len(sizes), sum(sizes.values()), latest)


def _fetch(folder: str, names: set[str], place: Path, sizes: dict[str, int], say: Callable[[str], None]) -> None:
    """Copy the files that were not copied yet, and remove those of a moment that was given up."""
    lacking = sorted(names - sizes.keys())
    for number, name in enumerate(lacking, 1):
        say(f"Copying files: {number:,} of {len(lacking):,}")
        sizes[name] = files.fetch(f"{folder}/{name}", place / name)
    for name in sizes.keys() - names:
        files.remove(str(place / name))
        del sizes[name]
    files.flush_folder(str(place))


def _made_a_state(database: sqlite3.Connection, target: Path) -> int:
    """Let the copy of a database tell of its own folder; gives its last batch."""
    facts = {"identity": identity.new(), "home": identity.home(target, _UNFINISHED)}
    database.execute("BEGIN")
    database.execute("DELETE FROM meta WHERE key IN ('segments', 'next_checkpoint')")
    database.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())
    database.execute("COMMIT")
    return int(database.execute("SELECT coalesce(max(seq), 0) FROM batches").fetchone()[0])


def _take_back(target: Path, made: list[Path]) -> None:
    """Nothing half made stays."""
    if target / SEGMENTS in made:
        remove_own(str(target / SEGMENTS))
        for each in (*target.glob(f"{_UNFINISHED}*"), target / DATABASE):
            each.unlink(missing_ok=True)
    remove_folders(made)
