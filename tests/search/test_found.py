"""Pairs in order, however they come."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.changes.diff import NOBODY
from holdfast.search.found import Pairs, put_in_order, sides, with_more

ROWS = st.one_of(st.integers(0, 4), st.integers(0, 2**62))
PAIRS = st.lists(st.tuples(ROWS, st.one_of(st.just(NOBODY), ROWS)), max_size=30, unique=True)


def as_pairs(pairs: list[tuple[int, int]]) -> Pairs:
    return np.array(pairs, np.int64).reshape(len(pairs), 2)


@given(PAIRS)
def test_pairs_are_put_in_order(pairs: list[tuple[int, int]]) -> None:
    assert put_in_order(as_pairs(pairs)).tolist() == [list(pair) for pair in sorted(pairs)]


@given(PAIRS, PAIRS)
def test_more_pairs_come_behind(pairs: list[tuple[int, int]], more: list[tuple[int, int]]) -> None:
    first = sides(as_pairs(pairs))
    both = with_more(first, as_pairs(more))
    assert both.tolist() == [list(pair) for pair in [*pairs, *more]]
    assert not any(np.shares_memory(both, side) for side in first)
