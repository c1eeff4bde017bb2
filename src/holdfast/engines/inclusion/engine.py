"""Inclusion dependencies behind the verbs that every engine offers, and what they alone have: ranks and reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from holdfast.changes.diff import Diff, Result
from holdfast.engines.contract import Settings
from holdfast.engines.inclusion import derive, discover, explain, maintain, nary, rank
from holdfast.engines.inclusion.clusters import Clusters
from holdfast.engines.inclusion.state import Counts, Options, State, attributes_of
from holdfast.table.change import Change
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner
from holdfast.table.table import Table


class InclusionEngine:
    """Inclusion dependencies across all tables."""

    name = "ind"
    title = "inclusion dependencies"
    across = True

    def __init__(self, options: Options) -> None:
        self._options = options

    def discover(self, subject: Mapping[str, Table] | Table, runner: Runner) -> State:
        """Count, merge and derive from scratch."""
        state = discover.discover(_by_name(subject), runner, self._options)
        nary.discover(state, runner)
        state.found = {**derive.unary(state), **nary.holding(state)}
        return state

    def maintain(self, state: State, change: Change, runner: Runner) -> Diff:
        """Move the values of a batch."""
        return maintain.maintain(state, change, runner)

    def result(self, state: State) -> Result:
        """All that hold, those that look like foreign keys first."""
        return {each.ind.text: each.ind for each in rank.ranked(state)}

    def foreign_keys(self, state: State, top: int | None = None) -> list[rank.Proposal]:
        """The dependencies worth proposing as foreign keys, the best first, each with its reasons."""
        return rank.proposals(state, top)

    def explain(self, state: State, text: str) -> explain.Explanation:
        """Whether a dependency holds, how far, and what breaks it."""
        return explain.explain(state, text)

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Counts and clusters as arrays; the columns by name and the candidates of several columns as facts."""
        candidates = [[each.pairs, each.witness, each.complete] for each in state.candidates.values()]
        return state.dump(), {
            "columns": [[each.table, each.name] for each in state.attributes],
            "candidates": candidates,
        }

    def load(self, subject: Mapping[str, Table] | Table, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state from its counts and clusters."""
        tables = _by_name(subject)
        ordered = {name: tables[name] for name in dict.fromkeys(table for table, _ in facts["columns"])}
        ordered |= {name: table for name, table in tables.items() if name not in ordered}
        attributes = attributes_of(ordered, self._options.compare)
        counts = [Counts(arrays[f"count/{each.number}"]) for each in attributes]
        state = State(ordered, attributes, counts, self._options)
        for each, own in zip(attributes, counts, strict=True):
            own.reach(len(ordered[each.table].dictionaries[each.column]))
        state.clusters = Clusters.load(len(attributes), dict(arrays))
        known = [nary.loaded(state, *kept) for kept in facts["candidates"]]
        state.candidates = {each.ind(state).text: each for each in known}
        state.found = {**derive.unary(state), **nary.holding(state)}
        return state

    def rewritten(self, state: State, subject: Mapping[str, Table] | Table, kept: Mapping[str, Kept]) -> State:
        """The counts of the codes that stayed; clusters and candidates know no codes."""
        return state.rewritten(_by_name(subject), kept)


def _by_name(subject: Mapping[str, Table] | Table) -> Mapping[str, Table]:
    return {subject.schema.name: subject} if isinstance(subject, Table) else subject


def make(settings: Settings) -> InclusionEngine:
    """The engine as the settings ask."""
    compare: Literal["typed", "text"] = "text" if settings.compare == "text" else "typed"
    return InclusionEngine(Options(compare, settings.error, settings.max_arity))
