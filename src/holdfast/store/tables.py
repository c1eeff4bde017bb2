"""The watched tables, as the database keeps them: all but their segments."""

from __future__ import annotations

import json
import sqlite3

from holdfast.store.records import TableRecord


def put_table(database: sqlite3.Connection, record: TableRecord) -> None:
    """Keep a table that is watched from now on."""
    schema = record.schema
    row = (
        schema.name,
        json.dumps([column.to_json() for column in schema.columns]),
        json.dumps(schema.key),
        json.dumps(record.options),
        json.dumps(record.left_out),
        record.where.next_id,
        record.rows,
    )
    database.execute("INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?, ?)", row)
