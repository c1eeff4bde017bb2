"""Rules that pairs of rows violate, kept true by pair search: all violations of each, or where they are too many to
list, their number.

Each rule becomes pair queries. A batch (papers: weever, sections 5.4 to 5.6) is taken in for all rules at once: pairs
of rows that died are dropped, and pairs of rows born are found in the indexes. An update is a death and a birth in one
batch. Where violations are only counted, the pairs of rows that die are counted before they leave.

The search and its indexes are shared by all keepers of a table: the first that looks at a batch lets its rows leave and
join, the others read what that did. Violations are dumped here, indexes with the table: they are opened when the first
batch comes; where there are no files (the table is small, its files lie elsewhere, tasks have searched a table that may
be too large for one machine) they are made then, as they follow from the rows.

Invariant: after `look` and `settle`, the violations are those that `begin` finds in the changed table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np

from holdfast.engines.given import ViolationSettings
from holdfast.engines.given.explain import GivenExplanation, explained
from holdfast.engines.given.keeper import Answer, Arrays, Cut, Effect, Keeper, Old, RowsOf, Tally, counted, listed
from holdfast.engines.given.listing import PairListing
from holdfast.engines.given.queries import queries_of
from holdfast.engines.given.violations import LIMIT, Violations
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.given import Named, TableRules, rules_of
from holdfast.search.found import Ids, Pairs, Sides, joined, no_pairs, paired, sides
from holdfast.search.layout import lead_of
from holdfast.search.queries import Lookup, PairQuery
from holdfast.search.search import BatchPairs
from holdfast.search.shared import NullsFirstSearch, TableSearch
from holdfast.search.slices import find_in_tasks
from holdfast.table.change import Batch
from holdfast.table.nulls import Nulls
from holdfast.table.runner import Runner


@dataclass
class PairsState:
    """The violations of each rule, and the search that has its queries by their numbers."""

    search: TableSearch
    numbers: list[range]
    violations: list[Violations]

    def __post_init__(self) -> None:
        """Have the search count the pairs of rows that die, where violations are only counted."""
        for numbers, violations in zip(self.numbers, self.violations, strict=True):
            if not violations.listed:
                self.search.counted.update(numbers)


@dataclass(frozen=True)
class PairsKeeper(Keeper[WatchedTable, PairsState]):
    """What keeps some rules of a table that pairs of rows violate: by what they say (`Rule.breaches`)."""

    table: str
    rules: tuple[Named[Any], ...]
    queries: tuple[tuple[PairQuery, ...], ...]  # of each rule; no pair meets two of them
    distinct: tuple[int, ...]  # values of each column, which decide by which one rows are sorted
    nulls: Nulls  # what comparisons with null mean in the rules
    limit: int  # violations of a rule that are listed; more are only counted

    @classmethod
    def of(cls, settings: ViolationSettings, given: Mapping[str, TableRules], subject: WatchedTable) -> Self:
        """The keeper of the rules that were given for a table."""
        schema, distinct = subject.table.schema, tuple(map(len, subject.table.dictionaries))
        rules = tuple(rules_of(given, schema))
        queries = tuple(tuple(queries_of(named.rule, schema)) for named in rules)
        breaches = (breach for named in rules for breach in named.rule.broken_by(schema.nulls))
        equal = any(each.nulls.are_equal for breach in breaches for each in breach.comparisons)
        limit = LIMIT if settings.pair_limit is None else settings.pair_limit
        nulls = Nulls.EQUAL if equal else Nulls.SQL
        return cls(schema.name, rules, queries, distinct, nulls, 0 if settings.count_only else limit)

    def cuts(self) -> Sequence[Sequence[Cut]]:
        """By the columns in which the rows of any violation are equal; a rule that has none has one piece."""
        return [[self._cut([query.as_t for query in queries if not query.single])] for queries in self.queries]

    def _cut(self, lookups: Sequence[Lookup]) -> Cut:
        if not lookups:
            return Cut(self.table, "row")
        equal = [{c.mine for c in lookup.by_key if c.mine == c.theirs} for lookup in lookups]
        columns = tuple(sorted(set.intersection(*equal)))
        return (
            Cut(self.table, "key", columns, lead_of(lookups[0], self.distinct)) if columns else Cut(self.table, "whole")
        )

    # ---- all rows ---------------------------------------------------------------------------------------------------

    def begin(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT, old: Old = None) -> PairsState:
        """Find all violations of the rules that are new."""
        search = self._search(subject, runner, progress)
        of_text: dict[str, tuple[range, Violations]] = {}
        if old is not None and old.state.search is search:
            of_text |= zip(old.texts, zip(old.state.numbers, old.state.violations, strict=True), strict=True)
        rules = {place: of_text[text] for place, text in enumerate(self.texts) if text in of_text}
        new = [place for place in range(len(self.rules)) if place not in rules]
        numbers = self._numbers(search, [self.queries[place] for place in new])
        queries = [search.pairs.queries[number] for own in numbers for number in own]
        if runner.is_local:
            found = iter(search.pairs.all(self.limit, queries))
            search.keeps_indexes = True
        else:
            found = iter(find_in_tasks(search.pairs.table, queries, runner, self.limit, nulls=search.nulls))
        for place, own in zip(new, numbers, strict=True):
            rules[place] = own, Violations.of(joined([next(found) for _ in own], self.limit))
        in_order = [rules[place] for place in range(len(self.rules))]
        return PairsState(search, [own for own, _ in in_order], [violations for _, violations in in_order])

    def _search(self, subject: WatchedTable, runner: Runner | None = None, progress: Progress = SILENT) -> TableSearch:
        """The search of the table in which comparisons with null mean what they do in the rules."""
        return subject.part(NullsFirstSearch if self.nulls.are_equal else TableSearch, runner, progress)

    def _numbers(self, search: TableSearch, queries: Sequence[Sequence[PairQuery]]) -> list[range]:
        """Have the search keep the queries of some rules; gives the numbers of each rule's."""
        numbers = search.ask([query for own in queries for query in own])
        ends = np.cumsum([0, *map(len, queries)]).tolist()
        return [numbers[first:end] for first, end in pairwise(ends)]

    # ---- batches ----------------------------------------------------------------------------------------------------

    def ready(self, state: PairsState, batch: Batch) -> PairsState:
        """The state with indexes whose keys are current after the batch."""
        change = batch.of(self.table)
        if change is not None:
            state.search.follow(change)
        return state

    def look(self, state: PairsState, born: RowsOf, dead: RowsOf) -> tuple[PairsState, Answer]:
        """Find what a batch violates, and what it resolves."""
        if self.table not in born:
            return state, [counted(0, 0)] * len(self.rules)
        gone = dead[self.table]
        batch = state.search.look(born[self.table], gone)
        return state, [self._take_in(state, rule, batch, gone.ids) for rule in range(len(self.rules))]

    def _take_in(self, state: PairsState, rule: int, batch: BatchPairs, dead: Ids) -> Effect:
        """What a batch added to the violations of one rule, and what it resolved."""
        violations, numbers = state.violations[rule], state.numbers[rule]
        if not violations.listed:
            lost, come = sum(batch.lost[number] for number in numbers), _count(batch, numbers)
            violations.count_only(violations.count - lost + come)
            return counted(come, lost)
        resolved = _in_order(violations.remove_rows(dead))
        added = _added(batch, numbers, max(self.limit - violations.count, 0))
        if added is None:
            come = _count(batch, numbers)
            violations.count_only(violations.count + come)
            state.search.counted.update(numbers)
            return counted(come, len(resolved))
        violations.add(added)
        return listed(added, resolved)

    def settle(self, state: PairsState, batch: Batch) -> PairsState:  # noqa: ARG002
        """List violations again that were only counted, and are few enough now."""
        for named, violations, numbers in zip(self.rules, state.violations, state.numbers, strict=True):
            if not violations.listed and violations.count <= self.limit:
                found = joined([state.search.pairs.pairs(each, self.limit) for each in numbers], self.limit)
                if found.pairs is None or found.count != violations.count:
                    raise AssertionError(f"{named.text}: {found.count} found, but {violations.count} counted")
                violations.list_again(found.pairs)
                state.search.counted.difference_update(numbers)
        return state

    # ---- looking ----------------------------------------------------------------------------------------------------

    def tallies(self, state: PairsState) -> Sequence[Tally]:
        """How many violations each has, and whether they are listed."""
        return [
            Tally(each.count, {"listed": True} if each.listed else {"listed": False, "pair_limit": self.limit})
            for each in state.violations
        ]

    def listing(self, state: PairsState, subject: WatchedTable, rule: int) -> PairListing:
        """All violations of a rule."""
        return PairListing.of(self.rules[rule], state.violations[rule].found(), subject.table)

    def explain(self, state: PairsState, subject: WatchedTable, rule: int, rows: Sequence[int]) -> GivenExplanation:
        """Why some rows violate a rule, or the first that do, and which rows to fix first."""
        return explained(self.listing(state, subject, rule), rows)

    # ---- in files ---------------------------------------------------------------------------------------------------

    def dump(self, state: PairsState) -> tuple[Arrays, Mapping[str, Any]]:
        """The violations; the search is dumped with the table."""
        arrays: dict[str, Ids] = {}
        for number, violations in enumerate(state.violations):
            pairs = violations.in_any_order()
            if pairs is not None:
                arrays |= dict(zip((f"t/{number}", f"s/{number}"), sides(pairs), strict=True))
        return arrays, {"counts": [violations.count for violations in state.violations]}

    def load(self, subject: WatchedTable, arrays: Arrays, facts: Mapping[str, Any]) -> PairsState:
        """The state from its violations, which know no codes."""
        search = self._search(subject)
        violations = [
            Violations(int(count), partial(_read, arrays, number) if f"t/{number}" in arrays else None)
            for number, count in enumerate(facts["counts"])
        ]
        return PairsState(search, self._numbers(search, self.queries), violations)


def _read(arrays: Arrays, number: int) -> Sides:
    """The violations of a rule in a dump."""
    return arrays[f"t/{number}"], arrays[f"s/{number}"]


def _count(batch: BatchPairs, numbers: Iterable[int]) -> int:
    """How many violations the rows born are in."""
    return sum(batch.count(number) for number in numbers)


def _added(batch: BatchPairs, numbers: Iterable[int], room: int) -> Pairs | None:
    """The violations that rows born are in; None where they are more than there is room for."""
    parts: list[Pairs] = []
    for number in numbers:
        found = batch.added(number, room - sum(map(len, parts)))
        if found is None:
            return None
        parts.append(found)
    return parts[0] if len(parts) == 1 else _in_order(np.concatenate([no_pairs(), *parts]))


def _in_order(pairs: Pairs) -> Pairs:
    return paired(*sides(pairs)) if len(pairs) > 1 else pairs
