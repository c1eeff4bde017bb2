"""A growing hash counter: keys with counts, in the arrays that the kernels of `agree_sets` work on.

On top of its key, an entry costs 25 bytes for its count and its part in an addition under way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.agree_sets import Counter, add_all, settle
from holdfast.pairs.keys import Keys, KeyTable
from holdfast.pairs.signatures import Signed


class Settled(NamedTuple):
    """What an addition did: the entries whose count was 0 and is more, those whose count was more and is 0, and the
    counts that these had.
    """

    appeared: NDArray[np.int64]
    vanished: NDArray[np.int64]
    had: NDArray[np.int64]


class KeyCounter(KeyTable):
    """Keys of some words, each with a count."""

    def __init__(self, words: int, room: int = 0) -> None:
        super().__init__(words, room)
        self._known = np.zeros(1, np.int64)
        self._per_entry = _per_entry(len(self._keys))

    @property
    def arrays(self) -> Counter:
        """What the kernels work on."""
        return Counter(self._slots, self._keys, self._used, *self._per_entry, self._known)

    @property
    def counts(self) -> NDArray[np.int64]:
        """The count of each key; zero is possible."""
        return self._per_entry[0][: self.used]

    def signed(self) -> Signed:
        """The entries whose count is not 0: views, where that is all of them."""
        moved = self.counts != 0
        return (self.keys, self.counts) if moved.all() else (self.keys[moved], self.counts[moved])

    def add(self, parts: Sequence[Signed]) -> None:
        """Add signed counts; a key may come several times."""
        for keys, counts in parts:
            at = self.entries(keys)
            add_all(self.arrays, at, counts, 1)

    def settle(self) -> Settled | None:
        """End an addition. None where a count would be below 0: then all counts are as they were."""
        appeared, vanished, had = np.empty((3, int(self._known[0])), np.int64)
        come, gone, right = settle(self.arrays, appeared, vanished, had)
        return Settled(appeared[:come], vanished[:gone], had[:gone]) if right else None

    def _make_room(self, room: int, keys: Keys) -> None:
        super()._make_room(room, keys)
        grown = _per_entry(room)
        for fresh, kept in zip(grown, self._per_entry, strict=True):
            fresh[: len(kept)] = kept
        self._per_entry = grown


def _per_entry(room: int) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Counts, marks, entries touched and their counts before; entries that come have count 0 and no mark."""
    return np.zeros(room, np.int64), np.zeros(room, np.bool_), np.empty(room, np.int64), np.empty(room, np.int64)
