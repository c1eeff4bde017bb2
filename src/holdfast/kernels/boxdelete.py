"""Taking rows out of a box tree, for good: leaves close up, boxes shrink, low blocks join. See `boxtree`."""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Ints
from holdfast.kernels.boxtree import (
    FAN,
    FREE_LEAF,
    FREE_NODE,
    HEIGHT,
    LEAF,
    ROOT,
    Tree,
    close_entry,
    copy_entry,
    entry_of,
    move_rows,
    slot_of,
    sum_block,
    visit,
)
from holdfast.kernels.jit import kernel, measured


@kernel
def _on_border(lows: Ints, highs: Ints, node: int, entry: int, rows: Ints, i: int) -> bool:
    for dim in range(rows.shape[0]):
        if rows[dim, i] == lows[node, dim, entry] or rows[dim, i] == highs[node, dim, entry]:
            return True
    return False


@kernel
def _free(sizes: NDArray[np.int32], block: int, facts: Ints, free: int) -> None:
    """Put a leaf or a node before the freed ones, whose first one stands at a fact."""
    sizes[block] = -2 - facts[free]
    facts[free] = block


@kernel
def _join(tree: Tree, node: int, left: int, leaves: bool) -> None:
    """The entry after `left` joins it."""
    a, b = tree.child[node, left], tree.child[node, left + 1]
    if leaves:
        visit(tree, a)
        visit(tree, b)
        move_rows(tree, b, 0, tree.filled[b], a, tree.filled[a])
        tree.filled[a] += tree.filled[b]
        _free(tree.filled, b, tree.facts, FREE_LEAF)
    else:
        for other in range(tree.used[b]):
            copy_entry(tree, b, other, a, tree.used[a] + other)
        tree.used[a] += tree.used[b]
        _free(tree.used, b, tree.facts, FREE_NODE)
    sum_block(tree, node, left, leaves)
    close_entry(tree, node, left + 1)


@kernel
def _tidy(tree: Tree, node: int, entry: int, leaves: bool) -> None:
    """Let a block that ran low join a neighbour, where there is room to spare."""
    sizes = tree.filled if leaves else tree.used
    full = LEAF if leaves else FAN
    size = sizes[tree.child[node, entry]]
    room = full if size == 0 else full * 3 // 4
    if entry + 1 < tree.used[node] and size + sizes[tree.child[node, entry + 1]] <= room:
        _join(tree, node, entry, leaves)
    elif entry > 0 and size + sizes[tree.child[node, entry - 1]] <= room:
        _join(tree, node, entry - 1, leaves)


@kernel
def _lower_root(tree: Tree) -> None:
    """Let the only child of the root take its place."""
    facts, old = tree.facts, tree.facts[ROOT]
    facts[ROOT] = tree.child[old, 0]
    facts[HEIGHT] -= 1
    _free(tree.used, old, facts, FREE_NODE)


@measured(lambda _tree, _rows, ids: 250 * len(ids))
def delete(tree: Tree, rows: Ints, ids: Ints) -> int:
    """Take rows out; gives how many were there.

    IN rows[dim, i]: the values under which the rows were put in; ids[i]
    """
    pool, values, filled, child = tree.ids, tree.values, tree.filled, tree.child
    lows, highs, fences, below, used, facts = tree.lows, tree.highs, tree.fences, tree.below, tree.used, tree.facts
    nodes, entries = np.empty(64, np.int64), np.empty(64, np.int64)
    gone = 0
    for i in range(len(ids)):
        row, first = ids[i], rows[0, i]
        second = rows[1, i] if rows.shape[0] > 1 else 0
        node = facts[ROOT]
        for level in range(facts[HEIGHT], 0, -1):
            entry = entry_of(fences, node, used[node], first, second, row)
            nodes[level], entries[level] = node, entry
            node = child[node, entry]
        visit(tree, node)
        last = filled[node] - 1
        at = slot_of(values, pool, node, last + 1, first, second, row)
        if at > last or pool[node, at] != row or values[node, 0, at] != first:
            continue
        gone += 1
        for slot in range(at, last):
            pool[node, slot] = pool[node, slot + 1]
        for dim in range(rows.shape[0]):
            for slot in range(at, last):
                values[node, dim, slot] = values[node, dim, slot + 1]
        filled[node] = last
        changed = True  # a box changes only where the one below it did
        for level in range(1, facts[HEIGHT] + 1):
            node, entry = nodes[level], entries[level]
            below[node, entry] -= 1
            if changed:
                changed = _on_border(lows, highs, node, entry, rows, i) and sum_block(tree, node, entry, level == 1)
            under = child[node, entry]
            if (filled[under] < LEAF // 4) if level == 1 else (used[under] < FAN // 4):
                _tidy(tree, node, entry, level == 1)
        while facts[HEIGHT] > 1 and used[facts[ROOT]] == 1:
            _lower_root(tree)
    return gone
