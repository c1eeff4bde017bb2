"""The canonical order dependencies that a list order dependency means (papers: fastod, theorem 5).

`[X1, X2, …] orders [Y1, Y2, …]` holds iff all of these hold:

    {X1, X2, …}: [] -> Yj                        for each j
    {X1, …, Xi-1, Y1, …, Yj-1}: Xi ~ Yj          for each i and j

With a direction for each column, `Xi ~ Yj desc` stands where the two run opposite ways. What always holds is left out:
a column of the context on the right, and a column beside itself. A column that stands in both lists in opposite
directions swaps wherever it differs, so there it is constant: `[] -> Xi` for `Xi ~ Xi desc`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.borders.rows import RankedColumns
from holdfast.borders.targets import Targets
from holdfast.engines.order.removals import Contexts, Scratch, counter_of
from holdfast.engines.order.wording import OrderWording
from holdfast.rules.lists import ListOD
from holdfast.rules.order import Canonical, Compatible, ConstantOD
from holdfast.table.table import Table
from holdfast.visible import counted


@dataclass(frozen=True)
class Part:
    """One canonical dependency of a list, and how many rows must go, at least, so that it holds."""

    rule: Canonical
    to_remove: int

    def __str__(self) -> str:
        if not self.to_remove:
            return f"{self.rule.text}   holds"
        return f"{self.rule.text}   does not hold: {counted(self.to_remove, 'row')} to remove"

    def to_json(self) -> dict[str, Any]:
        """As a plain object."""
        return {"text": self.rule.text, "holds": not self.to_remove, "to_remove": self.to_remove}


def canonical_set(rule: ListOD, names: Sequence[str]) -> list[Canonical]:
    """The canonical dependencies of a rule about a table with some columns, each once."""
    return list(dict.fromkeys(each.in_table(names, rule.table) for each in _not_trivial(rule)))


def _not_trivial(rule: ListOD) -> Iterator[Canonical]:
    context = _names(column.name for column in rule.by)
    yield from (ConstantOD("", context, column.name) for column in rule.then if column.name not in context)
    for i, one in enumerate(rule.by):
        for j, other in enumerate(rule.then):
            context = _names(column.name for column in (*rule.by[:i], *rule.then[:j]))
            rising = one.descending == other.descending
            if one.name in context or other.name in context or (one.name == other.name and rising):
                continue
            if one.name == other.name:
                yield ConstantOD("", context, one.name)
            else:
                yield Compatible("", context, (one.name, other.name), "asc" if rising else "desc")


def _names(names: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def parts_of(rule: ListOD, table: Table) -> list[Part]:
    """The canonical dependencies of a rule, each with how far it holds in a table."""
    names = table.schema.names
    targets = Targets(len(names), keys=False, ascending_pairs=True, descending_pairs=True)
    wording = OrderWording(table.schema.name, tuple(names), targets)
    rows = RankedColumns(table, [names.index(name) for name in rule.columns])
    contexts, scratch = Contexts(rows), Scratch()

    def to_remove(canonical: Canonical) -> int:
        target, context = wording.place(canonical)
        grouped = contexts.of(sum(1 << names.index(name) for name in context))
        return counter_of(rows, targets, target, scratch)(grouped, table.rows)

    return [Part(each, to_remove(each)) for each in canonical_set(rule, names)]
