"""Leaders: the few best of many codes, under ranks that change.

Keeps a short list that surely holds the best `show` codes, because every code outside it ranks behind the **floor**,
a rank fixed when the list was last made. A change touches the list only where the changed codes rank before the
floor. Only when too many leaders have left is the list made again, in one pass over all codes.

Cost: O(m) for m changed codes; a remake is O(n), and as `keep - show` leaders must leave first, it is rare.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
# The ranks of some codes, as a primary and a secondary number each; the smaller comes first.
Rank = Callable[[Codes], tuple[NDArray[np.int64], NDArray[np.int64]]]


class Leaders:
    """The best codes by rank. `living()` gives all codes that count, for remaking the list."""

    def __init__(self, rank: Rank, living: Callable[[], Codes], show: int, keep: int = 64) -> None:
        self._rank, self._living, self._show, self._keep = rank, living, show, keep
        self._codes: Codes = np.empty(0, np.int64)
        self._floor: tuple[int, int] | None = None
        self.remake()

    def best(self) -> Codes:
        """The best codes, the very best first."""
        return self._sorted(self._codes)[: self._show]

    def update(self, changed: Codes, alive: NDArray[np.bool_], count: int) -> None:
        """Take in that some codes (distinct) have new ranks or no longer count; `count` codes count in all."""
        stay = self._codes[~np.isin(self._codes, changed)]
        enter = changed[alive]
        enter = enter[self._before_floor(enter)]
        self._codes = np.concatenate([stay, enter])
        if len(self._codes) < min(self._show, count):
            self.remake()
        elif len(self._codes) > 2 * self._keep:
            self._cut()

    def _sorted(self, codes: Codes) -> Codes:
        primary, secondary = self._rank(codes)
        return codes[np.lexsort((secondary, primary))]

    def _cut(self) -> None:
        self._codes = self._sorted(self._codes)[: self._keep]
        primary, secondary = self._rank(self._codes[-1:])
        self._floor = int(primary[0]), int(secondary[0])

    def _before_floor(self, codes: Codes) -> NDArray[np.bool_]:
        if self._floor is None:
            return np.ones(len(codes), np.bool_)
        primary, secondary = self._rank(codes)
        before: NDArray[np.bool_] = primary < self._floor[0]
        before |= (primary == self._floor[0]) & (secondary <= self._floor[1])
        return before

    def remake(self) -> None:
        """Make the list again from all codes: also when ranks were renumbered, as order labels sometimes are."""
        codes = self._living()
        self._floor = None
        self._codes = codes
        if len(codes) <= self._keep:
            return
        primary, _ = self._rank(codes)
        border = np.partition(primary, self._keep - 1)[self._keep - 1]
        surely, tied = codes[primary < border], codes[primary == border]
        room = self._keep - len(surely)
        if len(tied) > room:
            tied = tied[np.argpartition(self._rank(tied)[1], room - 1)[:room]]
        self._codes = np.concatenate([surely, tied])
        self._cut()
