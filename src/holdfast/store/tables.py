"""The watched tables, as the database keeps them: all but their segments."""

from __future__ import annotations

import json
import sqlite3

from holdfast.store.records import TableRecord


def put_table(database: sqlite3.Connection, record: TableRecord) -> None:
    """Keep a table that is watched from now on, or has other columns now."""
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
    names = ("name", "columns", "key", "options", "left_out", "next_id", "row_count")
    changed = ", ".join(f"{name} = excluded.{name}" for name in names[1:])  # its place among the tables stays
    database.execute(f"INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET {changed}", row)
