"""Hash tables in flat arrays, against a dictionary; also where hashes collide wholly or in half."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.kernels import hashing
from holdfast.pairs.keys import KeyTable

Words = NDArray[np.uint64]
words = st.sampled_from([0, 1, 2, 3, 2**32, 2**63, 2**64 - 1])


@st.composite
def keys_in_parts(draw: st.DrawFn) -> tuple[int, list[list[tuple[int, ...]]]]:
    width = draw(st.integers(0, 3))
    return width, draw(st.lists(st.lists(st.tuples(*[words] * width), max_size=40), min_size=1, max_size=4))


def by_definition(key: tuple[int, ...]) -> int:
    state = int(hashing.SEED)
    for word in key:
        product = (state ^ word) * 0x94D049BB133111EB % 2**64
        state = product ^ (product >> 32)
    return state


def lanes_of(keys: list[tuple[int, ...]], width: int) -> Words:
    return np.array(keys, np.uint64).reshape(len(keys), width).T.copy()


def hashed(lanes: Words) -> Words:
    hashes = np.empty(lanes.shape[1], np.uint64)
    hashing.hash_lanes(lanes, hashes)
    return hashes


@given(keys_in_parts(), st.sampled_from([0, 1, 2**32 - 1, 0xFFFFFFFF << 32, 2**64 - 1]))
def test_keys_are_numbered_as_they_come(parts: tuple[int, list[list[tuple[int, ...]]]], kept_bits: int) -> None:
    """Of each hash only some bits count, so that different keys may have equal ones."""
    (width, lists), known = parts, dict[tuple[int, ...], int]()
    room = sum(map(len, lists))
    slots, keys, used = hashing.slots_for(room), np.empty((room, width), np.uint64), np.zeros(1, np.int64)
    for some in lists:
        lanes, at = lanes_of(some, width), np.empty(len(some), np.int64)
        hashes = hashed(lanes)
        assert hashes.tolist() == list(map(by_definition, some))
        hashes &= np.uint64(kept_bits)
        hashing.find(slots, keys, lanes, hashes, at)
        assert at.tolist() == [known.get(key, -1) for key in some]
        for key in some:
            known.setdefault(key, len(known))
        hashing.enter(slots, keys, used, lanes, hashes, at)
        assert at.tolist() == [known[key] for key in some]
        assert [tuple(key) for key in keys[: used[0]].tolist()] == list(known)
        other = hashing.slots_for(room)
        hashing.refill(other, hashed(keys[: used[0]].T.copy()) & np.uint64(kept_bits))
        hashing.find(other, keys, lanes, hashes, at)
        assert at.tolist() == [known[key] for key in some]


@pytest.mark.parametrize("entries", [0, 1, 2, 3, 4, 5, 1000])
def test_half_of_the_slots_stay_free(entries: int) -> None:
    slots = hashing.slots_for(entries)
    assert len(slots).bit_count() == 1
    assert len(slots) >= 2 * entries
    assert not slots.any()


@pytest.mark.parametrize("stride", [1, 2**16, 2**32, 2**40])
def test_regular_keys_spread(stride: int) -> None:
    """Numbers with a pattern, as row ids and codes have, find their places without long walks."""
    table = KeyTable(1)
    keys = (np.arange(50_000, dtype=np.uint64) * np.uint64(stride)).reshape(-1, 1)
    assert np.array_equal(table.entries(keys), np.arange(50_000))
    assert np.array_equal(table.find(keys[::-1].copy()), np.arange(50_000)[::-1])
