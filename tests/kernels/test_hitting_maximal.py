"""For which elements sets are maximal, and what their supersets hold, against a look at all."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.kernels import hitting_maximal as kernels
from holdfast.pairs import bitsets

COLUMNS = 70  # more than a word has bits
EVERY = frozenset(range(COLUMNS))
columns = st.frozensets(st.sampled_from([0, 1, 2, 63, 64, 69]))
families = st.sets(columns, max_size=12)
Set = frozenset[int]


def bits_of(sets: list[Set]) -> NDArray[np.uint64]:
    return np.array([bitsets.of(each, 2) for each in sets], np.uint64).reshape(-1, 2)


def plain(bits: NDArray[np.uint64]) -> list[Set]:
    return list(map(frozenset, bitsets.elements_of_each(bits)))


def room_for(sets: list[Set], recent: int) -> kernels.SetIndex:
    blocks = -(-len(sets) // (64 * kernels.BLOCK))
    places, bitmaps = np.zeros((64 * kernels.BLOCK * blocks, 2), np.uint64), np.zeros((blocks, 128, kernels.BLOCK))
    lately, some = np.zeros((recent, 2), np.uint64), np.random.default_rng(len(sets)).permutation(COLUMNS)
    return kernels.SetIndex(places, np.zeros(1, np.int64), bitmaps.astype(np.uint64), some, lately)


def largest_first(sets: set[Set]) -> list[Set]:
    return sorted(sets, key=lambda one: (-len(one), sorted(one)))


def check_targets(family: list[Set], recent: int) -> None:
    candidates = bits_of([EVERY - own for own in family])
    kernels.narrow(bits_of(family), candidates, room_for(family, recent), True)
    assert plain(candidates) == [
        EVERY - own
        if not (above := [other for other in family if own < other])
        else frozenset.intersection(*above) - own
        for own in family
    ]


@given(families, st.integers(0, 2))
def test_targets_of_a_family(family: set[Set], recent: int) -> None:
    check_targets(largest_first(family), recent)


@pytest.mark.parametrize("recent", [0, 8])
def test_targets_of_many_large_sets(recent: int) -> None:
    """More sets than a block holds, and more elements than have their bitmaps intersected."""
    sets = [EVERY - set(some) for size in range(4) for some in combinations(range(50, 65), size)]
    chosen = np.random.default_rng(1).permutation(len(sets))[:550]
    check_targets(largest_first({sets[place] for place in chosen}), recent)


@given(families, st.lists(st.tuples(columns, columns), max_size=6), st.integers(0, 2))
def test_what_supersets_share_and_what_they_have(others: set[Set], asked: list[tuple[Set, Set]], recent: int) -> None:
    above, sets = largest_first(others), [own for own, _ in asked]
    index, shared, gathered = (
        room_for(above, recent),
        bits_of([some for _, some in asked]),
        bits_of([Set()] * len(sets)),
    )
    kernels.enter(bits_of(above), index)
    kernels.narrow(bits_of(sets), shared, index, False)
    assert plain(shared) == [some.intersection(*(other for other in above if own < other)) for own, some in asked]
    targets = [EVERY - other for other in above]
    kernels.gather(bits_of(sets), gathered, index, bits_of(targets))
    assert plain(gathered) == [
        Set().union(*(target for other, target in zip(above, targets, strict=True) if own < other)) for own in sets
    ]
