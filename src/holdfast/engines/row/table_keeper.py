"""Rules about a table, kept true under batches: what a quantity is, and whether that breaks a rule.

Invariant: the state holds for each rule what it measures, on how often values occur, which the table keeps for all
(see `measures`). A table breaks a rule once, or not at all; what the quantity is moves with every row.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.changes.diff import NOBODY
from holdfast.engines.contract import Json
from holdfast.engines.given.explain import GivenExplanation
from holdfast.engines.given.keeper import (
    Answer,
    Arrays,
    Cut,
    Effect,
    Keeper,
    Old,
    Previous,
    RowsOf,
    Tally,
    alone,
    listed,
)
from holdfast.engines.given.status import Status
from holdfast.engines.listing import Listing
from holdfast.engines.row.evaluate import violators, violators_in
from holdfast.engines.row.measures import TableMeasure
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.given import Named
from holdfast.rules.measure import TableRule
from holdfast.table.change import Batch
from holdfast.table.frequencies import Frequencies
from holdfast.table.rewrite import UsedCodes
from holdfast.table.rows import Rows
from holdfast.table.runner import Runner, Threads
from holdfast.visible import without_fraction

_THE_TABLE = np.full((1, 2), NOBODY)  # no rows are the violation
_SHOWN = 3


@dataclass
class Measures:
    """What each rule measures, and the time of the batch that comes next, where it is known."""

    measures: list[TableMeasure]
    at: dt.datetime | None = None


@dataclass(frozen=True)
class MeasuresKeeper(Keeper[WatchedTable, Measures]):
    """The rules about a table as a whole."""

    table: str
    rules: tuple[Named[TableRule], ...]

    def cuts(self) -> Sequence[Sequence[Cut]]:
        """A table has its measures as a whole."""
        return [[Cut(self.table, "whole")] for _ in self.rules]

    def begin(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT, old: Old = None) -> Measures:
        """Look at how often values occur: that costs little, whatever another plan knows of the table. How it judged
        the last batch is taken over.
        """
        frequencies = subject.part(Frequencies, runner, progress)
        made = [TableMeasure(named.rule, subject.table, frequencies) for named in self.rules]
        known = dict(zip(old.texts, old.state.measures, strict=True)) if old else {}
        for text, each in zip(self.texts, made, strict=True):
            if text in known:
                each.recall(known[text].is_broken, known[text].value)
        return Measures(made)

    def ready(self, state: Measures, batch: Batch) -> Measures:
        """With the time of the batch."""
        state.at = batch.at
        return state

    def look(self, state: Measures, born: RowsOf, dead: RowsOf) -> tuple[Measures, Answer]:
        """Look at the values that became more or less frequent."""
        come, gone = born[self.table], dead[self.table]
        were = [each.is_broken for each in state.measures]
        for each in state.measures:
            each.follow(come, gone, state.at)
        return state, [
            _effect(named.rule, was_broken, each, come)
            for named, each, was_broken in zip(self.rules, state.measures, were, strict=True)
        ]

    def recall(self, state: Measures, stored: Mapping[str, Json]) -> Measures:
        """How the last batch was judged."""
        for text, each in zip(self.texts, state.measures, strict=True):
            if text in stored:
                each.recall(bool(stored[text]["violations"]), stored[text]["value"])
        return state

    def tallies(self, state: Measures) -> Sequence[Tally]:
        """Whether the table breaks each, and what the quantity is."""
        return [
            Tally(int(each.is_broken), {"listed": True}, {"value": each.value}, _value(named, each))
            for named, each in zip(self.rules, state.measures, strict=True)
        ]

    def listing(self, state: Measures, subject: WatchedTable, rule: int) -> Listing:
        """The rows to look at where a rule is broken, if there are such: they are looked for now."""
        named, is_broken = self.rules[rule], state.measures[rule].is_broken
        condition = named.rule.of_rows if is_broken else None
        ids = violators_in([condition], subject.table, Threads())[0] if condition else np.empty(0, np.int64)
        return Listing(named, subject.table, int(is_broken), alone(ids), {"t": list(named.rule.columns)})

    def explain(self, state: Measures, subject: WatchedTable, rule: int, rows: Sequence[int]) -> GivenExplanation:  # noqa: ARG002
        """What the quantity is, and which rows to look at."""
        named, listing = self.rules[rule], self.listing(state, subject, rule)
        ids, count = listing.listed[:_SHOWN, 0], len(listing.listed)
        said = [f"It {_verdict(state.measures[rule])}: {_value(named, state.measures[rule])}."]
        if count:
            said.append(f"Look at {count:,} row{'s' * (count != 1)}, for example: {', '.join(listing.names(ids))}")
        status = Status(named, self.tallies(state)[rule])
        about = {**status.to_json(), "holds": not status.violations, "rows": ids.tolist()}
        return GivenExplanation(named, said, about)

    def dump(self, state: Measures) -> tuple[Arrays, Mapping[str, Any]]:
        """What does not follow from how often values occur at once; frequencies are kept with the table."""
        kept = {text: each.dump() for text, each in zip(self.texts, state.measures, strict=True)}
        arrays = {f"{text}/leaders": array for text, (array, _) in kept.items() if array is not None}
        return arrays, {text: fact for text, (_, fact) in kept.items()}

    def load(self, subject: WatchedTable, arrays: Arrays, facts: Mapping[str, Any]) -> Measures:
        """The state that `dump` described."""
        table, frequencies = subject.table, subject.part(Frequencies)
        return Measures(
            [
                TableMeasure(named.rule, table, frequencies, arrays.get(f"{named.text}/leaders"), facts[named.text])
                for named in self.rules
            ]
        )

    def rewritten(self, state: Measures, subject: WatchedTable, kept: Mapping[str, UsedCodes]) -> Measures:  # noqa: ARG002
        """The state from the frequencies of the codes that stayed."""
        return self.begin(subject, Threads(), old=Previous(self.texts, state))


def _verdict(measured: TableMeasure) -> str:
    """Whether a rule holds, in words."""
    return "does not hold" if measured.is_broken else "holds"


def _value(named: Named[TableRule], measured: TableMeasure) -> str:
    """What the quantity is, in words."""
    value = measured.value
    known = f"{value:,}" if isinstance(value, int) else without_fraction(str(value))
    return f"{named.rule.quantity.text} is {'unknown' if value is None else known}"


def _effect(rule: TableRule, was_broken: bool, now: TableMeasure, born: Rows) -> Effect:
    """What a batch did; and where it broke a rule, a row that it brought and that may show why."""
    is_new = now.is_broken and (now.judges_batches or not was_broken)
    is_gone = was_broken and (now.judges_batches or not now.is_broken)
    effect = listed(_THE_TABLE[:is_new], _THE_TABLE[:is_gone])
    if not effect.count_added or rule.of_rows is None:
        return effect
    return effect._replace(example=tuple(violators([rule.of_rows], born)[0][:1].tolist()))
