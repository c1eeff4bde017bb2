"""Rules about one row, kept true under batches: which rows violate each, and why one does.

Invariant: the state holds for each rule the ids of all rows that violate it.
Cost: a batch costs its own rows, and eight or nine bytes are kept of each row that violates a rule.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from holdfast.engines.conditions.columns import NamedColumns
from holdfast.engines.conditions.reckon import operand_values
from holdfast.engines.conditions.truth import truth
from holdfast.engines.given.explain import GivenExplanation, explained
from holdfast.engines.given.keeper import Answer, Arrays, Cut, Keeper, Old, RowsOf, Tally, alone, listed
from holdfast.engines.given.listing import PairListing
from holdfast.engines.given.row_set import RowSet
from holdfast.engines.row.evaluate import violators, violators_in
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.check import MOMENTS, WHILE, Checker
from holdfast.rules.conditions import Arithmetic, Call, Condition
from holdfast.rules.constants import Constant
from holdfast.rules.given import Named
from holdfast.rules.row import RowRule
from holdfast.table.plain import plain_values
from holdfast.table.rows import Ids, Rows
from holdfast.table.runner import Runner
from holdfast.visible import without_fraction


class RowListing(PairListing):
    """The rows that violate a rule about one row."""

    def known(self, ids: Ids) -> KnownRow:
        """The row, whose values the keeper compares and reckons with."""
        return KnownRow(NamedColumns.of(Rows.at(self.table, ids)))


@dataclass(frozen=True)
class KnownRow:
    """A row t of a table."""

    columns: NamedColumns

    def truth(self, condition: Condition) -> bool:
        """Whether a condition is true of it."""
        return bool(truth(condition, self.columns)[0] > 0)

    def value(self, operand: Arithmetic | Call) -> Any:
        """What a calculation comes to."""
        found = operand_values(operand, self.columns)
        kind = Checker.of(self.columns.encoding.schema).kind(operand)
        if kind not in (WHILE, *MOMENTS):
            return plain_values(found)[0]
        microseconds = found.cast(pa.int64())
        if kind != WHILE:
            return without_fraction(str(plain_values(microseconds.cast(pa.timestamp("us")))[0]))
        return Constant(dt.timedelta(microseconds=microseconds[0].as_py())).text


RowsState = list[RowSet]  # of each rule the rows that violate it


@dataclass(frozen=True)
class RowsKeeper(Keeper[WatchedTable, RowsState]):
    """The rules about one row of a table."""

    table: str
    rules: tuple[Named[RowRule], ...]

    def cuts(self) -> Sequence[Sequence[Cut]]:
        """Each row is a matter of its own."""
        return [[Cut(self.table, "row")] for _ in self.rules]

    def begin(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT, old: Old = None) -> RowsState:  # noqa: ARG002
        """Look at every row for the rules that are new, shard by shard."""
        rows = dict(zip(*old, strict=True)) if old else {}
        new = {named.text: named.rule.satisfied for named in self.rules if named.text not in rows}
        rows |= zip(new, map(RowSet, violators_in(list(new.values()), subject.table, runner)), strict=True)
        return [rows[text] for text in self.texts]

    def look(self, state: RowsState, born: RowsOf, dead: RowsOf) -> tuple[RowsState, Answer]:
        """Look at the rows born, and forget those that died."""
        added = violators([named.rule.satisfied for named in self.rules], born[self.table])
        resolved = [rows.remove(dead[self.table].ids) for rows in state]
        for rows, own in zip(state, added, strict=True):
            rows.add(own)
        return state, [listed(alone(come), alone(gone)) for come, gone in zip(added, resolved, strict=True)]

    def tallies(self, state: RowsState) -> Sequence[Tally]:
        """How many rows violate each."""
        return [Tally(len(rows), {"listed": True}) for rows in state]

    def listing(self, state: RowsState, subject: WatchedTable, rule: int) -> RowListing:
        """The rows that violate a rule."""
        named, ids = self.rules[rule], state[rule].ids()
        return RowListing(named, subject.table, len(ids), alone(ids), {"t": list(named.rule.columns)})

    def explain(self, state: RowsState, subject: WatchedTable, rule: int, rows: Sequence[int]) -> GivenExplanation:
        """Why a row violates a rule, or the first that does."""
        return explained(self.listing(state, subject, rule), rows)

    def dump(self, state: RowsState) -> tuple[Arrays, Mapping[str, Any]]:
        """The ids of the rows; these know no codes."""
        return {text: rows.ids() for text, rows in zip(self.texts, state, strict=True)}, {}

    def load(self, subject: WatchedTable, arrays: Arrays, facts: Mapping[str, Any]) -> RowsState:  # noqa: ARG002
        """The state from the ids."""
        return [RowSet(arrays[text]) for text in self.texts]
