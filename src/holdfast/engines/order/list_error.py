"""The error of a list order dependency: the least number of rows that must go so that it holds.

Rows that are left must agree on Y where they are equal by X, and never fall by Y where they rise by X. So of each group
of rows equal by X those of one Y stay, at most, and from group to group Y never falls: a heaviest sequence of pairs
(X, Y) that rises in X and never falls in Y, where a pair weighs as much as it has rows. All other rows go.

Rows compare as in ORDER BY (see `rules/lists.py`). Nulls come first; a column that is `desc` runs backwards.
Only rows in violating pairs can be among those that go: where these pairs are listed, no other row is read.
Cost: O(n log n) for each column of both lists, of n rows that are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels import rising
from holdfast.rules.error_measures import error_figures, g3
from holdfast.rules.lists import ListOD, SortList
from holdfast.table.table import Table

Ids = NDArray[np.int64]
Places = NDArray[np.int64]  # where each row stands in an order, from 0 on; rows that are equal there stand at one place


def rows_to_remove(rule: ListOD, table: Table, among: Ids | None = None) -> int:
    """How many rows must go, at least; all rows that take part in a violation are `among` some (None: all rows)."""
    ids = table.living_ids() if among is None else among
    if not len(ids):
        return 0
    by, then = (_places(table, ids, columns) for columns in (rule.by, rule.then))
    values = int(then.max()) + 1
    pairs, weights = np.unique(by * values + then, return_counts=True)
    ones, others = np.divmod(pairs, values)
    best, reached = np.zeros(values + 1, np.int64), np.empty(len(pairs), np.int64)
    return len(ids) - int(rising.heaviest_rise(ones, others, weights.astype(np.int64), best, reached))


def error_facts(to_remove: int, rows: int) -> dict[str, Any]:
    """The number, and the error that it is of some rows, as JSON has them."""
    return {"to_remove": to_remove, **error_figures(g3(to_remove, rows), "g3")}


def _places(table: Table, ids: Ids, columns: SortList) -> Places:
    """Where rows stand when they are sorted by a list."""
    places = np.zeros(len(ids), np.int64)
    numbers = [table.schema.names.index(column.name) for column in columns]
    for number, column, codes in zip(numbers, columns, table.codes(ids, numbers), strict=True):
        distinct, of_row = np.unique(codes, return_inverse=True)
        keys = table.order_keys(number).of(distinct)
        ranks = np.empty(len(distinct), np.int64)
        ranks[np.argsort(keys)[::-1] if column.descending else np.argsort(keys)] = np.arange(len(distinct))
        places = np.unique(places * len(distinct) + ranks[of_row], return_inverse=True)[1]
    return places
