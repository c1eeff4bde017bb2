"""What each batch changed in the evidence for rules, such as which agree-sets came and went.

The database table is made when it is first needed: states of which nothing is recorded don't have it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from holdfast.store.database import rows_of

_MADE = """
    CREATE TABLE IF NOT EXISTS evidence_changes (
      seq INTEGER NOT NULL, table_name TEXT NOT NULL, part TEXT NOT NULL, json TEXT NOT NULL,
      PRIMARY KEY (seq, table_name, part)
    ) WITHOUT ROWID"""


def put_evidence(database: sqlite3.Connection, seq: int, records: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
    """Store what a batch changed, by the name of the part and the table."""
    if records:
        database.execute(_MADE)
        rows = [(seq, table, part, json.dumps(record)) for (part, table), record in records.items()]
        database.executemany("INSERT INTO evidence_changes VALUES (?, ?, ?, ?)", rows)


def forget_evidence(database: sqlite3.Connection, tables: Iterable[str]) -> None:
    """Remove what is stored of tables that were dropped."""
    if _is_there(rows_of(database)):
        database.executemany("DELETE FROM evidence_changes WHERE table_name = ?", [(name,) for name in tables])


def stored_evidence(
    rows: Callable[..., list[Any]], part: str, table: str, seq: int | None = None
) -> list[tuple[int, dict[str, Any]]]:
    """What batches changed in a part of a table, the oldest first: all batches, or one. `rows` gives what a query finds
    with some values.
    """
    if not _is_there(rows):
        return []
    query = """
        SELECT seq, json FROM evidence_changes
        WHERE part = ?1 AND table_name = ?2 AND (?3 IS NULL OR seq = ?3) ORDER BY seq"""
    return [(batch, json.loads(record)) for batch, record in rows(query, part, table, seq)]


def _is_there(rows: Callable[..., list[Any]]) -> bool:
    return bool(rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'evidence_changes'"))
