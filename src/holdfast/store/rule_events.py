"""Results, events and figures in the database: what holds, what a batch did to each rule, and over time the violations
of each given rule and the nulls and values of each column.

A figure is stored with the batch that changed it. The figure before is in the results that the batch replaces.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from holdfast.changes.diff import Diff, Finding, Result, Witness
from holdfast.store.later import BASELINES, INCIDENTS, LOST_SCORES
from holdfast.store.records import Commit, IncidentChange

Json = Mapping[str, Any]
MOST_INCIDENTS = 1_000  # of a rule
_MOST_IMPLIED = 10_000  # for more implied rules the events don't say from which they follow: it would take seconds


class RuleEvent(NamedTuple):
    """What happened to a rule: the finding and the witness as JSON, and the rule that it follows from, where known."""

    event: str  # lost, worse (a given rule that was violated before), implied, untested, gained; added, removed
    text: str
    finding: str
    witness: str | None = None
    implied_by: str = ""


class LostScore(NamedTuple):
    """The score of a rule when a batch broke it, and how many rows had tested it."""

    seq: int
    engine: str
    table: str
    text: str
    score: float
    support: int


class GivenChanges(NamedTuple):
    """The given rules that went from no violations to some, got new violations, and went from some to none."""

    broken: dict[str, Finding]
    worse: dict[str, Finding]
    mended: dict[str, Finding]


def put_results(database: sqlite3.Connection, seq: int, engine: str, table: str, result: Result) -> None:
    """Store findings one by one, and the figures that a batch changed."""
    findings = {text: finding.to_json() for text, finding in result.items()}
    put_figures(database, seq, engine, table, findings)
    rows = [(engine, table, text, json.dumps(finding)) for text, finding in findings.items()]
    database.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", rows)


def put_diffs(database: sqlite3.Connection, seq: int, commit: Commit) -> None:
    """Store what a batch changed: findings, unless there are many, events, and values of rows that broke rules."""
    for (engine, table), diff in commit.diffs.items():
        if engine not in commit.many:
            _put_changed(database, seq, engine, table, diff)
    put_events(database, seq, _events(commit))
    put_scores(database, _lost_scores(seq, commit))
    put_incidents(database, seq, commit.incidents)
    put_baselines(database, {at: diff.baselines for at, diff in commit.diffs.items()})
    _put_rows(database, seq, commit)


def put_events(database: sqlite3.Connection, seq: int, events: Iterable[tuple[str, str, RuleEvent]]) -> None:
    """Store what happened to rules of engines and subjects, and how often; events are made as they are written."""
    counts: Counter[str] = Counter()

    def rows() -> Iterator[tuple[object, ...]]:
        for engine, subject, event in events:
            counts[event.event] += 1
            yield seq, engine, subject, *event

    database.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows())
    database.executemany("INSERT INTO event_counts VALUES (?, ?, ?)", [(seq, *each) for each in counts.items()])


def put_scores(database: sqlite3.Connection, scores: Iterable[LostScore]) -> None:
    """Store the scores that rules had when rows broke them."""
    database.executemany(f"INSERT OR REPLACE INTO {LOST_SCORES} VALUES (?, ?, ?, ?, ?, ?)", scores)


def put_incidents(database: sqlite3.Connection, seq: int, changes: Iterable[IncidentChange]) -> None:
    """Store how many violations have the values of incidents, the newest of each rule. Those without any are gone."""
    rules = set()
    for engine, table, text, name, step in changes:
        rules.add((engine, table, text))
        query = f"""
            INSERT INTO {INCIDENTS} VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET violations = violations + excluded.violations"""
        database.execute(query, (engine, table, text, name, seq, step))
    of_rule = "engine = ?1 AND table_name = ?2 AND text = ?3"
    newest = f"SELECT hash FROM {INCIDENTS} WHERE {of_rule} ORDER BY seq DESC, hash LIMIT {MOST_INCIDENTS}"
    for rule in rules:
        database.execute(
            f"DELETE FROM {INCIDENTS} WHERE {of_rule} AND (violations <= 0 OR hash NOT IN ({newest}))", rule
        )


def put_baselines(database: sqlite3.Connection, baselines: Mapping[tuple[str, str], Mapping[str, Json | None]]) -> None:
    """Store which violations are accepted, of some rules by engine and subject; None: no longer."""
    for at, own in baselines.items():
        rows = [(*at, text, json.dumps(baseline)) for text, baseline in own.items() if baseline is not None]
        gone = [(*at, text) for text, baseline in own.items() if baseline is None]
        database.executemany(f"INSERT OR REPLACE INTO {BASELINES} VALUES (?, ?, ?, ?)", rows)
        database.executemany(f"DELETE FROM {BASELINES} WHERE engine = ? AND table_name = ? AND text = ?", gone)


def _lost_scores(seq: int, commit: Commit) -> Iterator[LostScore]:
    for (engine, table), diff in commit.diffs.items():
        found = {text: worth for text, worth in (diff.worth or {}).items() if text in diff.witnesses}
        given = {text: getattr(diff.changed[text][0], "worth", None) for text in given_changes(diff).broken}
        for text, worth in (*found.items(), *given.items()):
            if worth is not None:
                yield LostScore(seq, engine, table, text, worth.score, worth.support)


def _events(commit: Commit) -> Iterator[tuple[str, str, RuleEvent]]:
    for (engine, table), diff in commit.diffs.items():
        stored = {number for name, number in commit.rows.rows if name == table}
        for event in events_of(diff, engine in commit.many, commit.witnesses.get((engine, table), {}), stored):
            yield engine, table, event


def _put_changed(database: sqlite3.Connection, seq: int, engine: str, table: str, diff: Diff) -> None:
    changed = {text: new for text, (_, new) in diff.changed.items()}
    put_results(database, seq, engine, table, {**diff.figures, **diff.gained, **changed})
    gone = [(engine, table, text) for text in diff.lost]
    database.executemany("DELETE FROM results WHERE engine = ? AND table_name = ? AND text = ?", gone)


def _put_rows(database: sqlite3.Connection, seq: int, commit: Commit) -> None:
    rows = ((seq, *place, row.rule, json.dumps(dict(row.values))) for place, row in commit.rows.rows.items())
    database.executemany("INSERT INTO witness_rows VALUES (?, ?, ?, ?, ?)", rows)
    if commit.rows.left_out:
        database.execute("INSERT INTO rows_left_out VALUES (?, ?)", (seq, commit.rows.left_out))


def events_of(diff: Diff, many: bool, witnesses: Mapping[str, Witness], stored: Collection[int]) -> Iterator[RuleEvent]:
    """What happened to each rule. Where there are many rules, events have no finding, as the text says it all; nor have
    those of given rules that got worse, as all may with each batch. Rows with stored values have no keys. `witnesses`
    are those of given rules.
    """
    broken, worse, mended = given_changes(diff)
    causes = diff.causes if len(diff.lost) - len(diff.witnesses) <= _MOST_IMPLIED else {}
    texts: dict[int, str] = {}  # of witnesses: many rules may share one object
    for text in diff.lost:
        finding = "" if many else json.dumps(diff.lost[text].to_json())
        event, witness, cause = diff.loss(text), diff.witnesses.get(text), None
        if witness is not None and id(witness) not in texts:
            texts[id(witness)] = _witness_text(witness, stored)
        if event == "implied":
            cause = causes.get(text)
        yield RuleEvent(event, text, finding, texts[id(witness)] if witness else None, cause.by if cause else "")
    for event, findings in (("lost", broken), ("worse", worse)):
        for text, each in findings.items():
            finding, shown = json.dumps(each.to_json()) if event == "lost" else "", witnesses.get(text)
            yield RuleEvent(event, text, finding, _witness_text(shown, stored) if shown else None)
    for text in (*diff.gained, *mended):
        yield RuleEvent("gained", text, "" if many else json.dumps((mended.get(text) or diff.gained[text]).to_json()))


def _witness_text(witness: Witness, stored: Collection[int]) -> str:
    """A witness as events have it: without values, which are stored once for each row."""
    keys = () if all(row in stored for row in witness.rows) else witness.keys
    plain = replace(witness, values=(), keys=keys).to_json()
    return json.dumps({name: value for name, value in plain.items() if name != "values"})


def given_changes(diff: Diff) -> GivenChanges:
    """The given rules whose violations changed."""
    found = GivenChanges({}, {}, {})
    for text, (old, new) in diff.changed.items():
        before, after = (getattr(finding, "violations", None) for finding in (old, new))
        if before == 0 and after:
            found.broken[text] = new
        elif before and after == 0:
            found.mended[text] = new
        elif before and after and _grew(diff, text, after > before):
            found.worse[text] = new
    return found


def how_many(diffs: Iterable[Diff]) -> tuple[int, int, int]:
    """How many rules a batch gained and lost, also given ones; and how many findings changed."""
    gained = lost = changed = 0
    for diff in diffs:
        given = given_changes(diff)
        gained += len(diff.gained) + len(given.mended)
        lost += len(diff.witnesses) + len(given.broken)
        changed += len(diff.changed)
    return gained, lost, changed


def _grew(diff: Diff, text: str, more: bool) -> bool:
    """Whether a rule has new violations; where only their number is known, whether it has more."""
    change = diff.violations.get(text)
    return more if change is None or change.new is None else change.new > 0


# ---- figures over time -----------------------------------------------------------------------------------------------


class FigureRow(NamedTuple):
    """The database table for figures of a finding, what the finding is about, and the figures."""

    place: str
    about: str
    figures: tuple[float | None, ...]


def figures_of(finding: Json) -> FigureRow | None:
    """What is stored of a finding over time; nothing of found rules, which hold or don't."""
    if "severity" in finding:  # a rule that was given
        figures = tuple(finding.get(name) for name in ("violations", "g3", "score"))
        return FigureRow("rule_figures", finding["text"], figures)
    if "nulls" in finding:  # facts of a column
        return FigureRow("column_figures", finding["column"], (finding["nulls"], finding["distinct"]))
    return None


def put_figures(database: sqlite3.Connection, seq: int, engine: str, table: str, findings: Mapping[str, Json]) -> None:
    """Store the figures that differ from those of the results so far."""
    now = {text: figures for text, finding in findings.items() if (figures := figures_of(finding)) is not None}
    if now:
        query = "SELECT text, json FROM results WHERE engine = ? AND table_name = ?"
        stored = ((text, old) for text, old in database.execute(query, (engine, table)) if text in now)
        before = {text: figures_of(json.loads(old)) for text, old in stored}
        _put_new(database, seq, engine, table, [own for text, own in now.items() if before.get(text) != own])


def _put_new(database: sqlite3.Connection, seq: int, engine: str, table: str, changed: Sequence[FigureRow]) -> None:
    query = "SELECT text, id FROM subjects WHERE engine = ? AND table_name = ?"
    subjects = dict(database.execute(query, (engine, table)).fetchall())
    for about in (each.about for each in changed if each.about not in subjects):
        insert = "INSERT INTO subjects (engine, table_name, text) VALUES (?, ?, ?) RETURNING id"
        ((subjects[about],),) = database.execute(insert, (engine, table, about)).fetchall()
    for place, own in groupby(changed, key=lambda each: each.place):
        rows = [(seq, subjects[each.about], *each.figures) for each in own]
        database.executemany(f"INSERT INTO {place} VALUES ({', '.join('?' * len(rows[0]))})", rows)
