"""Rules about a table behind the verbs that every engine offers: what a quantity is, and whether that breaks a rule.

The state holds for each rule, by its text, what it measures (see `measures`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from holdfast.changes.diff import NOBODY, PairChange
from holdfast.engines import contract
from holdfast.engines.contract import NoSettings, RuleClass
from holdfast.engines.given.single import alone
from holdfast.engines.listing import Listing
from holdfast.engines.row.evaluate import violators, violators_born
from holdfast.engines.row.measures import Measured, loaded, measured
from holdfast.engines.violations.given import GivenEngine, ListedStatus
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.given import Named, TableRules, rules_of
from holdfast.rules.measure import TableRule
from holdfast.table.change import Change
from holdfast.table.frequencies import Frequencies
from holdfast.table.plain import Plain
from holdfast.table.rewrite import Kept
from holdfast.table.runner import Runner, Threads

_NOBODY = np.full((1, 2), NOBODY)


@dataclass(frozen=True, repr=False)
class TableStatus(ListedStatus[TableRule]):
    """Whether a table breaks a rule: it is one violation, or none. What the quantity is moves with every row: a status
    is another where the rule holds now and did not before, or the other way round.
    """

    value: Plain = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"{self.named.name}: {self.text} {self.verdict}; {self.said}"

    @property
    def verdict(self) -> str:
        """Whether the rule holds, in words."""
        return "does not hold" if self.violations else "holds"

    @property
    def said(self) -> str:
        """What the quantity is, in words."""
        value = f"{self.value:,}" if isinstance(self.value, int) else str(self.value)
        return f"{self.named.rule.quantity.text} is {'unknown' if self.value is None else value}"

    def figures(self) -> Mapping[str, Any]:
        """What the quantity is."""
        return {**super().figures(), "value": self.value}


@dataclass(frozen=True)
class Explanation(contract.Explanation):
    """What the quantity of a rule is, and rows to look at, if there are such."""

    status: TableStatus
    rows: tuple[str, ...]
    ids: tuple[int, ...]
    count: int

    @staticmethod
    def of(status: TableStatus, listing: Listing) -> Explanation:
        """With the first rows of a listing."""
        ids = listing.listed[:_SHOWN, 0]
        return Explanation(status, tuple(listing.names(ids)), tuple(ids.tolist()), len(listing.listed))

    def lines(self) -> list[str]:
        """As text, a line each."""
        rule = self.status.named
        lines = [f"{rule.name}: {rule.text}", *rule.note.splitlines(), f"It {self.status.verdict}: {self.status.said}."]
        if self.rows:
            some = f"Look at {self.count:,} row{'s' * (self.count != 1)}, for example: {', '.join(self.rows)}"
            lines.append(some)
        return lines

    def to_json(self) -> dict[str, Any]:
        """As a plain object."""
        return {**self.status.to_json(), "holds": not self.status.violations, "rows": list(self.ids)}


_SHOWN = 3
State = dict[str, Measured]  # by the text of the rule


class TableEngine(GivenEngine[WatchedTable, State]):
    """Whether a table satisfies given rules."""

    figures_move = True

    def __init__(self, declared: RuleClass[NoSettings], given: Mapping[str, TableRules]) -> None:
        self.declared, self._given = declared, given

    def discover(self, subject: WatchedTable, runner: Runner, progress: Progress = SILENT) -> State:
        """Look at how often values occur."""
        return self._measured(subject, subject.part(Frequencies, runner, progress))

    def follow(self, state: State, change: Change) -> dict[str, PairChange]:
        """Look at the values that became more or less frequent."""
        was_broken = {text: each.is_broken for text, each in state.items()}
        for each in state.values():
            each.follow(change.after)
        return {text: _turned(each, change) for text, each in state.items() if each.is_broken != was_broken[text]}

    def result(self, state: State) -> dict[str, TableStatus]:
        """How each rule stands."""
        return {text: TableStatus(each.rule, int(each.is_broken), value=each.value) for text, each in state.items()}

    def dump(self, state: State) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """What does not follow from how often values occur at once; frequencies are kept with the table."""
        kept = {text: each.dump() for text, each in state.items()}
        arrays = {f"{text}/{name}": array for text, (own, _) in kept.items() for name, array in own.items()}
        return arrays, {text: fact for text, (_, fact) in kept.items()}

    def load(self, subject: WatchedTable, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> State:
        """The state that `dump` described."""
        table, frequencies = subject.table, subject.part(Frequencies)
        return {
            named.text: loaded(named, table, frequencies, partial(_array, arrays, named.text), facts[named.text])
            for named in rules_of(self._given, table.schema)
        }

    def rewritten(self, state: State, subject: WatchedTable, kept: Mapping[str, Kept]) -> State:  # noqa: ARG002
        """The state from the frequencies of the codes that stayed."""
        return self._measured(subject, subject.part(Frequencies))

    def rules(self, state: State) -> list[Named[TableRule]]:
        """The rules."""
        return [each.rule for each in state.values()]

    def listing(self, state: State, subject: WatchedTable, named: Named[TableRule]) -> Listing:
        """The rows to look at where a rule is broken, if there are such: they are looked for now."""
        is_broken = state[named.text].is_broken
        condition = named.rule.of_rows if is_broken else None
        ids = violators([condition], subject.table, Threads())[0] if condition else np.empty(0, np.int64)
        return Listing(named, subject.table, int(is_broken), alone(ids), {"t": list(named.rule.columns)})

    def explain(self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()) -> Explanation:
        """What the quantity is, and which rows to look at."""
        self.refuse_rows(rows)
        state, named = self.watched(state, text)
        return Explanation.of(self.result(state)[text], self.listing(state, subject, named))

    def _measured(self, subject: WatchedTable, frequencies: Frequencies) -> State:
        table = subject.table
        return {named.text: measured(named, table, frequencies) for named in rules_of(self._given, table.schema)}


def _array(arrays: Mapping[str, Any], text: str, name: str) -> Any:
    """What a dump holds of a rule."""
    return arrays[f"{text}/{name}"]


def _turned(measured: Measured, change: Change) -> PairChange:
    """A violation that came or went. No rows are it; yet a row that the batch brought may show it."""
    if not measured.is_broken:
        return PairChange(_NOBODY[:0], _NOBODY)
    return PairChange(_NOBODY, _NOBODY[:0], find_new=partial(_example, measured.rule.rule, change))


def _example(rule: TableRule, change: Change) -> tuple[int, ...] | None:
    if rule.of_rows is None:
        return None
    found = violators_born([rule.of_rows], change)[0]
    return (int(found[0]),) if len(found) else None
