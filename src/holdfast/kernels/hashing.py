"""Hash tables in flat arrays: how all kernels mix, probe and fill them.

Open addressing with linear probing. `slots` has a power of two places, at least twice as many as there are entries, so
that a free one is never far (`slots_for`). Entries are numbered in the order of their arrival, and their owner keeps
their keys by number. A slot is 0 where it is free; else its low half is the entry's number + 1, and its high half the
high half of the key's hash, so that another key is hardly ever looked at. Entries are never removed; the owner fills
new slots.

`enter` and `find` are for keys that are rows of 64-bit words. An owner with other keys does the probing itself: from
`first_slot` on, with `next_slot`, until the slot is free or `may_be` and the key at `number_in` say that it is found.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Ints, Words
from holdfast.kernels.jit import inlined, measured

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_ODD = np.uint64(0x94D049BB133111EB)
SEED = np.uint64(0x9E3779B97F4A7C15)


def slots_for(entries: int) -> Words:
    """Free slots for a number of entries."""
    return np.zeros(1 << (2 * max(entries, 1) - 1).bit_length(), np.uint64)


@inlined
def mixed(state: Any, word: Any) -> Any:
    """The hash of what came so far (at first `SEED`) and one more word, all of 64 bits without sign."""
    product = (state ^ word) * _ODD
    return product ^ (product >> _HALF)


@inlined
def mask_of(slots: NDArray[Any]) -> Any:
    """What cuts a number to a place among slots."""
    return np.uint64(len(slots) - 1)


@inlined
def first_slot(hashed: Any, mask: Any) -> Any:
    """Where to look for a key with this hash first."""
    return hashed & mask


@inlined
def next_slot(at: Any, mask: Any) -> Any:
    """Where to look next."""
    return (at + _ONE) & mask


@inlined
def may_be(slot: Any, hashed: Any) -> bool:
    """Whether the entry in a slot may have a key with this hash."""
    return bool(slot >> _HALF == hashed >> _HALF)


@inlined
def number_in(slot: Any) -> Any:
    """The number of the entry in a slot that is not free."""
    return np.int64(slot & _LOW) - 1


@inlined
def filled(number: Any, hashed: Any) -> Any:
    """The slot of an entry."""
    return ((hashed >> _HALF) << _HALF) | np.uint64(number + 1)


@measured(lambda lanes, _hashes: 2 * lanes.size)
def hash_lanes(lanes: Words, hashes: Words) -> None:
    """The hash of each key, of which `lanes[word, j]` holds one word. OUT hashes[j]."""
    hashes[:] = SEED
    for w in range(len(lanes)):
        lane = lanes[w][: len(hashes)]
        for j in range(len(hashes)):
            hashes[j] = mixed(hashes[j], lane[j])


@inlined
def _slot_of(slots: Words, mask: Any, keys: Words, lanes: Words, j: int, hashed: Any) -> Any:
    """The slot of key j, or the free one where it would be. Each slot is read once: to the compiler it may change."""
    at = first_slot(hashed, mask)
    while True:
        slot = slots[at]
        if slot == 0:
            break
        if may_be(slot, hashed):
            entry = number_in(slot)
            same = True
            for w in range(len(lanes)):
                same &= keys[entry, w] == lanes[w, j]
            if same:
                break
        at = next_slot(at, mask)
    return at


@inlined
def _fetch(slots: Words, mask: Any, hashes: Words, j: int, at: Ints) -> None:
    """Every 32 keys, bring the slots of the next ones into the cache side by side, not one by one. OUT at: anything"""
    if j % 32 == 0:
        for ahead in range(j, min(j + 32, len(hashes))):
            at[ahead] = np.int64(slots[first_slot(hashes[ahead], mask)])


@measured(lambda _slots, _keys, _used, lanes, _hashes, _at: 10 * lanes.size)
def enter(slots: Words, keys: Words, used: Ints, lanes: Words, hashes: Words, at: Ints) -> None:
    """The entry of each key; a new key gets one. There must be room for all of them.

    IN OUT slots, keys[entry, word], used[0]: how many entries there are; IN lanes[word, j], hashes[j]; OUT at[j]
    One call for many keys: handing a table over costs more than a look-up.
    """
    count, mask = used[0], mask_of(slots)
    for j in range(len(hashes)):
        _fetch(slots, mask, hashes, j, at)
        slot = _slot_of(slots, mask, keys, lanes, j, hashes[j])
        if slots[slot] == 0:
            slots[slot] = filled(count, hashes[j])
            for w in range(len(lanes)):
                keys[count, w] = lanes[w, j]
            count += 1
        at[j] = number_in(slots[slot])
    used[0] = count


@measured(lambda _slots, _keys, lanes, _hashes, _at: 10 * lanes.size)
def find(slots: Words, keys: Words, lanes: Words, hashes: Words, at: Ints) -> None:
    """The entry of each key, -1 where there is none. IN as above; OUT at[j]"""
    mask = mask_of(slots)
    for j in range(len(hashes)):
        _fetch(slots, mask, hashes, j, at)
        slot = slots[_slot_of(slots, mask, keys, lanes, j, hashes[j])]
        at[j] = number_in(slot) if slot != 0 else -1


@measured(lambda _slots, hashes: 5 * len(hashes))
def refill(slots: Words, hashes: Words) -> None:
    """Put the entries with some hashes into free slots. IN hashes[entry]; OUT slots"""
    mask = mask_of(slots)
    for entry in range(len(hashes)):
        at = first_slot(hashes[entry], mask)
        while slots[at] != 0:
            at = next_slot(at, mask)
        slots[at] = filled(entry, hashes[entry])
