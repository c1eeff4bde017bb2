"""Column facts behind the verbs that every engine offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.changes.diff import Diff, Result, between
from holdfast.engines.column.state import FactsState
from holdfast.engines.contract import Engine
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.table.change import Batch
from holdfast.table.frequencies import Frequencies
from holdfast.table.rewrite import UsedCodes
from holdfast.table.runner import Runner


class ColumnEngine(Engine[WatchedTable, FactsState]):
    """Exact facts of each column."""

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> FactsState:
        """Look at how often values occur."""
        return FactsState.of(subject.table, subject.part(Frequencies, runner, progress))

    def follow(self, state: FactsState, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Look at the values that became more or less frequent."""
        change = batch.only
        before = state.facts
        state.follow(change.after)
        return between(before, state.facts)

    def result(self, state: FactsState) -> Result:
        """The facts of all columns."""
        return state.facts

    def dump(self, state: FactsState) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The least, greatest and most frequent values; frequencies are kept with the table."""
        return state.dump()

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> FactsState:
        """The state that `dump` described."""
        return FactsState.load(subject.table, subject.part(Frequencies), arrays, facts)

    def rewritten(self, state: FactsState, subject: WatchedTable, kept: Mapping[str, UsedCodes]) -> FactsState:  # noqa: ARG002
        """The state from the frequencies of the codes that stayed."""
        return FactsState.of(subject.table, subject.part(Frequencies))
