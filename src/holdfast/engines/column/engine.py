"""Column facts behind the verbs that every engine offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.changes.diff import Diff, Result, between
from holdfast.engines.column.state import State
from holdfast.engines.contract import Engine, RuleClass
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.table.change import Batch
from holdfast.table.frequencies import Frequencies
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner


class ColumnEngine(Engine[WatchedTable, State]):
    """Exact facts of each column."""

    def __init__(self, declared: RuleClass[Any]) -> None:
        self.declared = declared

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:
        """Look at how often values occur."""
        return State.of(subject.table, subject.part(Frequencies, runner, progress))

    def follow(self, state: State, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Look at the values that became more or less frequent."""
        change = batch.only
        before = state.facts
        state.update(change.after)
        return between(before, state.facts)

    def result(self, state: State) -> Result:
        """The facts of all columns."""
        return state.facts

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The least, greatest and most frequent values; frequencies are kept with the table."""
        return state.dump()

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state that `dump` described."""
        return State.load(subject.table, subject.part(Frequencies), arrays, facts)

    def rewritten(self, state: State, subject: WatchedTable, kept: Mapping[str, Kept]) -> State:  # noqa: ARG002
        """The state from the frequencies of the codes that stayed."""
        return State.of(subject.table, subject.part(Frequencies))
