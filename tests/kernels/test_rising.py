"""How far sequences rise, against all subsequences and all pairs."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.kernels import rising

numbers = st.lists(st.integers(0, 4), max_size=8)


def longest(values: list[int]) -> int:
    """The length of the longest subsequence that never falls."""
    sizes = range(len(values), -1, -1)
    return next(n for n in sizes for some in combinations(values, n) if list(some) == sorted(some))


@given(numbers, st.integers(0, 8))
def test_the_fewest_values_that_must_go(values: list[int], most: int) -> None:
    array, least = np.array(values, np.int64), len(values) - longest(values)
    found = rising.count_out(array, np.empty_like(array), most)
    assert found == least if least <= most else most < found <= least
    out = np.empty(len(values), np.bool_)
    rising.mark_out(array, *(np.empty_like(array), np.empty_like(array), np.empty_like(array)), out)
    left = array[~out].tolist()
    assert left == sorted(left)
    assert len(left) == longest(values)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=7))
def test_the_longest_climb(pairs: list[tuple[int, int]]) -> None:
    pairs.sort()
    ones, others = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    sizes = range(len(pairs), -1, -1)
    expected = next(
        n for n in sizes for some in combinations(pairs, n) if all(a < c and b < d for (a, b), (c, d) in pairwise(some))
    )
    assert rising.longest_climb(ones, others, np.empty_like(ones)) == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(1, 9)), max_size=7))
def test_the_heaviest_rise(entries: list[tuple[int, int, int]]) -> None:
    entries.sort(key=lambda entry: entry[0])
    ones, others, weights = np.array(entries, np.int64).reshape(-1, 3).T.copy()
    expected = max(
        sum(weight for _, _, weight in some)
        for n in range(len(entries) + 1)
        for some in combinations(entries, n)
        if all(a < c and b <= d for (a, b, _), (c, d, _) in pairwise(some))
    )
    assert rising.heaviest_rise(ones, others, weights, np.zeros(6, np.int64), np.empty_like(ones)) == expected


@given(numbers)
def test_pairs_that_fall(values: list[int]) -> None:
    array = np.array(values, np.int64)
    assert rising.count_falls(array, np.empty_like(array)) == sum(a > b for a, b in combinations(values, 2))
    assert array.tolist() == sorted(values)
