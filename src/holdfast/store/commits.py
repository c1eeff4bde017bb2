"""What a new state, and each batch, writes to the database, within one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.changes.diff import Result
from holdfast.store.batches import put_batch
from holdfast.store.bulk_files import add_segments, put_states
from holdfast.store.database import put_fact, rows_of
from holdfast.store.evidence import put_evidence
from holdfast.store.expected import EXPECTATIONS, put_expected
from holdfast.store.later import make_later_tables
from holdfast.store.records import Commit, Expected, HandledFile, StateFiles, TableRecord
from holdfast.store.rule_events import put_baselines, put_diffs, put_results
from holdfast.store.stored_rules import ALARMED, StoredRules
from holdfast.store.watch_change import put_table


def put_creation(
    database: sqlite3.Connection,
    tables: Iterable[TableRecord],
    results: Mapping[tuple[str, str], Result],
    accepted: Mapping[tuple[str, str], Mapping[str, Any]],
    states: StateFiles,
    expected: Expected | None,
) -> None:
    """Store what a new state knows; it counts from then on."""
    for record in tables:
        put_table(database, record)
        add_segments(database, record.schema.name, record.where.segments, 0)
    for (engine, table), result in results.items():
        put_results(database, 0, engine, table, result)
    if any(accepted.values()):
        make_later_tables(database)
        put_baselines(database, accepted)
    put_states(database, states)
    if expected is not None:
        make_later_tables(database)
        put_expected(database, 0, expected)
        put_fact(database, EXPECTATIONS, "on")
    put_fact(database, "state", "ready")


def put_commit(database: sqlite3.Connection, commit: Commit) -> None:
    """Store a batch with all that it did."""
    seq = put_batch(database, commit)
    for part in commit.parts:
        add_segments(database, part.table, part.segments, seq)
    make_later_tables(database)
    put_diffs(database, seq, commit)
    put_evidence(database, seq, commit.evidence)
    put_handled(database, commit.handled)
    put_expected(database, seq, commit.expected)
    if commit.alarmed:
        waiting = [*StoredRules(rows_of(database)).alarmed(), *(rule._replace(seq=seq) for rule in commit.alarmed)]
        put_fact(database, ALARMED, json.dumps(waiting))


def put_handled(database: sqlite3.Connection, handled: Iterable[HandledFile]) -> None:
    """Store which files of a watched folder were applied."""
    database.executemany("INSERT OR REPLACE INTO handled_files VALUES (?, ?, ?, ?)", handled)
