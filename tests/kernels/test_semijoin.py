"""Rows that may have a partner: none that has one is lost, and hashes are 0 where they must be."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.kernels import semijoin
from holdfast.kernels.jit import frozen

rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30)
BITS = 8


@given(rows, st.booleans(), st.sets(st.integers(0, 5)))
def test_rows_with_a_partner_stay(table: list[tuple[int, int]], null_meets: bool, shared: set[int]) -> None:
    hashes = np.ones(len(table), np.uint32)
    codes = np.array(table, np.uint8).reshape(-1, 2).T.copy()
    keys, marks = np.arange(6) << 40, np.isin(np.arange(6), list(shared))
    semijoin.mix_codes(frozen(codes[0]), null_meets, hashes)
    semijoin.mix_keys(frozen(codes[1]), keys, marks, hashes)
    may = [(null_meets or a > 0) and b in shared for a, b in table]
    assert (hashes > 0).tolist() == may
    once, twice = np.zeros((2, 1 << (BITS - 6)), np.uint64)
    semijoin.see(hashes, BITS, once, twice)
    places = np.empty(len(table) + 1, np.int64)
    counts = Counter(row for row, there in zip(table, may, strict=True) if there)
    for bitmap, least in ((once, 1), (twice, 2)):
        found = places[: semijoin.seen(hashes, BITS, bitmap, places)].tolist()
        needed = {place for place, row in enumerate(table) if counts[row] >= least}
        assert needed <= set(found) <= set(np.flatnonzero(may))


@given(st.lists(st.integers(0, 5), max_size=30), st.sets(st.integers(0, 5)))
def test_marked_codes(codes: list[int], chosen: set[int]) -> None:
    places = np.empty(len(codes) + 1, np.int64)
    found = semijoin.marked(frozen(np.array(codes, np.uint8)), np.isin(np.arange(6), list(chosen)), places)
    assert places[:found].tolist() == [place for place, code in enumerate(codes) if code in chosen]
