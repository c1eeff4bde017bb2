"""Pairs of rows counted by how they compare on lines, against comparing them one by one."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.kernels.comparisons import count_comparisons

NULL, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
COLUMNS = 3
LINES = [(0, 0), (0, 1), (2, 1), (2, 2)]
Keys = NDArray[np.int64]
rows = st.lists(st.tuples(*[st.sampled_from([NULL, NULL + 1, 0, 1, MOST])] * COLUMNS), max_size=9)


def by_definition(asking: Keys, others: Keys, own: Keys, is_t: bool, ways: int, size: int) -> list[NDArray[np.int64]]:
    """The counts of one, two and three lines: how many pairs are less, equal and known on each of them."""
    planes = []
    for of_t, of_s in LINES:
        mine, theirs = (of_t, of_s) if is_t else (of_s, of_t)
        a, b = asking[mine][:, None], others[theirs][None, :]
        known = (a != NULL) & (b != NULL) & (np.arange(others.shape[1])[None, :] != own[:, None])
        planes.append([known & (a < b if is_t else b < a), known & (a == b), known])
    found = []
    for number in range(1, 4):
        sets = list(combinations(range(len(LINES)), number)) if number <= size else []
        counts = np.zeros((len(sets), *[3] * number), np.int64)
        for place, lines in enumerate(sets):
            for chosen in product(range(ways), repeat=number):
                both = [planes[line][way] for line, way in zip(lines, chosen, strict=True)]
                counts[(place, *chosen)] = np.logical_and.reduce(both).sum()
        found.append(counts)
    return found


def check(asking: Keys, others: Keys, own: Keys, is_t: bool, size: int) -> None:
    ways = 3 if NULL in asking or NULL in others else 2
    expected = by_definition(asking, others, own, is_t, ways, size)
    found = [np.full(counts.shape, 7) for counts in expected]  # to which the pairs are added
    count_comparisons(asking, others, own, is_t, np.array(LINES), ways, *found)
    for counts, right in zip(found, expected, strict=True):
        assert np.array_equal(counts - 7, right)


@settings(max_examples=60)
@given(rows, rows, st.booleans(), st.booleans(), st.integers(1, 3))
def test_each_row_with_all_others(some: list[int], more: list[int], are_own: bool, is_t: bool, size: int) -> None:
    asking, others = (np.array(each, np.int64).reshape(-1, COLUMNS).T.copy() for each in (some, [*some, *more]))
    check(asking, others, np.arange(len(some)) if are_own else np.full(len(some), -1), is_t, size)


@pytest.mark.parametrize("count", [63, 64, 65, 2048, 2049])
def test_many_rows_fill_words_and_planes(count: int) -> None:
    numbers = np.random.default_rng(count)
    check(numbers.integers(0, 3, (COLUMNS, 2)), numbers.integers(0, 3, (COLUMNS, count)), np.array([-1, 64]), True, 3)
