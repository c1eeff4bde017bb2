"""What a state must remember of a stream, and what a view that follows it must show: checked after every batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import holdfast as hf
from holdfast.api.view import View
from holdfast.changes.diff import Finding
from holdfast.engines.registry import rule_class
from holdfast.results.memory import ColumnFigures, Event, Figures
from holdfast.results.outcome import Outcome
from holdfast.table.plain import plain_rows
from tests.laws.expected import Expected
from tests.table.building import rows_of


class Remembering:
    """A view that follows a state, and the figures of the results after each batch: of given rules by text, and of
    columns.
    """

    def __init__(self, path: Path, monitor: View) -> None:
        self._path, self._follower = path, hf.Monitor.open(path, write=False)
        self._figures: dict[str, list[Figures]] = {}
        self._columns: dict[tuple[str, str], list[ColumnFigures]] = {}
        self._note_figures(monitor, 0, 0)

    def close(self) -> None:
        """Let go of the view."""
        self._follower.close()

    def check_batch(self, monitor: View, outcome: Outcome, before: Expected, now: Expected, key: Sequence[int]) -> None:
        """The memory of the last batch agrees with its outcome."""
        seq, memory = outcome.batch.seq, monitor.memory()
        self._note_figures(monitor, seq, outcome.batch.number)
        assert {text: own for (_, _, text), own in memory.figures().items()} == self._figures
        assert memory.columns() == self._columns
        events = memory.events(since=seq - 1)
        counted = Counter(event.event for event in events)
        assert memory.counts().get(seq, {}) == counted
        assert (outcome.batch.lost, outcome.batch.gained) == (counted["lost"], counted["gained"])
        assert memory.events(most=3) == memory.events()[:3], "the newest come first"
        given = [event for event in events if rule_class(event.engine).given]
        _check_given(monitor, given, before, now, key)
        _check_found(monitor, outcome, [event for event in events if event not in given])

    def check_follower(self) -> None:
        """A view that was open all the time shows what a new one shows."""
        self._follower.follow()
        with hf.Monitor.open(self._path, write=False) as fresh:
            assert _picture(self._follower) == _picture(fresh)
        assert not self._follower.follow(), "nothing more has happened"

    def _note_figures(self, monitor: View, seq: int, batch: int) -> None:
        """Add the figures of the results, where they differ from those before."""
        for line in (finding.to_json() for finding in monitor.results()):
            if "severity" in line:
                figures = Figures(seq, line["violations"], line.get("g3"), line.get("score"), batch)
                _add(self._figures.setdefault(line["text"], []), figures)
            elif line["kind"] == "column":
                facts = ColumnFigures(seq, line["nulls"], line["distinct"], batch)
                _add(self._columns.setdefault((line["table"], line["column"]), []), facts)


def _add(known: list[Any], figures: Any) -> None:
    if not known or {**vars(known[-1]), "seq": figures.seq, "batch": figures.batch} != vars(figures):
        known.append(figures)


def _check_given(monitor: View, events: Sequence[Event], before: Expected, now: Expected, key: Sequence[int]) -> None:
    """Given rules that broke, got worse or hold again; with rows that show it, as they are in the table."""
    found = {event.text: event.event for event in events}
    assert len(found) == len(events)
    expected = now.turned_since(before, key)
    table, listed = monitor.tables["t"], {each.rule.text for each in monitor.violations() if each.pairs is not None}
    for text in found.keys() | expected.keys():
        assert found.get(text) == expected.get(text), text
    for event in events:
        if event.event == "gained":
            assert event.witness is None
        elif event.witness is not None:
            assert now.shows_new(before, event.text, event.witness.rows, key), event
            assert list(event.witness.values) == plain_rows(table.values(np.array(event.witness.rows)))
        else:
            assert event.text not in listed or now.may_lack_rows(before, event.text), event


def _check_found(monitor: View, outcome: Outcome, events: Sequence[Event]) -> None:
    """Found rules that broke, with their rows; and those that follow from others."""
    witnesses = {_rule(rule): outcome.witness(rule) for rule in outcome.lost}
    kept = {(event.table, event.text): event.witness for event in events if event.event == "lost"}
    assert kept.keys() == witnesses.keys()
    for rule, witness in kept.items():
        own = witnesses[rule]
        assert witness is not None
        assert own is not None
        assert (witness.rows, witness.keys, witness.sentence) == (own.rows, own.keys, own.sentence)
        for known, values in zip(witness.values, own.values, strict=True):
            assert known is not None, "so few are all kept"
            assert {name: known[name] for name in values} == values
    causes = {(table, text): why.by for (_, table), diff in outcome.diffs.items() for text, why in diff.causes.items()}
    implied = {(event.table, event.text): event.by for event in events if event.event == "implied"}
    assert implied == {_rule(rule): causes.get(_rule(rule), "") for rule in outcome.implied}
    gained = {_rule(rule) for rule in outcome.gained}
    for each in events:
        if each.event == "implied" and each.engine in ("fd", "ucc") and monitor.tables[each.table].rows > 1:
            assert (each.table, each.by) in gained, each


def _rule(rule: Finding) -> tuple[str, str]:
    """The table of a rule, or all of them, and its text."""
    return rule.to_json().get("table", "*"), rule.text


def _picture(view: View) -> list[Any]:
    """All that a view shows."""
    results = [finding.to_json() for finding in view.results()]
    listed = [(each.to_json(), each.pairs is None or each.pairs.tolist()) for each in view.violations()]
    rows = {name: (rows_of(table), table.living_ids().tolist()) for name, table in view.tables.items()}
    ranked = [finding.to_json() for result in view.ranked() for finding in result.values()]
    return [results, listed, rows, ranked, sorted(view.rule_history(), key=str), view.history()]
