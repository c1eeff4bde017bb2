"""All pairs of a table, from scratch, never quadratic where the answer is small.

Rows are put into an index by their equality columns and sorted by the leading other column; then all rows ask it, in
blocks of neighbours (see `holdfast.kernels.boxprobe`). Blocks whose boxes rule each other out are never compared.
Nothing is kept: rows that can't be in a pair are left out beforehand.

Cost: O(n log n) to sort, and about O(n + pairs) to ask, for equalities with up to two other conditions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.boxprobe import OTHERS, YOUNGER
from holdfast.search.boxtree import TooMany
from holdfast.search.candidates import candidates, worth_it
from holdfast.search.found import FoundPairs, Pairs, listed, no_pairs, paired, rows_alone
from holdfast.search.index import PairIndex
from holdfast.search.layout import Layout, layouts_for
from holdfast.search.operands import Operands
from holdfast.search.queries import PairQuery

_FEW = 8  # where at most one row in eight shares its key, it pays to query for these alone


def find_among(rows: Operands, queries: Sequence[PairQuery], limit: int) -> list[FoundPairs]:
    """The pairs among some rows. Indexes are made one after the other, each for all queries that share it."""
    found: dict[int, FoundPairs] = {}
    for n, query in enumerate(queries):
        if query.single:
            found[n] = alone(query, rows, limit)
        elif worth_it(query.as_t, rows):
            found[n] = _among_candidates(query, rows, limit)
    left = [n for n in range(len(queries)) if n not in found]
    layouts, places = layouts_for([queries[n].as_t for n in left], rows.distinct)
    for number, layout in enumerate(layouts):
        sharing = [n for n, place in zip(left, places, strict=True) if place == number]
        some = _by_index(layout, rows, [queries[n] for n in sharing], limit)
        found |= zip(sharing, some, strict=True)
    return [found[n] for n in range(len(queries))]


def _among_candidates(query: PairQuery, rows: Operands, limit: int) -> FoundPairs:
    """The pairs of a query among the rows that may be in one, which are often few."""
    asking, found = candidates(query.as_t, rows)
    (layout,), _ = layouts_for([query.as_t], rows.distinct)
    index = PairIndex.of(layout, found)
    pairs = pairs_between(query, index, asking, limit)
    if pairs is not None:
        return listed(pairs)
    both = asking
    if asking is not found:
        both = rows.at(np.flatnonzero(np.isin(rows.ids, asking.ids) & np.isin(rows.ids, found.ids)))
    return counted(query, index, asking, both)


def _by_index(layout: Layout, rows: Operands, queries: Sequence[PairQuery], limit: int) -> list[FoundPairs]:
    """The pairs of queries that share an index."""
    only_groups = all(query.as_t.within_groups for query in queries)
    index = PairIndex.of(layout, rows, only_groups=only_groups)
    asking = rows if index.grouped is None else _only(rows, index.grouped)
    pairs = [pairs_between(query, index, asking, limit) for query in queries]
    if any(some is None for some in pairs) and only_groups:
        # Counting takes rows with themselves into account: all must be there.
        index = PairIndex.of(layout, rows)
    return [
        counted(query, index, rows) if some is None else listed(some)
        for query, some in zip(queries, pairs, strict=True)
    ]


def _only(rows: Operands, ids: NDArray[np.int64]) -> Operands:
    """The rows with some ids, where these are few; else all of them."""
    if len(ids) * _FEW > len(rows):
        return rows
    return rows.at(np.sort(np.searchsorted(rows.ids, ids)))


def alone(query: PairQuery, rows: Operands, limit: int) -> FoundPairs:
    """The rows of a query about single rows."""
    ids = passing(query, rows)
    return FoundPairs(len(ids), rows_alone(ids) if len(ids) <= limit else None)


def passing(query: PairQuery, rows: Operands) -> NDArray[np.int64]:
    """The ids of the rows that pass a query's checks on t."""
    mask = rows.passing(query.t_checks)
    return rows.ids if mask is None else rows.ids[mask]


def counted(query: PairQuery, index: PairIndex, asking: Operands, both: Operands | None = None) -> FoundPairs:
    """The number of pairs of rows that ask with rows in an index, which has all of them, unless `both` says which."""
    count = index.count(query.as_t, asking, both)
    return FoundPairs(count // 2 if query.symmetric else count, None)


def pairs_between(query: PairQuery, index: PairIndex, asking: Operands, limit: int) -> Pairs | None:
    """The pairs of rows that ask as t with rows in the index, each once; None where they are more than the limit."""
    partners = YOUNGER if query.symmetric else OTHERS
    try:
        ts, ss = index.probe(query.as_t, asking, partners, limit=limit, blocks=True)
    except TooMany:
        return None
    return paired(ts, ss) if len(ts) else no_pairs()
