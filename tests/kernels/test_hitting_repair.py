"""Hitting sets that are mended when edges come and go, against finding all of them again."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.kernels import hitting_repair as kernels
from holdfast.pairs import bitsets
from tests.kernels.test_hitting import Sets, by_definition, elements, families, matrix, plain

some_sets = st.lists(st.frozensets(elements), max_size=6)


@given(some_sets, some_sets)
def test_the_first_edge_that_a_set_misses(sets: list[frozenset[int]], edges: list[frozenset[int]]) -> None:
    mine, theirs = (np.array([bitsets.of(own, 2) for own in each], np.uint64).reshape(-1, 2) for each in (sets, edges))
    places = np.empty(len(sets), np.int64)
    kernels.first_missed(mine, theirs, places)
    assert places.tolist() == [next((j for j, edge in enumerate(edges) if not own & edge), len(edges)) for own in sets]


@settings(max_examples=60)
@given(families, families, st.integers(1, 8))
def test_sets_grow_until_they_meet_new_edges(before: Sets, more: Sets, most: int) -> None:
    come = more - before
    known = matrix({own for own in by_definition(before) if any(not own & edge for edge in come)})
    edges = np.concatenate([matrix(before), matrix(come)])
    missed, found = np.empty(len(known), np.int64), np.empty((1000, 2), np.uint64)
    kernels.first_missed(known, edges, missed)
    short = bitsets.sizes(known) < most
    count = kernels.grow(known[short], missed[short], edges, most, 1e9, found)
    assert plain(found[:count]) == by_definition(before | come, most) - by_definition(before)
    if short.any():
        assert kernels.grow(known[short], missed[short], edges, most, 100.0, found) == -1, "too little to spend"
        assert kernels.grow(known[short], missed[short], edges, most, 1e9, found[:100]) == -1, "too little room"


@given(families, st.data())
def test_sets_stay_that_are_minimal_without_some_edges(before: Sets, data: st.DataObject) -> None:
    gone = {edge for edge in sorted(before, key=sorted) if data.draw(st.booleans())}
    known, stay = by_definition(before), by_definition(before - gone)
    sets, marks = matrix(known), np.empty(len(known), np.bool_)
    kernels.mark_minimal(sets, matrix(gone), bitsets.holders(matrix(before - gone)), marks)
    assert plain(sets[marks]) == known & stay
