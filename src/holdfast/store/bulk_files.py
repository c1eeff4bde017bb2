"""The bulk files of a state: segments of its tables, and the engines' states as of the last checkpoint.

They lie in one folder, and those that the database names count. A commit names new files. A checkpoint puts others in
their place, and the old ones are removed once it counts.

The state of an engine may name other files that go with it, such as an index that is written less often than the state
itself. These lie in the same folder and count as long as a state names them.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.store.database import put_fact
from holdfast.store.layout import TO_OPEN
from holdfast.store.records import StateFiles
from holdfast.table import files
from holdfast.table.table import Segment

_WITH_STATES = "beside"  # the fact that names the files that go with the engines' states


class BulkFiles(NamedTuple):
    """The files in `folder` (a path, or an address), of the state at `path`. `rows` gives what a query finds."""

    path: Path
    folder: str
    rows: Callable[..., list[Any]]

    def segments(self, condition: str, *values: object) -> tuple[Segment, ...]:
        """The segments that meet a condition, in their order."""
        query = f"SELECT file, first_id FROM segments WHERE {condition} ORDER BY id"
        return tuple(Segment(f"{self.folder}/{file}", first) for file, first in self.rows(query, *values))

    def by_batch(self, table: str) -> list[tuple[int, str]]:
        """The files of a table, each with its batch: 0 at the start; merged files have the last batch of then."""
        rows = self.rows("SELECT seq, file FROM segments WHERE table_name = ? ORDER BY id", table)
        return [(seq, f"{self.folder}/{file}") for seq, file in rows]

    def states(self) -> dict[tuple[str, str], str]:
        """The file of each engine's state of each table."""
        rows = self.rows("SELECT engine, table_name, file FROM checkpoints")
        return {(engine, table): f"{self.folder}/{file}" for engine, table, file in rows}

    def with_states(self) -> set[str]:
        """The names of the files that go with the engines' states."""
        found = self.rows("SELECT value FROM meta WHERE key = ?", _WITH_STATES)
        return set(json.loads(found[0][0])) if found else set()

    def named(self) -> set[str]:
        """The names of all files that count."""
        rows = self.rows("SELECT file FROM segments UNION SELECT file FROM checkpoints")
        return {name for (name,) in rows} | self.with_states()

    def size(self) -> int:
        """The bytes of the whole state, segments that lie elsewhere included."""
        own = [each for each in self.path.rglob("*") if each.is_file() and not each.name.endswith("-shm")]
        elsewhere = {} if Path(self.folder).is_relative_to(self.path.resolve()) else files.sizes(self.folder)
        return sum(elsewhere.values()) + sum(each.stat().st_size for each in own)

    def have_room(self, since: int) -> bool:
        """Whether the disk seems to have room for a checkpoint: for the engines' states, and for the batches since the
        last one. For storage elsewhere that is unknown, and taken for granted.
        """
        if "://" in self.folder:
            return True
        like = [*self.states().values(), *(segment.path for segment in self.segments("seq > ?", since))]
        needed = sum(Path(path).stat().st_size for path in like)
        return shutil.disk_usage(self.folder).free > needed + TO_OPEN

    def remove_orphans(self) -> None:
        """Delete our files that no commit names: leftovers of a crash."""
        self.remove(set(filter(files.is_ours, files.sizes(self.folder))))

    def remove(self, old: set[str]) -> None:
        """Remove those of some files that no longer count."""
        for name in old - self.named():
            files.remove(f"{self.folder}/{name}")


# ---- within a transaction --------------------------------------------------------------------------------------------


def add_segments(database: sqlite3.Connection, table: str, segments: Iterable[Segment], seq: int) -> None:
    """Name the files of a table that came with a batch."""
    rows = [(table, Path(segment.path).name, segment.first_id, seq) for segment in segments]
    database.executemany("INSERT INTO segments (table_name, file, first_id, seq) VALUES (?, ?, ?, ?)", rows)


def put_states(database: sqlite3.Connection, states: StateFiles) -> None:
    """Name the files of the engines' states."""
    put_fact(database, _WITH_STATES, json.dumps(sorted(states.with_them)))
    rows = [(engine, table, Path(path).name) for (engine, table), path in states.files.items()]
    database.executemany("INSERT INTO checkpoints VALUES (?, ?, ?)", rows)


def put_checkpoint(
    database: sqlite3.Connection, seq: int, states: StateFiles, replaced: Mapping[str, tuple[Segment, ...]]
) -> None:
    """Name the files of a checkpoint in place of those before it, and other segments of some tables."""
    database.execute("DELETE FROM checkpoints")
    put_states(database, states)
    put_fact(database, "checkpoint", str(seq))
    for table, segments in replaced.items():
        database.execute("DELETE FROM segments WHERE table_name = ?", (table,))
        add_segments(database, table, segments, seq)
