"""Denial constraints across columns behind the verbs that every engine offers.

Which conjunctions no two rows meet follows from counts of all pairs of rows (`comparison_counts`). `settings.across`
chooses columns, `max_comparisons` bounds rules, `min_coverage` leaves out those that few pairs of rows come near.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from holdfast.borders.strategy_choice import StrategyChoice
from holdfast.changes.diff import Diff
from holdfast.engines.found.engine import FoundEngine, FoundState
from holdfast.engines.found.text_order import TextOrder, columns_named
from holdfast.engines.pointwise import CrossSettings
from holdfast.engines.pointwise.comparison_counts import ComparisonCounts, CrossSpec
from holdfast.engines.pointwise.comparisons import Comparisons
from holdfast.engines.pointwise.coverage import least_pairs
from holdfast.engines.pointwise.cross_diff import CrossMoment, CrossStep
from holdfast.engines.pointwise.cross_explain import CrossExplanation, explain
from holdfast.engines.pointwise.cross_rules import CrossRules, CrossWording
from holdfast.engines.pointwise.minimal_denials import MetConjunctions
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.engines.watched import Arrays, Facts, WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.table.change import Batch
from holdfast.table.runner import Runner
from holdfast.table.table import Schema, Table


class CrossState(FoundState):
    """The rules `now`, as of the last batch that was taken in, which the subject may be ahead of."""

    spec: CrossSpec
    strategy: ComparisonCounts
    now: CrossMoment


class CrossEngine(FoundEngine[CrossRules, CrossState, ComparisonCounts]):
    """Minimal denial constraints that compare a column of t with a column of s (`cross`)."""

    strategies = (ComparisonCounts,)
    below = "below --min-coverage"
    _settings: CrossSettings
    _is_bounded = True

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> CrossState:
        """Count all pairs, and derive what follows."""
        spec = self._spec(subject.table.schema)
        choice = self._choice(spec, subject.table, progress)
        strategy = self._strategy(choice.name).begin(subject, spec, runner, progress)
        return self._state(subject, spec, strategy, choice.why)

    def _spec(self, schema: Schema) -> CrossSpec:
        across = columns_named("across", self._settings.across, schema)
        ordered = TextOrder(self._settings.ordered).having(schema)
        return CrossSpec(Comparisons.of(schema, across, ordered), self._settings.max_comparisons, self._is_bounded)

    def _choice(self, spec: CrossSpec, table: Table, progress: Progress) -> StrategyChoice:  # noqa: ARG002
        return StrategyChoice(ComparisonCounts.name, "as rules across columns are found in no other way")

    def _state(self, subject: WatchedTable, spec: CrossSpec, strategy: ComparisonCounts, why: str) -> CrossState:
        state = CrossState(subject, spec, strategy, why)
        state.now = self._moment(state, subject.table.rows)
        return state

    def _moment(self, state: CrossState, rows: int) -> CrossMoment:
        """Derive the rules from the counts."""
        counts, wording = state.strategy.counts, self._wording(state.subject.table.schema, state.spec)
        met = MetConjunctions(state.spec.comparisons, counts)
        least = max(1, least_pairs(self._settings.min_coverage, counts.pairs))
        enough = met.denials.near >= least if rows >= FEWEST_ROWS else np.zeros(len(met.denials), np.bool_)
        return CrossMoment(rows, CrossRules(wording, met.denials.some(enough)), met)

    def refuse_long(self, state: CrossState, batch: Batch) -> None:
        """Of a batch with too many rows."""
        state.strategy.refuse_long(batch.only)

    def follow(self, state: CrossState, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Derive what a batch changed."""
        before, rows = state.now, batch.only.after.rows
        if state.strategy.follow(batch.only):
            state.now = self._moment(state, rows)
        else:
            state.now = replace(before, rows=rows)
        state.step = step = CrossStep(before, state.now)
        return step.difference()

    def result(self, state: CrossState) -> CrossRules:
        """All minimal rules that hold; a mapping that makes them when they are read."""
        return state.now.reported

    def ranked(self, state: CrossState) -> CrossRules:
        """The same with their coverage, the highest first."""
        return state.now.reported.ranked(state.strategy.counts.pairs)

    def _dumped(self, state: CrossState) -> tuple[Arrays, Facts]:  # noqa: ARG002
        """Nothing: rules follow from the counts."""
        return {}, {}

    def load(self, subject: WatchedTable, arrays: Arrays, facts: Facts) -> CrossState:
        """The state from its arrays."""
        spec = self._spec(subject.table.schema)
        return self._state(subject, spec, self._loaded(subject, spec, arrays, facts), facts["why"])

    def with_settings_of(self, state: CrossState) -> CrossEngine:  # noqa: ARG002
        """One that takes on a table that has grown beyond the bound batch by batch, too."""
        engine = CrossEngine(self.declared, self._settings)
        engine._is_bounded = False
        return engine

    def explanation(self, table: Table, text: str) -> CrossExplanation:
        """Whether a rule holds, and how many pairs of rows come near it; or two rows that break it."""
        wording = self._wording(table.schema, self._spec(table.schema))
        return explain(table, wording, text)

    def _wording(self, schema: Schema, spec: CrossSpec) -> CrossWording:
        return CrossWording(schema.name, tuple(schema.names), spec.comparisons)
