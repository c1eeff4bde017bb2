"""Checksums of the leaves of a box tree, compiled and as Python."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from holdfast.kernels import boxtree
from holdfast.search.boxtree import BoxTree


def test_checksums_of_leaves_are_the_same_both_ways_and_tell_of_any_change() -> None:
    rng, leaf_sum = np.random.default_rng(7), cast(Any, boxtree.leaf_sum)
    tree = BoxTree(rng.integers(-(2**62), 2**62, (2, 500)), np.arange(500)).pools
    with np.errstate(over="ignore"):
        before = [leaf_sum.plain(tree, leaf) for leaf in range(4)]
    assert before == [leaf_sum.compiled(tree, leaf) for leaf in range(4)]
    assert len(set(before)) == 4
    for numbers in (tree.ids[1], tree.values[1, 0], tree.values[1, 1]):
        for slot in (0, 31, 63):
            for bit in (0, 40, 63):
                numbers.view(np.uint64)[slot] ^= np.uint64(1 << bit)
                assert leaf_sum.compiled(tree, 1) != before[1]
                numbers.view(np.uint64)[slot] ^= np.uint64(1 << bit)
        numbers[[0, 1]] = numbers[[1, 0]]
        assert leaf_sum.compiled(tree, 1) != before[1], "values that changed places"
        numbers[[0, 1]] = numbers[[1, 0]]
    assert leaf_sum.compiled(tree, 1) == before[1]
