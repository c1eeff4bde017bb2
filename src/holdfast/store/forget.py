"""Forgetting: what the database still knows of rows that died, and how that goes.

Events keep the rows that broke a rule with their values; results that were replaced stay in pages that are free now,
and in the write-ahead log.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


def strip_witnesses(database: sqlite3.Connection, living: Mapping[str, Ids]) -> int:
    """Take the values of rows that died from the witnesses of all events; gives how many witnesses that concerned.

    `living` holds the ids of each table's living rows, ascending. Needs a transaction.
    """
    query = "SELECT rowid, table_name, json, witness FROM events WHERE witness IS NOT NULL"
    changed = []
    for number, table, finding, text in database.execute(query):
        witness = json.loads(text)
        if witness.keys() == {"rows"}:
            continue
        # A rule across tables is broken by rows of the table that depends on another.
        own, *columns = (table,) if table in living else json.loads(finding)["dependent"]
        stripped = without_dead(witness, living[own], columns)
        if stripped != witness:
            changed.append((json.dumps(stripped), number))
    database.executemany("UPDATE events SET witness = ? WHERE rowid = ?", changed)
    return len(changed)


def without_dead(witness: Mapping[str, Any], living: Ids, columns: Sequence[str] = ()) -> dict[str, Any]:
    """A witness with its row ids and numbers, and the values and keys of those rows alone that live.

    `columns` are those of an inclusion dependency's left side.
    """
    rows = witness["rows"]
    alive = np.searchsorted(living, rows, side="right") > np.searchsorted(living, rows)
    if alive.all():
        return dict(witness)
    stripped: dict[str, Any] = {"rows": rows}
    for name in ("keys", "values"):
        if name in witness:
            stripped[name] = [values if lives else {} for values, lives in zip(witness[name], alive, strict=True)]
    if "missing" in witness:  # of an inclusion dependency: each value that is missing is that of a row it tells
        held = [[values.get(column) for column in columns] for values in stripped["values"]]
        stripped["missing"] = [
            each if _listed(each["value"]) in held else {**each, "value": None} for each in witness["missing"]
        ]
        stripped |= {name: witness[name] for name in ("missing_values", "missing_rows")}
    return stripped


def _listed(value: Any) -> list[Any]:
    """A value of one column, or of several, as a list."""
    return value if isinstance(value, list) else [value]


def shrink(database: sqlite3.Connection) -> bool:
    """Write the database anew without what is free in it, and empty its log; False where a reader holds on to that."""
    database.execute("PRAGMA secure_delete = ON")
    database.execute("VACUUM")
    busy, *_ = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
