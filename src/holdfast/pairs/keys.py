"""A growing set of keys, each a row of 64-bit words, numbered in the order of their arrival.

Capacity doubles; a key costs 8 bytes a word, and 16 to 32 for its slots.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.hashing import enter, find, hash_lanes, refill, slots_for

Keys = NDArray[np.uint64]  # [entry, word]
Lanes = NDArray[np.uint64]  # [word, entry]: the same, word by word
Numbers = NDArray[np.int64]
_LEAST = 64  # keys that there is room for at least


class KeyTable:
    """Keys of some words, and the number of each."""

    def __init__(self, words: int, room: int = 0) -> None:
        room = max(room, _LEAST)
        self._slots = slots_for(room)
        self._keys = np.empty((room, words), np.uint64)
        self._used = np.zeros(1, np.int64)

    @property
    def used(self) -> int:
        """How many keys there are."""
        return int(self._used[0])

    @property
    def keys(self) -> Keys:
        """The keys, `[entry, word]`."""
        return self._keys[: self.used]

    def entries(self, keys: Keys) -> Numbers:
        """The number of each key; those that are new get one."""
        return self.entries_of_lanes(keys.T.copy())

    def entries_of_lanes(self, lanes: Lanes) -> Numbers:
        """The same, of keys given word by word."""
        self.reserve(self.used + lanes.shape[1])
        at = np.empty(lanes.shape[1], np.int64)
        enter(self._slots, self._keys, self._used, lanes, hashes_of(lanes), at)
        return at

    def find(self, keys: Keys) -> Numbers:
        """The number of each key, -1 where it is not here."""
        return self.find_lanes(keys.T.copy())

    def find_lanes(self, lanes: Lanes) -> Numbers:
        """The same, of keys given word by word."""
        at = np.empty(lanes.shape[1], np.int64)
        find(self._slots, self._keys, lanes, hashes_of(lanes), at)
        return at

    def reserve(self, room: int) -> None:
        """Have room for `room` keys."""
        if room > len(self._keys):
            self._grow(max(room, 2 * len(self._keys)))

    def compact_slots(self) -> NDArray[np.uint64]:
        """Slots for these keys and half as many more, for `restore`."""
        slots = slots_for(max(self.used + self.used // 2, _LEAST))
        refill(slots, hashes_of(self.keys.T.copy()))
        return slots

    def restore(self, keys: Keys, slots: NDArray[np.uint64]) -> None:
        """Hold the keys of another table, in their order, given its compact slots."""
        self._make_room(len(slots) // 2, keys)
        self._slots, self._used[0] = slots, len(keys)

    def _grow(self, room: int) -> None:
        self._make_room(room, self.keys)
        self._slots = slots_for(room)
        refill(self._slots, hashes_of(self.keys.T.copy()))

    def _make_room(self, room: int, keys: Keys) -> None:
        self._keys = np.empty((room, keys.shape[1]), np.uint64)
        self._keys[: len(keys)] = keys


def hashes_of(lanes: Lanes) -> NDArray[np.uint64]:
    """The hash of each key, given word by word."""
    hashes = np.empty(lanes.shape[1], np.uint64)
    hash_lanes(lanes, hashes)
    return hashes
