"""Bits of words and of rows of words, against sets of numbers. What only other kernels call runs as Python here."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.kernels import hitting_bits
from holdfast.pairs import bitsets

columns = st.frozensets(st.sampled_from([0, 1, 2, 63, 64, 69, 127]))
sets = st.lists(columns, max_size=6)
Sets = list[frozenset[int]]


@given(columns)
def test_the_bits_of_a_set(own: frozenset[int]) -> None:
    popcount, lowest, put, members_of = (
        cast(Any, getattr(hitting_bits, name)).plain for name in ("popcount", "lowest", "put", "members_of")
    )
    bits, members = np.zeros(2, np.uint64), np.empty(128, np.int64)
    with np.errstate(over="ignore"):
        for place in own:
            put(bits, place)
        assert np.array_equal(bits, bitsets.of(own, 2))
        assert [popcount(word) for word in bits] == [sum(p // 64 == w for p in own) for w in range(2)]
        assert not bits[0] or lowest(bits[0]) == min(own)
        assert members[: members_of(bits, members)].tolist() == sorted(own)


def test_all_bits_and_none() -> None:
    popcount, lowest = cast(Any, hitting_bits.popcount).plain, cast(Any, hitting_bits.lowest).plain
    with np.errstate(over="ignore"):
        assert [popcount(each) for each in (hitting_bits.ZERO, hitting_bits.ONE, hitting_bits.ALL)] == [0, 1, 64]
        assert [lowest(np.uint64(1 << place)) for place in range(64)] == list(range(64))


@given(sets, sets)
def test_the_first_set_that_contains_another(some: Sets, others: Sets) -> None:
    mine, theirs = (np.array([bitsets.of(s, 2) for s in each], np.uint64).reshape(-1, 2) for each in (some, others))
    places, begins = np.empty(len(some), np.int64), np.arange(len(some)) % 2
    hitting_bits.first_above(mine, theirs, begins, np.full(len(some), len(others)), places)
    assert places.tolist() == [
        next((j for j in range(i % 2, len(others)) if own <= others[j]), -1) for i, own in enumerate(some)
    ]
    held = [{j for j, other in enumerate(others) if element in other} for element in range(128)]
    assert [set(bitsets.elements(each)) for each in bitsets.holders(theirs)] == held
