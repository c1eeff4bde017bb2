"""Watched tables from any source, as plain rows."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from holdfast.api.monitor import Monitor
from holdfast.api.view import View
from holdfast.intake import readers, source
from holdfast.intake.source import ReadOptions
from holdfast.progress import Progress
from holdfast.results.outcome import Outcome
from holdfast.sources import pieces
from holdfast.sources.dialect import CsvOptions
from tests.oracle.rows import Row
from tests.table.building import rows_of

UTC = dt.UTC


class Notes(Progress):
    """Keeps what was noted."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


def watched(folder: Path, source: Any, options: ReadOptions | None = None, **more: Any) -> Monitor:
    """A new state of one table."""
    state = folder / f"state{len(list(folder.glob('state*')))}"
    return Monitor.create(state, {"things": source}, options=options, **more)


def rows_in(monitor: View, columns: list[str] | None = None) -> list[Row]:
    """All rows, in the order of their ids, perhaps with the columns in another order."""
    table = monitor.tables["things"]
    rows = rows_of(table)
    places = [table.schema.names.index(name) for name in columns or table.schema.names]
    return [tuple(row[place] for place in places) for row in rows]


def types_in(monitor: Monitor) -> dict[str, str]:
    return {column.name: str(column.type) for column in monitor.tables["things"].schema.columns}


def read(
    folder: Path, source: Any, options: ReadOptions | None = None, **more: Any
) -> tuple[dict[str, str], list[Row]]:
    """The types and the rows of a source."""
    with watched(folder, source, options, **more) as monitor:
        return types_in(monitor), rows_in(monitor)


def csv_options(**more: Any) -> ReadOptions:
    return ReadOptions(csv=CsvOptions(**more))


def file_of(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def through_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory is free: whatever can be read by Spark is."""
    monkeypatch.setattr(readers, "SHARE", 0.0)


def small_pieces(monkeypatch: pytest.MonkeyPatch, size: int = 1) -> None:
    """Every file is read in pieces, each of a few bytes or a few rows."""
    for module, name, value in (
        (source, "_AT_ONCE", 0),
        (source, "_FEW_ROWS", 0),
        (pieces, "_LEAST_BYTES", size),
        (pieces, "_MOST_BYTES", size),
        (pieces, "_AT_ONCE", 3 * size),
        (pieces, "_MOST_ROWS", 3),
    ):
        monkeypatch.setattr(module, name, value)


def changed(outcome: Outcome) -> tuple[int, int, int]:
    return outcome.batch.inserted, outcome.batch.deleted, outcome.batch.ignored
