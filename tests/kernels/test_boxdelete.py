"""Rows that leave a box tree: what stays is found, and few leaves are left."""

from __future__ import annotations

import numpy as np

from holdfast.kernels import boxdelete
from holdfast.kernels.boxtree import HEIGHT
from tests.kernels.grown_tree import Grown


def test_grows_from_nothing_and_shrinks_to_nothing() -> None:
    grown = Grown(np.random.default_rng(1), 2, 10**6, 0)
    for _ in range(8):
        grown.insert(997)
    grown.check()
    assert grown.tree.pools.facts[HEIGHT] >= 2
    while grown.alive.any():
        grown.delete(0.3 if grown.alive.sum() > 50 else 1.0)
        grown.check()
    grown.insert(100)
    grown.check()


def test_a_tree_that_lost_most_rows_keeps_few_leaves() -> None:
    grown = Grown(np.random.default_rng(2), 1, 10**9, 50_000)
    grown.delete(0.98)
    filled = grown.tree.pools.filled
    assert (filled >= 0).sum() < 400


def test_only_rows_that_are_there_go() -> None:
    """Rows of one value, most of one id, too: those with other values or ids stay."""
    grown = Grown(np.random.default_rng(3), 2, 2, 300)
    rows, ids = grown.rows[:, :200].copy(), np.arange(200)
    rows[0, ::2] += 1
    ids[1::4] += 1000
    assert boxdelete.delete(grown.tree.pools, rows, ids) == 50
    grown.alive[3:200:4] = False
    grown.tree.rows -= 50
    grown.check()
