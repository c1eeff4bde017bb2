"""The keeper of keys and FDs that were given by name: how far each holds, and which rows to look at. Exact and kept
true under batches, by rows in groups (see `groups`): the table may be as tall as memory holds.

A dump holds the groups where they are few compared with the rows. Of a key with many it keeps the totals, and names a
file with an index of the rows (see `key_index`); groups of other rules are made from the table when they are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from holdfast.engines.contract import CurrentExplanation
from holdfast.engines.functional import key_index
from holdfast.engines.functional.explain import explain
from holdfast.engines.functional.groups import PARTS, Groups
from holdfast.engines.functional.key_index import IndexFinder, KeyIndex, StoredKey
from holdfast.engines.functional.key_score import key_score
from holdfast.engines.given.keeper import Answer, Cut, Keeper, Old, Previous, RowsOf, Tally
from holdfast.engines.listing import Listing
from holdfast.engines.watched import FILES, WatchedTable
from holdfast.pairs.keys import KeyTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.dependency import Dependency, columns_of
from holdfast.rules.error_measures import g1, g3
from holdfast.rules.given import Named
from holdfast.table.change import Batch, Change
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.rewrite import UsedCodes
from holdfast.table.runner import Runner
from holdfast.table.table import Schema, Table

_FEW = 16  # groups are few where each stands for more rows than these
_INDEXES = "indexes"  # the fact of a dump that describes the indexes of keys, which no rule has as its text


class OpenedKey(Groups):
    """The groups of a key in a process that opened a state: only those that its batches touch, the others stay in a
    file. Who wants to list rows needs all of them.

    Of a key most groups are single rows, so that there are about as many groups as rows. What a status says of all of
    them is their totals, which a checkpoint keeps. A batch changes these by what it does to the clusters that it
    touches; such a cluster is brought in, as it is before the batch, by an index of the rows (see `key_index`). From
    then on it is kept as in `Groups`.

    Invariant: the rows of a cluster that is not here are those that the index finds for it.
    Cost: a batch costs what its rows and those that share their keys cost, however many rows the table has.
    """

    def __init__(self, table: Table, lhs: Sequence[int], totals: Sequence[int], index: KeyIndex) -> None:
        self._empty(table, lhs, None)
        self._totals[:] = totals
        self.rows, self._index = table.rows, index

    def ready(self, change: Change) -> None:
        """Bring in the clusters that a batch touches, as they are before it."""
        super().ready(change)
        left = np.concatenate([change.deleted[self._lhs], change.inserted[self._lhs]], axis=1).T.astype(np.uint64)
        if self._distinct:
            left = left[(left != NULL_CODE).all(axis=1)]
        fresh = KeyTable(left.shape[1])
        fresh.entries(left[self._kept.clusters.find(left) < 0])
        codes = fresh.keys.T.astype(np.uint32)
        ids, of = self._index.rows(change.before, codes)
        cells = self._kept.place(ids, list(codes[:, of]), None)
        np.add.at(self._kept.cells.counts, cells, 1)
        self._kept.oldest[cells[::-1]] = ids[::-1]  # of several rows the oldest is written last
        self.finder = IndexFinder(self._index, change.after)


@dataclass
class GroupsState:
    """How each rule of a table stands, and its groups, which are loaded or made when a batch, or someone who looks,
    needs them. Until then there is what a dump holds of them, and of keys that have too many of them.
    """

    table: Table  # after the last batch
    tallies: list[Tally]
    groups: dict[str, Groups] = field(default_factory=dict)
    dumped: Mapping[str, Any] = field(default_factory=dict)
    keys: dict[str, StoredKey] = field(default_factory=dict)

    def dumped_of(self, text: str) -> dict[str, Any]:
        """What the last dump holds of the groups of a rule, if anything."""
        return {part: self.dumped[name] for part in PARTS if (name := f"{text}/{part}") in self.dumped}

    def has_few(self, groups: Groups) -> bool:
        """Whether groups are few, in themselves or compared with the rows."""
        are_few = groups.are_small or groups.entries * _FEW < self.table.rows
        return are_few and not isinstance(groups, OpenedKey)


@dataclass(frozen=True)
class GroupsKeeper(Keeper[WatchedTable, GroupsState]):
    """The plan for keys and FDs of a table.

    A violation is a row outside (see `groups`). An answer lists all of those that came or went; of others, which swap
    places where another value becomes that of most rows of a cluster, those of a rule are listed where they are at most
    1,000: they have to be looked for. All are counted.
    """

    rules: Sequence[Named[Dependency]]
    schema: Schema

    has_track = True
    counts_restated = True
    shown = "rows to remove for"

    def cuts(self) -> Sequence[Sequence[Cut]]:
        """By the left side: a cluster lies in one piece."""
        return [[Cut(self.schema.name, "key", tuple(lhs), rhs)] for lhs, rhs in self.columns.values()]

    @cached_property
    def columns(self) -> dict[str, tuple[list[int], int | None]]:
        """The column numbers of each rule, by its text: its left side, and its right side (None for a key)."""
        return {named.text: columns_of(named.rule, self.schema.names) for named in self.rules}

    def begin(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT, old: Old = None) -> GroupsState:  # noqa: ARG002
        """Group all rows by the rules that are new."""
        texts, state = old or Previous([], GroupsState(subject.table, []))
        known = dict(zip(texts, state.tallies, strict=True))
        made: GroupsState = replace(state, table=subject.table, groups=dict(state.groups))
        made.tallies = [known.get(named.text) or self._tally(made, named) for named in self.rules]
        return made

    # ---- groups -----------------------------------------------------------------------------------------------------

    def _groups(self, state: GroupsState, named: Named[Dependency]) -> Groups:
        """The rows of the table in the groups of a rule; of a key perhaps only those that batches touch."""
        if named.text not in state.groups:
            state.groups[named.text] = self._loaded(state, named) or Groups(state.table, *self.columns[named.text])
        return state.groups[named.text]

    def _loaded(self, state: GroupsState, named: Named[Dependency]) -> Groups | None:
        lhs, rhs = self.columns[named.text]
        if dumped := state.dumped_of(named.text):
            return Groups.load(state.table, lhs, rhs, dumped)
        known = state.keys.get(named.text)
        index = KeyIndex.opened(state.table, lhs, known.file) if known and known.file else None
        return OpenedKey(state.table, lhs, known.totals, index) if known and index else None

    def _tally(self, state: GroupsState, named: Named[Dependency]) -> Tally:
        """How a rule stands, as its groups say."""
        groups, (lhs, rhs) = self._groups(state, named), self.columns[named.text]
        if rhs is None:
            unnamed = groups.with_nulls
            score = key_score(self.schema, lhs, groups.rows, unnamed, groups.to_remove)
            return tally(groups.rows, groups.broken_pairs, groups.to_remove, score, groups.rows - unnamed)
        evidence = groups.evidence
        return tally(groups.rows, groups.broken_pairs, groups.to_remove, evidence.score(len(lhs)), evidence.tested)

    # ---- batches ----------------------------------------------------------------------------------------------------

    def ready(self, state: GroupsState, batch: Batch) -> GroupsState:
        """Have the groups of all rules as they are before a batch, and where to find older rows after it."""
        for named in self.rules:
            self._groups(state, named).ready(batch.only)
        state.table = batch.only.after
        return state

    def look(self, state: GroupsState, born: RowsOf, dead: RowsOf) -> tuple[GroupsState, Answer]:
        """Regroup the rows that a batch touched."""
        come, gone = born[self.schema.name], dead[self.schema.name]
        answer = [self._groups(state, named).follow(come, gone) for named in self.rules]
        state.tallies = [self._tally(state, named) for named in self.rules]
        return state, answer

    # ---- looking ----------------------------------------------------------------------------------------------------

    def tallies(self, state: GroupsState) -> Sequence[Tally]:
        """How far each rule holds."""
        return state.tallies

    def listing(self, state: GroupsState, subject: WatchedTable, rule: int) -> Listing:
        """The rows to look at, each as t, with a row as s that it breaks the rule with."""
        named = self.rules[rule]
        if isinstance(self._groups(state, named), OpenedKey):
            state.groups[named.text] = Groups(state.table, *self.columns[named.text])
        pairs, columns = state.groups[named.text].outside_pairs(), list(named.rule.columns)
        return Listing(named, subject.table, len(pairs), pairs, {"t": columns, "s": columns})

    def explain(self, state: GroupsState, subject: WatchedTable, rule: int, rows: Sequence[int]) -> CurrentExplanation:  # noqa: ARG002
        """How far a rule holds, and which rows to look at."""
        return explain(subject.table, self.rules[rule].text)

    # ---- in files ---------------------------------------------------------------------------------------------------

    def dump(self, state: GroupsState) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Numbers, and groups where they are few; of keys with many the files of their indexes."""
        facts: dict[str, Any] = {
            named.text: _numbers(state.table, each) for named, each in zip(self.rules, state.tallies, strict=True)
        }
        state.keys = {named.text: self._written(state, named, known) for named, known in self._many(state)}
        if indexes := {text: known for text, known in state.keys.items() if known.file is not None}:
            facts[_INDEXES] = {text: asdict(known) for text, known in indexes.items()}
            facts[FILES] = [known.file.name for known in indexes.values() if known.file is not None]
        arrays: dict[str, Any] = {}
        for text in (named.text for named in self.rules):
            groups = state.groups.get(text)
            kept = state.dumped_of(text) if groups is None else groups.dump() if state.has_few(groups) else {}
            arrays |= {f"{text}/{name}": array for name, array in kept.items()}
        return arrays, facts

    def _many(self, state: GroupsState) -> list[tuple[Named[Dependency], StoredKey]]:
        """The keys that have too many groups for a dump, and what is known of them."""
        found = []
        for named in self.rules:
            groups, known = state.groups.get(named.text), state.keys.get(named.text)
            if groups is not None:
                many = self.columns[named.text][1] is None and not state.has_few(groups)
                known = StoredKey(groups.totals, known.file if known else None) if many else None
            if known is not None:
                found.append((named, known))
        return found

    def _written(self, state: GroupsState, named: Named[Dependency], stored: StoredKey) -> StoredKey:
        """The same, with its index in a file that is not far from the table."""
        if stored.file is not None and not stored.file.is_far_from(state.table):
            return stored
        return replace(stored, file=key_index.write(state.table, self.columns[named.text][0]))

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> GroupsState:
        """The state from its numbers; groups are looked at when they are needed."""
        keys = {text: StoredKey.of_json(known) for text, known in facts.get(_INDEXES, {}).items()}
        tallies = [tally(*facts[named.text]) for named in self.rules]
        return GroupsState(subject.table, tallies, dumped=arrays, keys=keys)

    def rewritten(self, state: GroupsState, subject: WatchedTable, kept: Mapping[str, UsedCodes]) -> GroupsState:  # noqa: ARG002
        """Numbers know no codes, and groups and indexes follow from the table."""
        keys = {named.text: StoredKey(known.totals) for named, known in self._many(state)}
        return GroupsState(subject.table, state.tallies, keys=keys)


def tally(rows: int, pairs: int, to_remove: int, score: float, support: int) -> Tally:
    """How a rule stands: without how many rows it would hold, each of which is a violation; how many pairs of rows
    break it, and their share of all pairs; and the share of rows to remove. Where nothing breaks it, the number of rows
    doesn't matter. Figures say what speaks for it: its score, and the rows that could have broken it.
    """
    errors = {"error": g1(pairs, rows), "g3": g3(to_remove, rows)}
    return Tally(to_remove, {"pairs": pairs, **errors}, {"score": score, "support": support})


def _numbers(table: Table, known: Tally) -> list[float]:
    """The numbers that `tally` makes the same of."""
    rows = table.rows if known.violations else 0
    return [rows, known.facts["pairs"], known.violations, known.figures["score"], known.figures["support"]]
