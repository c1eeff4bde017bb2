"""Inclusion dependencies behind the verbs that every engine offers, and what they alone have: ranks and reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any, cast

from holdfast.changes.diff import Diff, Result
from holdfast.engines.contract import Engine, RuleClass
from holdfast.engines.inclusion import InclusionSettings, derive, discover, explain, maintain, rank, several
from holdfast.engines.inclusion.clusters import AttributeClusters
from holdfast.engines.inclusion.explain import INDExplanation
from holdfast.engines.inclusion.state import INDState, Nary, Pairs, PartialNary
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

    def __init__(self, declared: RuleClass[Any], settings: InclusionSettings, only_exact: bool = False) -> None:
        """`only_exact`: those of several columns must hold exactly, although an error is allowed."""
        super().__init__(declared, settings)
        self._only_exact = only_exact

    def discover(self, subject: Subject, runner: Runner, progress: Progress = SILENT) -> INDState:
        """Count, merge and derive from scratch."""
        state = discover.discover(INDState.of(subject, self._settings, runner, progress), runner)
        state.only_exact = self._only_exact
        several.discover(state, runner)
        state.found = {**derive.unary(state), **several.holding(state)}
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
        facts = {"columns": [[each.table, each.name] for each in state.attributes], "candidates": candidates}
        if state.allows_partial:
            facts["partial"] = [[*astuple(each)] for each in state.partial.values()]
        return state.clusters.dump(), facts

    def load(self, subject: Subject, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> INDState:
        """The state from its clusters. Columns are numbered as they were, whatever order the tables come in now."""
        ordered = {name: subject[name] for name in dict.fromkeys(table for table, _ in facts["columns"])}
        ordered |= {name: table for name, table in subject.items() if name not in ordered}
        state = INDState.of(ordered, self._settings)
        state.clusters = AttributeClusters.load(len(state.attributes), dict(arrays))
        known = [Nary(_as_pairs(pairs), *rows) for pairs, *rows in facts["candidates"]]
        state.candidates = {each.ind(state).text: each for each in known}
        state.only_exact = "partial" not in facts  # made when those of several columns had to hold exactly
        counted = [PartialNary(_as_pairs(pairs), *numbers) for pairs, *numbers in facts.get("partial", ())]
        state.partial = {each.ind(state).text: each for each in counted}
        state.found = {**derive.unary(state), **several.holding(state)}
        return state

    def with_settings_of(self, state: INDState) -> InclusionEngine:
        """Those of several columns hold exactly where they do in a state."""
        return InclusionEngine(self.declared, self._settings, state.only_exact)


def _as_pairs(plain: Iterable[Iterable[int]]) -> Pairs:
    """Pairs of numbers as a dump has them."""
    return tuple((a, b) for a, b in plain)
