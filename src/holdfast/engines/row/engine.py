"""Rules about one row behind the verbs that every engine offers. They are given, not discovered: what is found is which
rows violate each, and why one does.

Invariant: the state holds for each rule, by its text, the ids of all rows that violate it.
Cost: a batch costs its own rows, and eight or nine bytes are kept of each row that violates a rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from holdfast.changes.diff import PairChange
from holdfast.engines.contract import NoSettings, RuleClass
from holdfast.engines.given.explain import Explanation
from holdfast.engines.given.listing import PairListing
from holdfast.engines.given.row_set import RowSet
from holdfast.engines.given.single import alone, row_change
from holdfast.engines.row.evaluate import Ids, rows_of, truth, violators, violators_born
from holdfast.engines.row.reckon import operand_values
from holdfast.engines.row.rows import Rows
from holdfast.engines.violations.given import GivenEngine, ListedStatus
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.conditions import Arithmetic, Condition
from holdfast.rules.given import Named, TableRules, rules_of
from holdfast.rules.row import RowRule
from holdfast.table.change import Change
from holdfast.table.plain import plain_values
from holdfast.table.runner import Runner
from holdfast.table.table import Table


class RowListing(PairListing):
    """The rows that violate a rule about one row."""

    @staticmethod
    def of_rows(rule: Named[RowRule], table: Table, ids: Ids) -> RowListing:
        """Some rows of a table."""
        return RowListing(rule, table, len(ids), alone(ids), {"t": list(rule.rule.columns)})

    def known(self, ids: Ids) -> KnownRow:
        """The row, whose values the engine compares and reckons with."""
        return KnownRow(rows_of(self.table, ids))


@dataclass(frozen=True)
class KnownRow:
    """A row t of a table."""

    rows: Rows

    def truth(self, condition: Condition) -> bool:
        """Whether a condition is true of it."""
        return bool(truth(condition, self.rows)[0] > 0)

    def value(self, operand: Arithmetic) -> Any:
        """What two numbers come to."""
        return plain_values(operand_values(operand, self.rows))[0]


class Violated(NamedTuple):
    """A rule, and the rows that violate it."""

    rule: Named[RowRule]
    rows: RowSet


State = dict[str, Violated]  # by the text of the rule


class RowEngine(GivenEngine[WatchedTable, State]):
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

    def follow(self, state: State, change: Change) -> dict[str, PairChange]:
        """Look at the rows born, and forget those that died."""
        born = violators_born([each.rule.rule.satisfied for each in state.values()], change)
        dead = np.sort(change.dead)
        moved = {}
        for (text, each), own in zip(state.items(), born, strict=True):
            resolved = each.rows.remove(dead)
            each.rows.add(own)
            if len(own) or len(resolved):
                moved[text] = row_change(own, resolved, change.updated)
        return moved

    def result(self, state: State) -> dict[str, ListedStatus[RowRule]]:
        """How each rule stands."""
        return {text: ListedStatus(each.rule, len(each.rows)) for text, each in state.items()}

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The ids of the rows."""
        return {text: each.rows.ids() for text, each in state.items()}, {}

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:  # noqa: ARG002
        """The state from its ids; these know no codes."""
        rules = rules_of(self._given, subject.table.schema)
        return {named.text: Violated(named, RowSet(arrays[named.text])) for named in rules}

    def rules(self, state: State) -> list[Named[RowRule]]:
        """The rules."""
        return [each.rule for each in state.values()]

    def listing(self, state: State, subject: WatchedTable, named: Named[RowRule]) -> RowListing:
        """The rows that violate a rule."""
        return RowListing.of_rows(named, subject.table, state[named.text].rows.ids())

    def explain(self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> Explanation:
        """Why a row violates a rule, or the first that does."""
        state, named = self.watched(state, text)
        return Explanation.of(self.listing(state, subject, named), rows)
