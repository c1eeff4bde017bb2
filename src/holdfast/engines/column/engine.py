"""Column facts behind the verbs that every engine offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from holdfast.changes.diff import Diff, Result
from holdfast.engines.column import discover, maintain
from holdfast.engines.column.state import ColumnState, State
from holdfast.engines.contract import Settings
from holdfast.table.change import Change
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner
from holdfast.table.shard import narrowed
from holdfast.table.table import Table


class ColumnEngine:
    """Exact facts of each column."""

    name = "column"
    title = "column facts"
    across = False

    def discover(self, subject: Table, runner: Runner) -> State:
        """Count from scratch."""
        return discover.discover(subject, runner)

    def maintain(self, state: State, change: Change, runner: Runner) -> Diff:  # noqa: ARG002  # nothing to probe
        """Count a batch."""
        return maintain.maintain(state, change)

    def result(self, state: State) -> Result:
        """The facts of all columns."""
        return state.facts

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The counts, as narrow as they fit."""
        return {str(c.column): narrowed(c.counts.astype(np.uint64)) for c in state.columns}, {}

    def load(self, subject: Table, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:  # noqa: ARG002
        """The state from its counts."""
        return State([ColumnState(subject, c, arrays[str(c)].astype(np.int64)) for c in range(len(arrays))])

    def rewritten(self, state: State, subject: Table, kept: Mapping[str, Kept]) -> State:
        """The counts of the codes that stayed."""
        stay = kept[subject.schema.name]
        return State([ColumnState(subject, c.column, c.counts[stay[c.column]]) for c in state.columns])


def make(_: Settings) -> ColumnEngine:
    """The engine; there is nothing to set."""
    return ColumnEngine()
