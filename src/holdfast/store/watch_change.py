"""A change of what a state watches: of its rules, its classes of rules, its tables, or their columns.

It stands in the history like a batch, with an id of its own, and is a checkpoint at the same time: one transaction
stores the new facts, the engines' new states and the results. So no batch is ever replayed by engines with other rules
or other columns.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.changes.diff import Result
from holdfast.store.batches import insert_batch
from holdfast.store.database import put_facts
from holdfast.store.evidence import forget_evidence
from holdfast.store.expected import follow_columns, forget_tables, put_expected
from holdfast.store.later import BASELINES, INCIDENTS, LOST_SCORES, make_later_tables
from holdfast.store.records import Expected, IncidentChange, TableRecord
from holdfast.store.rule_events import (
    LostScore,
    RuleEvent,
    put_baselines,
    put_events,
    put_incidents,
    put_results,
    put_scores,
)
from holdfast.table.nulls import Nulls
from holdfast.table.table import Schema, Segment, TableFiles
from holdfast.table.types import Column

SHAPE = "shape"  # the fact with the last such change: who read the state before must read all of it again


@dataclass(frozen=True)
class WatchChange:
    """A change, ready to be made durable."""

    change_id: str
    kind: str
    table: str  # "*": all
    seconds: float
    about: Mapping[str, Any]  # what changed, for the history
    facts: Mapping[str, str] = field(default_factory=dict)  # new facts about the state
    results: Mapping[tuple[str, str], Result] = field(default_factory=dict)  # of subjects with new findings
    dropped: Collection[tuple[str, str]] = ()  # engines and subjects that are gone
    events: Sequence[tuple[str, str, RuleEvent]] = ()  # engine, subject, and what happened to a rule
    tables: Sequence[TableRecord] = ()  # new ones, and those with other columns
    replaced: Mapping[str, tuple[Segment, ...]] = field(default_factory=dict)  # files of tables that were rewritten
    next_id: int = 0  # of the table
    renamed: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)  # texts of rules, old to new
    gone: Sequence[str] = ()  # tables that were dropped
    # What is accepted from now on of the violations of rules, by engine and subject; None: no longer.
    baselines: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any] | None]] = field(default_factory=dict)
    incidents: Sequence[IncidentChange] = ()
    scores: Sequence[LostScore] = ()  # of found rules that are given now, as rows broke them
    expected: Expected = field(default_factory=Expected)  # of batches, where that changes


def put_change(database: sqlite3.Connection, change: WatchChange) -> int:
    """Store a change, all but its files; gives its `seq`."""
    figures = 0, 0, 0, change.seconds, change.next_id, 0, 0, len(change.events)
    seq = insert_batch(database, change.change_id, change.table, change.kind, *figures)
    make_later_tables(database)
    database.execute("INSERT INTO reshaped VALUES (?, ?)", (seq, json.dumps(change.about)))
    put_facts(database, {**change.facts, SHAPE: str(seq)})
    for record in change.tables:
        put_table(database, record)
    for place, column in (("tables", "name"), ("witness_rows", "table_name")):
        database.executemany(f"DELETE FROM {place} WHERE {column} = ?", [(name,) for name in change.gone])
    forget_evidence(database, change.gone)
    forget_tables(database, change.gone)
    follow_columns(database, change.table, change.about.get("columns", ()))
    put_expected(database, seq, change.expected)
    _rename(database, change.renamed)
    for (engine, subject), result in change.results.items():
        put_results(database, seq, engine, subject, result)
        others = "engine = ? AND table_name = ? AND text NOT IN (SELECT value FROM json_each(?))"
        database.execute(f"DELETE FROM results WHERE {others}", (engine, subject, json.dumps(list(result))))
    database.executemany("DELETE FROM results WHERE engine = ? AND table_name = ?", list(change.dropped))
    put_events(database, seq, change.events)
    put_scores(database, change.scores)
    put_baselines(database, change.baselines)
    put_incidents(database, seq, change.incidents)
    # What is accepted is no incident: whatever comes later is new.
    accepted = [(*at, text) for at, own in change.baselines.items() for text in own]
    database.executemany(f"DELETE FROM {INCIDENTS} WHERE engine = ? AND table_name = ? AND text = ?", accepted)
    gone = [(engine, subject, event.text) for engine, subject, event in change.events if event.event == "removed"]
    for place in (BASELINES, INCIDENTS):
        database.executemany(f"DELETE FROM {place} WHERE engine = ? AND table_name = ? AND text = ?", gone)
    return seq


def _rename(database: sqlite3.Connection, renamed: Mapping[tuple[str, str], Mapping[str, str]]) -> None:
    """Move the history of a rule to its new text, where its columns have new names."""
    for (engine, subject), texts in renamed.items():
        rows = [(new, engine, subject, old) for old, new in texts.items()]
        for place in ("events", "subjects", LOST_SCORES, BASELINES, INCIDENTS):
            database.executemany(
                f"UPDATE OR IGNORE {place} SET text = ? WHERE engine = ? AND table_name = ? AND text = ?", rows
            )


def changes(database: sqlite3.Connection) -> dict[int, dict[str, Any]]:
    """What all changes of a state did, by their `seq`, the oldest first."""
    rows = database.execute("SELECT seq, json FROM reshaped ORDER BY seq").fetchall()
    return {seq: json.loads(about) for seq, about in rows}


# ---- tables, all but their segments ----------------------------------------------------------------------------------


def put_table(database: sqlite3.Connection, record: TableRecord) -> None:
    """Store a table that is new or has other columns now."""
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


def stored_tables(database: sqlite3.Connection, nulls: Nulls) -> list[TableRecord]:
    """The watched tables without their segments, in the order in which they were given."""
    found = []
    query = "SELECT name, columns, key, options, left_out, row_count, next_id FROM tables ORDER BY rowid"
    for name, columns, key, options, left_out, rows, next_id in database.execute(query):
        typed = tuple(Column.from_json(column) for column in json.loads(columns))
        schema = Schema(name, typed, tuple(json.loads(key)), nulls)
        where = TableFiles(schema, (), next_id)
        found.append(TableRecord(schema, json.loads(options), tuple(json.loads(left_out)), rows, where))
    return found
