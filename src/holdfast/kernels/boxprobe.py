"""Searching a box tree: which rows meet a conjunction of conditions with a query row.

A question has K conditions `row's value OP query's value`. Each but `!=` is an interval: `v < q` is [floor, q - 1].
A null is the least integer of all: where comparisons with null are never true, the floor lies above it and leaves
nulls out; where null is the least value, the floor is null itself. A subtree is passed over as soon as its box misses
one interval, or holds nothing but the value that `!=` forbids.

Queries come in **blocks** of neighbours (1 to LEAF of them): the walk down the tree is done once for the block, with
the hull of the intervals, and only the leaves reached are compared row by row. So sorted queries share their work, and
a whole table joins with itself at the cost of its blocks.

Cost: O(nodes that can't be ruled out). With equalities and up to two inequalities, the rows being sorted by one and
summarised by the other, that is O(log n) a block and O(log n) a hit.
"""

from typing import NamedTuple

import numpy as np

from holdfast.kernels.arrays import Ints
from holdfast.kernels.boxtree import BEFORE_ALL, FAN, HEIGHT, LEAF, LEAST, MOST, ROOT, Tree, entry_of, visit
from holdfast.kernels.jit import kernel, measured

EQ, NE, LT, LE, GT, GE = 0, 1, 2, 3, 4, 5
# Which rows may pair with a query row: any other one, older or younger ones, those below a bound.
OTHERS, YOUNGER, OLDER, BELOW = 0, 1, 2, 3


SETTLED, FORBIDDEN = 4, 5  # of a frame, after its two intervals


class BoxQueries(NamedTuple):
    """The conditions, and the query rows: `operands[k, i]` is what condition k compares with, for query i.

    `floor` is the least value that a comparison can be true of; no query asks below it.
    """

    dims: Ints  # [k]
    ops: Ints  # [k]
    operands: Ints  # [k, i]
    own: Ints  # [i] row ids of the queries
    partners: int  # OTHERS, YOUNGER, OLDER or BELOW
    bound: int
    floor: int = LEAST + 1


@kernel
def _set_intervals(ops: Ints, operands: Ints, begin: int, end: int, floor: int, low: Ints, high: Ints) -> None:
    """OUT low[k, j], high[k, j] for query begin + j; in the last column their hull. `!=` keeps the value itself."""
    hull = low.shape[1] - 1
    for k in range(len(ops)):
        op = ops[k]
        low[k, hull], high[k, hull] = MOST, LEAST
        for j in range(end - begin):
            q = operands[k, begin + j]
            a, b = q, q
            if op == LE or (op == LT and q > LEAST):
                a, b = floor, q - (op == LT)
            elif op == GE or (op == GT and q < MOST):
                a, b = q + (op == GT), MOST
            elif op in (LT, GT):  # nothing is below the least value, or above the greatest
                a, b = MOST, LEAST
            low[k, j], high[k, j] = a, b
            low[k, hull], high[k, hull] = min(low[k, hull], a), max(high[k, hull], b)


@kernel
def _set_frame(dims: Ints, ops: Ints, low: Ints, high: Ints, j: int, frames: Ints) -> None:
    """What the order of the rows alone decides for column j. Conditions come sorted by dimension.

    OUT frames[j]: the interval in dimension 0; the one in dimension 1, if the first is a point, for only then are the
    rows sorted by it; the number of conditions that these two settle; the value that dimension 1 must not have, or MOST
    """
    a0, b0, a1, b1, settled, forbidden = LEAST, MOST, LEAST, MOST, 0, MOST
    for k in range(len(dims)):
        interval = ops[k] != NE
        if dims[k] == 0 and interval:
            a0, b0 = max(a0, low[k, j]), min(b0, high[k, j])
        elif dims[k] == 1 and interval and a0 == b0:
            a1, b1 = max(a1, low[k, j]), min(b1, high[k, j])
        else:
            if dims[k] == 1 and a0 == b0 and low[k, j] == high[k, j]:
                forbidden = low[k, j]
            break
        settled = k + 1
    frames[j, 0], frames[j, 1], frames[j, 2], frames[j, 3] = a0, b0, a1, b1
    frames[j, SETTLED], frames[j, FORBIDDEN] = settled, forbidden


@kernel
def _possible(
    lows: Ints, highs: Ints, block: int, at: int, dims: Ints, ops: Ints, low: Ints, high: Ints, j: int, floor: int,
    first: int,
) -> bool:  # fmt: skip
    """Whether a row below an entry may meet the conditions of query j from `first` on (or of some query of the block,
    with the hull). Of a row in a slot, whose values are a box: whether it does.
    """
    for k in range(first, len(dims)):
        a, b = lows[block, dims[k], at], highs[block, dims[k], at]
        if ops[k] == NE:
            if a == b and ((a == low[k, j] and a == high[k, j]) or a < floor):
                return False
        elif a > high[k, j] or b < low[k, j]:
            return False
    return True


@kernel
def _first_slot(values: Ints, leaf: int, dim: int, begin: int, end: int, wanted: int) -> int:
    """The first of some sorted slots whose value is not below the one wanted."""
    while begin < end:
        middle = (begin + end) // 2
        if values[leaf, dim, middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def _after(values: Ints, leaf: int, dim: int, begin: int, end: int, last: int) -> int:
    """The first of some sorted slots whose value is above `last`."""
    return end if last == MOST else _first_slot(values, leaf, dim, begin, end, last + 1)


@kernel
def _slots(values: Ints, leaf: int, filled: int, frames: Ints, j: int) -> tuple[int, int, int, int]:
    """The slots of a leaf that a frame leaves, as two ranges, with the forbidden value between them."""
    begin, end = 0, filled
    if frames[j, 0] > LEAST:
        begin = _first_slot(values, leaf, 0, begin, end, frames[j, 0])
    if frames[j, 1] < MOST:
        end = _after(values, leaf, 0, begin, end, frames[j, 1])
    if frames[j, 2] > LEAST:
        begin = _first_slot(values, leaf, 1, begin, end, frames[j, 2])
    if frames[j, 3] < MOST:
        end = _after(values, leaf, 1, begin, end, frames[j, 3])
    forbidden = frames[j, FORBIDDEN]
    if forbidden == MOST:
        return begin, end, end, end
    hole = _first_slot(values, leaf, 1, begin, end, forbidden)
    return begin, hole, _after(values, leaf, 1, hole, end, forbidden), end


@kernel
def _is_partner(row: int, own: int, partners: int, bound: int) -> bool:
    if partners == YOUNGER:
        return row > own
    if partners == OLDER:
        return row < own
    if partners == BELOW:
        return row < bound
    return row != own


@kernel
def _entries(fences: Ints, node: int, used: int, frames: Ints, j: int) -> tuple[int, int]:
    """The entries of a node that a frame leaves. Its first rows may lie in the entry before the first fence."""
    begin, end = 0, used
    if frames[j, 0] > LEAST:
        begin = entry_of(fences, node, used, frames[j, 0], frames[j, 2], BEFORE_ALL)
    if frames[j, 3] < MOST:
        end = entry_of(fences, node, used, frames[j, 1], frames[j, 3] + 1, BEFORE_ALL) + 1
    elif frames[j, 1] < MOST:
        end = entry_of(fences, node, used, frames[j, 1] + 1, LEAST, BEFORE_ALL) + 1
    return begin, end


@measured(lambda *values: 50 * int(values[-1][0]))
def probe(
    tree: Tree,
    question: BoxQueries,
    starts: Ints,
    begin: int,
    end: int,
    queries: Ints,
    rows: Ints,
    found: Ints,
    one_is_enough: bool,
    looks: Ints,
) -> int:
    """The hits of blocks `begin` to `end`; gives the block before which it stopped because the room was full or no look
    was left, or in which it stopped because one hit was enough.

    IN  starts: the first query of each block, and the number of queries
    OUT queries[h], rows[h]: query and row id of each hit, from `found[0]` on, which counts them
    IN OUT looks[0]: how many nodes it may look at, and leaves, these once for each query of a block
    """
    ids, values, filled, child = tree.ids, tree.values, tree.filled, tree.child
    lows, highs, fences, used = tree.lows, tree.highs, tree.fences, tree.used
    dims, ops, operands, owns = question.dims, question.ops, question.operands, question.own
    partners, bound, floor = question.partners, question.bound, question.floor
    root, height = tree.facts[ROOT], tree.facts[HEIGHT]
    low, high = np.empty((len(dims), LEAF + 1), np.int64), np.empty((len(dims), LEAF + 1), np.int64)
    frames = np.empty((LEAF + 1, 6), np.int64)
    nodes, levels = np.empty(64 * FAN, np.int64), np.empty(64 * FAN, np.int64)
    for block in range(begin, end):
        count = found[0]
        first, size = starts[block], starts[block + 1] - starts[block]
        _set_intervals(ops, operands, first, first + size, floor, low, high)
        _set_frame(dims, ops, low, high, LEAF, frames)
        for j in range(size):
            _set_frame(dims, ops, low, high, j, frames)
        nodes[0], levels[0] = root, height
        waiting = 1
        while waiting:
            if looks[0] <= 0:
                return block
            waiting -= 1
            looks[0] -= 1
            node, level = nodes[waiting], levels[waiting]
            start, stop = _entries(fences, node, used[node], frames, LEAF)
            for entry in range(start, stop):
                if not _possible(lows, highs, node, entry, dims, ops, low, high, LEAF, floor, 0):
                    continue
                under = child[node, entry]
                if level > 1:
                    nodes[waiting], levels[waiting] = under, level - 1
                    waiting += 1
                    continue
                looks[0] -= size
                visit(tree, under)
                for j in range(size):
                    if size > 1 and not _possible(lows, highs, node, entry, dims, ops, low, high, j, floor, 0):
                        continue
                    own, settled = owns[first + j], frames[j, SETTLED]
                    a, hole, rest, b = _slots(values, under, filled[under], frames, j)
                    slot = a if a < hole else rest
                    while slot < b:
                        if _possible(values, values, under, slot, dims, ops, low, high, j, floor, settled):
                            row = ids[under, slot]
                            if _is_partner(row, own, partners, bound):
                                if count == len(rows):
                                    return block
                                queries[count], rows[count] = first + j, row
                                count += 1
                                if one_is_enough:
                                    found[0] = count
                                    return block
                        slot = slot + 1 if slot + 1 != hole else rest
        found[0] = count
    return end


@kernel
def _certain(
    lows: Ints, highs: Ints, node: int, entry: int, dims: Ints, ops: Ints, low: Ints, high: Ints, floor: int
) -> bool:
    """Whether every row below an entry meets query 0."""
    for k in range(len(dims)):
        a, b = lows[node, dims[k], entry], highs[node, dims[k], entry]
        if ops[k] == NE:
            if a < floor or (a <= low[k, 0] and low[k, 0] <= b):
                return False
        elif a < low[k, 0] or b > high[k, 0]:
            return False
    return True


@kernel
def count(tree: Tree, question: BoxQueries, begin: int, end: int, counts: Ints) -> None:
    """How many rows of the tree meet each query, itself among them where it does; subtrees that meet it whole are not
    entered. Partners and bound play no part.

    OUT counts[i] for queries `begin` to `end`
    """
    values, filled, child, below = tree.values, tree.filled, tree.child, tree.below
    lows, highs, fences, used = tree.lows, tree.highs, tree.fences, tree.used
    dims, ops, operands, floor = question.dims, question.ops, question.operands, question.floor
    low, high = np.empty((len(dims), 2), np.int64), np.empty((len(dims), 2), np.int64)
    frames = np.empty((1, 6), np.int64)
    nodes, levels = np.empty(64 * FAN, np.int64), np.empty(64 * FAN, np.int64)
    for i in range(begin, end):
        _set_intervals(ops, operands, i, i + 1, floor, low, high)
        _set_frame(dims, ops, low, high, 0, frames)
        nodes[0], levels[0] = tree.facts[ROOT], tree.facts[HEIGHT]
        waiting, total = 1, 0
        while waiting:
            waiting -= 1
            node, level = nodes[waiting], levels[waiting]
            start, stop = _entries(fences, node, used[node], frames, 0)
            for entry in range(start, stop):
                if not _possible(lows, highs, node, entry, dims, ops, low, high, 0, floor, 0):
                    continue
                under = child[node, entry]
                if _certain(lows, highs, node, entry, dims, ops, low, high, floor):
                    total += below[node, entry]
                elif level > 1:
                    nodes[waiting], levels[waiting] = under, level - 1
                    waiting += 1
                else:
                    visit(tree, under)
                    settled = frames[0, SETTLED]
                    a, hole, rest, b = _slots(values, under, filled[under], frames, 0)
                    for slot in range(a, b):
                        if slot < hole or slot >= rest:
                            total += _possible(values, values, under, slot, dims, ops, low, high, 0, floor, settled)
        counts[i] = total
