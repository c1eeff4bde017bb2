"""Keys and FDs behind the verbs that every engine offers.

One class serves both, for they are one thing: the minimal left sides of some targets (see `pairs.maximal`). FDs have
the columns as targets, keys the row itself. They are found by counting all pairs of rows, or, on tall tables, by
borders (see `holdfast.borders`). `settings.error` above 0 asks for approximate rules, `settings.max_lhs` bounds left
sides and keys. A table of fewer than two rows has no pair that could test a rule: then none is told.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from holdfast.borders.method import AGREE_SETS, NS_AN_AGREE_SET, Choice, choose
from holdfast.borders.targets import Targets
from holdfast.changes.diff import Cause, Diff, Witness
from holdfast.engines.contexts import difference, minus
from holdfast.engines.functional import FunctionalSettings
from holdfast.engines.functional.differ import (
    Implied,
    witnesses_among,
    witnesses_found,
    witnesses_in,
)
from holdfast.engines.functional.explain import Explanation, explain
from holdfast.engines.functional.result import Rules, Wording
from holdfast.engines.functional.scoring import Ranked, worth_of
from holdfast.engines.functional.state import AgreeSets, State, refuse_wide
from holdfast.engines.thresholds import FEWEST_ROWS
from holdfast.engines.watched import WatchedTable
from holdfast.engines.ways import Asked, Bordered, WaysEngine, exact
from holdfast.progress import SILENT, Progress
from holdfast.rules.dependency import pairs_of
from holdfast.table.change import Batch, Change
from holdfast.table.runner import Runner
from holdfast.table.table import Table


class FunctionalEngine(WaysEngine[State]):
    """Minimal keys (`ucc`) or minimal FDs (`fd`), exact, or approximate up to a share of pairs."""

    WAYS = AgreeSets, Bordered
    state = State
    _settings: FunctionalSettings

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:
        """Compare all pairs, and derive; or compare some, and prove what they leave."""
        refuse_wide(subject.table)
        choice = self._choice(subject.table, progress)
        return self._begun(subject, self._asked(subject.table), choice, runner, progress)

    def _choice(self, table: Table, progress: Progress) -> Choice:
        rows, columns = table.rows, len(table.schema.columns)
        if not self._settings.error:
            return choose(self._settings.method, rows, columns, AGREE_SETS)
        if (pairs := pairs_of(rows)) > AGREE_SETS.wide_pairs:
            minutes = pairs * NS_AN_AGREE_SET / (os.cpu_count() or 1) / 60e9
            progress.note(
                f"Approximate {self.declared.title} are measured by their share of pairs of rows, so all {pairs:,} are "
                f"counted: about {minutes:,.0f} minutes here. Exact ones need no counting."
            )
        return Choice("counts", "as their error is a share of all pairs of rows")

    def follow(self, state: State, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:
        """Derive what a batch changed in the agree-sets, or prove what is left of the rules."""
        change = batch.only
        before = self.result(state)
        followed = state.way.follow(state.covers, change, runner, progress)
        state.follow(change.after, followed.covers)
        after = self.result(state)
        if followed.mended is None or not _is_tested(change):
            every = {**before.parts, **after.parts}
            lost, gained = minus(before.parts, after.parts, every), minus(after.parts, before.parts, every)
        else:
            mended = followed.mended
            lost, gained = (exact({t: getattr(mended[t], moved) for t in mended}) for moved in ("lost", "gained"))
        return difference(before, after, lost, gained)

    def explained(self, state: State, diff: Diff, batch: Batch) -> Diff:
        """Who broke the rules that were lost, or which ones they follow from; what they were worth, and what those are
        worth that were gained. Where no pair of rows was there, or is any more, nothing is broken that nothing tests.
        """
        lost, gained, change = cast(Rules, diff.lost), cast(Rules, diff.gained), batch.only
        if not _is_tested(change):
            return replace(diff, causes=dict.fromkeys(lost, Cause("untested")))
        witnesses = self._witnesses(state, lost.tested(), change) if lost else {}
        return replace(
            diff,
            witnesses=witnesses,
            causes=Implied(lost, gained),
            worth=worth_of(change.before, lost, witnesses),
            gained_worth=worth_of(change.after, gained),
        )

    def _witnesses(self, state: State, lost: Rules, change: Change) -> dict[str, Witness]:
        """Pairs that break rules that were lost, from what the last batch left."""
        if isinstance(state.way, Bordered):
            return witnesses_among(lost, state.way.borders.evidence.witnesses, change.after)
        changed = cast(AgreeSets, state.way).pairs.changed
        if self._settings.error or changed is None:
            return witnesses_found(lost, self.result(state), change)
        return witnesses_in(lost, changed.shift, change)

    def result(self, state: State) -> Rules:
        """All minimal rules that hold; a mapping that makes them when asked."""
        schema, rows = state.table.schema, state.table.rows
        parts = state.covers if rows >= FEWEST_ROWS else {}
        return Rules(Wording(schema.name, tuple(schema.names)), parts, pairs_of(rows), state.filled)

    def ranked(self, state: State) -> Ranked:
        """The same, those with the highest scores first."""
        return Ranked(self.result(state), state.table)

    def explain(self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> Explanation:  # noqa: ARG002
        """How far a key or an FD holds, watched or not, and which rows to look at."""
        self.refuse_rows(rows)
        return explain(subject.table, text)

    def _asked(self, table: Table, within: tuple[int, ...] | None = None) -> Asked:
        is_fd = self.declared.name == "fd"
        targets = Targets(len(table.schema.columns), constants=is_fd, keys=not is_fd, within=within)
        return Asked(targets, self._settings.max_lhs, self._settings.error)


def _is_tested(change: Change) -> bool:
    """Whether pairs of rows could test a rule, before a batch and after it."""
    return min(change.before.rows, change.after.rows) >= FEWEST_ROWS
