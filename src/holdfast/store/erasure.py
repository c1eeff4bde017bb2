"""Erasure: removes from the database what it still holds of dead rows, and of rows that broke rules long ago.

Events have the rows that broke a rule, with their keys or values. Replaced data stay in free pages and in the
write-ahead log until the whole database is rewritten.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


class Expired(NamedTuple):
    """Up to which entry of the history, and which event, rows have expired; and of how many events in all."""

    seq: int = 0
    event: int = 0
    events: int = 0


_NO_ROWS = np.empty(0, np.int64)  # of a table that is watched no longer
_ALL_TABLES = "*"  # stands for the table of rules that look across tables


def forget_rows(database: sqlite3.Connection, living: Mapping[str, Ids]) -> int:
    """Remove what is stored of dead rows: their values, and what the witnesses of events say of them. Gives the number
    of events that this concerns.

    `living` holds the ids of each table's living rows, ascending. Needs a transaction.
    """
    dead = _dead_rows(database, living)
    events = _strip_witnesses(database, living, dead)
    gone = [(seq, table, number) for (table, seq), numbers in dead.items() for number in numbers]
    database.executemany("DELETE FROM witness_rows WHERE seq = ? AND table_name = ? AND number = ?", gone)
    return events


def expire_rows(database: sqlite3.Connection, before: datetime, done: Expired) -> Expired:
    """Remove what is stored of rows that broke rules with batches before a moment, living ones included: their values,
    and what the witnesses of events say of them but for their numbers. `done` is what was removed already; gives what
    is now. Needs a transaction, and that something is due.
    """
    query = "SELECT seq, at FROM batches WHERE seq > ? ORDER BY seq"
    old = (seq for seq, at in database.execute(query, (done.seq,)) if datetime.fromisoformat(at) < before)
    last = max(old)
    database.execute("DELETE FROM witness_rows WHERE seq <= ?", (last,))
    event, concerned, changed = done.event, 0, []
    query = "SELECT rowid, seq, json, witness FROM events WHERE rowid > ? ORDER BY rowid"  # in the order of batches
    for place, seq, finding, witness in database.execute(query, (done.event,)):
        if seq > last:
            break
        event = place
        concerned += bool(witness)
        bare = witness and json.dumps(_bare(json.loads(witness)))
        measured = _without_value(finding)
        if (bare, measured) != (witness, finding):
            changed.append((bare, measured, place))
    database.executemany("UPDATE events SET witness = ?, json = ? WHERE rowid = ?", changed)
    return Expired(last, event, done.events + concerned)


def is_due(database: sqlite3.Connection, before: datetime, done: Expired) -> bool:
    """Whether anything has expired since. Cheap."""
    query = "SELECT at FROM batches WHERE seq > ? ORDER BY seq LIMIT 1"
    oldest = database.execute(query, (done.seq,)).fetchone()
    return oldest is not None and datetime.fromisoformat(oldest[0]) < before


def _bare(witness: Mapping[str, Any]) -> dict[str, Any]:
    """A witness with numbers and counts alone."""
    rows = witness["rows"]
    bare = without_dead(witness, _NO_ROWS, (), [{}] * len(rows))
    missing = [{**each, "value": None} for each in bare.get("missing", ())]
    return {**bare, "missing": missing} if missing else bare


def _without_value(finding: str) -> str:
    """A finding without the value that was measured: it may be that of a row."""
    if '"value"' not in finding:
        return finding
    return json.dumps({name: each for name, each in json.loads(finding).items() if name != "value"})


def _dead_rows(database: sqlite3.Connection, living: Mapping[str, Ids]) -> dict[tuple[str, int], set[int]]:
    """The dead rows with stored values, by table and batch."""
    found: dict[tuple[str, int], set[int]] = {}
    for (table,) in database.execute("SELECT DISTINCT table_name FROM witness_rows").fetchall():
        query = "SELECT seq, number FROM witness_rows WHERE table_name = ?"
        rows = np.array(database.execute(query, (table,)).fetchall(), np.int64).reshape(-1, 2)
        for seq, number in rows[~_alive(rows[:, 1], living.get(table, _NO_ROWS))].tolist():
            found.setdefault((table, seq), set()).add(number)
    return found


def _strip_witnesses(
    database: sqlite3.Connection, living: Mapping[str, Ids], dead: Mapping[tuple[str, int], set[int]]
) -> int:
    """Remove dead rows from the witnesses of all events; gives the number of events that had such rows."""
    query = "SELECT rowid, seq, engine, table_name, text, json, witness FROM events WHERE witness IS NOT NULL"
    concerned, changed = 0, []
    for event, seq, engine, table, text, finding, stored in database.execute(query):
        witness = json.loads(stored)
        own, *columns = _dependent(database, engine, text, finding) if table == _ALL_TABLES else (table,)
        own_dead = dead.get((own, seq), set())
        stripped = witness
        if witness.keys() != {"rows"}:
            known = _values_of(database, own, seq, witness["rows"]) if "missing" in witness else []
            stripped = without_dead(witness, living.get(own, _NO_ROWS), columns, known)
        concerned += stripped != witness or not own_dead.isdisjoint(witness["rows"])
        if stripped != witness:
            changed.append((json.dumps(stripped), event))
    database.executemany("UPDATE events SET witness = ? WHERE rowid = ?", changed)
    return concerned


def _dependent(database: sqlite3.Connection, engine: str, text: str, finding: str) -> list[str]:
    """The table whose rows break a rule across tables, and the columns of its left side. An event of a given rule may
    lack the finding; then the results have it, or the event of its removal.
    """
    if not finding:
        query = """
            SELECT json FROM results WHERE engine = ?1 AND text = ?2 UNION ALL
            SELECT json FROM events WHERE engine = ?1 AND text = ?2 AND event = 'removed' AND json <> ''"""
        (finding,) = database.execute(query, (engine, text)).fetchone()
    found: list[str] = json.loads(finding)["dependent"]
    return found


def _values_of(database: sqlite3.Connection, table: str, seq: int, rows: Sequence[int]) -> list[dict[str, Any]]:
    """The values of rows that broke a rule, as far as they are stored."""
    query = "SELECT json FROM witness_rows WHERE seq = ? AND table_name = ? AND number = ?"
    found = (database.execute(query, (seq, table, row)).fetchone() for row in rows)
    return [json.loads(row[0]) if row else {} for row in found]


def _alive(rows: Sequence[int] | Ids, living: Ids) -> NDArray[np.bool_]:
    """Which of some rows live."""
    alive: NDArray[np.bool_] = np.searchsorted(living, rows, side="right") > np.searchsorted(living, rows)
    return alive


def without_dead(
    witness: Mapping[str, Any], living: Ids, columns: Sequence[str] = (), values: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """A witness with its row ids and counts, and with the keys of living rows only.

    `columns` are those of an inclusion dependency's left side, and `values` are the values of its rows.
    """
    rows = witness["rows"]
    alive = _alive(rows, living)
    if alive.all():
        return dict(witness)
    stripped: dict[str, Any] = {"rows": rows}
    if "keys" in witness:
        stripped["keys"] = [key if lives else {} for key, lives in zip(witness["keys"], alive, strict=True)]
    if "missing" in witness:  # of an inclusion dependency: each missing value is the value of a witness row
        held = [[row.get(name) for name in columns] for row, lives in zip(values, alive, strict=True) if lives]
        stripped["missing"] = [
            each if _listed(each["value"]) in held else {**each, "value": None} for each in witness["missing"]
        ]
        stripped |= {name: witness[name] for name in ("missing_values", "missing_rows")}
    return stripped


def _listed(value: Any) -> list[Any]:
    """A value of one column, or of several, as a list."""
    return value if isinstance(value, list) else [value]
