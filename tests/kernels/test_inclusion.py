"""Merged strings, clusters and shared values, against sorting and counting in plain Python."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.kernels import inclusion
from holdfast.kernels.jit import frozen

texts = st.lists(st.sampled_from([b"", b"a", b"aa", b"abcdefghi", b"abcdefghj", b"\xff"]), unique=True, max_size=5)


@given(st.lists(texts, min_size=1, max_size=4))
def test_sorted_strings_are_merged(lists: list[list[bytes]]) -> None:
    every = [text for each in lists for text in sorted(each)]
    offsets, starts = (np.cumsum([0, *map(len, each)]).astype(np.int64) for each in (every, lists))
    order, fresh = np.empty(len(every), np.int64), np.empty(len(every), np.bool_)
    text = frozen(np.frombuffer(b"".join(every), np.uint8).copy())
    inclusion.merge_strings(frozen(offsets), text, starts, order, fresh)
    assert order.tolist() == sorted(range(len(every)), key=every.__getitem__)
    merged = [every[place] for place in order]
    assert fresh.tolist() == [i == 0 or merged[i - 1] != text for i, text in enumerate(merged)]


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), max_size=8), st.integers(1, 3))
def test_clusters_and_what_columns_share(counts: list[list[int]], room: int) -> None:
    entries = [(value, column, n) for value, own in enumerate(counts) for column, n in enumerate(own) if n]
    order, fresh = (
        np.arange(len(entries)),
        np.array([i == 0 or entries[i - 1][0] != e[0] for i, e in enumerate(entries)]),
    )
    column, count = (np.array([entry[part] for entry in entries], np.int64) for part in (1, 2))
    values, rows = np.zeros((2, 3, 3), np.int64)
    found: Counter[int] = Counter()
    begin = 0
    while begin < len(entries):
        masks, many = np.zeros((room, 1), np.uint64), np.zeros(room, np.int64)
        begin, used = inclusion.tally(order, fresh.astype(np.bool_), column, count, begin, masks, many, values, rows)
        for mask, times in zip(masks[:used, 0].tolist(), many[:used].tolist(), strict=True):
            found[mask] += times
    clusters = [sum(1 << c for c, n in enumerate(own) if n) for own in counts]
    assert found == Counter(cluster for cluster in clusters if cluster)
    for a, b in product(range(3), repeat=2):
        assert values[a, b] == sum(bool(own[a] and own[b]) for own in counts)
        assert rows[a, b] == sum(own[a] for own in counts if own[b])
    own_masks = np.zeros((len(counts), 1), np.uint64)
    inclusion.account(np.array(counts, np.int64).reshape(-1, 3), np.arange(3), -1, own_masks, values, rows)
    assert own_masks[:, 0].tolist() == clusters
    assert not values.any()
    assert not rows.any()


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=20), st.booleans())
def test_codes_of_living_rows(rows: list[tuple[int, bool]], all_alive: bool) -> None:
    total, codes = np.zeros(5, np.uint32), np.array([code for code, _ in rows], np.uint8)
    alive = np.array([] if all_alive else [there for _, there in rows], np.bool_)
    inclusion.count_codes(frozen(codes), frozen(alive), total)
    assert total.tolist() == [sum(code == c and (all_alive or there) for code, there in rows) for c in range(5)]
