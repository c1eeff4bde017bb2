"""Rules that are given, and that pairs of rows violate, behind the verbs that every engine offers: what is found is how
many pairs violate each, and which. What its rules say is all that a class brings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from holdfast.changes.diff import Diff, Result, between
from holdfast.engines import contract
from holdfast.engines.contract import Engine, RuleClass
from holdfast.engines.violations import ViolationSettings
from holdfast.engines.violations import state as states
from holdfast.engines.violations.explain import Explanation
from holdfast.engines.violations.kept import LIMIT
from holdfast.engines.violations.listing import PairListing
from holdfast.engines.violations.maintain import maintain
from holdfast.engines.violations.queries import Asked, queries_of
from holdfast.engines.violations.state import State
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.progress import SILENT, Progress
from holdfast.rules.given import Named, TableRules, rules_of
from holdfast.rules.rule import Rule
from holdfast.search.shared import NullsFirstSearch, TableSearch
from holdfast.table.change import Change
from holdfast.table.nulls import Nulls
from holdfast.table.runner import Runner
from holdfast.table.table import Schema


@dataclass(frozen=True)
class RuleStatus:
    """How a rule stands: how many violations it has. `listed` says that the pairs are kept, not their number alone."""

    rule: Named[Rule]
    violations: int
    listed: bool
    limit: int

    def __repr__(self) -> str:
        return f"{self.rule.name}: {self.violations:,} violations of {self.text}"

    @property
    def kind(self) -> str:
        """Its class."""
        return self.rule.rule.kind

    @property
    def text(self) -> str:
        """The rule."""
        return self.rule.text

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        about = {**self.rule.rule.to_json(), "violations": self.violations, "counted": self.rule.rule.counted}
        limit = {} if self.listed else {"pair_limit": self.limit}
        return self.rule.to_json({**about, "listed": self.listed, **limit})


class ViolationEngine(Engine[WatchedTable, State]):
    """All violating pairs of given rules of one class, by what its rules say (`Rule.breaches`)."""

    listing: ClassVar[type[PairListing]] = PairListing

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

    def maintain(self, state: State, change: Change, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Find what a batch violates, and what it resolves."""
        before = self.result(state)
        deltas = maintain(state, change)
        after = self.result(state)
        moved = {d.rule.text: d.change(*change.updated) for d in deltas if d}
        return between(before, after).with_violations(before, after, moved)

    def result(self, state: State) -> Result:
        """How each rule stands."""
        return {
            each.rule.text: RuleStatus(each.rule, each.count, each.listed, self._limit) for each in state.violations
        }

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The violations; the search is kept with the table."""
        return state.dump()

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state from its violations; violations know no codes."""
        return states.load(self._search(subject), self._asked(subject.table.schema), arrays, facts)

    def listings(self, state: State, subject: WatchedTable, rule: str | None = None) -> list[PairListing]:
        """All violations, rule by rule, with the rows of the table as it is now."""
        return [
            self.listing.of(each.rule, each.found(), subject.table)
            for each in state.violations
            if each.rule.is_asked(rule)
        ]

    def explain(
        self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()
    ) -> contract.Explanation:
        """Why some rows violate a rule, or the first that do, and which rows to fix first."""
        listings = [] if state is None else self.listings(state, subject, text)
        listing = next((each for each in listings if each.rule.text == text), None)
        if listing is None:
            raise BadInput(f"can't explain {text!r}: it is not watched here; add it with: holdfast rules STATE add")
        return Explanation.of(listing, rows)

    def _asked(self, schema: Schema) -> list[Asked]:
        """The rules that were given for a table, each with its queries."""
        return [Asked(named, queries_of(named.rule, schema)) for named in rules_of(self._given, schema)]

    def _search(self, subject: WatchedTable, runner: Runner | None = None, progress: Progress = SILENT) -> TableSearch:
        """The search of the table in which comparisons with null mean what they do in the rules."""
        asked = (breach for named in rules_of(self._given, subject.table.schema) for breach in named.rule.breaches())
        nulls = {each.nulls for breach in asked for each in breach.comparisons}
        return subject.part(NullsFirstSearch if Nulls.EQUAL in nulls else TableSearch, runner, progress)
