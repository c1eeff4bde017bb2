"""Rules that are given, and that pairs of rows violate, behind the verbs that every engine offers: what is found is how
many pairs violate each, and which. What its rules say is all that a class brings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.changes.diff import PairChange
from holdfast.engines import contract
from holdfast.engines.contract import RuleClass
from holdfast.engines.given.explain import Explanation
from holdfast.engines.given.listing import PairListing
from holdfast.engines.violations import ViolationSettings
from holdfast.engines.violations import state as states
from holdfast.engines.violations.given import GivenEngine, ListedStatus
from holdfast.engines.violations.kept import LIMIT
from holdfast.engines.violations.state import Asked, State, maintain, queries_of
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.given import Named, TableRules, rules_of
from holdfast.rules.rule import Rule
from holdfast.search.shared import NullsFirstSearch, TableSearch
from holdfast.table.change import Change
from holdfast.table.nulls import Nulls
from holdfast.table.runner import Runner
from holdfast.table.table import Schema


class ViolationEngine(GivenEngine[WatchedTable, State]):
    """All violating pairs of given rules of one class, by what its rules say (`Rule.breaches`)."""

    def __init__(
        self, declared: RuleClass[ViolationSettings], settings: ViolationSettings, given: Mapping[str, TableRules]
    ) -> None:
        self.declared, self._given = declared, given
        limit = LIMIT if settings.pair_limit is None else settings.pair_limit
        self._limit = 0 if settings.count_only else limit

    # ---- the verbs --------------------------------------------------------------------------------------------------

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:
        """Find all violations."""
        search = self._search(subject, runner, progress)
        return states.discover(search, self._asked(subject.table.schema), runner, self._limit)

    def with_rules(self, state: State, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:
        """Find the violations of the rules that are new."""
        search = self._search(subject, runner, progress)
        return states.with_rules(state, search, self._asked(subject.table.schema), runner)

    def follow(self, state: State, change: Change) -> dict[str, PairChange]:
        """Find what a batch violates, and what it resolves."""
        return {each.rule.text: each.change(*change.updated) for each in maintain(state, change) if each}

    def result(self, state: State) -> dict[str, ListedStatus[Rule]]:
        """How each rule stands."""
        return {
            each.rule.text: ListedStatus(each.rule, each.count, None if each.listed else self._limit)
            for each in state.violations
        }

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The violations; the search is kept with the table."""
        return state.dump()

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state from its violations; violations know no codes."""
        return states.load(self._search(subject), self._asked(subject.table.schema), arrays, facts)

    def rules(self, state: State) -> Sequence[Named[Rule]]:
        """The rules."""
        return state.rules

    def listing(self, state: State, subject: WatchedTable, named: Named[Rule]) -> PairListing:
        """All violations of a rule."""
        found = state.violations[state.rules.index(named)].found()
        return PairListing.of(named, found, subject.table)

    def explain(
        self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()
    ) -> contract.Explanation:
        """Why some rows violate a rule, or the first that do, and which rows to fix first."""
        state, named = self.watched(state, text)
        return Explanation.of(self.listing(state, subject, named), rows)

    def _asked(self, schema: Schema) -> list[Asked]:
        """The rules that were given for a table, each with its queries."""
        return [Asked(named, queries_of(named.rule, schema)) for named in rules_of(self._given, schema)]

    def _search(self, subject: WatchedTable, runner: Runner | None = None, progress: Progress = SILENT) -> TableSearch:
        """The search of the table in which comparisons with null mean what they do in the rules."""
        asked = (breach for named in rules_of(self._given, subject.table.schema) for breach in named.rule.breaches())
        nulls = {each.nulls for breach in asked for each in breach.comparisons}
        return subject.part(NullsFirstSearch if Nulls.EQUAL in nulls else TableSearch, runner, progress)
