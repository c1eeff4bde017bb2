"""The box tree: rows in sorted blocks, and over them a tree in which every entry knows the box its rows lie in.

A B+-tree in flat arrays. Rows are sorted by (dimension 0, dimension 1, row id); each entry of an inner node keeps, for
every dimension, the least and the greatest value below it, so a search for a conjunction of conditions skips whole
blocks by any of its dimensions, not only by the one that the rows are sorted by.

Takes the place of the paper's hash maps and LT-trees (papers: weever, section 4). Its LT-sets hold every row in
O(log d) nodes, and their unions are linear in the rows; here a row lies in one leaf, and a search costs the nodes it
can't rule out. Rows die for good: the leaf closes up, boxes shrink, and blocks that ran low join a neighbour.

A tree may lie in a file that is mapped, not read: then every leaf has a checksum, which is compared when the leaf is
first looked at. One that differs is noted in `facts`, so that the caller returns no answer.

Axes: `leaf` and `node` are places in a pool, `slot` and `entry` places within one, `dim` a dimension.
Invariants: rows of a leaf are sorted, and so are the leaves under a node; `fences` are lower bounds of the entries'
rows and separate neighbours; boxes are exact; all leaves lie at the same depth; the root always has an entry.
Cost: insert and delete O(log n) node visits; 8 bytes a value and 8 for the id, over a filling of 0.5 to 1.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Ints, Mask, Words
from holdfast.kernels.jit import kernel, measured

LEAF = 64  # rows in a leaf, at most
FAN = 64  # entries in a node, at most
LEAST = np.iinfo(np.int64).min  # also the value of a null
MOST = np.iinfo(np.int64).max
BEFORE_ALL = -1  # a row id below all others
ROOT, HEIGHT, LEAVES, NODES, FREE_LEAF, FREE_NODE, DAMAGED, FACTS = 0, 1, 2, 3, 4, 5, 6, 7
SUMS = "by slot"  # how leaves are summed: written with the sums in a file
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_OF_SLOTS = np.arange(1, LEAF + 1, dtype=np.uint64) * np.uint64(0x94D049BB133111EB)


class Tree(NamedTuple):
    """The pools. `facts`: root, inner levels, leaves and nodes ever opened, heads of the lists of freed ones, and the
    number of a leaf that differs from its checksum, plus one.
    """

    ids: Ints  # [leaf, slot]
    values: Ints  # [leaf, dim, slot]
    filled: NDArray[np.int32]  # [leaf] rows; in a freed leaf -2 minus the next freed one
    child: NDArray[np.int32]  # [node, entry]
    lows: Ints  # [node, dim, entry]
    highs: Ints  # [node, dim, entry]
    fences: Ints  # [node, entry, part]: dimensions 0 and 1, and row id
    below: Ints  # [node, entry] rows under an entry
    used: NDArray[np.int32]  # [node] entries; in a freed node -2 minus the next freed one
    facts: Ints
    unseen: Mask  # [leaf] whether it is as the file has it, and nobody has looked at it yet
    sums: Words  # [leaf] the checksums of leaves in a file


@kernel
def _sum(numbers: Ints) -> np.uint64:
    """The sum of what becomes of the number in each slot: each of another one is another one. Whole arrays, as most
    leaves are looked at by processes that run this as Python.
    """
    mixed = (numbers.view(np.uint64) + _OF_SLOTS) * _PRIME
    mixed ^= mixed >> np.uint64(32)
    mixed *= _PRIME
    return np.uint64((mixed ^ (mixed >> np.uint64(29))).sum())


@kernel
def leaf_sum(tree: Tree, leaf: int) -> np.uint64:
    """The checksum of a leaf: it is another one where any one value is another one."""
    state = np.uint64(leaf) ^ _sum(tree.ids[leaf])
    for dim in range(tree.values.shape[1]):
        state = state * _PRIME ^ _sum(tree.values[leaf, dim])
    return state


@kernel
def visit(tree: Tree, leaf: int) -> None:
    """Compare a leaf with its checksum when it is first looked at."""
    if tree.unseen[leaf]:
        tree.unseen[leaf] = False
        if leaf_sum(tree, leaf) != tree.sums[leaf]:
            tree.facts[DAMAGED] = leaf + 1


@kernel
def visit_all(tree: Tree) -> None:
    """Compare all leaves that nobody has looked at yet."""
    for leaf in range(len(tree.unseen)):
        visit(tree, leaf)


@kernel
def sum_leaves(tree: Tree, sums: Words) -> None:
    """The checksums of all leaves. OUT sums[leaf]"""
    for leaf in range(len(sums)):
        sums[leaf] = leaf_sum(tree, leaf)


# ---- finding a place ------------------------------------------------------------------------------------------------


@kernel
def _is_before(fences: Ints, node: int, entry: int, first: int, second: int, row: int) -> bool:
    """Whether a row comes before a fence."""
    a, b = fences[node, entry, 0], fences[node, entry, 1]
    return bool(first < a or (first == a and (second < b or (second == b and row < fences[node, entry, 2]))))


@kernel
def entry_of(fences: Ints, node: int, used: int, first: int, second: int, row: int) -> int:
    """The last entry whose fence is not above (first, second, row), or 0."""
    low, high = 1, used
    while low < high:
        middle = (low + high) // 2
        if _is_before(fences, node, middle, first, second, row):
            high = middle
        else:
            low = middle + 1
    return low - 1


@kernel
def slot_of(values: Ints, ids: Ints, leaf: int, filled: int, first: int, second: int, row: int) -> int:
    """The first slot whose row is not below (first, second, row)."""
    deep = values.shape[1] > 1
    low, high = 0, filled
    while low < high:
        middle = (low + high) // 2
        a, b = values[leaf, 0, middle], values[leaf, 1, middle] if deep else second
        if a < first or (a == first and (b < second or (b == second and ids[leaf, middle] < row))):
            low = middle + 1
        else:
            high = middle
    return low


# ---- summaries ------------------------------------------------------------------------------------------------------


@kernel
def sum_block(tree: Tree, node: int, entry: int, leaf: bool) -> bool:
    """Compute box and number of rows of what is under an entry; gives whether the box changed."""
    under = tree.child[node, entry]
    size = tree.filled[under] if leaf else tree.used[under]
    lows, highs = (tree.values, tree.values) if leaf else (tree.lows, tree.highs)
    changed = False
    for dim in range(tree.values.shape[1]):
        low, high = MOST, LEAST
        for place in range(size):
            low, high = min(low, lows[under, dim, place]), max(high, highs[under, dim, place])
        changed |= low != tree.lows[node, dim, entry] or high != tree.highs[node, dim, entry]
        tree.lows[node, dim, entry], tree.highs[node, dim, entry] = low, high
    tree.below[node, entry] = size if leaf else tree.below[under, :size].sum()
    return bool(changed)


@kernel
def _set_fence(tree: Tree, node: int, entry: int, leaf: bool) -> None:
    """Let the fence of an entry be its first row, or that of the first entry of the node under it."""
    under = tree.child[node, entry]
    if leaf:
        some = tree.filled[under] > 0
        tree.fences[node, entry, 0] = tree.values[under, 0, 0] if some else 0
        tree.fences[node, entry, 1] = tree.values[under, 1, 0] if some and tree.values.shape[1] > 1 else 0
        tree.fences[node, entry, 2] = tree.ids[under, 0] if some else 0
    else:
        for part in range(3):
            tree.fences[node, entry, part] = tree.fences[under, 0, part]


# ---- moving entries -------------------------------------------------------------------------------------------------


@kernel
def copy_entry(tree: Tree, node: int, entry: int, to_node: int, to_entry: int) -> None:
    """Copy all that a node knows of an entry."""
    tree.child[to_node, to_entry] = tree.child[node, entry]
    tree.below[to_node, to_entry] = tree.below[node, entry]
    for part in range(3):
        tree.fences[to_node, to_entry, part] = tree.fences[node, entry, part]
    for dim in range(tree.values.shape[1]):
        tree.lows[to_node, dim, to_entry] = tree.lows[node, dim, entry]
        tree.highs[to_node, dim, to_entry] = tree.highs[node, dim, entry]


@kernel
def _open_entry(tree: Tree, node: int, entry: int, child: int) -> None:
    """Make room at an entry, moving those from there on."""
    for other in range(tree.used[node], entry, -1):
        copy_entry(tree, node, other - 1, node, other)
    tree.child[node, entry] = child
    tree.used[node] += 1


@kernel
def close_entry(tree: Tree, node: int, entry: int) -> None:
    """Drop an entry, moving those after it."""
    for other in range(entry + 1, tree.used[node]):
        copy_entry(tree, node, other, node, other - 1)
    tree.used[node] -= 1


@kernel
def _take(sizes: NDArray[np.int32], facts: Ints, free: int, opened: int) -> int:
    """A block that is empty now, of the leaves or the nodes, whose freed and opened ones stand at two facts."""
    block = facts[free]
    if block >= 0:
        facts[free] = -2 - sizes[block]
    else:
        block = facts[opened]
        facts[opened] += 1
    sizes[block] = 0
    return int(block)


@kernel
def move_rows(tree: Tree, leaf: int, begin: int, end: int, to_leaf: int, at: int) -> None:
    """Copy some rows of a leaf to another place."""
    for slot in range(begin, end):
        tree.ids[to_leaf, at + slot - begin] = tree.ids[leaf, slot]
    for dim in range(tree.values.shape[1]):
        for slot in range(begin, end):
            tree.values[to_leaf, dim, at + slot - begin] = tree.values[leaf, dim, slot]


# ---- filling --------------------------------------------------------------------------------------------------------


@measured(lambda _tree, rows, _ids, n, _leaves: 2 * (1 + len(rows)) * n)
def load(tree: Tree, rows: Ints, ids: Ints, n: int, leaves: int) -> None:
    """Fill an empty tree with the first n rows, which are sorted, evenly over the leaves; then level upon level.

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
                tree.child[node, entry] = first + begin + entry
                sum_block(tree, node, entry, facts[HEIGHT] == 0)
                _set_fence(tree, node, entry, facts[HEIGHT] == 0)
        facts[NODES] += above
        facts[HEIGHT] += 1
        first, count = base, above
    facts[ROOT] = first


# ---- inserting ------------------------------------------------------------------------------------------------------


@kernel
def _split(tree: Tree, node: int, entry: int, leaves: bool) -> None:
    """Split the block under an entry, which is full."""
    left = tree.child[node, entry]
    if leaves:
        half, right = LEAF // 2, _take(tree.filled, tree.facts, FREE_LEAF, LEAVES)
        tree.unseen[right] = False  # whatever the file has there, nobody will look at it
        visit(tree, left)
        move_rows(tree, left, half, LEAF, right, 0)
        tree.filled[left], tree.filled[right] = half, LEAF - half
    else:
        half, right = FAN // 2, _take(tree.used, tree.facts, FREE_NODE, NODES)
        for other in range(half, FAN):
            copy_entry(tree, left, other, right, other - half)
        tree.used[left], tree.used[right] = half, FAN - half
    _open_entry(tree, node, entry + 1, right)
    _set_fence(tree, node, entry + 1, leaves)
    sum_block(tree, node, entry, leaves)
    sum_block(tree, node, entry + 1, leaves)


@kernel
def _grow_root(tree: Tree) -> None:
    """A new root above the old one, which is full."""
    new = _take(tree.used, tree.facts, FREE_NODE, NODES)
    _open_entry(tree, new, 0, tree.facts[ROOT])
    _set_fence(tree, new, 0, False)
    sum_block(tree, new, 0, False)
    tree.facts[ROOT] = new
    tree.facts[HEIGHT] += 1


@measured(lambda _tree, _rows, ids: 250 * len(ids))
def insert(tree: Tree, rows: Ints, ids: Ints) -> None:
    """Put rows in. Full blocks are split on the way down, so nothing has to be mended on the way up.

    IN rows[dim, i], ids[i]. The pools must have room: a leaf a row, and a node a row and one for each level.
    """
    pool, values, filled, child = tree.ids, tree.values, tree.filled, tree.child
    lows, highs, fences, below, used, facts = tree.lows, tree.highs, tree.fences, tree.below, tree.used, tree.facts
    for i in range(len(ids)):
        row, first = ids[i], rows[0, i]
        second = rows[1, i] if rows.shape[0] > 1 else 0
        if used[facts[ROOT]] == FAN:
            _grow_root(tree)
        node = facts[ROOT]
        for level in range(facts[HEIGHT], 0, -1):
            entry = entry_of(fences, node, used[node], first, second, row)
            under = child[node, entry]
            if (filled[under] == LEAF) if level == 1 else (used[under] == FAN):
                _split(tree, node, entry, level == 1)
                entry = entry_of(fences, node, used[node], first, second, row)
            for dim in range(rows.shape[0]):
                lows[node, dim, entry] = min(lows[node, dim, entry], rows[dim, i])
                highs[node, dim, entry] = max(highs[node, dim, entry], rows[dim, i])
            below[node, entry] += 1
            if entry == 0 and _is_before(fences, node, 0, first, second, row):  # no other can lie above it
                fences[node, 0, 0], fences[node, 0, 1], fences[node, 0, 2] = first, second, row
            node = child[node, entry]
        visit(tree, node)
        last = filled[node]
        at = slot_of(values, pool, node, last, first, second, row)
        for slot in range(last, at, -1):
            pool[node, slot] = pool[node, slot - 1]
        pool[node, at] = row
        for dim in range(rows.shape[0]):
            for slot in range(last, at, -1):
                values[node, dim, slot] = values[node, dim, slot - 1]
            values[node, dim, at] = rows[dim, i]
        filled[node] = last + 1
