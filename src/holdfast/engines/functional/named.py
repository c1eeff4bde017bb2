"""Keys and FDs that were given by name, behind the verbs that every engine offers: how far each holds, and which rows
to look at. Exact and kept under batches, by rows in groups (see `groups`): the table may be as tall as memory holds.

A dump holds the groups where they are few beside the rows. Of a key with many it keeps the totals, and names a file
with an index of the rows (see `key_index`); groups of other rules are made from the table when they are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from holdfast.changes.diff import PairChange, PairsWhenAsked, Worth
from holdfast.engines.contract import Json, NoSettings, RuleClass
from holdfast.engines.functional import key_index
from holdfast.engines.functional.explain import Explanation, explain
from holdfast.engines.functional.groups import PARTS, Groups, Ids
from holdfast.engines.functional.key_index import KeptKey, KeyIndex
from holdfast.engines.functional.key_score import key_score
from holdfast.engines.functional.opened_key import OpenedKey
from holdfast.engines.functional.row_change import RowChange
from holdfast.engines.functional.trust import Fared, trusted
from holdfast.engines.listing import Listing
from holdfast.engines.violations.given import GivenEngine, GivenStatus
from holdfast.engines.violations.single import alone
from holdfast.engines.watched import FILES, WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.dependency import Dependency, Key, columns_of, pairs_of
from holdfast.rules.given import Named, TableRules, rules_of
from holdfast.table.change import Change
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner
from holdfast.table.table import Table

_INDEXES = "indexes"  # the fact of a dump that tells of the indexes of keys, which no rule has as its text


NamedRule = Named[Dependency]


@dataclass(frozen=True, repr=False)
class DependencyStatus(GivenStatus[Dependency]):
    """How a named rule stands: how many pairs of rows break it, and without how many rows it would hold, each of which
    is a violation.

    Its score moves with every row, and how it fared is no fact of the table: a status is another where more or fewer
    rows break the rule.
    """

    rows: int  # of the table; 0 where nothing breaks the rule, as they don't matter then
    broken_pairs: int
    worth: Worth = field(compare=False)
    fared: Fared = field(default=Fared(), compare=False)

    shown = "rows to remove for"

    @property
    def g1(self) -> float:
        """The share of all pairs of rows that break it."""
        return self.broken_pairs / pairs_of(self.rows) if self.broken_pairs else 0.0

    @property
    def g3(self) -> float:
        """The share of rows to remove so that it holds."""
        return self.violations / self.rows if self.violations else 0.0

    def figures(self) -> Mapping[str, Any]:
        """How far the rule holds, and what speaks for it: the table, and the rows that came since."""
        return {
            "pairs": self.broken_pairs,
            "error": self.g1,
            "g3": self.g3,
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
        self,
        table: Table,
        statuses: Iterable[DependencyStatus],
        kept: Mapping[str, Any] | None = None,
        keys: Mapping[str, KeptKey] | None = None,
    ) -> None:
        """`kept` and `keys` are what a dump holds of groups, and of keys that have too many of them."""
        self.table, self.statuses = table, list(statuses)
        self._kept, self._keys = kept or {}, keys or {}
        self._groups: dict[str, Groups] = {}

    def of_the_same_table(self) -> State:
        """A state without rules that knows the groups of this one."""
        made = State(self.table, (), self._kept, self._keys)
        made._groups = dict(self._groups)
        return made

    def groups(self, named: NamedRule) -> Groups:
        """The rows of the table in the groups of a rule; of a key perhaps only those that batches touch."""
        if named.text not in self._groups:
            self._groups[named.text] = self._loaded(named) or self._opened(named) or self._made(named)
        return self._groups[named.text]

    def all_groups(self, named: NamedRule) -> Groups:
        """The same, all of them."""
        if isinstance(self.groups(named), OpenedKey):
            self._groups[named.text] = self._made(named)
        return self._groups[named.text]

    def _made(self, named: NamedRule) -> Groups:
        return Groups(self.table, *columns_of(named.rule, self.table.schema.names))

    def _loaded(self, named: NamedRule) -> Groups | None:
        kept = self._dumped(named)
        return Groups.load(self.table, *columns_of(named.rule, self.table.schema.names), kept) if kept else None

    def _opened(self, named: NamedRule) -> Groups | None:
        known = self._keys.get(named.text)
        if known is None or known.file is None:
            return None
        lhs, _ = columns_of(named.rule, self.table.schema.names)
        index = KeyIndex.opened(self.table, lhs, known.file)
        return None if index is None else OpenedKey(self.table, lhs, known.totals, index)

    def dump(self) -> dict[str, Any]:
        """The groups of rules as arrays, where they are few beside the rows."""
        arrays: dict[str, Any] = {}
        for named in (each.named for each in self.statuses):
            groups = self._groups.get(named.text)
            kept = self._dumped(named) if groups is None else groups.dump() if groups.are_few else {}
            arrays |= {f"{named.text}/{name}": array for name, array in kept.items()}
        return arrays

    def keys(self) -> dict[str, KeptKey]:
        """What is known of keys that have too many groups for a dump."""
        found = {}
        for named in (each.named for each in self.statuses):
            groups, known = self._groups.get(named.text), self._keys.get(named.text)
            if groups is not None:
                many = isinstance(named.rule, Key) and not groups.are_few
                known = KeptKey(groups.totals, None if known is None else known.file) if many else None
            if known is not None:
                found[named.text] = known
        return found

    def write_indexes(self) -> dict[str, KeptKey]:
        """The same, once the indexes that have no file, or an old one, are written; without those that get none."""
        known, rules = self.keys(), {each.text: each.named.rule for each in self.statuses}
        self._keys = {text: self._written(rules[text], kept) for text, kept in known.items()}
        return {text: kept for text, kept in self._keys.items() if kept.file is not None}

    def _written(self, rule: Dependency, kept: KeptKey) -> KeptKey:
        if kept.file is not None and not kept.file.is_far_from(self.table):
            return kept
        lhs, _ = columns_of(rule, self.table.schema.names)
        return replace(kept, file=key_index.write(self.table, lhs))

    def _dumped(self, named: NamedRule) -> dict[str, Any]:
        """What the last dump tells of the groups of a rule, if anything."""
        return {part: self._kept[name] for part in PARTS if (name := f"{named.text}/{part}") in self._kept}

    def status_of(self, named: NamedRule, fared: Fared) -> DependencyStatus:
        """How a rule stands, as its groups tell, given how it fared."""
        groups = self.groups(named)
        rows = self.table.rows if groups.to_remove else 0
        known = self._worth(named, groups)
        return DependencyStatus(named, groups.to_remove, rows, groups.broken_pairs, known, fared)

    def _worth(self, named: NamedRule, groups: Groups) -> Worth:
        rows, schema = self.table.rows, self.table.schema
        lhs, rhs = columns_of(named.rule, schema.names)
        if rhs is None:
            nulls = groups.with_nulls
            return Worth(key_score(schema, lhs, rows, nulls, groups.to_remove), rows - nulls)
        told = groups.evidence
        return Worth(told.score(len(lhs)), told.tested)


class NamedEngine(GivenEngine[WatchedTable, State]):
    """How far given keys and FDs hold."""

    figures_move = True

    def __init__(self, declared: RuleClass[NoSettings], given: Mapping[str, TableRules]) -> None:
        self.declared, self._given = declared, given

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:  # noqa: ARG002
        """Group the rows by each rule."""
        state = State(subject.table, ())
        state.statuses = [state.status_of(named, Fared()) for named in rules_of(self._given, subject.table.schema)]
        return state

    def with_rules(self, state: State, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:  # noqa: ARG002
        """Group the rows by the rules that are new."""
        known = {each.text: each for each in state.statuses}
        made = state.of_the_same_table()
        made.statuses = [
            replace(known[named.text], named=named) if named.text in known else made.status_of(named, Fared())
            for named in rules_of(self._given, subject.table.schema)
        ]
        return made

    def follow(self, state: State, change: Change) -> dict[str, PairChange]:
        """Regroup the rows that a batch touched."""
        moved = {each.text: state.groups(each.named).follow(change) for each in state.statuses}
        state.table = change.after
        state.statuses = [
            state.status_of(each.named, each.fared.then(rows.tested, rows.broke))
            for each, rows in zip(state.statuses, moved.values(), strict=True)
        ]
        return {
            text: PairsWhenAsked(rows.added, rows.resolved, rows.retold, partial(_pairs, rows), partial(_example, rows))
            for text, rows in moved.items()
            if rows
        }

    def recall(self, state: State, told: Iterable[Json]) -> None:
        """How each rule fared: batches that are replayed together tell it otherwise than one by one."""
        fared = {line["text"]: Fared(line["tested_since"], line["broke_since"]) for line in told}
        state.statuses = [replace(each, fared=fared.get(each.text, each.fared)) for each in state.statuses]

    def result(self, state: State) -> dict[str, DependencyStatus]:
        """How each rule stands."""
        return {each.text: each for each in state.statuses}

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Numbers, and groups where they are few; of keys with many the files of their indexes."""
        facts: dict[str, Any] = {each.text: _facts(each) for each in state.statuses}
        if indexes := state.write_indexes():
            facts[_INDEXES] = {text: known.to_json() for text, known in indexes.items()}
            facts[FILES] = [known.file.name for known in indexes.values() if known.file is not None]
        return state.dump(), facts

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state from its numbers; groups are looked at when they are needed."""
        given = rules_of(self._given, subject.table.schema)
        keys = {text: KeptKey.of_json(told) for text, told in facts.get(_INDEXES, {}).items()}
        return State(subject.table, [_status(named, facts[named.text]) for named in given], arrays, keys)

    def rewritten(self, state: State, subject: WatchedTable, kept: Mapping[str, Kept]) -> State:  # noqa: ARG002
        """Numbers know no codes, and groups and indexes follow from the table."""
        keys = {text: KeptKey(known.totals) for text, known in state.keys().items()}
        return State(subject.table, state.statuses, keys=keys)

    def rules(self, state: State) -> list[NamedRule]:
        """The rules."""
        return [each.named for each in state.statuses]

    def listing(self, state: State, subject: WatchedTable, named: NamedRule) -> Listing:
        """The rows to look at, each as t, with a row as s that it breaks the rule with."""
        groups, columns = state.all_groups(named), list(named.rule.columns)
        rows = groups.outside()
        pairs = np.stack([rows, groups.beside(rows)], axis=1)
        return Listing(named, subject.table, len(rows), pairs, {"t": columns, "s": columns})

    def explain(self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> Explanation:  # noqa: ARG002
        """How far a rule holds, and which rows to look at."""
        self.refuse_rows(rows)
        return explain(subject.table, text)


def _facts(status: DependencyStatus) -> list[float]:
    """What a dump tells of a rule; how it fared stands in the database."""
    return [status.rows, status.broken_pairs, status.violations, status.worth.score, status.worth.support]


def _status(named: NamedRule, facts: Sequence[Any]) -> DependencyStatus:
    """The same read back."""
    rows, pairs, to_remove, score, support = facts
    return DependencyStatus(named, to_remove, rows, pairs, Worth(score, support))


def _pairs(change: RowChange) -> tuple[Ids, Ids]:
    """Rows that were put outside, and those that are outside no more, as pairs with nobody."""
    added, resolved = map(alone, change.rows())
    return added, resolved


def _example(change: RowChange) -> tuple[int, ...] | None:
    return change.example
