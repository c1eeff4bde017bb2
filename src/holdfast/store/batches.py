"""The applied batches, as the database keeps them."""

from __future__ import annotations

import sqlite3

from holdfast.store.database import remembers
from holdfast.store.records import BatchRecord

_COLUMNS = "seq, batch_id, table_name, at, kind, inserted, deleted, ignored, seconds, gained, lost, changed"
# Formats up to 3 counted no given rules among those gained and lost; but their events tell.
_OLDER = """
    (SELECT seq, batch_id, table_name, at, kind, inserted, deleted, ignored, seconds,
            coalesce(told.gained, 0) AS gained, coalesce(told.lost, 0) AS lost, changed
     FROM batches LEFT JOIN (
         SELECT seq AS of_batch, sum(event = 'gained') AS gained, sum(event = 'lost') AS lost FROM events GROUP BY seq
     ) AS told ON of_batch = seq)"""


def last_batches(database: sqlite3.Connection, most: int | None) -> list[BatchRecord]:
    """The last so many batches, or all of them, the oldest first."""
    rows = database.execute(f"{_query(database)} ORDER BY seq DESC LIMIT ?", (-1 if most is None else most,)).fetchall()
    return [BatchRecord(*row) for row in rows[::-1]]


def batch_with(database: sqlite3.Connection, batch_id: str) -> BatchRecord | None:
    """The batch with an id, if there is one."""
    row = database.execute(f"{_query(database)} WHERE batch_id = ?", (batch_id,)).fetchone()
    return BatchRecord(*row) if row else None


def _query(database: sqlite3.Connection) -> str:
    return f"SELECT {_COLUMNS} FROM {'batches' if remembers(database) else _OLDER}"
