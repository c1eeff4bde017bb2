"""Pointwise order dependencies behind the verbs that every engine offers.

Which rules hold follows from evidence (see `ways`), which a way finds and keeps. `settings.max_lhs` bounds left sides,
`rhs` chooses right sides, `min_coverage` leaves out rules that few pairs of rows test, `vacuous` adds those that none
tests. Text columns are compared for equality alone, unless they are `ordered`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from holdfast.borders.method import NARROW, PATTERNS, WIDE_PATTERNS, Choice, choose, strategy_in_words
from holdfast.changes.diff import Diff
from holdfast.engines.contract import Engine, RuleClass
from holdfast.engines.pointwise import PointwiseSettings
from holdfast.engines.pointwise.counts import Counts
from holdfast.engines.pointwise.covered import best_first
from holdfast.engines.pointwise.differ import difference, with_causes
from holdfast.engines.pointwise.explain import Explanation, explain
from holdfast.engines.pointwise.marks import Space
from holdfast.engines.pointwise.result import Rules
from holdfast.engines.pointwise.state import WAY, State, columns_named
from holdfast.engines.pointwise.ways import Asked, Way
from holdfast.engines.pointwise.witnesses import Witnesses
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.engines.watched import WatchedTable, inside
from holdfast.progress import SILENT, Progress
from holdfast.table.change import Batch
from holdfast.table.runner import Runner
from holdfast.table.table import Schema

WAYS: Mapping[str, type[Way]] = {each.name: each for each in (Counts, Witnesses)}
_MANY, _PAIR_NS = 1_000_000_000, 1.3  # pairs from which on it is said how long it takes to compare them; to compare one


class PointwiseEngine(Engine[WatchedTable, State]):
    """Minimal pointwise order dependencies (`pod`)."""

    def __init__(self, declared: RuleClass[Any], settings: PointwiseSettings) -> None:
        self.declared = declared
        self._settings = settings

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:
        """Find the evidence, and what follows from it."""
        choice = self._choice(subject)
        kind, pairs = WAYS[choice.name], subject.table.rows * (subject.table.rows - 1) // 2
        if kind is Counts and pairs > _MANY:
            seconds = max(1, round(pairs * _PAIR_NS / 1e9 / (os.cpu_count() or 1)))
            progress.note(f"Comparing all {pairs:,} pairs of rows of {subject.table.schema.name}, about {seconds:,} s")
        schema = subject.table.schema
        asked = Asked(self._space(schema), self._settings.longest(len(schema.columns)))
        way = kind.begin(subject, asked, runner, progress)
        return State.of(subject, asked, self._settings, way, choice.why, progress)

    def follow(self, state: State, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:
        """Derive what a batch changed."""
        change = batch.only
        before = state.moment()
        changed = state.way.follow(change, runner, progress)
        state.table = change.after
        if changed or state.settings.min_coverage or before.is_tested != (change.after.rows >= FEWEST_ROWS):
            state.derive(progress)
        state.before = before
        return difference(before, state.moment(), state.wording)

    def explained(self, state: State, diff: Diff, batch: Batch) -> Diff:
        """Why rules came and went, which rows broke those that were lost, and what people want to see first."""
        before, state.before = state.before, None
        assert before is not None
        if not diff.lost and not diff.gained:
            return diff
        return with_causes(diff, before, state.moment(), state.wording, batch.only, state.way)

    def result(self, state: State) -> Rules:
        """All minimal rules that hold, every reading; a mapping that makes them when asked."""
        return Rules(state.wording, state.rules, state.vacuous, state.never)

    def ranked(self, state: State) -> Rules:
        """The same with their coverage, the highest first."""
        ranked = best_first(state.rules, state.way.tallied(), state.asked.space)
        return Rules(state.wording, ranked, state.vacuous, state.never)

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The rules, and what the way keeps."""
        return state.dump()

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state from its arrays."""
        schema = subject.table.schema
        asked = Asked(self._space(schema), facts["max_lhs"])
        way = WAYS[facts["way"]].load(subject, asked, inside(WAY, arrays), facts)
        return State.load(subject, asked, self._settings, way, arrays, facts)

    def how(self, state: State) -> str:
        """By which way, and why; and how long left sides may be."""
        return f"{strategy_in_words(state.way.name, state.why)}; {state.wording.bound}"

    def as_asked_of(self, state: State) -> PointwiseEngine:
        """With the bound of a state."""
        most = state.asked.space.columns if state.asked.max_lhs is None else state.asked.max_lhs
        return PointwiseEngine(self.declared, replace(self._settings, max_lhs=most))

    def explain(self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> Explanation:  # noqa: ARG002
        """Whether a rule holds, watched or not, with its coverage; or two rows that break it."""
        self.refuse_rows(rows)
        return explain(subject.table, self._space(subject.table.schema), text)

    def _choice(self, subject: WatchedTable) -> Choice:
        rows, columns = subject.table.rows, len(subject.table.schema.columns)
        return choose(self._settings.method, rows, columns, PATTERNS if columns <= NARROW else WIDE_PATTERNS)

    def _space(self, schema: Schema) -> Space:
        declared = set(columns_named("ordered", self._settings.ordered, schema) or ())
        plain = [pa.types.is_string(column.type) for column in schema.columns]
        ordered = tuple(not text or place in declared for place, text in enumerate(plain))
        return Space(ordered, schema.nulls.are_distinct)
