"""A growing hash table from signatures to counts: the arrays that the kernels of `agree_sets` work on.

Capacity doubles; an entry costs 8 bytes a word, 25 for its count and its part in an addition under way, and
16 to 32 for its slots.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.agree_sets import Sets, add_all, enter, hash_lanes, refill, settle
from holdfast.pairs.signatures import Signed, Words


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

    def add(self, parts: Sequence[Signed]) -> None:
        """Add signed counts; a signature may come several times."""
        for keys, counts in parts:
            at = self.entries(keys)
            add_all(self.arrays, at, counts, 1)

    def settle(self) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """End an addition: the entries whose count was 0 and is more, and those whose count was more and is 0.

        None where a count would be below 0: then all counts are as they were.
        """
        appeared, vanished = np.empty((2, int(self.arrays.known[0])), np.int64)
        come, gone, right = settle(self.arrays, appeared, vanished)
        return (appeared[:come], vanished[:gone]) if right else None

    def entries(self, keys: Words) -> NDArray[np.int64]:
        """The entry of each signature; new ones are made, with count 0."""
        self.reserve(self.used + len(keys))
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
        for fresh, kept in zip(self.arrays[1:6], old[1:6], strict=True):
            fresh[:used] = kept[:used]
        self.arrays.used[0], self.arrays.known[0] = used, old.known[0]
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
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )
