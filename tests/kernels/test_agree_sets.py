"""Counts of keys under additions, and sums over the keys that have some bits, against a dictionary."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.kernels import agree_sets
from holdfast.pairs import bitsets

ENTRIES = 5
steps = st.sampled_from([-(2**61), -2, -1, 0, 1, 1, 2, 3, 2**61])
parts = st.tuples(st.lists(st.tuples(st.integers(0, ENTRIES - 1), steps), max_size=8), st.sampled_from([-1, 1, 1, 2]))


def empty_counter() -> agree_sets.Counter:
    counts, touched, before = np.zeros((3, ENTRIES), np.int64)
    slots, keys, used = np.zeros(16, np.uint64), np.zeros((ENTRIES, 1), np.uint64), np.array([ENTRIES])
    return agree_sets.Counter(slots, keys, used, counts, np.zeros(ENTRIES, np.bool_), touched, before, np.zeros(1, int))


@given(st.lists(st.lists(parts, max_size=3), max_size=6))
def test_an_addition_is_taken_whole_or_not_at_all(additions: list[list[tuple[list[tuple[int, int]], int]]]) -> None:
    table, known = empty_counter(), Counter[int]()
    for addition in additions:
        new, touched = known.copy(), set[int]()
        for part, times in addition:
            at, counts = np.array(part, np.int64).reshape(-1, 2).T.copy()
            agree_sets.add_all(table, at, counts, times)
            for entry, count in part:
                new[entry] += times * count
                touched.add(entry)
        if any(abs(count) >= 2**63 for count in new.values()):
            return  # no sum of numbers of pairs is as large
        appeared, vanished, had = np.empty((3, len(touched)), np.int64)
        come, gone, right = agree_sets.settle(table, appeared, vanished, had)
        assert right == all(count >= 0 for count in new.values())
        if not right:
            new = known
        assert table.counts.tolist() == [new[entry] for entry in range(ENTRIES)]
        assert sorted(appeared[:come]) == sorted(entry for entry in touched if new[entry] and not known[entry])
        lost = {entry: known[entry] for entry in touched if known[entry] and not new[entry]}
        assert dict(zip(vanished[:gone].tolist(), had[:gone].tolist(), strict=True)) == lost
        assert not table.marks.any()
        assert not table.known[0]
        known = new


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
