"""Keys and FDs: the minimal left sides of some targets. FDs have the columns as targets, keys the row itself.

They are found by counting all pairs of rows or, on tall tables, by borders (see `holdfast.borders`). `settings.error`
above 0 asks for approximate rules, which on tall tables are found by counting groups of rows (see `level_search`).
`settings.max_lhs` bounds left sides and keys.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from holdfast.borders.strategy_choice import AGREE_SETS, APPROXIMATE, StrategyChoice, choose, seconds_to_count
from holdfast.borders.targets import Targets
from holdfast.changes.diff import Diff
from holdfast.engines.found.contexts import ContextEngine, ContextState
from holdfast.engines.found.strategies import BorderStrategy, Spec
from holdfast.engines.functional import FunctionalSettings
from holdfast.engines.functional.agree_sets import AgreeSetStrategy, refuse_wide
from holdfast.engines.functional.explain import explain
from holdfast.engines.functional.level_search import GroupStrategy
from holdfast.engines.functional.scoring import Ranked, worth_of
from holdfast.engines.functional.wording import DependencyRules, DependencyWording
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.progress import Progress
from holdfast.rules.dependency import Dependency
from holdfast.rules.error_measures import pairs_of
from holdfast.table.change import Batch
from holdfast.table.table import Table

DependencyState = ContextState[Dependency]


class FunctionalEngine(ContextEngine[Dependency, DependencyState]):
    """Minimal keys (`ucc`) or minimal FDs (`fd`), exact, or approximate up to a share of pairs."""

    strategies = AgreeSetStrategy, BorderStrategy, GroupStrategy
    stored_as = "rules/lhs", "rules/broken"
    error = "g1"
    smaller = "stronger"
    folder = ""
    mended = None
    state = DependencyState
    wording = DependencyWording
    explanation = staticmethod(explain)
    _settings: FunctionalSettings

    def _spec(self, table: Table, within: tuple[int, ...] | None = None) -> Spec:
        is_fd = self.declared.name == "fd"
        targets = Targets(len(table.schema.columns), constants=is_fd, keys=not is_fd, within=within)
        return Spec(targets, self._settings.max_lhs, self._settings.error)

    def _choice(self, spec: Spec, table: Table, progress: Progress) -> StrategyChoice:
        refuse_wide(table)
        budget = APPROXIMATE if spec.error else AGREE_SETS
        choice = choose(self._settings.method, table.rows, spec.targets.columns, budget)
        if not spec.error:
            return choice
        if choice.name == BorderStrategy.name:  # which knows no errors
            return StrategyChoice(GroupStrategy.name, choice.why)
        if (pairs := pairs_of(table.rows)) > APPROXIMATE.wide_pairs:
            minutes = seconds_to_count(pairs, spec.targets.columns) / 60
            progress.note(
                f"As --method counts asks, all {pairs:,} pairs of rows are counted: about {minutes:,.0f} minutes here."
            )
        return choice

    def explained(self, state: DependencyState, diff: Diff, batch: Batch) -> Diff:
        """Also what the rules were worth that were lost, and what those are worth that were gained."""
        explained, change = super().explained(state, diff, batch), batch.only
        if min(change.before.rows, change.after.rows) < FEWEST_ROWS:
            return explained  # no pair of rows was there, or is any more
        lost, gained = cast(DependencyRules, diff.lost), cast(DependencyRules, diff.gained)
        worth = worth_of(change.before, lost, explained.witnesses), worth_of(change.after, gained)
        return replace(explained, worth=worth[0], gained_worth=worth[1])

    def ranked(self, state: DependencyState) -> Ranked:
        """The rules, those with the highest scores first."""
        return Ranked(self.result(state), state.table)
