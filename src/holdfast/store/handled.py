"""Which files of watched folders were applied: how each looked, and what it held."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass


@dataclass(frozen=True)
class Handled:
    """A file that was applied: `looks` changes whenever the file does, `digest` with its content alone; `version`
    counts the contents that were applied under its name.
    """

    path: str
    looks: str
    digest: str
    version: int


class HandledFiles:
    """The files that a state has taken in from folders. For its writer alone."""

    def __init__(self, database: sqlite3.Connection, at_once: Callable[[], AbstractContextManager[None]]) -> None:
        self._db, self._at_once = database, at_once
        rows = database.execute("SELECT path, looks, digest, version FROM handled_files")
        self._known = {row[0]: Handled(*row) for row in rows}

    def get(self, path: str) -> Handled | None:
        """What is known of a file."""
        return self._known.get(path)

    def put(self, file: Handled) -> None:
        """Remember a file."""
        row = (file.path, file.looks, file.digest, file.version)
        with self._at_once():
            self._db.execute("INSERT OR REPLACE INTO handled_files VALUES (?, ?, ?, ?)", row)
        self._known[file.path] = file
