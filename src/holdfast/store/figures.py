"""Figures over time: how many violations each given rule has, how many nulls and values each column, batch by batch.

A figure is kept with the batch that changed it. What it was before stands in the results that the batch replaces.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

Json = Mapping[str, Any]


class Figures(NamedTuple):
    """The table that keeps figures of a finding, what the finding is about, and the figures."""

    place: str
    about: str
    figures: tuple[float | None, ...]


def figures_of(finding: Json) -> Figures | None:
    """What is kept of a finding over time; nothing of rules that were found, which hold or don't."""
    if "severity" in finding:  # a rule that was given
        told = tuple(finding.get(name) for name in ("violations", "g3", "score"))
        return Figures("rule_figures", finding["text"], told)
    if finding["kind"] == "column":
        return Figures("column_figures", finding["column"], (finding["nulls"], finding["distinct"]))
    return None


def put_figures(database: sqlite3.Connection, seq: int, engine: str, table: str, findings: Mapping[str, Json]) -> None:
    """Keep the figures of a batch that are others than those of the results so far."""
    before = "SELECT json FROM results WHERE engine = ? AND table_name = ? AND text = ?"
    for text, finding in findings.items():
        if (now := figures_of(finding)) is not None:
            row = database.execute(before, (engine, table, text)).fetchone()
            if row is None or figures_of(json.loads(row[0])) != now:
                _put(database, seq, engine, table, now)


def start_figures(database: sqlite3.Connection) -> None:
    """Keep the figures of all results, as of the last batch: of a state that kept none so far."""
    (seq,) = database.execute("SELECT coalesce(max(seq), 0) FROM batches").fetchone()
    for engine, table, text in database.execute("SELECT engine, table_name, json FROM results").fetchall():
        if (now := figures_of(json.loads(text))) is not None:
            _put(database, seq, engine, table, now)


def _put(database: sqlite3.Connection, seq: int, engine: str, table: str, now: Figures) -> None:
    marks = ", ".join("?" * len(now.figures))
    values = (seq, _subject(database, engine, table, now.about), *now.figures)
    database.execute(f"INSERT INTO {now.place} VALUES (?, ?, {marks})", values)


def _subject(database: sqlite3.Connection, engine: str, table: str, text: str) -> int:
    """The number of what a figure is about."""
    about = (engine, table, text)
    query = "SELECT id FROM subjects WHERE engine = ? AND table_name = ? AND text = ?"
    row = database.execute(query, about).fetchone()
    if row is None:
        insert = "INSERT INTO subjects (engine, table_name, text) VALUES (?, ?, ?) RETURNING id"
        row = database.execute(insert, about).fetchone()
    return int(row[0])


def kept_figures(database: sqlite3.Connection, place: str) -> Iterable[tuple[Any, ...]]:
    """All figures that a table keeps, the oldest first: engine, table and text of each, batch, figures."""
    query = f"""
        SELECT engine, table_name, text, {place}.* FROM {place} JOIN subjects ON subjects.id = subject
        ORDER BY seq, subject"""
    for engine, table, text, seq, _, *figures in database.execute(query):
        yield engine, table, text, seq, *figures
