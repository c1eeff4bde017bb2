"""Whether a list order dependency holds in a table, and the first split or swap that breaks it.

Nothing is stored, and the search ends with the first pair that it meets.
Cost: O(n log n) for each column of the first list and each of the second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from holdfast.engines import contract
from holdfast.engines.given.listing import short_names, why_rows
from holdfast.engines.given.queries import queries_of
from holdfast.rules.lists import ListOD
from holdfast.rules.rule import listed
from holdfast.search.search import PairSearch
from holdfast.table.nulls import Nulls
from holdfast.table.plain import plain_rows
from holdfast.table.table import Table


@dataclass(frozen=True, repr=False)
class Ordered(contract.CurrentExplanation):
    """Whether rows sorted by one list of columns are sorted by another; if not, two rows that break it. True iff it
    holds.

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

    def __bool__(self) -> bool:
        return self.kind is None

    def lines(self) -> list[str]:
        """The rule, and the reason."""
        return [self.rule.text, f"{self.reason}."]

    def to_json(self) -> dict[str, Any]:
        """As a plain object."""
        about = {"kind": "rule", "table": self.rule.table, "text": self.rule.text, "holds": bool(self)}
        broken = {} if self else {"broken_by": self.kind, "rows": list(self.rows), **self.values}
        return {**about, **broken, "reason": self.reason}


def look(rule: ListOD, table: Table) -> Ordered:
    """Whether a rule holds in a table."""
    search = PairSearch(table, queries_of(rule, table.schema), Nulls.EQUAL)
    found = (search.first(number) for number in range(len(search.queries)))
    pair = next((each for each in found if each is not None), None)
    if pair is None:
        return Ordered(rule)
    ids = np.array(pair)
    names, rows = short_names(table, ids), plain_rows(table.values(ids))
    said = why_rows(rule, table, ids, names)
    shown = {row: {name: own[name] for name in rule.columns} for row, own in zip("ts", rows, strict=True)}
    kind: Literal["split", "swap"] = "split" if said.kind == "split" else "swap"
    return Ordered(rule, kind, pair, shown, f"{listed(names)} are {said.text}")
