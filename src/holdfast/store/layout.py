"""The names of the files and folders of a state, and which files its database names.

The state of an engine may name other files that go with it, such as an index that is written less often than the state
itself. These lie in the same folder and count as long as a state names them.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

DATABASE, SUMS = "holdfast.db", "holdfast.sums"
LOCK, SEGMENTS, STREAMS, OUTBOX = "lock", "segments", "streams", "outbox"
WITH_STATES = "beside"  # the fact that names the files that go with the engines' states
TO_OPEN = 1 << 17  # bytes of a file in which SQLite shares memory; without room for it, SQLite just fails


def state_of(path: Path) -> Path | None:
    """The folder of the state that a path lies in, whether the file exists or not; None if it lies in no state."""
    whole = path.resolve()
    for folder in whole.parents:
        name = whole.relative_to(folder).parts[0]
        is_ours = name in (LOCK, SEGMENTS, STREAMS, OUTBOX) or name.startswith((DATABASE, SUMS))
        if is_ours and (folder / DATABASE).exists():
            return folder
    return None


def named_files(database: sqlite3.Connection) -> set[str]:
    """The names of all files that a state consists of."""
    rows = database.execute("SELECT file FROM segments UNION SELECT file FROM checkpoints")
    return {name for (name,) in rows} | named_with_states(database)


def named_with_states(database: sqlite3.Connection) -> set[str]:
    """The names of the files that go with the engines' states."""
    row = database.execute("SELECT value FROM meta WHERE key = ?", (WITH_STATES,)).fetchone()
    return set() if row is None else set(json.loads(row[0]))
