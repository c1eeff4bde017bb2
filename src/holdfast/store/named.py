"""Which files a database names: segments, the engines' states, and the files that go with these.

A state of an engine may say that other files go with it, such as an index that is written less often than the state
itself. These lie beside the states' files and count as long as a state names them.
"""

from __future__ import annotations

import json
import sqlite3

BESIDE = "beside"  # the fact that names the files that go with the engines' states


def named_files(database: sqlite3.Connection) -> set[str]:
    """The names of all files that a state consists of."""
    rows = database.execute("SELECT file FROM segments UNION SELECT file FROM checkpoints")
    return {name for (name,) in rows} | named_beside(database)


def named_beside(database: sqlite3.Connection) -> set[str]:
    """The names of the files that go with the engines' states."""
    row = database.execute("SELECT value FROM meta WHERE key = ?", (BESIDE,)).fetchone()
    return set() if row is None else set(json.loads(row[0]))
