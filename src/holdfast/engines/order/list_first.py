"""Whether a list order dependency holds in a table, the first split or swap that breaks it, and how far it holds.

Nothing is stored, and the search ends with the first pair that it meets. How many rows must go is counted where an
error is allowed, or the rule is explained (see `list_error`).
Cost: O(n log n) for each column of the first list and each of the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from holdfast.engines import contract
from holdfast.engines.given.listing import short_names, why_rows
from holdfast.engines.given.queries import queries_of
from holdfast.engines.order.canonical_set import Part, parts_of
from holdfast.engines.order.list_error import error_facts, rows_to_remove
from holdfast.rules.error_measures import g3
from holdfast.rules.lists import ListOD
from holdfast.rules.rule import listed
from holdfast.search.search import PairSearch
from holdfast.table.nulls import Nulls
from holdfast.table.plain import plain_rows
from holdfast.table.table import Table
from holdfast.visible import counted


@dataclass(frozen=True, repr=False)
class Ordered(contract.CurrentExplanation):
    """Whether rows sorted by one list of columns are sorted by another; if not, two rows that break it. True iff it
    holds, or holds but for the share of rows that is `allowed`.

    >>> import holdfast as hf, pyarrow as pa
    >>> ordered = hf.orders(pa.table({"salary": [45, 60], "tax": [9, 7]}), "salary", "tax")
    >>> bool(ordered), ordered.kind, ordered.rows
    (False, 'swap', (0, 1))
    """

    rule: ListOD
    kind: Literal["split", "swap"] | None = None  # None: it holds
    rows: tuple[int, ...] = ()  # t, which is not after s by the first list, and after s by the second
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of t and s, by column
    reason: str = "It holds: no rows violate it"
    to_remove: int | None = 0  # rows, the fewest that must go so that it holds; None: not counted
    table_rows: int = 0
    allowed: float = 0.0  # the error up to which it counts as holding
    parts: tuple[Part, ...] | None = None  # the canonical dependencies that it means; None: not looked at

    def __bool__(self) -> bool:
        return self.kind is None or (self.error is not None and self.error <= self.allowed)

    @property
    def error(self) -> float | None:
        """g3, the least share of rows to remove so that it holds; None: not counted."""
        return None if self.to_remove is None else g3(self.to_remove, self.table_rows)

    def lines(self) -> list[str]:
        """The rule, the reason, how far it holds, and the canonical dependencies that it means."""
        error = [] if self.to_remove is None or self.error is None else error_line(self.to_remove, self.error)
        parts = [] if self.parts is None else part_lines(self.parts)
        return [self.rule.text, f"{self.reason}.", *error, *parts]

    def to_json(self) -> dict[str, Any]:
        """As a plain object."""
        about = {"kind": "rule", "table": self.rule.table, "text": self.rule.text, "holds": bool(self)}
        broken = {} if self.kind is None else {"broken_by": self.kind, "rows": list(self.rows), **self.values}
        error = {} if self.to_remove is None else error_facts(self.to_remove, self.table_rows)
        parts = {} if self.parts is None else {"canonical": [each.to_json() for each in self.parts]}
        return {**about, **broken, "reason": self.reason, **error, **parts}


def error_line(to_remove: int, error: float) -> list[str]:
    """How far a rule holds that does not hold."""
    return [f"Without {counted(to_remove, 'row')} ({error:.4%}) it would hold."] if to_remove else []


def part_lines(parts: Sequence[Part]) -> list[str]:
    """The canonical dependencies that a rule means."""
    if not parts:
        return ["It says nothing: no rows can violate it."]
    return ["It holds if and only if all of these canonical dependencies hold:", *(f"  {each}" for each in parts)]


def explained(rule: ListOD, table: Table) -> Ordered:
    """Whether a rule holds in a table, how far, and what it means."""
    return replace(look(rule, table, count=True), parts=tuple(parts_of(rule, table)))


def look(rule: ListOD, table: Table, allowed: float = 0.0, *, count: bool = False) -> Ordered:
    """Whether a rule holds in a table, perhaps but for an allowed share of rows; `count` says how far, whatever is
    allowed.
    """
    search = PairSearch(table, queries_of(rule, table.schema), Nulls.EQUAL)
    found = (search.first(number) for number in range(len(search.queries)))
    pair = next((each for each in found if each is not None), None)
    if pair is None:
        return Ordered(rule, table_rows=table.rows, allowed=allowed)
    ids = np.array(pair)
    names, rows = short_names(table, ids), plain_rows(table.values(ids))
    said = why_rows(rule, table, ids, names)
    shown = {row: {name: own[name] for name in rule.columns} for row, own in zip("ts", rows, strict=True)}
    kind: Literal["split", "swap"] = "split" if said.kind == "split" else "swap"
    to_remove = rows_to_remove(rule, table) if count or allowed else None
    return Ordered(rule, kind, pair, shown, f"{listed(names)} are {said.text}", to_remove, table.rows, allowed)
