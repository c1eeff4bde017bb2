"""Keys and FDs behind the verbs that every engine offers.

One class serves both, for they are one thing: the minimal left sides of some targets (see `pairs.maximal`). FDs have
the columns as targets, keys the row itself. `settings.error` above 0 asks for approximate rules, `settings.max_lhs`
bounds left sides and keys. A table of fewer than two rows has no pair that could test a rule: then none is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast.changes.diff import Diff
from holdfast.engines.contract import Engine
from holdfast.engines.declared import RuleClass, TableRules
from holdfast.engines.functional import FunctionalSettings, derive
from holdfast.engines.functional.approximate import derive_approximate, limit_of
from holdfast.engines.functional.differ import approximate_diff, exact_diff
from holdfast.engines.functional.explain import Explanation, explain
from holdfast.engines.functional.model import pairs_of
from holdfast.engines.functional.result import Part, Rules
from holdfast.engines.functional.state import CountedAgreeSets, State
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.table.table import Table

PATIENCE = 15.0  # seconds of deriving after which a bound is advised
FEWEST_ROWS = 2  # that make a pair


class FunctionalEngine(Engine):
    """Minimal keys (`ucc`) or minimal FDs (`fd`), exact, or approximate up to a share of pairs."""

    def __init__(self, declared: RuleClass, settings: FunctionalSettings) -> None:
        self.declared = declared
        self._error, self._max_lhs = settings.error, settings.max_lhs

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:
        """Compare all pairs, and derive."""
        pairs = subject.part(CountedAgreeSets, runner, progress)
        return State(subject.table, pairs, self._parts(subject.table, pairs, progress))

    def maintain(self, state: State, change: Change, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Derive what a batch changed in the agree-sets."""
        before = self.result(state)
        state.table = change.after
        maximal = state.pairs.changed
        if min(change.before.rows, change.after.rows) < FEWEST_ROWS:
            state.parts = self._parts(change.after, state.pairs, progress)
            return Diff(self.result(state), before)  # nothing is broken where nothing was tested, or is any more
        if self._error or maximal is None:
            state.parts = self._parts(change.after, state.pairs, progress)
            return approximate_diff(before, self.result(state), change)
        covers = {target: part.lhs for target, part in state.parts.items()}
        said = self._saying(len(covers), progress)
        changed = derive.follow(covers, maximal.shift, maximal.before, self._max_lhs, said)
        state.parts.update({target: Part(now.sets) for target, now in changed.items()})
        return exact_diff(before, changed, maximal.shift, change)

    def result(self, state: State) -> Rules:
        """All minimal rules that hold; a mapping that makes them when asked."""
        schema, rows = state.table.schema, state.table.rows
        return Rules(schema.name, schema.names, state.parts if rows >= FEWEST_ROWS else {}, pairs_of(rows))

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The rules."""
        return state.dump(), {}

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:  # noqa: ARG002
        """The state from its arrays."""
        return State.load(subject.table, subject.part(CountedAgreeSets), arrays)

    def explain(self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> Explanation:  # noqa: ARG002
        """How far a key or an FD holds, watched or not, and which rows to look at."""
        self.refuse_rows(rows)
        return explain(subject.table, text)

    def _targets(self, table: Table) -> range:
        columns = len(table.schema.columns)
        return range(columns) if self.declared.name == "fd" else range(columns, columns + 1)

    def _parts(self, table: Table, pairs: CountedAgreeSets, progress: Progress) -> dict[int, Part]:
        targets = self._targets(table)
        said = self._saying(len(targets), progress)
        if not self._error:
            covers = derive.derive(pairs.maximal, targets, self._max_lhs, said)
            return {target: Part(lhs) for target, lhs in covers.items()}
        limit = limit_of(self._error, pairs_of(table.rows))
        columns = len(table.schema.columns)
        return derive_approximate(pairs.sets.sets, pairs.sets.counts, columns, targets, limit, self._max_lhs, said)

    def _saying(self, targets: int, progress: Progress) -> Callable[[int, int], None]:
        """What is said while so many targets are worked on: how far it is, and what to do if that takes long."""
        started, advised = time.monotonic(), self._max_lhs is not None
        title = self.declared.title

        def say(done: int, found: int) -> None:
            nonlocal advised
            progress.step(f"Finding {title}: {done} of {targets} columns done, {found:,} found")
            if not advised and time.monotonic() - started > PATIENCE:
                advised = True
                progress.note(
                    f"Finding {title} takes long: {found:,} found so far, {done} of {targets} columns done. "
                    "Where short rules are enough, stop and bound them: discover or init with --max-lhs 3."
                )

        return say


def make(declared: RuleClass, settings: FunctionalSettings, _: Mapping[str, TableRules]) -> FunctionalEngine:
    """The engine of functional dependencies, or of keys."""
    return FunctionalEngine(declared, settings)
