"""Inclusion dependencies behind the verbs that every engine offers, and what they alone have: ranks and reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from holdfast.changes.diff import Diff, Result
from holdfast.engines.contract import Engine
from holdfast.engines.inclusion import InclusionSettings, derive, discover, explain, maintain, nary, rank
from holdfast.engines.inclusion.clusters import AttributeClusters
from holdfast.engines.inclusion.explain import INDExplanation
from holdfast.engines.inclusion.state import INDState, Nary
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.progress import SILENT, Progress
from holdfast.rules.inclusion import IND
from holdfast.table.change import Batch
from holdfast.table.runner import Runner

Subject = Mapping[str, WatchedTable]


class InclusionEngine(Engine[Subject, INDState]):
    """Inclusion dependencies across all tables."""

    _settings: InclusionSettings

    def discover(self, subject: Subject, runner: Runner, progress: Progress = SILENT) -> INDState:
        """Count, merge and derive from scratch."""
        state = discover.discover(INDState.of(subject, self._settings, runner, progress), runner)
        nary.discover(state, runner)
        state.found = {**derive.unary(state), **nary.holding(state)}
        return state

    def follow(self, state: INDState, batch: Batch, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Move the values of a batch."""
        return maintain.follow(state, batch, runner)

    def explained(self, state: INDState, diff: Diff, batch: Batch) -> Diff:
        """Which rows broke the dependencies that were lost, and what these were worth."""
        if not diff.lost:
            return diff
        lost = cast(Mapping[str, IND], diff.lost)
        return replace(diff, witnesses=maintain.witnesses(state, lost, batch), worth=rank.worth(state, lost))

    def result(self, state: INDState) -> Result:
        """All that hold, those that look like foreign keys first."""
        return {ind.text: ind for ind in rank.ranked(state)}

    def ranked(self, state: INDState) -> Result:
        """The same, with their scores as foreign keys and the reasons."""
        return rank.with_scores(state)

    def explain(self, state: INDState | None, subject: Subject, text: str, rows: Sequence[int] = ()) -> INDExplanation:  # noqa: ARG002
        """Whether a dependency holds, how far, and what breaks it."""
        self.refuse_rows(rows)
        if state is None:
            raise BadInput(f"can't explain {text!r}: inclusion dependencies are not watched here (init --watch ind)")
        return explain.explain(state, text)

    def dump(self, state: INDState) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """AttributeClusters as arrays; the columns by name and the candidates of several columns as facts."""
        candidates = [[each.pairs, each.witness, each.complete] for each in state.candidates.values()]
        return state.clusters.dump(), {
            "columns": [[each.table, each.name] for each in state.attributes],
            "candidates": candidates,
        }

    def load(self, subject: Subject, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> INDState:
        """The state from its clusters. Columns are numbered as they were, whatever order the tables come in now."""
        ordered = {name: subject[name] for name in dict.fromkeys(table for table, _ in facts["columns"])}
        ordered |= {name: table for name, table in subject.items() if name not in ordered}
        state = INDState.of(ordered, self._settings)
        state.clusters = AttributeClusters.load(len(state.attributes), dict(arrays))
        known = [Nary(tuple((a, b) for a, b in pairs), *rows) for pairs, *rows in facts["candidates"]]
        state.candidates = {each.ind(state).text: each for each in known}
        state.found = {**derive.unary(state), **nary.holding(state)}
        return state
