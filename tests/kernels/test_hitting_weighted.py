"""Minimal sets that miss edges up to a weight, against trying all sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.kernels.hitting_weighted import Weighted, advance_weighted, begin_weighted
from holdfast.pairs import bitsets

elements = st.sampled_from([0, 1, 2, 63, 64, 70])  # of two words
weights = st.dictionaries(st.frozensets(elements), st.integers(1, 5) | st.just(2**40), min_size=1, max_size=9)


def by_definition(edges: dict[frozenset[int], int], limit: int, most: int) -> dict[frozenset[int], int]:
    """The sets that miss no more than the limit, without those that contain a smaller one; and what each misses."""
    found = dict[frozenset[int], int]()
    for size in range(most + 1):
        for own in map(frozenset, combinations(sorted(frozenset().union(*edges)), size)):
            missed = sum(weight for edge, weight in edges.items() if not edge & own)
            if missed <= limit and not any(less <= own for less in found):
                found[own] = missed
    return found


@settings(max_examples=150)
@given(weights, st.integers(0, 12), st.integers(1, 6), st.integers(1, 3), st.integers(1, 9))
def test_all_are_found_however_often_the_search_stops(
    edges: dict[frozenset[int], int], limit: int, most: int, room: int, steps: int
) -> None:
    limit = min(limit, sum(edges.values()) - 1)  # else the empty set is all, and nothing is searched
    search, found = started(edges), dict[frozenset[int], int]()
    begin_weighted(search, limit)
    block, missing = np.empty((room, 2), np.uint64), np.empty(room, np.int64)
    while search.depth[0] >= 0:
        count = advance_weighted(search, limit, most, steps, block, missing)
        for own, missed in zip(bitsets.elements_of_each(block[:count]), missing[:count].tolist(), strict=True):
            assert frozenset(own) not in found, "no result comes twice"
            found[frozenset(own)] = missed
    assert found == by_definition(edges, limit, most)


def started(edges: dict[frozenset[int], int]) -> Weighted:
    """A search before its first level: all edges are missed, and all their elements are open."""
    order = sorted(edges, key=lambda edge: -edges[edge])
    sets = np.array([bitsets.of(edge, 2) for edge in order], np.uint64)
    depth = 2 + len(frozenset().union(*edges))
    missed, once = np.zeros((2, depth, 1), np.uint64)
    opened, todo = np.zeros((2, depth, 2), np.uint64)
    missed[0], opened[0] = bitsets.first(len(edges), 1), np.bitwise_or.reduce(sets, axis=0)
    own = np.array([edges[edge] for edge in order], np.int64)
    leave, chosen, at = np.zeros(depth, np.bool_), np.zeros(depth, np.int64), np.zeros(1, np.int64)
    return Weighted(sets, own, bitsets.holders(sets), missed, once, opened, todo, leave, chosen, at)
