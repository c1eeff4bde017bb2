"""Backup: a consistent copy of a state, made while a writer may be at work. The copy is a state of its own.

The database is copied as of one moment, then the files that it names; if a compaction has removed one of them
meanwhile, the database is copied again. The copy becomes a state with the last step, when the database gets its name.
The next backup to the same folder removes what a killed one has left there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import BadInput, Missing, clear_sentences
from holdfast.store import identity
from holdfast.store.batch_numbers import BatchNumbers
from holdfast.store.bulk_files import BulkFiles
from holdfast.store.creation import holds_only, make_folders, remove_folders, remove_own
from holdfast.store.database import connect, put_facts, rows_of
from holdfast.store.layout import DATABASE, LOCK, SEGMENTS, SUMS
from holdfast.store.lock import WriterLock
from holdfast.store.store import Store
from holdfast.store.sums import SumsWriter
from holdfast.table import files

_ATTEMPTS = 20
_UNFINISHED = "unfinished.db"
_OWN = (*(f"{_UNFINISHED}-{what}" for what in ("journal", "wal", "shm")), SUMS, f"{SUMS}.new", _UNFINISHED)


@dataclass(frozen=True)
class Backup:
    """What was copied: how many files and bytes, as of which batch.

    With `watch` and `more` of the example of `Monitor`:

    >>> made = hf.backup(watch.path, f"{watch.path}-copy")
    >>> made.batch, made.to_json()["kind"]
    (0, 'backup')
    """

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
    """Copy a state to a new folder, where it can be opened. Segments that lie elsewhere are copied into the folder.
    What Spark remembers of watched folders is not copied, as the batches that came from there are known by name.

    With `watch` and `more` of the example of `Monitor`:

    >>> with hf.Monitor.open(hf.backup(watch.path, f"{watch.path}-copy").folder) as copy:
    ...     print(copy.apply(inserts=more).batch.seq, watch.history())
    1 []
    """
    target = Path(folder)
    with clear_sentences(target):
        if target.resolve().is_relative_to(Path(path).resolve()):
            raise BadInput(f"{target}: this folder is in the state itself; give another folder for the backup")
        with closing(Store(path)) as store:
            _refuse_others(target)
            made: list[Path] = []
            try:
                make_folders(target, made)
                with _locked(target):
                    make_folders(target / SEGMENTS, made)
                    return _copied(store, target, say)
            except BaseException as error:
                remove_folders(made)
                raise store.explained(error) from None


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Hold a folder for a backup. Leftovers of a killed one are removed first; a failed one leaves nothing."""
    lock = WriterLock(target / LOCK)
    try:
        _refuse_others(target)
        _remove_own(target)
        try:
            yield
        except BaseException:
            (target / DATABASE).unlink(missing_ok=True)
            _remove_own(target)
            raise
    finally:
        lock.remove()


def _copied(store: Store, target: Path, say: Callable[[str], None]) -> Backup:
    sizes: dict[str, int] = {}
    for left in reversed(range(_ATTEMPTS)):
        _remove_database(target)
        store.snapshot(target / _UNFINISHED)
        with closing(connect(target / _UNFINISHED)) as database:
            names = BulkFiles(target, str(target / SEGMENTS), rows_of(database)).named()
            try:
                _fetch(store.folder, names, target / SEGMENTS, sizes, say)
            except Missing:
                if not left:
                    raise
                store.look_again()
                continue
            latest = _made_a_state(database, target)
            SumsWriter.of_new(target, database).close()
        break
    (target / _UNFINISHED).rename(target / DATABASE)
    files.flush_folder(str(target))
    return Backup(str(store.path), str(target), len(sizes), sum(sizes.values()), latest)


def _fetch(folder: str, names: set[str], place: Path, sizes: dict[str, int], say: Callable[[str], None]) -> None:
    """Copy the files that were not copied yet, and remove those that the database no longer names."""
    lacking = sorted(names - sizes.keys())
    for number, name in enumerate(lacking, 1):
        say(f"Copying files: {number:,} of {len(lacking):,}")
        sizes[name] = files.fetch(f"{folder}/{name}", place / name)
    for name in sizes.keys() - names:
        files.remove(str(place / name))
        del sizes[name]
    files.flush_folder(str(place))


def _made_a_state(database: sqlite3.Connection, target: Path) -> int:
    """Make the copy of a database a state of its own folder; gives its last batch."""
    database.execute("PRAGMA journal_mode = WAL")
    facts = {"identity": identity.new(), "home": identity.home(target, _UNFINISHED)}
    database.execute("BEGIN")
    database.execute("DELETE FROM meta WHERE key IN ('segments', 'next_checkpoint')")
    put_facts(database, facts)
    database.execute("COMMIT")
    last = int(database.execute("SELECT coalesce(max(seq), 0) FROM batches").fetchone()[0])
    return BatchNumbers.read(database.execute).of(last)


def _refuse_others(target: Path) -> None:
    """Refuse a folder that holds anything but the leftovers of a backup."""
    if target.exists() and not holds_only(target, _OWN):
        raise BadInput(f"{target}: already there; give a new folder for the backup, or an empty one")


def _remove_own(target: Path) -> None:
    """Remove a backup that is not finished: the database last, as it shows that the other files are ours."""
    remove_own(str(target / SEGMENTS))
    _remove_database(target)


def _remove_database(target: Path) -> None:
    for name in _OWN:
        (target / name).unlink(missing_ok=True)
