"""Box trees from Python: rows that aren't there, threads, and limits; see also `tests/kernels/test_boxprobe.py`."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.kernels.boxprobe import YOUNGER, BoxQueries
from holdfast.search.boxtree import BoxTree, TooMany, full_blocks


def test_deleting_a_row_that_is_not_there_is_an_error() -> None:
    tree = BoxTree(np.arange(10).reshape(1, 10), np.arange(10))
    with pytest.raises(AssertionError, match="not in the index"):
        tree.delete(np.array([[3]]), np.array([4]))


def test_threads_find_what_one_finds_and_limits_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.sort(np.random.default_rng(3).integers(0, 20_000, (1, 40_000)), axis=1)
    tree = BoxTree(rows, np.arange(40_000))
    question = BoxQueries(np.array([0]), np.array([0]), rows, np.arange(40_000), YOUNGER, 0)
    found = []
    for many in (40_001, 40_000):  # in one thread, and in several
        monkeypatch.setattr("holdfast.search.boxtree._MANY", many)
        queries, hits = tree.probe(question, full_blocks(40_000), 10**9)
        found.append((queries.tolist(), hits.tolist()))
        assert tree.count(question).sum() == 2 * len(hits) + 40_000
        assert len(tree.probe(question, full_blocks(40_000), len(hits))[1]) == len(hits)
        with pytest.raises(TooMany):
            tree.probe(question, full_blocks(40_000), len(hits) - 1)
    assert found[0] == found[1]
