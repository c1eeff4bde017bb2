"""Whether an order dependency holds: its groups and how many pairs of rows they test, or two rows that break it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from holdfast.borders.cover import Numbers
from holdfast.borders.partitions import Partition
from holdfast.borders.rows import RankedColumns
from holdfast.borders.targets import Targets
from holdfast.changes.diff import Witness
from holdfast.engines import contract
from holdfast.engines.order.removals import Contexts, Scratch, counter_of
from holdfast.engines.order.tested_pairs import TestedPairs
from holdfast.engines.order.wording import OrderWording
from holdfast.engines.thresholds import untested_sentence
from holdfast.pairs import bitsets
from holdfast.pairs.filled import is_empty
from holdfast.rules.error_measures import g3
from holdfast.rules.order import Canonical, ConstantOD, parse
from holdfast.rules.sentences import explained
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.row_names import witnesses_of
from holdfast.table.table import Schema, Table
from holdfast.visible import counted


@dataclass(frozen=True)
class OrderExplanation(contract.RuleExplanation):
    """Whether a rule holds. Groups are those of two rows and more: in a smaller one there is nothing to break it."""

    rule: Canonical
    rows: int
    groups: int
    largest_group: int
    broken_groups: int
    to_remove: int  # rows, the fewest that must go so that it holds
    witness: Witness | None
    schema: Schema

    FIGURES = ("rows", "groups", "largest_group", "broken_groups", "to_remove")

    def lines(self) -> list[str]:
        """As text, a line each."""
        sizes = f"{self.groups:,} groups of two rows or more, the largest of {self.largest_group:,}"
        groups = f"{sizes}; {self.rule.tested_pairs:,} tested pairs"
        if self.rule.empty:
            needed = self.rule.context if isinstance(self.rule, ConstantOD) else self.rule.columns
            return [f"{self.rule.text} is empty: {untested_sentence(needed, self.rows)}"]
        if self.witness is None:
            return [f"{self.rule.text} holds in all {self.rows:,} rows: {groups}"]
        kind = "split" if isinstance(self.rule, ConstantOD) else "swap"
        head = f"{self.rule.text} does not hold: rows {kind} in {self.broken_groups:,} of {groups}"
        rest = f"  without {counted(self.to_remove, 'row')} ({self.rule.error:.4%}) it would hold"
        return [head, rest, f"  {explained(self.rule, self.witness, self.schema).sentence}"]


def explain(table: Table, text: str) -> OrderExplanation:
    """Explain a rule of a table."""
    names = table.schema.names
    rule = parse(text, names, table.schema.name)
    targets = Targets(len(names), keys=False, ascending_pairs=True, descending_pairs=True)
    context = [names.index(name) for name in rule.context]
    target, _ = OrderWording(table.schema.name, tuple(names), targets).place(rule)
    compared = [] if isinstance(rule, ConstantOD) else [names.index(name) for name in rule.pair]
    sets = (bitsets.of(own, targets.context_words)[None] for own in (context, compared))
    tested = int(TestedPairs(table).of(*sets)[0])
    rows = RankedColumns(table)
    grouped = Contexts(rows).of(sum(1 << column for column in context))
    broken = _Broken.first(rows, grouped.partition, targets.columns_of[target], targets.is_descending(target))
    to_remove = counter_of(rows, targets, target, Scratch())(grouped, table.rows) if broken else 0
    error, empty = g3(to_remove, table.rows), is_empty(table, [*context, *compared])
    return OrderExplanation(
        replace(rule, tested_pairs=tested, error=error, empty=empty),
        table.rows,
        grouped.partition.groups,
        int(np.diff(grouped.partition.starts).max(initial=0)),
        broken.groups if broken else 0,
        to_remove,
        witnesses_of(table, {text: broken.ids(rows)})[text] if broken else None,
        table.schema,
    )


@dataclass(frozen=True)
class _Broken:
    """Two rows that break a rule, by place, and how many groups have such rows."""

    one: int
    other: int
    groups: int

    def ids(self, rows: RankedColumns) -> tuple[int, int]:
        """The two rows by id, the lower one first."""
        one, other = sorted(rows.ids(np.array([self.one, self.other])).tolist())
        return one, other

    @staticmethod
    def first(rows: RankedColumns, partition: Partition, columns: Sequence[int], descending: bool) -> _Broken | None:
        """The first rows that split a constant or swap a pair; None where the rule holds."""
        places, sizes = partition.rows.astype(np.int64), np.diff(partition.starts)
        first = np.repeat(partition.starts[:-1], sizes)
        values = [rows.cells[column][places].astype(np.int64) for column in columns]
        if len(values) > 1:
            return _Broken._swap(rows, places, places[first], values, descending)
        (own,) = values
        if rows.distinct:  # a null differs from everything
            own = np.where(own == NULL_CODE, -1 - places, own)
        differ = np.flatnonzero(own != own[first])
        if not len(differ):
            return None
        at = differ[np.argmin(places[differ])]
        return _Broken(places[first[at]], places[at], len(np.unique(first[differ])))

    @staticmethod
    def _swap(
        rows: RankedColumns, places: Numbers, groups: Numbers, values: Sequence[Numbers], descending: bool
    ) -> _Broken | None:
        """Two rows of a group of which one has more on one column and less on the other, or, descending, more on both:
        of rows by group, then by one column, one pass sees the highest of those that are less there.
        """
        one, other = values[0], int(values[1].max(initial=0)) - values[1] if descending else values[1]
        known = np.ones(len(places), np.bool_)
        if rows.distinct:  # a null is in no swap
            known = np.logical_and(*(own != NULL_CODE for own in values))
        order = np.flatnonzero(known)
        order = order[np.lexsort((other[order], one[order], groups[order]))]
        places, groups, other = places[order], groups[order], other[order]
        ranks = groups * (other.max(initial=0) + 1) + other  # higher than those of all groups before
        highest = np.maximum.accumulate(ranks)  # a higher one before a row is less on the first column
        swapped = np.flatnonzero(highest > ranks)
        if not len(swapped):
            return None
        (at,) = np.flatnonzero(ranks == highest[swapped[0]])[:1]
        return _Broken(places[at], places[swapped[0]], len(np.unique(groups[swapped])))
