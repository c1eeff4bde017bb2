"""Keys and FDs behind the verbs that every engine offers.

One class serves both, for they are one thing: the minimal left sides of some targets (see `pairs.maximal`). FDs have
the columns as targets, keys the row itself. `settings.error` above 0 asks for approximate rules, `settings.max_lhs`
bounds left sides and keys. A table of fewer than two rows has no pair that could test a rule: then none is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from holdfast.changes.diff import Diff
from holdfast.engines.contract import Settings
from holdfast.engines.functional import derive
from holdfast.engines.functional.approximate import derive_approximate, limit_of
from holdfast.engines.functional.differ import approximate_diff, exact_diff
from holdfast.engines.functional.model import pairs_of
from holdfast.engines.functional.result import Part, Rules
from holdfast.engines.functional.state import Ground, State, offer, taken
from holdfast.table.change import Change
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner
from holdfast.table.table import Table

PATIENCE = 15.0  # seconds of deriving after which a bound is advised
FEWEST_ROWS = 2  # that make a pair


class FunctionalEngine:
    """Minimal keys (`ucc`) or minimal FDs (`fd`), exact, or approximate up to a share of pairs."""

    across = False

    def __init__(self, name: str, title: str, settings: Settings) -> None:
        self.name, self.title = name, title
        self._error, self._max_lhs = settings.error, settings.max_lhs
        self.progress: Callable[[str], None] = lambda _: None  # hears how far long work is
        self.advise: Callable[[str], None] = lambda _: None  # hears what to do about work that is too long

    def discover(self, subject: Table, runner: Runner) -> State:
        """Compare all pairs, and derive."""
        ground = taken(self.name, subject)
        if ground is None:
            ground = Ground.of(
                subject, runner, lambda share: self.progress(f"{share:.0%} of all pairs of rows compared")
            )
            offer(self.name, subject, ground)
        return State(subject, ground, self._parts(subject, ground))

    def maintain(self, state: State, change: Change, runner: Runner) -> Diff:
        """Compare what the batch touched, and derive what that changed."""
        before = self.result(state)
        step = state.follow(change, runner)
        if min(change.before.rows, change.after.rows) < FEWEST_ROWS:
            state.parts = self._parts(change.after, state.ground)
            return Diff(self.result(state), before)  # nothing is broken where nothing was tested, or is any more
        if self._error or step is None:
            state.parts = self._parts(change.after, state.ground)
            return approximate_diff(before, self.result(state), change)
        covers = {target: part.lhs for target, part in state.parts.items()}
        changed = derive.follow(covers, step.shift, step.before, self._max_lhs, self._tell(len(covers)))
        state.parts.update({target: Part(now.sets) for target, now in changed.items()})
        return exact_diff(before, changed, step.shift, change)

    def result(self, state: State) -> Rules:
        """All minimal rules that hold; a mapping that makes them when asked."""
        schema, rows = state.table.schema, state.table.rows
        return Rules(schema.name, schema.names, state.parts if rows >= FEWEST_ROWS else {}, pairs_of(rows))

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The counted agree-sets and the rules."""
        return state.dump(), {}

    def load(self, subject: Table, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:  # noqa: ARG002
        """The state from its arrays."""
        ground = taken(self.name, subject)
        if ground is None:
            ground = Ground.load(subject, arrays)
            offer(self.name, subject, ground)
        return State.load(subject, ground, arrays)

    def rewritten(self, state: State, subject: Table, kept: Mapping[str, Kept]) -> State:  # noqa: ARG002
        """Agree-sets know no codes."""
        return self.load(subject, *self.dump(state))

    def _targets(self, table: Table) -> range:
        columns = len(table.schema.columns)
        return range(columns) if self.name == "fd" else range(columns, columns + 1)

    def _parts(self, table: Table, ground: Ground) -> dict[int, Part]:
        targets = self._targets(table)
        if not self._error:
            covers = derive.derive(ground.maximal, targets, self._max_lhs, self._tell(len(targets)))
            return {target: Part(lhs) for target, lhs in covers.items()}
        limit = limit_of(self._error, pairs_of(table.rows))
        columns = len(table.schema.columns)
        return derive_approximate(
            ground.sets.sets, ground.sets.counts, columns, targets, limit, self._max_lhs, self._tell(len(targets))
        )

    def _tell(self, targets: int) -> Callable[[int, int], None]:
        started, advised = time.monotonic(), self._max_lhs is not None

        def tell(done: int, found: int) -> None:
            nonlocal advised
            self.progress(f"{done} of {targets} columns done, {found:,} found")
            if not advised and time.monotonic() - started > PATIENCE:
                advised = True
                self.advise(
                    f"Finding {self.title} takes long: {found:,} found so far, {done} of {targets} columns done. "
                    "Where short rules are enough, stop and bound them: discover or init with --max-lhs 3."
                )

        return tell


def make(settings: Settings) -> FunctionalEngine:
    """The engine of functional dependencies."""
    return FunctionalEngine("fd", "functional dependencies", settings)
