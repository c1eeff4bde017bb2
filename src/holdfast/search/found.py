"""Pairs of rows that were found: their number, and the pairs themselves while these are few enough to hold.

A pair is (t, s). Of a symmetric query the smaller row id comes first, and each pair is there once. A query about single
rows finds rows: then s is NOBODY.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import NOBODY
from holdfast.search.sorting import sorted_order

Ids = NDArray[np.int64]
Pairs = NDArray[np.int64]  # [pair, side]: t and s
Sides = tuple[Ids, Ids]  # the t's and the s's of pairs

_ROOM = (1 << 63) - 1


@dataclass(frozen=True, eq=False)
class FoundPairs:
    """How many pairs there are, and which, unless they are more than the limit."""

    count: int
    pairs: Pairs | None


def listed(pairs: Pairs) -> FoundPairs:
    """Pairs that are all at hand."""
    return FoundPairs(len(pairs), pairs)


def joined(parts: Sequence[FoundPairs], limit: int) -> FoundPairs:
    """What several queries found of which no pair meets two; their number alone where that is above the limit."""
    if len(parts) == 1:
        return parts[0]
    count = sum(part.count for part in parts)
    known = [part.pairs for part in parts if part.pairs is not None]
    if len(known) < len(parts) or count > limit:
        return FoundPairs(count, None)
    return FoundPairs(count, paired(*sides(np.concatenate([no_pairs(), *known]))))


def sides(pairs: Pairs) -> Sides:
    """The t's and the s's of pairs."""
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def paired(ts: Ids, ss: Ids) -> Pairs:
    """Pairs of t's and s's, in order."""
    order = sorted_order([ts, ss], len(ts))
    pairs = np.empty((len(ts), 2), np.int64)
    pairs[:, 0], pairs[:, 1] = ts[order], ss[order]
    return pairs


def with_more(first: Sides, more: Pairs) -> Pairs:
    """Pairs of t's and s's, and some more behind them: new ones, as a million are not copied twice."""
    count = len(first[0])
    pairs = np.empty((count + len(more), 2), np.int64)
    pairs[:count, 0], pairs[:count, 1], pairs[count:] = *first, more
    return pairs


def put_in_order(pairs: Pairs) -> Pairs:
    """Sort pairs where they are, unless they are in order already; gives them."""
    ts, ss = pairs[:, 0], pairs[:, 1]
    rising = (ts[1:] > ts[:-1]) | ((ts[1:] == ts[:-1]) & (ss[1:] >= ss[:-1]))
    if rising.all():
        return pairs
    width = int(ss.max()) + 2  # NOBODY is -1
    if int(ts.max()) >= _ROOM // width:
        return paired(ts, ss)
    packed = ts * width
    packed += ss
    packed += 1
    packed.sort()
    np.divmod(packed, width, out=(ts, ss))
    ss -= 1
    return pairs


def rows_alone(ids: Ids) -> Pairs:
    """Rows without a partner."""
    return paired(ids, np.full(len(ids), NOBODY))


def no_pairs() -> Pairs:
    """No pairs at all."""
    return np.empty((0, 2), np.int64)
