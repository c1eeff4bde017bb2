"""Whether an order dependency holds: its groups and how many pairs of rows they test, or two rows that break it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from holdfast.borders.rows import RankedColumns
from holdfast.borders.targets import Targets
from holdfast.changes.diff import Witness
from holdfast.engines import contract
from holdfast.engines.order.breaks import LivingRows
from holdfast.engines.order.removals import Contexts, Scratch, counter_of
from holdfast.engines.order.tested_pairs import TestedPairs
from holdfast.engines.order.wording import OrderWording
from holdfast.engines.thresholds import untested_sentence
from holdfast.pairs import bitsets
from holdfast.pairs.filled import is_empty
from holdfast.rules.order import Canonical, Constant, parse
from holdfast.rules.sentences import explained
from holdfast.rules.shares import g3
from holdfast.table.naming import witnesses_of
from holdfast.table.table import Schema, Table


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
            needed = self.rule.context if isinstance(self.rule, Constant) else self.rule.columns
            return [f"{self.rule.text} is empty: {untested_sentence(needed, self.rows)}"]
        if self.witness is None:
            return [f"{self.rule.text} holds in all {self.rows:,} rows: {groups}"]
        kind = "split" if isinstance(self.rule, Constant) else "swap"
        head = f"{self.rule.text} does not hold: rows {kind} in {self.broken_groups:,} of {groups}"
        rest = f"  without {self.to_remove:,} rows ({self.rule.error:.4%}) it would hold"
        return [head, rest, f"  {explained(self.rule, self.witness, self.schema).sentence}"]


def explain(table: Table, text: str) -> OrderExplanation:
    """Explain a rule of a table."""
    names = table.schema.names
    rule = parse(text, names, table.schema.name)
    targets = Targets(len(names), keys=False, ascending_pairs=True, descending_pairs=True)
    context = [names.index(name) for name in rule.context]
    target, _ = OrderWording(table.schema.name, tuple(names), targets).place(rule)
    rows = LivingRows(table)
    sizes = np.bincount(rows.groups(context)[1])
    sizes = sizes[sizes > 1]
    found = rows.broken(targets, target, context)
    pair = None if found is None else tuple(sorted(rows.ids[list(found.rows)].tolist()))
    compared = [] if isinstance(rule, Constant) else [names.index(name) for name in rule.pair]
    tested = int(
        TestedPairs(table).of(*(bitsets.of(own, targets.context_words)[None] for own in (context, compared)))[0]
    )
    to_remove = 0 if found is None else _fewest(table, targets, target, context)
    return OrderExplanation(
        replace(
            rule,
            tested_pairs=tested,
            error=g3(to_remove, table.rows),
            empty=is_empty(table, [*context, *compared]),
        ),
        table.rows,
        len(sizes),
        int(sizes.max(initial=0)),
        0 if found is None else found.groups,
        to_remove,
        None if pair is None else witnesses_of(table, {text: pair})[text],
        table.schema,
    )


def _fewest(table: Table, targets: Targets, target: int, context: list[int]) -> int:
    """How many rows must go so that a rule holds."""
    contexts = Contexts(RankedColumns(table))
    grouped = contexts.of(sum(1 << column for column in context))
    return counter_of(contexts.rows, targets, target, Scratch())(grouped, table.rows)
