"""Minimal hitting sets by depth-first search, against trying all sets."""

from __future__ import annotations

from itertools import combinations
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.pairs import bitsets, hitting
from holdfast.pairs.hitting import all_minimal_hitting_sets

Sets = set[frozenset[int]]
# Elements on both sides of a word's end, so that sets of one and of two words are tried.
elements = st.sampled_from([0, 1, 2, 5, 62, 63, 64, 70])
families = st.sets(st.frozensets(elements, max_size=6), max_size=9)


def matrix(family: Sets, words: int = 2) -> NDArray[np.uint64]:
    rows = [bitsets.of(one, words) for one in sorted(family, key=sorted)]
    return np.array(rows, np.uint64).reshape(-1, words)


def plain(rows: NDArray[np.uint64]) -> Sets:
    listed = [frozenset(bitsets.elements(row)) for row in rows]
    assert len(listed) == len(set(listed)), "no result comes twice"
    return set(listed)


def by_definition(family: Sets, most: int | None = None) -> Sets:
    """All sets of elements that meet every edge, the smallest first; those that contain none found before."""
    known = sorted(frozenset().union(*family))
    found: list[frozenset[int]] = []
    for size in range(len(known) + 1 if most is None else most + 1):
        for chosen in map(frozenset, combinations(known, size)):
            if all(chosen & edge for edge in family) and not any(less <= chosen for less in found):
                found.append(chosen)
    return set(found)


@given(families, st.integers(1, 3), st.integers(1, 9))
def test_all_are_found_however_often_the_search_stops(family: Sets, room: int, steps: int) -> None:
    with patch.multiple(hitting, _BLOCK=room, _STEPS=steps):
        stopping = plain(all_minimal_hitting_sets(matrix(family)))
    assert stopping == plain(all_minimal_hitting_sets(matrix(family))) == by_definition(family)


@given(families, st.integers(0, 4))
def test_a_bound_on_their_size(family: Sets, most: int) -> None:
    assert plain(all_minimal_hitting_sets(matrix(family), max_size=most)) == by_definition(family, most)


@given(families, st.frozensets(elements))
def test_within_some_elements(family: Sets, allowed: frozenset[int]) -> None:
    inside = all_minimal_hitting_sets(matrix(family), within=bitsets.of(allowed, 2))
    assert plain(inside) == {one for one in by_definition(family) if one <= allowed}


def test_nothing_to_hit_and_nothing_that_hits() -> None:
    assert plain(all_minimal_hitting_sets(matrix(set()))) == {frozenset()}
    assert plain(all_minimal_hitting_sets(matrix({frozenset()}))) == set()


def test_five_hundred_elements() -> None:
    family = {frozenset([0, 511]), frozenset([1, 300, 511]), frozenset([77])}
    expected = {frozenset([77, 511]), frozenset([0, 1, 77]), frozenset([0, 77, 300])}
    assert plain(all_minimal_hitting_sets(matrix(family, 8))) == expected
