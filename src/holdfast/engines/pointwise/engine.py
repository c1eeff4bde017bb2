"""Pointwise order dependencies behind the verbs that every engine offers.

Which rules hold follows from evidence, which a strategy finds and keeps. `settings.max_lhs` bounds left sides, `rhs`
chooses right sides, `min_coverage` leaves out rules that few pairs of rows test, `vacuous` adds those that none tests.
Text columns are compared for equality alone, unless they are `ordered`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, cast

import numpy as np

from holdfast.borders.strategy_choice import NARROW, PATTERNS, WIDE_PATTERNS, StrategyChoice, choose
from holdfast.changes.diff import Diff
from holdfast.engines.contract import RuleClass
from holdfast.engines.found.engine import FoundEngine, FoundState, Moment
from holdfast.engines.found.text_order import TextOrder, columns_named
from holdfast.engines.pointwise import PointwiseSettings
from holdfast.engines.pointwise.borders import PointwiseBorders
from holdfast.engines.pointwise.boxes import Space
from holdfast.engines.pointwise.cells import PairValues
from holdfast.engines.pointwise.coverage import best_first, rules_covered
from holdfast.engines.pointwise.diff import PointwiseStep
from holdfast.engines.pointwise.explain import PointwiseExplanation, explain
from holdfast.engines.pointwise.minimal_rules import WantedRules, derive, vacuous
from holdfast.engines.pointwise.rule_arrays import DUMPED, RuleArrays
from holdfast.engines.pointwise.rules import PointwiseRules, PointwiseWording
from holdfast.engines.pointwise.strategies import PointwiseCounting, PointwiseSpec, PointwiseStrategy
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.engines.watched import Arrays, Facts, WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.table.change import Batch
from holdfast.table.runner import Runner
from holdfast.table.table import Schema, Table

_MANY, _PAIR_NS = 1_000_000_000, 1.3  # pairs from which on it is said how long it takes to compare them; to compare one


class PointwiseState(FoundState):
    """The rules `now`, as of the last batch that was taken in, which the subject may be ahead of."""

    spec: PointwiseSpec
    strategy: PointwiseStrategy
    now: Moment[PointwiseRules]

    @property
    def wording(self) -> PointwiseWording:
        """How its rules are put into words."""
        schema = self.subject.table.schema
        return PointwiseWording(schema.name, tuple(schema.names), self.spec.space, self.spec.max_lhs)


class PointwiseEngine(FoundEngine[PointwiseRules, PointwiseState, PointwiseStrategy]):
    """Minimal pointwise order dependencies (`pod`)."""

    strategies = PointwiseCounting, PointwiseBorders
    below = "below --min-coverage"
    _settings: PointwiseSettings

    def __init__(self, declared: RuleClass[Any], settings: PointwiseSettings) -> None:
        super().__init__(declared, settings)
        self._text = TextOrder(settings.ordered)

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> PointwiseState:
        """Find the evidence, and what follows from it."""
        schema = subject.table.schema
        spec = PointwiseSpec(self._space(schema), self._settings.longest(len(schema.columns)))
        choice = self._choice(spec, subject.table, progress)
        strategy = self._strategy(choice.name).begin(subject, spec, runner, progress)
        state = PointwiseState(subject, spec, strategy, choice.why)
        state.now = self._moment(state, subject.table.rows, progress)
        return state

    def _choice(self, spec: PointwiseSpec, table: Table, progress: Progress) -> StrategyChoice:
        rows, columns = table.rows, spec.space.columns
        choice = choose(self._settings.method, rows, columns, PATTERNS if columns <= NARROW else WIDE_PATTERNS)
        if choice.name == PointwiseCounting.name and (pairs := rows * (rows - 1) // 2) > _MANY:
            seconds = max(1, round(pairs * _PAIR_NS / 1e9 / (os.cpu_count() or 1)))
            progress.note(f"Comparing all {pairs:,} pairs of rows of {table.schema.name}, about {seconds:,} s")
        return choice

    def follow(self, state: PointwiseState, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:
        """Derive what a batch changed."""
        before, seen, rows = state.now, state.strategy.seen, batch.only.after.rows
        changed = state.strategy.follow(batch.only, runner, progress)
        state.now = replace(before, rows=rows)
        if changed or self._settings.min_coverage or before.has_pairs != state.now.has_pairs:
            state.now = self._moment(state, rows, progress)
        state.step = step = PointwiseStep(before, state.now, seen, state.strategy)
        return step.difference()

    def _moment(self, state: PointwiseState, rows: int, progress: Progress) -> Moment[PointwiseRules]:
        """Derive the rules from the evidence."""
        spec, strategy, settings, wording = state.spec, state.strategy, self._settings, state.wording
        rhs = columns_named("rhs", settings.rhs, state.subject.table.schema)
        none = RuleArrays.joined(spec.space.columns, [])
        if rows < FEWEST_ROWS:
            return Moment(rows, PointwiseRules(wording, none, never=none.left))

        def say(found: int) -> None:
            progress.step(f"Deriving pointwise order dependencies: {found:,} conjunctions that no two rows meet")

        wanted = WantedRules(PairValues(strategy.seen, spec.space), spec.max_lhs, rhs, say)
        if settings.min_coverage:
            rules, never = rules_covered(strategy, wanted, settings.min_coverage)
            return Moment(rows, PointwiseRules(wording, rules.in_order(), never=never))
        found = derive(wanted, strategy.never)
        unmet = vacuous(found, wanted).all_vacuous() if settings.vacuous else none
        rules = RuleArrays.joined(spec.space.columns, [found.rules, unmet]).in_order()
        return Moment(rows, PointwiseRules(wording, rules, 0 if settings.vacuous else found.vacuous, found.never))

    def explained(self, state: PointwiseState, diff: Diff, batch: Batch) -> Diff:
        """Also in which order people see what came and went."""
        found = super().explained(state, diff, batch)
        if not (diff.lost or diff.gained):
            return found
        counts = state.strategy.pair_counts()
        lost, gained = (
            rules.with_order(best_first(rules.listed, counts, state.spec.space))
            for rules in (cast(PointwiseRules, diff.lost), cast(PointwiseRules, diff.gained))
        )
        return replace(found, lost=lost, gained=gained)

    def result(self, state: PointwiseState) -> PointwiseRules:
        """All minimal rules that hold, every reading; a mapping that makes them when they are read."""
        return state.now.reported

    def ranked(self, state: PointwiseState) -> PointwiseRules:
        """The same with their coverage, the highest first."""
        rules = state.now.reported
        return rules.in_order(best_first(rules.listed, state.strategy.pair_counts(), state.spec.space))

    def _dumped(self, state: PointwiseState) -> tuple[Arrays, Facts]:
        """The rules."""
        rules = state.now.reported
        arrays = {f"rules/{name}": getattr(rules.listed, name).reshape(-1) for name in DUMPED}
        assert rules.never is not None
        return {**arrays, "never": rules.never.reshape(-1)}, {"vacuous": rules.vacuous, "max_lhs": state.spec.max_lhs}

    def load(self, subject: WatchedTable, arrays: Arrays, facts: Facts) -> PointwiseState:
        """The state from its arrays."""
        spec = PointwiseSpec(self._space(subject.table.schema), facts["max_lhs"])
        state = PointwiseState(subject, spec, self._loaded(subject, spec, arrays, facts), facts["why"])
        left, *others = (np.array(arrays[f"rules/{name}"], kind) for name, kind in DUMPED.items())
        left, never = (boxes.reshape(-1, spec.space.columns) for boxes in (left, np.array(arrays["never"], np.uint8)))
        rules = PointwiseRules(state.wording, RuleArrays(left, *others), facts["vacuous"], never)
        state.now = Moment(subject.table.rows, rules)
        return state

    def how(self, state: PointwiseState) -> str:
        """Also how long left sides may be."""
        return f"{super().how(state)}; {state.wording.bound}"

    def with_settings_of(self, state: PointwiseState) -> PointwiseEngine:
        """With the bound of a state."""
        most = state.spec.space.columns if state.spec.max_lhs is None else state.spec.max_lhs
        return PointwiseEngine(self.declared, replace(self._settings, max_lhs=most))

    def explanation(self, table: Table, text: str) -> PointwiseExplanation:
        """Whether a rule holds, with its coverage; or two rows that break it."""
        return explain(table, self._space(table.schema), text)

    def _space(self, schema: Schema) -> Space:
        return Space.of(schema, self._text.having(schema))
