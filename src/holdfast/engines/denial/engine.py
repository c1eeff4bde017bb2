"""Denial constraints behind the verbs that every engine offers. They are given, not discovered: what is found is how
many pairs of rows violate each, and which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.changes.diff import Diff, PairChange, Result, between
from holdfast.engines.contract import Settings
from holdfast.engines.denial import maintain, state
from holdfast.engines.denial.check import check
from holdfast.engines.denial.listing import DenialListing
from holdfast.engines.denial.model import DenialConstraint
from holdfast.engines.denial.parse import parse
from holdfast.engines.denial.state import State
from holdfast.engines.denial.violations import LIMIT
from holdfast.table.change import Change
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner
from holdfast.table.table import Schema, Table


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


class DenialEngine:
    """All violating pairs of given denial constraints."""

    name = "dc"
    title = "violations"
    across = False

    def __init__(self, settings: Settings) -> None:
        self._rules = settings.rules
        self._limit = LIMIT if settings.pair_limit is None else settings.pair_limit

    def constraints(self, schema: Schema) -> list[DenialConstraint]:
        """The constraints of a table, with constants in the types of its columns."""
        own = self._rules.get(schema.name, {})
        return [
            check(
                parse(rule["text"], name=rule["name"], table=schema.name, severity=rule["severity"], note=rule["note"]),
                schema,
                own["ordered"],
            )
            for rule in own.get("constraints", ())
        ]

    def discover(self, subject: Table, runner: Runner) -> State:
        """Find all violations."""
        return state.discover(subject, self.constraints(subject.schema), runner, self._limit)

    def maintain(self, kept: State, change: Change, runner: Runner) -> Diff:  # noqa: ARG002  # a batch fits one machine
        """Find what a batch violates, and what it resolves."""
        before = self.result(kept)
        deltas = maintain.maintain(kept, change)
        after = self.result(kept)
        changes = {d.constraint.text: PairChange(d.added, d.resolved, d.retold(*change.updated)) for d in deltas if d}
        return between(before, after).with_violations(before, after, changes)

    def result(self, kept: State) -> Result:
        """How each rule stands."""
        statuses = [RuleStatus(each.constraint, each.count, each.listed, self._limit) for each in kept.violations]
        return {status.text: status for status in statuses}

    def dump(self, kept: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The violations, and the files of the indexes."""
        return kept.dump()

    def load(self, subject: Table, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state from its violations; its indexes are opened, or made, when they are needed."""
        return state.load(subject, self.constraints(subject.schema), arrays, facts)

    def rewritten(self, kept: State, subject: Table, codes: Mapping[str, Kept]) -> State:  # noqa: ARG002
        """Violations know no codes, and indexes are made anew."""
        return kept.rewritten(subject)

    def listings(self, kept: State, table: Table) -> list[DenialListing]:
        """All violations, rule by rule, with the rows of the table as it is now."""
        return [DenialListing.of(each.constraint, each.found(), table) for each in kept.violations]


def make(settings: Settings) -> DenialEngine:
    """The engine for the rules in the settings."""
    return DenialEngine(settings)
