"""Keys and FDs that were given by name, behind the verbs that every engine offers: how far each holds, and which rows
to look at. Exact and kept under batches, by rows in groups (see `groups`): the table may be as tall as memory holds.

A dump holds the groups where they are few beside the rows; else whoever needs them makes them from the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from holdfast.changes.diff import NOBODY, Diff, PairsWhenAsked, Worth, between
from holdfast.engines.contract import Engine
from holdfast.engines.declared import Json, NoSettings, RuleClass, Severity, TableRules
from holdfast.engines.functional.explain import Explanation, explain
from holdfast.engines.functional.groups import PARTS, Groups, Ids
from holdfast.engines.functional.key_score import key_score
from holdfast.engines.functional.model import FD, Rule, columns_of, pairs_of, parse
from holdfast.engines.functional.row_change import RowChange
from holdfast.engines.functional.trust import Fared, trusted
from holdfast.engines.listing import Listing, is_asked
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.table.change import Change
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner
from holdfast.table.table import Schema, Table

_FEW = 16  # groups are few where each stands for more than so many rows


@dataclass(frozen=True)
class NamedRule:
    """A key or an FD with its name."""

    rule: Rule
    name: str
    severity: Severity = "error"
    note: str = ""

    @property
    def text(self) -> str:
        """The rule."""
        return self.rule.text

    @property
    def table(self) -> str:
        """The table that it is about."""
        return self.rule.table


@dataclass(frozen=True)
class DependencyStatus:
    """How a named rule stands: how many pairs of rows break it, and without how many rows it would hold.

    Its score moves with every row, and how it fared is no fact of the table: a status is another where more or fewer
    rows break the rule.
    """

    named: NamedRule
    rows: int  # of the table; 0 where nothing breaks the rule, as they don't matter then
    broken_pairs: int
    to_remove: int
    worth: Worth | None = field(default=None, compare=False)  # None: in a state from before scores were kept
    fared: Fared = field(default=Fared(), compare=False)

    def __repr__(self) -> str:
        return f"{self.named.name}: {self.to_remove:,} rows to remove for {self.text}"

    @property
    def kind(self) -> str:
        """`fd` or `ucc`."""
        return self.named.rule.kind

    @property
    def text(self) -> str:
        """The rule."""
        return self.named.text

    @property
    def violations(self) -> int:
        """The same as `to_remove`: each of these rows is a violation."""
        return self.to_remove

    @property
    def g1(self) -> float:
        """The share of all pairs of rows that break it."""
        return self.broken_pairs / pairs_of(self.rows) if self.broken_pairs else 0.0

    @property
    def g3(self) -> float:
        """The share of rows to remove so that it holds."""
        return self.to_remove / self.rows if self.to_remove else 0.0

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        rule, named = self.named.rule, self.named
        about = {"lhs": list(rule.lhs), "rhs": rule.rhs} if isinstance(rule, FD) else {"columns": list(rule.columns)}
        return {
            "kind": self.kind,
            "table": rule.table,
            "name": named.name,
            "severity": named.severity,
            **about,
            "violations": self.to_remove,
            "counted": "rows to remove",
            "pairs": self.broken_pairs,
            "error": self.g1,
            "g3": self.g3,
            **self._figures(),
            **({"note": named.note} if named.note else {}),
            "text": rule.text,
        }

    def _figures(self) -> dict[str, Any]:
        """What speaks for the rule: the table, and the rows that came since."""
        if self.worth is None:
            return {}
        return {
            **self.worth.to_json(),
            "tested_since": self.fared.tested,
            "broke_since": self.fared.broke,
            "trust": round(trusted(self.worth.score, self.fared), 6),
        }


class State:
    """The rules of a table, each with how it stands. Groups are loaded or made when a batch, or someone who looks,
    needs them.
    """

    def __init__(
        self, table: Table, statuses: Iterable[DependencyStatus], kept: Mapping[str, Any] | None = None
    ) -> None:
        self.table, self.statuses = table, list(statuses)
        self._kept = kept or {}
        self._groups: dict[str, Groups] = {}

    def of_the_same_table(self) -> State:
        """A state without rules that knows the groups of this one."""
        made = State(self.table, (), self._kept)
        made._groups = dict(self._groups)
        return made

    def groups(self, named: NamedRule) -> Groups:
        """The rows of the table in the groups of a rule."""
        if named.text not in self._groups:
            where = columns_of(named.rule, self.table.schema.names)
            kept = self._dumped(named)
            self._groups[named.text] = Groups.load(self.table, *where, kept) if kept else Groups(self.table, *where)
        return self._groups[named.text]

    def dump(self) -> dict[str, Any]:
        """The groups of rules as arrays, where they are few beside the rows."""
        arrays: dict[str, Any] = {}
        for named in (each.named for each in self.statuses):
            groups = self._groups.get(named.text)
            if groups is None:
                kept = self._dumped(named)
            else:
                kept = groups.dump() if groups.entries * _FEW < self.table.rows else {}
            arrays |= {f"{named.text}/{name}": array for name, array in kept.items()}
        return arrays

    def _dumped(self, named: NamedRule) -> dict[str, Any]:
        """What the last dump tells of the groups of a rule, if anything."""
        return {part: self._kept[name] for part in PARTS if (name := f"{named.text}/{part}") in self._kept}

    def status_of(self, named: NamedRule, fared: Fared) -> DependencyStatus:
        """How a rule stands, as its groups tell, given how it fared."""
        groups = self.groups(named)
        rows = self.table.rows if groups.to_remove else 0
        known = self._worth(named, groups)
        return DependencyStatus(named, rows, groups.broken_pairs, groups.to_remove, known, fared)

    def _worth(self, named: NamedRule, groups: Groups) -> Worth:
        rows, schema = self.table.rows, self.table.schema
        lhs, rhs = columns_of(named.rule, schema.names)
        if rhs is None:
            nulls = groups.with_nulls
            return Worth(key_score(schema, lhs, rows, nulls, groups.to_remove), rows - nulls)
        told = groups.evidence
        return Worth(told.score(len(lhs)), told.tested)


class NamedEngine(Engine):
    """How far given keys and FDs hold."""

    def __init__(self, declared: RuleClass, given: Mapping[str, TableRules]) -> None:
        self.declared, self._rules = declared, given

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:  # noqa: ARG002
        """Group the rows by each rule."""
        state = State(subject.table, ())
        state.statuses = [state.status_of(named, Fared()) for named in self._given(subject.table.schema)]
        return state

    def with_rules(self, state: State, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:  # noqa: ARG002
        """Group the rows by the rules that are new."""
        known = {each.text: each for each in state.statuses}
        made = state.of_the_same_table()
        made.statuses = [
            replace(known[named.text], named=named) if named.text in known else made.status_of(named, Fared())
            for named in self._given(subject.table.schema)
        ]
        return made

    def maintain(self, state: State, change: Change, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Regroup the rows that a batch touched."""
        before = self.result(state)
        moved = {each.text: state.groups(each.named).follow(change) for each in state.statuses}
        state.table = change.after
        state.statuses = [
            state.status_of(each.named, each.fared.then(rows.tested, rows.broke))
            for each, rows in zip(state.statuses, moved.values(), strict=True)
        ]
        after = self.result(state)
        moves = {
            text: PairsWhenAsked(rows.added, rows.resolved, rows.retold, partial(_pairs, rows), partial(_example, rows))
            for text, rows in moved.items()
            if rows
        }
        return replace(between(before, after).with_violations(before, after, moves), figures=after)

    def recall(self, state: State, told: Iterable[Json]) -> None:
        """How each rule fared: batches that are replayed together tell it otherwise than one by one."""
        fared = {line["text"]: Fared(line.get("tested_since", 0), line.get("broke_since", 0)) for line in told}
        state.statuses = [replace(each, fared=fared.get(each.text, each.fared)) for each in state.statuses]

    def result(self, state: State) -> dict[str, DependencyStatus]:
        """How each rule stands."""
        return {each.text: each for each in state.statuses}

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Numbers, and groups where they are few."""
        return state.dump(), {each.text: _facts(each) for each in state.statuses}

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state from its numbers; groups are looked at when they are needed."""
        given = self._given(subject.table.schema)
        return State(subject.table, [_status(named, facts[named.text]) for named in given], arrays)

    def rewritten(self, state: State, subject: WatchedTable, kept: Mapping[str, Kept]) -> State:  # noqa: ARG002
        """Numbers know no codes, and groups follow from the table."""
        return State(subject.table, state.statuses)

    def listings(self, state: State, subject: WatchedTable, rule: str | None = None) -> list[Listing]:
        """The rows to look at, rule by rule, each as t, with a row as s that it breaks the rule with."""
        return [
            _listing(each, state.groups(each.named), subject.table)
            for each in state.statuses
            if is_asked(each.named, rule)
        ]

    def explain(self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> Explanation:  # noqa: ARG002
        """How far a rule holds, and which rows to look at."""
        self.refuse_rows(rows)
        return explain(subject.table, text)

    def _given(self, schema: Schema) -> list[NamedRule]:
        return [
            NamedRule(parse(rule.text, schema.names, schema.name), rule.name, rule.severity, rule.note)
            for rule in self._rules.get(schema.name, TableRules()).rules
        ]


def _facts(status: DependencyStatus) -> list[float]:
    """What a dump tells of a rule; how it fared stands in the database."""
    known = status.worth
    return [status.rows, status.broken_pairs, status.to_remove, *((known.score, known.support) if known else ())]


def _status(named: NamedRule, facts: Sequence[Any]) -> DependencyStatus:
    """The same read back; older states have no score."""
    rows, pairs, to_remove, *known = facts
    return DependencyStatus(named, rows, pairs, to_remove, Worth(*known) if known else None)


def _listing(status: DependencyStatus, groups: Groups, table: Table) -> Listing:
    rows = groups.outside()
    rule = status.named.rule
    columns = [*rule.lhs, rule.rhs] if isinstance(rule, FD) else list(rule.columns)
    pairs = np.stack([rows, groups.beside(rows)], axis=1)
    return Listing(status.named, table, len(rows), pairs, {"t": columns, "s": columns})


def _pairs(change: RowChange) -> tuple[Ids, Ids]:
    """Rows that were put outside, and those that are outside no more, as pairs with nobody."""
    added, resolved = (np.stack([rows, np.full(len(rows), NOBODY)], axis=1) for rows in change.rows())
    return added, resolved


def _example(change: RowChange) -> tuple[int, ...] | None:
    return change.example


def make(declared: RuleClass, _: NoSettings, given: Mapping[str, TableRules]) -> NamedEngine:
    """The engine for the rules that were given."""
    return NamedEngine(declared, given)
