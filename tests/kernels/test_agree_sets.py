"""Counts of keys under additions, and sums over the keys that have some bits, against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.kernels import agree_sets
from holdfast.pairs import bitsets

ENTRIES = 5
# Each addition brings some entries to new counts, of which one below 0 makes it fail; with something added for a while.
counts_after = st.sampled_from([-1, *[0] * 6, *[1] * 4, 2, 2**61])
goals = st.lists(
    st.tuples(st.integers(0, ENTRIES - 1), counts_after, st.integers(0, 3)), unique_by=lambda goal: goal[0]
)


def empty_counter() -> agree_sets.Counter:
    counts, touched, before = np.zeros((3, ENTRIES), np.int64)
    slots, keys, used = np.zeros(16, np.uint64), np.zeros((ENTRIES, 1), np.uint64), np.array([ENTRIES])
    return agree_sets.Counter(
        slots, keys, used, counts, np.zeros(ENTRIES, np.bool_), touched, before, np.zeros(1, np.int64)
    )


@given(st.lists(goals, max_size=8))
def test_an_addition_is_taken_whole_or_not_at_all(additions: list[list[tuple[int, int, int]]]) -> None:
    table, known = empty_counter(), np.zeros(ENTRIES, np.int64)
    for addition in additions:
        at, after, more = np.array(addition, np.int64).reshape(-1, 3).T.copy()
        agree_sets.add_all(table, np.concatenate([at, at]), np.concatenate([after - known[at], more]), 1)
        agree_sets.add_all(table, at, more, -1)
        appeared, vanished, had = np.empty((3, len(at)), np.int64)
        come, gone, right = agree_sets.settle(table, appeared, vanished, had)
        assert right == (after >= 0).all()
        before, known = known, known.copy()
        known[at] = after if right else before[at]
        assert table.counts.tolist() == known.tolist()
        assert sorted(appeared[:come]) == np.flatnonzero((before == 0) & (known > 0)).tolist()
        lost = np.flatnonzero((before > 0) & (known == 0))
        assert sorted(zip(vanished[:gone], had[:gone], strict=True)) == list(zip(lost, before[lost], strict=True))
        assert not table.marks.any()
        assert not table.known[0]


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200])
def test_sums_over_keys_with_some_bits(count: int) -> None:
    numbers = np.random.default_rng(count)
    sets = [set(np.flatnonzero(numbers.random(70) < 0.8).tolist()) for _ in range(count)]
    keys = np.array([bitsets.of(each, 2) for each in sets], np.uint64).reshape(-1, 2)
    counts, bitmaps = numbers.integers(0, 2**40, count), np.zeros((70, 4), np.uint64)
    agree_sets.index_keys(keys, 0, count // 2, bitmaps)
    agree_sets.index_keys(keys, count // 2 // 64, count, bitmaps)  # the last group, which was not full, and those after
    for size in (0, 1, 2, 70):
        for without in (-1, 0, 63, 64, 69):
            within = numbers.permutation(70)[:size]
            expected = sum(
                int(n) for own, n in zip(sets, counts, strict=True) if own.issuperset(within) and without not in own
            )
            assert agree_sets.sum_where(bitmaps, counts, count, within, without) == expected
