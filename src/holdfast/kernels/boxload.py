"""Filling an empty box tree with sorted rows: leaves first, then level upon level. See `boxtree` for the structure."""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.boxtree import (
    FAN,
    FREE_LEAF,
    FREE_NODE,
    HEIGHT,
    LEAVES,
    NODES,
    ROOT,
    Tree,
    sum_leaf,
    sum_node,
)
from holdfast.kernels.jit import kernel, measured


@measured(lambda _tree, rows, _ids, n, _leaves: 2 * (1 + len(rows)) * n)
def load(tree: Tree, rows: NDArray[np.int64], ids: NDArray[np.int64], n: int, leaves: int) -> None:
    """Fill an empty tree with the first n rows, which are sorted, evenly over so many leaves.

    IN rows[dim, i], ids[i]
    """
    dims = rows.shape[0]
    for leaf in range(leaves):
        begin, end = leaf * n // leaves, (leaf + 1) * n // leaves
        for slot in range(end - begin):
            tree.ids[leaf, slot] = ids[begin + slot]
        for dim in range(dims):
            for slot in range(end - begin):
                tree.values[leaf, dim, slot] = rows[dim, begin + slot]
        tree.filled[leaf] = end - begin
    facts = tree.facts
    facts[LEAVES], facts[NODES], facts[HEIGHT] = leaves, 0, 0
    facts[FREE_LEAF], facts[FREE_NODE] = -1, -1
    first, count = 0, leaves
    while facts[HEIGHT] == 0 or count > 1:
        above = max(1, (count + FAN * 3 // 4 - 1) // (FAN * 3 // 4))
        base = facts[NODES]
        for number in range(above):
            begin, end = number * count // above, (number + 1) * count // above
            node = base + number
            tree.used[node] = end - begin
            for entry in range(end - begin):
                _attach(tree, node, entry, first + begin + entry, facts[HEIGHT] == 0)
        facts[NODES] += above
        facts[HEIGHT] += 1
        first, count = base, above
    facts[ROOT] = first


@kernel
def _attach(tree: Tree, node: int, entry: int, child: int, leaf: bool) -> None:
    tree.child[node, entry] = child
    if leaf:
        sum_leaf(tree, node, entry)
        some = tree.filled[child] > 0
        tree.fences[node, entry, 0] = tree.values[child, 0, 0] if some else 0
        tree.fences[node, entry, 1] = tree.values[child, 1, 0] if some and tree.values.shape[1] > 1 else 0
        tree.fences[node, entry, 2] = tree.ids[child, 0] if some else 0
    else:
        sum_node(tree, node, entry)
        for part in range(3):
            tree.fences[node, entry, part] = tree.fences[child, 0, part]
