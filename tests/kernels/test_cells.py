"""Rows in blocks of narrow cells, found again by their content, against a list of rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.kernels import cells
from holdfast.kernels.cells import BLOCK, NEVER
from holdfast.kernels.hashing import hash_lanes, slots_for

WIDTH = np.array([1, 2, 4], np.int64)
START, STRIDE = (np.cumsum(WIDTH) - WIDTH) * BLOCK, 7 * BLOCK
TOPS = 0xFE, 0xFFFE, 0xFFFFFFFE  # the most that fits beside NEVER
row = st.tuples(*(st.sampled_from([0, 1, 0xFE & top, top]) for top in TOPS))
batches = st.lists(st.lists(st.tuples(row, st.integers(-2, 2)), max_size=8), max_size=4)


@given(batches, st.booleans())
def test_each_row_has_one_place(drawn: list[list[tuple[tuple[int, ...], int]]], collide: bool) -> None:
    codes = [np.array([own for own, _ in batch], np.uint32).reshape(-1, 3).T.copy() for batch in drawn]
    check(codes, [np.array([step for _, step in batch], np.int64) for batch in drawn], collide)


@pytest.mark.parametrize("rows", [BLOCK - 1, BLOCK, 2 * BLOCK + 1])
def test_rows_fill_several_blocks(rows: int) -> None:
    numbers = np.random.default_rng(rows)
    parts = [np.stack([numbers.integers(0, top + 1, rows) for top in TOPS]).astype(np.uint32) for _ in range(2)]
    check([*parts, parts[0]], [numbers.integers(1, 4, rows) for _ in range(3)], collide=False)


def check(batches: list[NDArray[np.uint32]], steps: list[NDArray[np.int64]], collide: bool) -> None:
    room = 1 + sum(map(len, steps))
    hashes, slots, used = np.zeros(room, np.uint64), slots_for(room), 0
    flat, only = np.zeros(-(-room // BLOCK) * STRIDE, np.uint8), np.full(3, NEVER, np.uint32)
    kept = cells.cells_in(flat, WIDTH, START, only, STRIDE, np.zeros(room, np.int64))
    known, weights = dict[tuple[int, ...], int](), Counter[tuple[int, ...]]()
    for codes, own_steps in zip(batches, steps, strict=True):
        coming, places = np.zeros(len(own_steps), np.uint64), np.empty(len(own_steps), np.int64)
        if not collide:
            hash_lanes(codes.astype(np.uint64), coming)
        used = cells.place(kept, slots, hashes, used, codes, coming, own_steps, places)
        rows = list(map(tuple, codes.T.tolist()))
        for own, step in zip(rows, own_steps.tolist(), strict=True):
            known.setdefault(own, len(known))
            weights[own] += step
        assert places.tolist() == [known[own] for own in rows]
        assert np.array_equal(hashes[places], coming)
    found = np.empty((used, 3), np.uint32)
    cells.unpack(kept, found)
    assert list(map(tuple, found.tolist())) == list(known)
    assert kept.weights[:used].tolist() == [weights[own] for own in known]
    values = [set(column) for column in zip(*known, strict=True)] or [{int(NEVER)}] * 3
    assert only.tolist() == [own.pop() if len(own) == 1 else NEVER for own in values]
