"""Rules about one row behind the verbs that every engine offers. They are given, not discovered: what is found is which
rows violate each.

Invariant: the state holds for each rule, by its text, the ids of all rows that violate it.
Cost: a batch costs its own rows, and eight or nine bytes are kept of each row that violates a rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from holdfast.changes.diff import Diff, between
from holdfast.engines.contract import Engine, NoSettings, RuleClass
from holdfast.engines.row.find import violators, violators_born
from holdfast.engines.row.listing import RowListing
from holdfast.engines.violations.explain import Explanation
from holdfast.engines.violations.row_set import RowSet
from holdfast.engines.violations.single import row_change
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.progress import SILENT, Progress
from holdfast.rules.given import Named, TableRules, rules_of
from holdfast.rules.row import RowRule
from holdfast.table.change import Change
from holdfast.table.runner import Runner


@dataclass(frozen=True)
class RowStatus:
    """How a rule stands: how many rows violate it."""

    rule: Named[RowRule]
    violations: int

    kind = RowRule.kind

    def __repr__(self) -> str:
        return f"{self.rule.name}: {self.violations:,} violations of {self.text}"

    @property
    def text(self) -> str:
        """The rule."""
        return self.rule.text

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        about = {"columns": list(self.rule.rule.columns), "violations": self.violations}
        return self.rule.to_json({**about, "counted": self.rule.rule.counted, "listed": True})


class Violated(NamedTuple):
    """A rule, and the rows that violate it."""

    rule: Named[RowRule]
    rows: RowSet


State = dict[str, Violated]  # by the text of the rule


class RowEngine(Engine[WatchedTable, State]):
    """The rows that violate given rules."""

    def __init__(self, declared: RuleClass[NoSettings], given: Mapping[str, TableRules]) -> None:
        self.declared, self._given = declared, given

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:  # noqa: ARG002
        """Look at every row."""
        return self.with_rules({}, subject, runner)

    def with_rules(self, state: State, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:  # noqa: ARG002
        """Look at every row for the rules that are new."""
        rules = rules_of(self._given, subject.table.schema)
        new = [named for named in rules if named.text not in state]
        found = violators([named.rule.satisfied for named in new], subject.table, runner) if new else []
        rows = {text: each.rows for text, each in state.items()}
        rows |= {named.text: RowSet(ids) for named, ids in zip(new, found, strict=True)}
        return {named.text: Violated(named, rows[named.text]) for named in rules}

    def maintain(self, state: State, change: Change, runner: Runner, progress: Progress = SILENT) -> Diff:  # noqa: ARG002
        """Look at the rows born, and forget those that died."""
        before = self.result(state)
        born = violators_born([each.rule.rule.satisfied for each in state.values()], change)
        dead = np.sort(change.dead)
        moved = {}
        for (text, each), own in zip(state.items(), born, strict=True):
            resolved = each.rows.remove(dead)
            each.rows.add(own)
            if len(own) or len(resolved):
                moved[text] = row_change(own, resolved, change.updated)
        after = self.result(state)
        return between(before, after).with_violations(before, after, moved)

    def result(self, state: State) -> dict[str, RowStatus]:
        """How each rule stands."""
        return {text: RowStatus(each.rule, len(each.rows)) for text, each in state.items()}

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The ids of the rows."""
        return {text: each.rows.ids() for text, each in state.items()}, {}

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:  # noqa: ARG002
        """The state from its ids; these know no codes."""
        rules = rules_of(self._given, subject.table.schema)
        return {named.text: Violated(named, RowSet(arrays[named.text])) for named in rules}

    def listings(self, state: State, subject: WatchedTable, rule: str | None = None) -> list[RowListing]:
        """The rows that violate each rule."""
        return [
            RowListing.of_rows(each.rule, subject.table, each.rows.ids())
            for each in state.values()
            if each.rule.is_asked(rule)
        ]

    def explain(self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> Explanation:
        """Why a row violates a rule, or the first that does."""
        if state is None or text not in state:
            raise BadInput(f"can't explain {text!r}: it is not watched here; add it with: holdfast rules STATE add")
        own = state[text]
        return Explanation.of(RowListing.of_rows(own.rule, subject.table, own.rows.ids()), rows)
