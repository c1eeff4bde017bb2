"""Results and events: what holds, and what a batch did to each rule, as the database keeps it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from holdfast.changes.diff import Diff, Result, Witness


def put_results(database: sqlite3.Connection, engine: str, table: str, result: Result) -> None:
    """Keep findings one by one."""
    rows = [(engine, table, text, json.dumps(finding.to_json())) for text, finding in result.items()]
    database.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", rows)


def put_diff(database: sqlite3.Connection, seq: int, engine: str, table: str, diff: Diff, many: bool) -> None:
    """Keep what a batch changed in the findings, unless there are many, and the events."""
    if not many:
        put_results(database, engine, table, diff.figures)
        put_results(database, engine, table, diff.gained)
        put_results(database, engine, table, {text: new for text, (_, new) in diff.changed.items()})
        gone = [(engine, table, text) for text in diff.lost]
        database.executemany("DELETE FROM results WHERE engine = ? AND table_name = ? AND text = ?", gone)
    rows = ((seq, engine, table, *event) for event in events_of(diff, many))
    database.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def events_of(diff: Diff, many: bool) -> Iterator[tuple[str, str, str, str | None]]:
    """What happened to each rule: the event, its text, the finding and the witness. Of many rules, of which the text
    tells all, there is no finding, and the values of a row that broke many are kept with the first of them alone.
    """
    broken, mended = _turned(diff)
    known: set[int] = set()  # rows whose values an event keeps
    for text in (*diff.lost, *broken):
        witness = diff.witnesses.get(text)
        untested = not many and getattr(diff.lost.get(text), "empty", False)
        event = "lost" if witness or text in broken else "untested" if untested else "implied"
        finding = "" if many else json.dumps((broken.get(text) or diff.lost[text]).to_json())
        yield event, text, finding, None if witness is None else _kept(witness, known if many else set())
    for text in (*diff.gained, *mended):
        yield "gained", text, "" if many else json.dumps((mended.get(text) or diff.gained[text]).to_json()), None


def _kept(witness: Witness, known: set[int]) -> str:
    if known.issuperset(witness.rows):
        return json.dumps({"rows": witness.rows})
    known.update(witness.rows)
    return json.dumps(witness.to_json())


def _turned(diff: Diff) -> tuple[Result, Result]:
    """The given rules that had no violations and have some now, and those that have none any more."""
    broken, mended = {}, {}
    for text, (old, new) in diff.changed.items():
        before, after = (getattr(finding, "violations", None) for finding in (old, new))
        if before == 0 and after:
            broken[text] = new
        elif before and after == 0:
            mended[text] = new
    return broken, mended
