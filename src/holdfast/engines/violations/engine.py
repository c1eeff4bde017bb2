"""Rules that are given, and that pairs of rows violate, behind the verbs that every engine offers: what is found is how
many pairs violate each, and which. A class brings its rules and its words.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic

from holdfast.changes.diff import Diff, Result, between
from holdfast.engines import contract
from holdfast.engines.contract import Engine
from holdfast.engines.declared import GivenRule, RuleClass, TableRules
from holdfast.engines.listing import is_asked
from holdfast.engines.violations import ViolationSettings
from holdfast.engines.violations import state as states
from holdfast.engines.violations.explain import Explanation
from holdfast.engines.violations.kept import LIMIT
from holdfast.engines.violations.listing import PairListing
from holdfast.engines.violations.maintain import maintain
from holdfast.engines.violations.rule import AskedRule, R, R_co
from holdfast.engines.violations.state import State
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.progress import SILENT, Progress
from holdfast.search.found import Found
from holdfast.search.queries import PairQuery
from holdfast.search.shared import TableSearch
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.table.table import Schema, Table


@dataclass(frozen=True)
class RuleStatus(Generic[R_co]):
    """How a rule stands: how many violations it has. `listed` says that the pairs are kept, not their number alone."""

    rule: R_co
    kind: str
    violations: int
    listed: bool
    limit: int
    counted: str  # what a violation is
    about: Mapping[str, Any] = field(compare=False)  # what else the object tells of the rule, from which it follows

    def __repr__(self) -> str:
        return f"{self.rule.name}: {self.violations:,} violations of {self.text}"

    @property
    def text(self) -> str:
        """The rule."""
        return self.rule.text

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        rule = self.rule
        return {
            "kind": self.kind,
            "table": rule.table,
            "name": rule.name,
            "severity": rule.severity,
            **self.about,
            "violations": self.violations,
            "counted": self.counted,
            "listed": self.listed,
            **({} if self.listed else {"pair_limit": self.limit}),
            **({"note": rule.note} if rule.note else {}),
            "text": rule.text,
        }


class ViolationEngine(Engine, Generic[R]):
    """All violating pairs of given rules of one class."""

    search: ClassVar[type[TableSearch]] = TableSearch  # what comparisons with null mean

    def __init__(self, declared: RuleClass, settings: ViolationSettings, given: Mapping[str, TableRules]) -> None:
        self.declared, self._given = declared, given
        limit = LIMIT if settings.pair_limit is None else settings.pair_limit
        self._limit = 0 if settings.count_only else limit

    # ---- what a class brings ----------------------------------------------------------------------------------------

    @abstractmethod
    def rule_of(self, given: GivenRule, schema: Schema, ordered: frozenset[str]) -> R:
        """A rule of a table, from its text."""

    @abstractmethod
    def queries_of(self, rule: R, schema: Schema) -> Sequence[PairQuery]:
        """The pair queries whose pairs violate a rule; no pair meets two of them."""

    @abstractmethod
    def listing_of(self, rule: R, found: Found, table: Table) -> PairListing:
        """The violations of a rule that were found in a table."""

    @abstractmethod
    def counted(self, rule: R) -> str:
        """What is counted as a violation: `ordered pairs`."""

    def about(self, rule: R) -> Mapping[str, Any]:  # noqa: ARG002
        """What the object of a rule tells beside its text."""
        return {}

    # ---- the verbs --------------------------------------------------------------------------------------------------

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State[R]:
        """Find all violations."""
        search = subject.part(self.search, runner, progress)
        return states.discover(search, self._asked(subject.table.schema), runner, self._limit)

    def with_rules(
        self, state: State[R], subject: WatchedTable, runner: Runner, progress: Progress = SILENT
    ) -> State[R]:
        """Find the violations of the rules that are new."""
        search = subject.part(self.search, runner, progress)
        return states.with_rules(state, search, self._asked(subject.table.schema), runner)

    def maintain(self, state: State[R], change: Change, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Find what a batch violates, and what it resolves."""
        before = self.result(state)
        deltas = maintain(state, change)
        after = self.result(state)
        moved = {d.rule.text: d.change(*change.updated) for d in deltas if d}
        return between(before, after).with_violations(before, after, moved)

    def result(self, state: State[R]) -> Result:
        """How each rule stands."""
        return {each.rule.text: self._status(each.rule, each.count, each.listed) for each in state.violations}

    def _status(self, rule: R, count: int, listed: bool) -> RuleStatus[R]:
        about = self.about(rule)
        return RuleStatus(rule, self.declared.name, count, listed, self._limit, self.counted(rule), about)

    def dump(self, state: State[R]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The violations; the search is kept with the table."""
        return state.dump()

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State[R]:
        """The state from its violations; violations know no codes."""
        return states.load(subject.part(self.search), self._asked(subject.table.schema), arrays, facts)

    def listings(self, state: State[R], subject: WatchedTable, rule: str | None = None) -> list[PairListing]:
        """All violations, rule by rule, with the rows of the table as it is now."""
        return [
            self.listing_of(each.rule, each.found(), subject.table)
            for each in state.violations
            if is_asked(each.rule, rule)
        ]

    def explain(
        self, state: State[R] | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()
    ) -> contract.Explanation:
        """Why some rows violate a rule, or the first that do, and which rows to fix first."""
        listings = [] if state is None else self.listings(state, subject, text)
        listing = next((each for each in listings if each.rule.text == text), None)
        if listing is None:
            raise BadInput(f"can't explain {text!r}: it is not watched here; add it with: holdfast rules STATE add")
        return Explanation.of(listing, rows)

    def _asked(self, schema: Schema) -> list[AskedRule[R]]:
        """The rules that were given for a table, each with its queries."""
        own = self._given.get(schema.name, TableRules())
        rules = [self.rule_of(given, schema, own.ordered) for given in own.rules]
        return [AskedRule(rule, self.queries_of(rule, schema)) for rule in rules]
