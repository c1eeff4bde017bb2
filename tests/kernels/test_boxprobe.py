"""Searches in a box tree and counts of what they meet, against a look at all rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.kernels import boxprobe
from holdfast.kernels.boxprobe import EQ, OTHERS, BoxQueries
from holdfast.search.boxtree import full_blocks, single_blocks
from tests.kernels.grown_tree import Grown, brute


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 60), st.integers(0, 5000))
def test_agrees_with_a_list(seed: int, dims: int, span: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    grown = Grown(rng, dims, span, size)
    grown.check()
    for _ in range(3):
        grown.insert(int(rng.integers(0, 500)))
        grown.check()
        grown.delete(float(rng.choice([0.05, 0.5, 0.95, 1.0])))
        grown.check()


@pytest.mark.parametrize("looks", [1, 30, 10**9])
@pytest.mark.parametrize("room", [4_000, 10**6])
def test_a_search_goes_on_from_the_block_before_which_it_stopped(room: int, looks: int) -> None:
    """Where its room is full, or no look is left; what it found before stays."""
    grown, question, expected = equal_values()
    for starts in (single_blocks(60), full_blocks(60)):
        found, begin, left, hits = np.zeros(1, np.int64), 0, np.array([looks]), list[tuple[int, int]]()
        queries, rows = np.empty((2, room), np.int64)
        while begin < len(starts) - 1:
            begin = boxprobe.probe(
                grown.tree.pools, question, starts, begin, len(starts) - 1, queries, rows, found, False, left
            )
            hits += zip(queries[: found[0]].tolist(), rows[: found[0]].tolist(), strict=True)
            found[0], left[0] = 0, 10_000
        assert sorted(hits) == sorted(expected)


def test_one_hit_is_enough() -> None:
    grown, question, expected = equal_values()
    queries, rows, found = np.empty(1, np.int64), np.empty(1, np.int64), np.zeros(1, np.int64)
    nothing = question._replace(operands=question.operands + 40)
    for asked, end in ((nothing, 60), (question, 0)):
        assert end == boxprobe.probe(
            grown.tree.pools, asked, single_blocks(60), 0, 60, queries, rows, found, True, np.array([10**9])
        )
    assert (found[0], (queries[0], rows[0]) in expected) == (1, True)


def equal_values() -> tuple[Grown, BoxQueries, set[tuple[int, int]]]:
    """A tree of 3,000 rows with 40 values, 60 queries for rows with equal ones, and what they find."""
    grown = Grown(np.random.default_rng(4), 2, 40, 3000)
    values = np.sort(grown.rng.integers(0, 40, (1, 60)))
    question = BoxQueries(np.zeros(1, np.int64), np.full(1, EQ), values, np.arange(60), OTHERS, 0)
    return grown, question, brute(grown.rows, np.arange(3000), question)
