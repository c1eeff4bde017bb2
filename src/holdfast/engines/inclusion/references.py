"""Inclusion dependencies that were given by name, behind the verbs that every engine offers: the rows that have no
partner in another table. Exact, and kept under batches on either side (see `partners`).

A dump holds the ids of these rows; what else is needed follows from the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from holdfast.changes.diff import Diff, PairChange
from holdfast.engines.contract import NoSettings, RuleClass
from holdfast.engines.given.single import alone, row_change
from holdfast.engines.inclusion import InclusionSettings, explain
from holdfast.engines.inclusion.partners import Ids, Reference
from holdfast.engines.inclusion.state import State as Columns
from holdfast.engines.inclusion.translate import Translations
from holdfast.engines.listing import Listing
from holdfast.engines.violations.given import GivenEngine, GivenStatus
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.given import Named, TableRules
from holdfast.rules.inclusion import IND, parse
from holdfast.table.change import Change
from holdfast.table.runner import Runner

Subject = Mapping[str, WatchedTable]


NamedReference = Named[IND]


@dataclass(frozen=True, repr=False)
class ReferenceStatus(GivenStatus[IND]):
    """How a reference stands: how many rows have no partner."""

    support: int = 0  # rows without a null in its columns; 0 where all have a partner, as they don't matter then
    rows: int = 0  # of the table; likewise

    shown = "rows without a partner for"

    def figures(self) -> Mapping[str, Any]:
        """The share of rows to remove so that it holds, and, as score, the share of rows that have a partner, of those
        without a null in the columns.
        """
        if not self.violations:
            return {"g3": 0.0, "score": 1.0}
        return {"g3": self.violations / self.rows, "score": 1.0 - self.violations / self.support}


@dataclass
class State:
    """The columns of the tables that references name, and the references, each with its orphans."""

    columns: Columns
    references: list[tuple[NamedReference, Reference]]

    def status_of(self, named: NamedReference, reference: Reference) -> ReferenceStatus:
        """How a reference stands."""
        if not len(reference.orphans):
            return ReferenceStatus(named, 0)
        rows = self.columns.tables[named.table].rows
        return ReferenceStatus(named, len(reference.orphans), reference.support, rows)


class ReferenceEngine(GivenEngine[Subject, State]):
    """The rows without a partner of references that were given."""

    def __init__(self, declared: RuleClass[NoSettings], given: Mapping[str, TableRules]) -> None:
        self.declared = declared
        self._named: list[NamedReference] = [
            Named(parse(rule.text), rule.name, rule.severity, rule.note)
            for rules in given.values()
            for rule in rules.rules
        ]

    def discover(self, subject: Subject, runner: Runner, progress: Progress = SILENT) -> State:
        """Look for the partner of every row."""
        return self._made(self._columns(subject, runner, progress), {})

    def with_rules(self, state: State, subject: Subject, runner: Runner, progress: Progress = SILENT) -> State:
        """Look for the partners of rows by the references that are new."""
        known = {named.text: (reference.orphans, reference.support) for named, reference in state.references}
        return self._made(self._columns(subject, runner, progress), known)

    def _made(self, columns: Columns, known: Mapping[str, tuple[Ids, int]]) -> State:
        """All references; of those that are known, the orphans and how many rows have no null."""
        made = State(columns, [])
        for named in self._named:
            old = known.get(named.text)
            reference = Reference(columns, named.rule, *old) if old else Reference.of(columns, named.rule)
            made.references.append((named, reference))
        return made

    def follow(self, state: State, change: Change) -> dict[str, PairChange]:
        """Look for the partners of rows born, and for rows whose partner came or went."""
        if change.table not in state.columns.tables:
            return {}
        state.columns.tables[change.table] = change.after
        maps = Translations(state.columns)
        moved = {}
        for named, reference in state.references:
            if change.table in (named.rule.dependent.table, named.rule.referenced.table):
                added, resolved = reference.follow(change, maps)
                if len(added) or len(resolved):
                    moved[named.text] = _moved(added, resolved, change, named.table)
        return moved

    def merged(self, state: State, changes: Sequence[Change], diffs: Sequence[Diff]) -> Diff:
        """Which orphans are those of updated rows shows when all is done: the partner, too, may have come or gone."""
        whole = super().merged(state, changes, diffs)
        by_table = {change.table: change for change in changes}
        moved = dict(whole.violations)
        for named, _ in state.references:
            if named.text in moved and named.table in by_table:
                moved[named.text] = _moved(*_rows(moved[named.text]), by_table[named.table], named.table)
        told = {
            text: pair
            for text, pair in whole.changed.items()
            if pair[0] != pair[1] or (text in moved and (moved[text].new or moved[text].gone))
        }
        return replace(whole, changed=told, violations=moved)

    def result(self, state: State) -> dict[str, ReferenceStatus]:
        """How each reference stands."""
        return {named.text: state.status_of(named, reference) for named, reference in state.references}

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The orphans; and how many rows have no null."""
        arrays = {named.text: reference.orphans for named, reference in state.references}
        return arrays, {named.text: reference.support for named, reference in state.references}

    def load(self, subject: Subject, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state from its orphans."""
        known = {text: (arrays[text], int(support)) for text, support in facts.items()}
        return self._made(self._columns(subject), known)

    def rules(self, state: State) -> list[NamedReference]:
        """The references."""
        return [named for named, _ in state.references]

    def listing(self, state: State, subject: Subject, named: NamedReference) -> Listing:
        """The rows without a partner."""
        orphans = dict(state.references)[named].orphans
        looked_at = {"t": list(dict.fromkeys(named.rule.dependent.columns))}
        return Listing(named, subject[named.table].table, len(orphans), alone(orphans), looked_at)

    def explain(
        self, state: State | None, subject: Subject, text: str, rows: Sequence[int] = ()
    ) -> explain.Explanation:
        """How far a reference holds, and which values and rows break it."""
        self.refuse_rows(rows)
        return explain.by_rows(self._columns(subject) if state is None else state.columns, parse(text))

    def _columns(self, subject: Subject, runner: Runner | None = None, progress: Progress = SILENT) -> Columns:
        """The columns of the tables that references name."""
        sides = [side for named in self._named for side in (named.rule.dependent, named.rule.referenced)]
        chosen = {name: subject[name] for name in dict.fromkeys(side.table for side in sides)}
        return Columns.of(chosen, InclusionSettings(), runner, progress)


def _moved(added: Ids, resolved: Ids, change: Change, dependent: str) -> PairChange:
    """The orphans that a batch added and resolved. Those of updated rows that have no partner still are told anew."""
    none = np.empty(0, np.int64)
    return row_change(added, resolved, change.updated if change.table == dependent else (none, none))


def _rows(moved: PairChange) -> tuple[Ids, Ids]:
    """The orphans that were added, and those that were resolved."""
    assert moved.added is not None
    assert moved.resolved is not None
    return moved.added[:, 0], moved.resolved[:, 0]
