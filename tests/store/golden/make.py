"""Makes the golden state of the present format: `make golden` writes it.

It shows that a state which was written some time ago is read today. Until the first release one format is read, and one
state is kept: make it when the format changes.
"""

from __future__ import annotations

import datetime as dt
import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from holdfast.api.monitor import Monitor
from tests.store import harm

STATE = Path(__file__).with_name("state")
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("text", pa.string()),
        ("real", pa.float64()),
        ("price", pa.decimal128(15, 2)),
        ("flag", pa.bool_()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us")),
        ("moment", pa.timestamp("us", tz="UTC")),
    ]
)
DAY, NOON = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 0, 0, 5)
UTC_NOON = NOON.replace(tzinfo=dt.UTC)
Row = tuple[Any, ...]
FIRST: list[Row] = [
    (1, "a", 0.5, Decimal("1.50"), True, DAY, NOON, UTC_NOON),
    (2, "é\U0001f600", float("nan"), Decimal("-2.00"), False, dt.date(1, 1, 1), NOON, UTC_NOON),
    (3, None, None, None, None, None, None, None),
    (4, "", -0.0, Decimal("0.01"), True, DAY, NOON, UTC_NOON),
]
BORN: Row = (5, "ab", float("inf"), Decimal("9999999999999.99"), False, dt.date(9999, 12, 31), NOON, UTC_NOON)
NEW: Row = (2, "b", 1.25, None, None, DAY, None, UTC_NOON)
LAST: Row = (6, "a", 0.5, Decimal("1.50"), True, DAY, NOON, UTC_NOON)
# What is there in the end: of the table with a key, and of the one without.
KEYED: list[Row] = [FIRST[0], FIRST[3], BORN, NEW, LAST]
WATCHED = ["column", "ucc", "fd", "ind"]
RULES = ["not(t.text < s.text and t.price > s.price)", "day -> flag", "key(text)"]
LOOSE = [("x", 1), (None, None), ("x", 1), ("y", None)]


def table_of(rows: list[Row]) -> pa.Table:
    columns = zip(zip(*rows, strict=True), SCHEMA.types, strict=True)
    return pa.table([pa.array(values, kept) for values, kept in columns], schema=SCHEMA)


def loose(*rows: tuple[str | None, int | None]) -> pa.Table:
    return pa.table({"t": pa.array([t for t, _ in rows], pa.string()), "n": pa.array([n for _, n in rows], pa.int64())})


def make(path: Path) -> None:
    """Two tables, batches of all kinds, a checkpoint with dead rows, and batches after it that are to be replayed."""
    tables = {"keyed": table_of(FIRST), "loose": loose(("x", 1), ("z", 2), (None, None), ("x", 1))}
    rules = path.with_suffix(".json")
    rules.write_text(json.dumps({"rules": [{"table": "keyed", "rule": rule} for rule in RULES], "ordered": ["text"]}))
    with Monitor.create(path, tables, watch=WATCHED, rules=rules, key={"keyed": ["id"]}) as monitor:
        monitor.apply(inserts=table_of([BORN]), deletes=pa.table({"id": [3]}), table="keyed", batch_id="first")
        monitor.apply(deletes=loose(("z", 2)), table="loose", batch_id="second")
        monitor.checkpoint()
        update = table_of([NEW]).append_column("op", pa.array(["u"]))
        monitor.apply(changes=update, table="keyed", batch_id="third")
        monitor.apply(snapshot=loose(*LOOSE[:-1]), table="loose", batch_id="fourth")
        monitor.apply(inserts={"keyed": table_of([LAST]), "loose": loose(LOOSE[-1])}, batch_id="fifth")
    (path / "lock").unlink()
    rules.unlink()
    harm.change(path, "UPDATE meta SET value = ? WHERE key = 'home'", json.dumps({"inode": 0, "path": "/golden"}))
    harm.change(path, "VACUUM")  # nothing of the place where it was made is left


if __name__ == "__main__":
    shutil.rmtree(STATE, ignore_errors=True)
    make(STATE)
