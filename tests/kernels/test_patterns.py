"""Which pairs show a pattern that few others have, against counting the patterns of each pair in turn."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.kernels import patterns as kernels
from holdfast.kernels.patterns import ColumnSets

Pair = tuple[int, ...]
Pattern = tuple[tuple[int, ...], Pair]  # columns, and what a pair or its mirror image has there
MIRROR = (2, 1, 0, 3)
pairs = st.lists(st.tuples(*[st.integers(0, 3)] * 4), max_size=20)


def patterns_of(pair: Pair, size: int) -> list[Pattern]:
    found = []
    for columns in combinations(range(len(pair)), size):
        own = tuple(pair[c] for c in columns)
        found.append((columns, min(own, tuple(MIRROR[digit] for digit in own))))
    return found


def column_sets(columns: int, size: int) -> ColumnSets:
    """The sets of up to `size` columns, shorter ones first."""
    nodes = [own for length in range(size + 1) for own in combinations(range(columns), length)]
    parent = [0, *(nodes.index(own[:-1]) for own in nodes[1:])]
    folded = [min(number, mirrored(number, size)) for number in range(4**size)]
    first = next(place for place, own in enumerate(nodes) if len(own) == size)
    column = [0, *(own[-1] for own in nodes[1:])]
    return ColumnSets(np.array(parent, np.int32), np.array(column, np.int32), first, np.array(folded, np.uint32))


def mirrored(number: int, size: int) -> int:
    return sum(MIRROR[(number >> 2 * place) & 3] << 2 * place for place in range(size))


def check(some: list[Pair], size: int, most: int, columns: int) -> None:
    sets, known = column_sets(columns, size), Counter[Pattern]()
    counts = np.zeros((len(sets.parent) - sets.first, 4**size), np.int32)
    digits, kept = np.array(some, np.uint8).reshape(-1, columns).T.copy(), np.zeros(len(some), np.bool_)
    kernels.keep_needed(digits, sets, most, counts, kept)
    for pair, is_kept in zip(some, kept.tolist(), strict=True):
        own = patterns_of(pair, size)
        assert is_kept == any(known[pattern] < most for pattern in own)
        known.update(own if is_kept else [])
    assert plain(counts, columns, size) == known
    kernels.drop(digits[:, kept][:, ::2].copy(), sets, counts)
    for pair in [pair for pair, is_kept in zip(some, kept.tolist(), strict=True) if is_kept][::2]:
        known.subtract(patterns_of(pair, size))
    assert plain(counts, columns, size) == +known


def plain(counts: NDArray[np.int32], columns: int, size: int) -> Counter[Pattern]:
    sets, found = list(combinations(range(columns), size)), Counter[Pattern]()
    for place, number in zip(*map(np.ndarray.tolist, np.nonzero(counts)), strict=True):
        digits = tuple((number >> 2 * (size - 1 - place)) & 3 for place in range(size))
        found[sets[place], digits] = int(counts[place, number])
    return found


@settings(max_examples=60)
@given(pairs, st.integers(1, 3), st.integers(1, 3))
def test_pairs_are_kept_that_show_something(some: list[Pair], size: int, most: int) -> None:
    check(some, size, most, 4)


@pytest.mark.parametrize("count", [255, 256, 257, 600])
def test_pairs_of_several_blocks(count: int) -> None:
    some = np.random.default_rng(count).integers(0, 4, (count, 5)).tolist()
    check(list(map(tuple, some)), 3, 1, 5)
