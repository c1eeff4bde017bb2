"""Denial constraints behind the verbs that every engine offers. They are given, not discovered: what is found is how
many pairs of rows violate each, and which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.changes.diff import Diff, PairChange, Result, between
from holdfast.engines.contract import Engine
from holdfast.engines.declared import RuleClass, TableRules
from holdfast.engines.denial import DenialSettings, maintain
from holdfast.engines.denial import state as states
from holdfast.engines.denial.explain import Explanation
from holdfast.engines.denial.listing import DenialListing
from holdfast.engines.denial.model import DenialConstraint
from holdfast.engines.denial.state import State
from holdfast.engines.denial.texts import constraint_of
from holdfast.engines.denial.violations import LIMIT
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.progress import SILENT, Progress
from holdfast.search.shared import TableSearch
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.table.table import Schema


@dataclass(frozen=True)
class RuleStatus:
    """How a rule stands: how many violations it has. `listed` says that the pairs are kept, not their number alone."""

    constraint: DenialConstraint
    violations: int
    listed: bool
    limit: int = LIMIT

    kind = "dc"

    def __repr__(self) -> str:
        return f"{self.constraint.name}: {self.violations:,} violations of {self.text}"

    @property
    def text(self) -> str:
        """The rule."""
        return self.constraint.text

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        rule = self.constraint
        return {
            "kind": self.kind,
            "table": rule.table,
            "name": rule.name,
            "severity": rule.severity,
            "violations": self.violations,
            "counted": "rows" if rule.is_single else "pairs, each once" if rule.is_symmetric else "ordered pairs",
            "listed": self.listed,
            **({} if self.listed else {"pair_limit": self.limit}),
            **({"note": rule.note} if rule.note else {}),
            "text": rule.text,
        }


class DenialEngine(Engine):
    """All violating pairs of given denial constraints."""

    def __init__(self, declared: RuleClass, settings: DenialSettings, given: Mapping[str, TableRules]) -> None:
        self.declared, self._given = declared, given
        limit = LIMIT if settings.pair_limit is None else settings.pair_limit
        self._limit = 0 if settings.count_only else limit

    def constraints(self, schema: Schema) -> list[DenialConstraint]:
        """The constraints of a table, with constants in the types of its columns."""
        own = self._given.get(schema.name, TableRules())
        return [constraint_of(rule, schema, own.ordered) for rule in own.rules]

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:
        """Find all violations."""
        search = subject.part(TableSearch, runner, progress)
        return states.discover(search, self.constraints(subject.table.schema), runner, self._limit)

    def maintain(self, state: State, change: Change, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Find what a batch violates, and what it resolves."""
        before = self.result(state)
        deltas = maintain.maintain(state, change)
        after = self.result(state)
        moved = {d.constraint.text: PairChange(d.added, d.resolved, d.retold(*change.updated)) for d in deltas if d}
        return between(before, after).with_violations(before, after, moved)

    def result(self, state: State) -> Result:
        """How each rule stands."""
        found = [RuleStatus(each.constraint, each.count, each.listed, self._limit) for each in state.violations]
        return {status.text: status for status in found}

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The violations; the search is kept with the table."""
        return state.dump()

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state from its violations; violations know no codes."""
        return states.load(subject.part(TableSearch), self.constraints(subject.table.schema), arrays, facts)

    def listings(self, state: State, subject: WatchedTable) -> list[DenialListing]:
        """All violations, rule by rule, with the rows of the table as it is now."""
        return [DenialListing.of(each.constraint, each.found(), subject.table) for each in state.violations]

    def explain(self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> Explanation:
        """Why some rows violate a constraint, or the first that do, and which rows to fix first."""
        listings = [] if state is None else self.listings(state, subject)
        listing = next((each for each in listings if each.rule.text == text), None)
        if listing is None:
            raise BadInput(f"can't explain {text!r}: it is not watched here; give it with init --rules")
        return Explanation.of(listing, rows)


def make(declared: RuleClass, settings: DenialSettings, given: Mapping[str, TableRules]) -> DenialEngine:
    """The engine for the rules that were given."""
    return DenialEngine(declared, settings, given)
