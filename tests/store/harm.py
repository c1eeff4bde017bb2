"""A small state with rules of every kind, and harm that befalls its files."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from holdfast.api.monitor import Monitor
from holdfast.api.view import View
from holdfast.store.database import connect
from holdfast.store.layout import DATABASE
from holdfast.store.sums import SumsWriter

RULES = ["not(t.city = s.city and t.zip < s.zip)", "zip -> city"]


def people(first: int, count: int) -> pa.Table:
    ids = range(first, first + count)
    return pa.table(
        {
            "id": ids,
            "zip": [i % 7 for i in ids],
            "city": [f"city {i % 7}" if i % 11 else None for i in ids],
            "parent": [i // 2 for i in ids],
            "weight": [i / 4 for i in ids],
            "twin": [i % 7 for i in ids],
        }
    )


def make(path: Path, rows: int = 40, segments: str | None = None) -> None:
    """A state with batches before and after its checkpoint."""
    with Monitor.create(
        path,
        {"people": people(0, rows)},
        key=["id"],
        watch=["column", "ucc", "fd", "ind"],
        rules=RULES,
        segments=segments,
    ) as monitor:
        monitor.apply(inserts=people(rows, 5), deletes=people(3, 2))
        monitor.checkpoint()
        monitor.apply(inserts=people(rows + 5, 3))
        monitor.apply(deletes=people(7, 4))


def answers(monitor: View) -> list[Any]:
    """All answers of a state: its rows, what holds, and what breaks the rules."""
    table = monitor.tables["people"]
    found = sorted(str(finding.to_json()) for finding in monitor.results())
    broken = [list(listing.violations(None)) for listing in monitor.violations()]
    return [table.values(table.living_ids()).to_pylist(), found, broken]


def change(state: Path, statement: str, *values: object) -> None:
    """Change what the database says, and its checksums with it: as a fault of the program would, and no disk."""
    database = connect(state / DATABASE)
    database.execute(statement, values)
    SumsWriter.of_new(state, database).close()


@contextmanager
def turned(paths: list[Path], chance: random.Random) -> Iterator[tuple[Path, int]]:
    """One bit of one file is another one for a while."""
    path = chance.choice(paths)
    whole = path.read_bytes()
    bit = chance.randrange(8 * len(whole))
    harmed = bytearray(whole)
    harmed[bit // 8] ^= 1 << bit % 8
    path.write_bytes(harmed)
    try:
        yield path, bit
    finally:
        path.write_bytes(whole)
