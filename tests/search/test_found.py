"""Pairs in order, however they come."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.changes.diff import NOBODY
from holdfast.search.found import Pairs, in_order

ROWS = st.one_of(st.integers(0, 4), st.integers(0, 2**62))
PAIRS = st.lists(st.tuples(ROWS, st.one_of(st.just(NOBODY), ROWS)), max_size=30, unique=True)


def as_pairs(pairs: list[tuple[int, int]]) -> Pairs:
    return np.array(pairs, np.int64).reshape(len(pairs), 2)


@given(PAIRS)
def test_pairs_are_put_in_order(pairs: list[tuple[int, int]]) -> None:
    assert in_order(as_pairs(pairs)).tolist() == [list(pair) for pair in sorted(pairs)]


def test_pairs_in_order_are_not_copied() -> None:
    pairs = as_pairs([(0, 2), (0, 3), (1, NOBODY), (1, 0)])
    assert in_order(pairs) is pairs
