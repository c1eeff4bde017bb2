"""Figures over time: how many violations each given rule has, how many nulls and values each column, batch by batch.

A figure is kept with the batch that changed it. What it was before stands in the results that the batch replaces.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from itertools import groupby
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
    if "nulls" in finding:  # facts of a column
        return Figures("column_figures", finding["column"], (finding["nulls"], finding["distinct"]))
    return None


def put_figures(database: sqlite3.Connection, seq: int, engine: str, table: str, findings: Mapping[str, Json]) -> None:
    """Keep the figures of a batch that are others than those of the results so far."""
    now = {text: figures for text, finding in findings.items() if (figures := figures_of(finding)) is not None}
    if now:
        query = "SELECT text, json FROM results WHERE engine = ? AND table_name = ?"
        kept = ((text, old) for text, old in database.execute(query, (engine, table)) if text in now)
        before = {text: figures_of(json.loads(old)) for text, old in kept}
        _put(database, seq, engine, table, [own for text, own in now.items() if before.get(text) != own])


def _put(database: sqlite3.Connection, seq: int, engine: str, table: str, changed: Sequence[Figures]) -> None:
    query = "SELECT text, id FROM subjects WHERE engine = ? AND table_name = ?"
    subjects = dict(database.execute(query, (engine, table)).fetchall())
    for about in (each.about for each in changed if each.about not in subjects):
        insert = "INSERT INTO subjects (engine, table_name, text) VALUES (?, ?, ?) RETURNING id"
        ((subjects[about],),) = database.execute(insert, (engine, table, about)).fetchall()
    for place, own in groupby(changed, key=lambda each: each.place):
        rows = [(seq, subjects[each.about], *each.figures) for each in own]
        database.executemany(f"INSERT INTO {place} VALUES ({', '.join('?' * len(rows[0]))})", rows)
