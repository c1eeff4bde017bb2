"""Ranks of a column's values: small numbers that compare as the values do, for the kernels that compare rows by order.

Codes follow the order of values only until a batch brings a value between two old ones. A rank always does: null has
rank 0, and the values that rows hold have ranks with gaps between, as few bytes wide as fit. A value that arrives gets
a rank in the gap where it belongs. Where the gap is full, the ranks of the column are spread again, over the values
that are still in use, and the owner lets the new ranks stand in its rows: one pass over the cells of that column. As a
spread leaves room in proportion to the values, before the first one and behind the last one too, spreads are rare,
except while a column has nearly as many values as its width can hold.

Invariant: for values a, b with ranks, `rank(a) < rank(b)` iff a < b. What was counted with older ranks stays right, as
the order of two values never changes.
Cost: O(m log n) and a copy of n ranks for m new values among n.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.cells import NEVER
from holdfast.table.order import OrderKeys, evenly

_MOST = (0xFE, 0xFFFE, 0xFFFFFFFE)  # the highest ranks in one, two and four bytes


class Ranks:
    """The ranks of one column's values, of those that the caller asked for."""

    def __init__(self, codes: NDArray[np.integer], keys: OrderKeys) -> None:
        self._of_code: NDArray[np.uint32]  # the rank of each code, NEVER where it has none
        self._ranks: NDArray[np.int64]  # all ranks, ascending, that of null included
        self._keys: NDArray[np.int64]  # the order key of each of them
        self._generation: int  # of the order keys
        self._step: int  # how far apart the last spread put two ranks
        self.top: int  # the highest rank that any value may get before the next spread
        self._spread(codes, keys)

    def of(self, codes: NDArray[np.integer]) -> NDArray[np.uint32]:
        """The ranks of some codes, which all have one."""
        return self._of_code.take(codes)

    def fit(self, codes: NDArray[np.integer], keys: OrderKeys) -> bool:
        """Give ranks to those of the codes that have none; False where a gap is full: then none got one."""
        fresh = self._without(codes)
        if not len(fresh):
            return True
        if keys.generation != self._generation:
            self._keys, self._generation = keys.of(self._known()), keys.generation
        own = keys.of(fresh)
        order = np.argsort(own)
        own, fresh = own[order], fresh[order]
        at = np.searchsorted(self._keys, own)
        ranks = self._between(at)
        if ranks is None:
            return False
        self._of_code[fresh] = ranks
        self._keys, self._ranks = np.insert(self._keys, at, own), np.insert(self._ranks, at, ranks)
        return True

    def spread(self, in_use: NDArray[np.uint32], codes: NDArray[np.integer], keys: OrderKeys) -> NDArray[np.uint32]:
        """New ranks for the values that have the ranks `in_use`, ascending, and for some codes; gives those of the
        former.
        """
        known = self._known()
        staying = known[np.isin(self._ranks, in_use)]
        self._spread(np.concatenate([staying, codes]), keys)
        return self.of(staying)

    def _without(self, codes: NDArray[np.integer]) -> NDArray[np.int64]:
        """Those of the codes that have no rank, each once."""
        distinct = np.unique(codes).astype(np.int64)
        lack = int(distinct[-1]) + 1 - len(self._of_code) if len(distinct) else 0
        if lack > 0:
            self._of_code = np.pad(self._of_code, (0, lack + len(self._of_code)), constant_values=NEVER)
        return distinct.compress(self._of_code[distinct] == NEVER)

    def _known(self) -> NDArray[np.int64]:
        """The codes that have ranks, in the order of their values."""
        codes = np.flatnonzero(self._of_code != NEVER)
        known: NDArray[np.int64] = codes[np.argsort(self._of_code[codes])]
        return known

    def _spread(self, codes: NDArray[np.integer], keys: OrderKeys) -> None:
        """Give ranks to these codes alone, evenly, with half of the free ranks before the first and behind the last."""
        distinct: NDArray[np.int64] = np.union1d(codes, [0]).astype(np.int64)
        own = keys.of(distinct)
        order = np.argsort(own)
        self._keys, self._generation = own[order], keys.generation
        count = len(distinct) - 1  # null aside
        self.top = _MOST[int(np.searchsorted(_MOST, count))]
        margin = (self.top - count) // 4
        low, high = margin, self.top + 1 - margin
        self._ranks = np.r_[0, evenly(low, high, count)]
        self._step = max(1, (high - low) // (count + 1))
        self._of_code = np.full(int(distinct[-1]) + 1, NEVER, np.uint32)
        self._of_code[distinct[order]] = self._ranks

    def _between(self, at: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Ranks for new values, ascending, of which each goes before the known one `at` a place; None: no room."""
        starts = np.flatnonzero(np.r_[True, at[1:] != at[:-1]])  # one gap, one group
        counts = np.diff(np.r_[starts, len(at)])
        place = at[starts]
        room = (counts + 1) * self._step  # what a group takes before the first value, or behind the last one
        high = np.r_[self._ranks, self.top + 1][place]
        low = np.where((place == 1) & (place < len(self._ranks)), np.maximum(0, high - room), self._ranks[place - 1])
        high = np.where(place == len(self._ranks), np.minimum(high, low + room), high)
        if (high - low <= counts).any():
            return None
        nth = np.arange(1, len(at) + 1) - np.repeat(starts, counts)
        low, size, parts = (np.repeat(each, counts) for each in (low, high - low, counts + 1))
        ranks: NDArray[np.int64] = low + nth * size // parts
        return ranks
