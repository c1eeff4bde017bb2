"""Leaders: the few best of many codes, under ranks that change.

Keeps a short list that surely holds the best `show` codes, because every code outside it ranks behind the **floor**,
a rank fixed when the list was last made. A change touches the list only where the changed codes rank before the
floor. Only when too many leaders have left is the list made again, in one pass over all codes.

Cost: O(m) for m changed codes; a remake is O(n), and as `keep - show` leaders must leave first, it is rare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
# The ranks of some codes, as a primary and a secondary number each; the smaller comes first.
Rank = Callable[[Codes], tuple[NDArray[np.int64], NDArray[np.int64]]]


class LeaderState(NamedTuple):
    """What a checkpoint stores of leaders: their codes, and the code (-1: none) and primary rank of the floor."""

    codes: Codes
    floor_code: int
    floor_primary: int


class Leaders:
    """The best codes by rank. `living()` gives all codes that count, for remaking the list.

    `lasting` says that the primary rank of a code changes while its secondary one does not: then the floor keeps the
    primary rank that it was made with. Otherwise ranks may differ from process to process, and only their order lasts.
    """

    def __init__(
        self,
        rank: Rank,
        living: Callable[[], Codes],
        show: int,
        state: LeaderState | None = None,
        lasting: bool = False,
        keep: int = 64,
    ) -> None:
        self._rank, self._living, self._show, self._keep, self._lasting = rank, living, show, keep, lasting
        self._codes: Codes = np.empty(0, np.int64)
        self._floor: tuple[int, int] | None = None
        self._floor_code = -1
        if state is None:
            self.remake()
        else:
            self._codes, self._floor_code = state.codes, state.floor_code
            if state.floor_code >= 0:
                self._floor = self._floor_of(state.floor_primary)

    def state(self) -> LeaderState:
        """What another process goes on with."""
        return LeaderState(self._codes, self._floor_code, self._floor[0] if self._floor else 0)

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
        self._floor_code = int(self._codes[-1])
        self._floor = self._floor_of(None)

    def _floor_of(self, made_with: int | None) -> tuple[int, int]:
        """The ranks of the floor's code, or with the primary rank that it was made with, where that lasts."""
        primary, secondary = self._rank(np.array([self._floor_code]))
        return int(primary[0]) if made_with is None or not self._lasting else made_with, int(secondary[0])

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
        self._floor, self._floor_code = None, -1
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
