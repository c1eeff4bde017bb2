"""What batches usually look like, in the database: the figures of each batch of a table, the layout that says what the
figures are, and what was said of those far outside. Past batches that were cut from the first load have a `seq` below
0.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.expectations.figures import Layout
from holdfast.expectations.judging import DAYS, WINDOW, Past
from holdfast.store.later import BATCH_FIGURES, LAYOUTS, UNUSUAL
from holdfast.store.records import Expected

Json = dict[str, Any]
Rows = Callable[..., list[Any]]  # gives what a query finds with some values
EXPECTATIONS = "expectations"  # the fact that says whether batches have any


def put_expected(database: sqlite3.Connection, seq: int, expected: Expected) -> None:
    """Store what a batch has for expectations."""
    rows = [
        (e.table, e.lane, -e.past or seq, e.day, int(e.dated), e.values.tobytes(), e.sides.tobytes())
        for e in expected.figures
    ]
    database.executemany(f"INSERT INTO {BATCH_FIGURES} VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    put_layouts(database, expected.layouts)
    said = [(seq, each.table, each.text, each.severity, json.dumps(each.to_json())) for each in expected.unusual]
    database.executemany(f"INSERT INTO {UNUSUAL} VALUES (?, ?, ?, ?, ?)", said)


def put_layouts(database: sqlite3.Connection, layouts: Mapping[str, Layout]) -> None:
    """Store the figures that are watched of tables."""
    rows = [(table, json.dumps(layout.to_json())) for table, layout in layouts.items()]
    database.executemany(f"INSERT OR REPLACE INTO {LAYOUTS} VALUES (?, ?)", rows)


def follow_columns(database: sqlite3.Connection, table: str, columns: Sequence[Mapping[str, Any]]) -> None:
    """Move the figures of a table whose columns changed."""
    names: dict[str, str | None] = {
        each["column"]: each["name"] if each["done"] == "renamed" else None
        for each in columns
        if each["done"] != "added"
    }
    found = database.execute(f"SELECT json FROM {LAYOUTS} WHERE table_name = ?", (table,)).fetchone()
    if names and found:
        put_layouts(database, {table: _layout(found[0]).with_columns(names)})


def forget_tables(database: sqlite3.Connection, tables: Sequence[str]) -> None:
    """Remove all about tables that are no longer watched."""
    for place in (LAYOUTS, BATCH_FIGURES, UNUSUAL):
        database.executemany(f"DELETE FROM {place} WHERE table_name = ?", [(name,) for name in tables])


def forget_sentences(database: sqlite3.Connection, tables: Iterable[str]) -> None:
    """Remove what was said of values of tables that no longer hold some of them."""
    rows = [(table,) for table in tables]
    database.executemany(f"DELETE FROM {UNUSUAL} WHERE table_name = ? AND severity = 'warn'", rows)


# ---- reading ---------------------------------------------------------------------------------------------------------


class StoredExpectations:
    """Reads what the database of a state has for expectations."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    @property
    def are_on(self) -> bool:
        """Whether batches have any."""
        return bool(self._rows("SELECT 1 FROM meta WHERE key = ? AND value = 'on'", EXPECTATIONS))

    def layouts(self, *, also_off: bool = False) -> dict[str, Layout]:
        """The figures that are watched, by table; none where batches have no expectations, unless those are wanted
        that were watched before.
        """
        if not (self.are_on or (also_off and self._rows("SELECT 1 FROM sqlite_master WHERE name = ?", LAYOUTS))):
            return {}
        return {table: _layout(text) for table, text in self._rows(f"SELECT table_name, json FROM {LAYOUTS}")}

    def past(self, table: str, lane: str, day: float, width: int) -> Past:
        """The last batches of a table, those of the weeks before a day, with this many figures each."""
        query = f"""
            SELECT seq, day, dated, figures, sides FROM {BATCH_FIGURES} WHERE table_name = ? AND lane = ? AND day >= ?
            ORDER BY seq DESC LIMIT {WINDOW}"""
        found = self._rows(query, table, lane, day - DAYS)[::-1]
        seqs, days, dated, figures, sides = zip(*found, strict=True) if found else ((),) * 5
        return Past(
            np.array(seqs, np.int64), np.array(days, np.float64), np.array(dated, np.bool_),
            _matrix(figures, width, np.float64, np.nan), _matrix(sides, width, np.int8, 0),
        )  # fmt: skip

    def last_day(self, table: str, lane: str) -> float | None:
        """The day of the last batch of a table."""
        query = f"SELECT day FROM {BATCH_FIGURES} WHERE table_name = ? AND lane = ? ORDER BY seq DESC LIMIT 1"
        found = self._rows(query, table, lane)
        return found[0][0] if found else None

    def unusual(self, after: int = 0) -> list[tuple[int, Json]]:
        """What was far outside after an entry of the history, the newest first, each with its `seq`."""
        if not self._rows("SELECT 1 FROM sqlite_master WHERE name = ?", UNUSUAL):
            return []
        query = f"SELECT seq, json FROM {UNUSUAL} WHERE seq > ? ORDER BY seq DESC, severity, table_name, text"
        return [(seq, json.loads(text)) for seq, text in self._rows(query, after)]

    def by_batch(self) -> dict[int, list[Json]]:
        """The same by `seq`."""
        found: dict[int, list[Json]] = {}
        for seq, each in self.unusual():
            found.setdefault(seq, []).append(each)
        return found


@lru_cache(maxsize=256)
def _layout(text: str) -> Layout:
    return Layout.from_json(json.loads(text))


def _matrix(stored: Sequence[bytes], width: int, kind: type[Any], missing: float) -> NDArray[Any]:
    """Stored numbers by batch and figure; batches of before have no figures that came later."""
    size = width * np.dtype(kind).itemsize
    if all(len(each) == size for each in stored):
        return np.frombuffer(b"".join(stored), kind).reshape(len(stored), width)
    whole = np.full((len(stored), width), missing, kind)
    for place, each in enumerate(stored):
        own = np.frombuffer(each, kind)
        whole[place, : len(own)] = own
    return whole
