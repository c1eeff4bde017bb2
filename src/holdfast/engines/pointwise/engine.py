"""Pointwise order dependencies behind the verbs that every engine offers.

Which rules hold follows from evidence, which a strategy finds and keeps. `settings.max_lhs` bounds left sides, `rhs`
chooses right sides, `min_coverage` leaves out rules that few pairs of rows test, `vacuous` adds those that none tests.
Text columns are compared for equality alone, unless they are `ordered`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.borders.method import NARROW, PATTERNS, WIDE_PATTERNS, StrategyChoice, choose, strategy_in_words
from holdfast.changes.diff import Diff
from holdfast.engines.contract import Engine, RuleClass
from holdfast.engines.pointwise import PointwiseSettings
from holdfast.engines.pointwise.borders import PointwiseBorders
from holdfast.engines.pointwise.boxes import Space
from holdfast.engines.pointwise.coverage import best_first
from holdfast.engines.pointwise.diff import difference, with_causes
from holdfast.engines.pointwise.explain import PointwiseExplanation, explain
from holdfast.engines.pointwise.rule_arrays import DUMPED, RuleArrays
from holdfast.engines.pointwise.rules import PointwiseRules
from holdfast.engines.pointwise.state import PointwiseMoment, PointwiseState, columns_named, moment_of
from holdfast.engines.pointwise.strategies import PointwiseCounting, PointwiseSpec, PointwiseStrategy
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.engines.watched import WatchedTable, inside
from holdfast.progress import SILENT, Progress
from holdfast.table.change import Batch
from holdfast.table.runner import Runner
from holdfast.table.table import Schema

STRATEGIES: Mapping[str, type[PointwiseStrategy]] = {each.name: each for each in (PointwiseCounting, PointwiseBorders)}
_FOLDER = "way/"  # of the strategy's arrays in a dump
_MANY, _PAIR_NS = 1_000_000_000, 1.3  # pairs from which on it is said how long it takes to compare them; to compare one


class PointwiseEngine(Engine[WatchedTable, PointwiseState]):
    """Minimal pointwise order dependencies (`pod`)."""

    def __init__(self, declared: RuleClass[Any], settings: PointwiseSettings) -> None:
        self.declared = declared
        self._settings = settings

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> PointwiseState:
        """Find the evidence, and what follows from it."""
        table, choice = subject.table, self._choice(subject)
        kind, pairs = STRATEGIES[choice.name], table.rows * (table.rows - 1) // 2
        if kind is PointwiseCounting and pairs > _MANY:
            seconds = max(1, round(pairs * _PAIR_NS / 1e9 / (os.cpu_count() or 1)))
            progress.note(f"Comparing all {pairs:,} pairs of rows of {table.schema.name}, about {seconds:,} s")
        spec = PointwiseSpec(self._space(table.schema), self._settings.longest(len(table.schema.columns)))
        strategy = kind.begin(subject, spec, runner, progress)
        now = moment_of(table, spec, strategy, self._settings, progress)
        return PointwiseState(subject, spec, strategy, choice.why, now)

    def follow(self, state: PointwiseState, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:
        """Derive what a batch changed."""
        table, strategy = batch.only.after, state.strategy
        state.before = before = replace(state.now, seen=strategy.seen)
        changed = strategy.follow(batch.only, runner, progress)
        if changed or self._settings.min_coverage or before.has_pairs != (table.rows >= FEWEST_ROWS):
            state.now = moment_of(table, state.spec, strategy, self._settings, progress)
        else:
            state.now = replace(state.now, rows=table.rows)
        return difference(before, state.now, state.wording)

    def explained(self, state: PointwiseState, diff: Diff, batch: Batch) -> Diff:
        """Why rules came and went, which rows broke those that were lost, and what people want to see first."""
        before, state.before = state.before, None
        assert before is not None
        return with_causes(diff, before, state, batch.only) if diff.lost or diff.gained else diff

    def result(self, state: PointwiseState) -> PointwiseRules:
        """All minimal rules that hold, every reading; a mapping that makes them when they are read."""
        return PointwiseRules(state.wording, state.now.rules, state.now.vacuous, state.now.never)

    def ranked(self, state: PointwiseState) -> PointwiseRules:
        """The same with their coverage, the highest first."""
        ranked = best_first(state.now.rules, state.strategy.pair_counts(), state.spec.space)
        return PointwiseRules(state.wording, ranked, state.now.vacuous, state.now.never)

    def dump(self, state: PointwiseState) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The rules, and what the strategy keeps."""
        own, facts = state.strategy.named_dump(_FOLDER, state.why)
        arrays = {f"rules/{name}": getattr(state.now.rules, name).reshape(-1) for name in DUMPED}
        never = {"never": state.now.never.reshape(-1)}
        return arrays | never | own, {"vacuous": state.now.vacuous, "max_lhs": state.spec.max_lhs, **facts}

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> PointwiseState:
        """The state from its arrays."""
        spec = PointwiseSpec(self._space(subject.table.schema), facts["max_lhs"])
        strategy = STRATEGIES[facts["way"]].load(subject, spec, inside(_FOLDER, arrays), facts)
        left, *others = (np.array(arrays[f"rules/{name}"], kind) for name, kind in DUMPED.items())
        left, never = (boxes.reshape(-1, spec.space.columns) for boxes in (left, np.array(arrays["never"], np.uint8)))
        now = PointwiseMoment(subject.table.rows, RuleArrays(left, *others), facts["vacuous"], never)
        return PointwiseState(subject, spec, strategy, facts["why"], now)

    def how(self, state: PointwiseState) -> str:
        """By which strategy, and why; and how long left sides may be."""
        return f"{strategy_in_words(state.strategy.name, state.why)}; {state.wording.bound}"

    def with_settings_of(self, state: PointwiseState) -> PointwiseEngine:
        """With the bound of a state."""
        most = state.spec.space.columns if state.spec.max_lhs is None else state.spec.max_lhs
        return PointwiseEngine(self.declared, replace(self._settings, max_lhs=most))

    def explain(
        self,
        state: PointwiseState | None,  # noqa: ARG002
        subject: WatchedTable,
        text: str,
        rows: Sequence[int] = (),
    ) -> PointwiseExplanation:
        """Whether a rule holds, watched or not, with its coverage; or two rows that break it."""
        self.refuse_rows(rows)
        return explain(subject.table, self._space(subject.table.schema), text)

    def _choice(self, subject: WatchedTable) -> StrategyChoice:
        rows, columns = subject.table.rows, len(subject.table.schema.columns)
        return choose(self._settings.method, rows, columns, PATTERNS if columns <= NARROW else WIDE_PATTERNS)

    def _space(self, schema: Schema) -> Space:
        declared = set(columns_named("ordered", self._settings.ordered, schema) or ())
        plain = [pa.types.is_string(column.type) for column in schema.columns]
        ordered = tuple(not text or place in declared for place, text in enumerate(plain))
        return Space(ordered, schema.nulls.are_distinct)
