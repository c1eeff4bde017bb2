"""Keys and FDs behind the verbs that every engine offers.

One class serves both, for they are one thing: the minimal left sides of some targets (see `pairs.maximal`). FDs have
the columns as targets, keys the row itself. `settings.error` above 0 asks for approximate rules, `settings.max_lhs`
bounds left sides and keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.changes.diff import Diff
from holdfast.engine import Settings
from holdfast.errors import BadInput
from holdfast.functional import derive
from holdfast.functional.approximate import derive_approximate, limit_of
from holdfast.functional.differ import approximate_diff, exact_diff
from holdfast.functional.model import pairs_of
from holdfast.functional.result import Part, Rules
from holdfast.functional.state import Ground, State, offer, taken
from holdfast.pairs.threads import Tell
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.table.table import Table


class FunctionalEngine:
    """Minimal keys (`ucc`) or minimal FDs (`fd`), exact, or approximate up to a share of pairs."""

    across = False

    def __init__(self, name: str, title: str, settings: Settings) -> None:
        if not 0.0 <= settings.error < 1.0:
            raise BadInput(f"the error is a share of pairs, from 0 to below 1, not {settings.error}; choose another")
        if settings.max_lhs is not None and settings.max_lhs < 0:
            raise BadInput(f"a left side can't have at most {settings.max_lhs} columns; choose 0 or more")
        self.name, self.title = name, title
        self._error, self._max_lhs = settings.error, settings.max_lhs
        self.progress: Callable[[str], None] = lambda _: None  # hears how far long work is

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
        if self._error or step is None:
            state.parts = self._parts(change.after, state.ground)
            return approximate_diff(before, self.result(state), change)
        covers = {target: part.lhs for target, part in state.parts.items()}
        changed = derive.follow(covers, step.shift, step.before, self._max_lhs, self._tell(len(covers)))
        state.parts.update({target: Part(now.sets) for target, now in changed.items()})
        return exact_diff(before, changed, step.shift, change)

    def result(self, state: State) -> Rules:
        """All minimal rules that hold; a mapping that makes them when asked."""
        schema = state.table.schema
        return Rules(schema.name, schema.names, state.parts, pairs_of(state.table.rows))

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

    def _tell(self, targets: int) -> Tell:
        return lambda done, found: self.progress(f"{done} of {targets} columns done, {found:,} found")


def make(settings: Settings) -> FunctionalEngine:
    """The engine of functional dependencies."""
    return FunctionalEngine("fd", "functional dependencies", settings)
