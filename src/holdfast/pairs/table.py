"""A growing hash table from signatures to counts: the arrays that the kernels of `agree_sets` work on.

Capacity doubles; an entry costs 8 bytes a word, 8 for its count and 16 to 32 for its slots.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.agree_sets import Sets, add_all, enter, hash_lanes, refill

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]
Signed = tuple[Words, Counts]  # signatures, a row of words each, with signed counts


class SetTable:
    """Signatures of some words, each with a count, in the order of their arrival."""

    def __init__(self, words: int, room: int = 0) -> None:
        self.arrays = _empty(words, max(room, 64))

    @property
    def used(self) -> int:
        """How many entries there are."""
        return int(self.arrays.used[0])

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The signatures, `[entry, word]`."""
        return self.arrays.keys[: self.used]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Their counts; zero is possible."""
        return self.arrays.counts[: self.used]

    def signed(self) -> Signed:
        """The entries whose count is not 0: views, where that is all of them."""
        moved = self.counts != 0
        return (self.keys, self.counts) if moved.all() else (self.keys[moved], self.counts[moved])

    def add(self, parts: Sequence[Signed]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Add signed counts; a signature may come several times. Gives each entry touched, with its count before."""
        most = sum(len(counts) for _, counts in parts)
        touched, before = np.empty(most, np.int64), np.empty(most, np.int64)
        known = 0
        for keys, counts in parts:
            self.reserve(self.used + len(counts))
            known = add_all(self.arrays, self._enter(keys), counts, touched, before, known)
        self.arrays.marks[touched[:known]] = False
        return touched[:known], before[:known]

    def _enter(self, keys: Words) -> NDArray[np.int64]:
        """The entry of each signature; there must be room."""
        lanes, hashes, at = _lanes_of(keys), np.empty(len(keys), np.uint64), np.empty(len(keys), np.int64)
        hash_lanes(lanes, hashes)
        enter(self.arrays, lanes, hashes, at)
        return at

    def reserve(self, room: int) -> None:
        """Have room for so many entries."""
        if room <= len(self.arrays.keys):
            return
        old, used = self.arrays, self.used
        self.arrays = _empty(old.keys.shape[1], max(room, 2 * len(old.keys)))
        self.arrays.keys[:used] = old.keys[:used]
        self.arrays.counts[:used] = old.counts[:used]
        self.arrays.marks[:used] = old.marks[:used]
        self.arrays.used[0] = used
        hashes = np.empty(used, np.uint64)
        hash_lanes(_lanes_of(self.keys), hashes)
        refill(self.arrays.slots, hashes)


def _lanes_of(keys: Words) -> NDArray[np.uint64]:
    """The words of signatures, `[word, entry]`."""
    return keys.T.copy()


def _empty(words: int, room: int) -> Sets:
    return Sets(
        np.zeros(1 << (2 * room - 1).bit_length(), np.uint64),
        np.empty((room, words), np.uint64),
        np.empty(room, np.int64),
        np.empty(room, np.bool_),
        np.zeros(1, np.int64),
    )
