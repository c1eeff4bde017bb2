"""Pairs of rows as a graph that forgets a row at the cost of its own pairs.

Pair p is an edge with two ends, the half-edges 2p and 2p + 1. All half-edges of a row form a doubly linked list, found
by a hash table from row id to the head of the list. Removing a row walks its list, and takes each other half out of
its own list in O(1); the last pair moves into the gap, so the pairs always lie dense.

An end below 0 stands for no row and is not linked: so a rule about single rows has its rows as half pairs.
Invariants: pairs 0 … count-1 are the pairs; `degrees[slot]` is the length of the list that starts at `heads[slot]`.
Cost: adding a pair is two look-ups; removing a row with v pairs is O(v); 32 bytes a pair, 24 a slot of the table.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Ints
from holdfast.kernels.hashing import SEED, first_slot, mask_of, mixed, next_slot
from holdfast.kernels.jit import kernel, measured

COUNT, SLOTS_USED, FACTS = 0, 1, 2
NOBODY = -1


class Edges(NamedTuple):
    """The pools of a graph. The number of slots is a power of two, and some are always free."""

    ends: Ints  # [pair, side]
    after: NDArray[np.int32]  # [half-edge] next half-edge of the same row, or -1
    before: NDArray[np.int32]  # [half-edge] the one before, or -1
    rows: Ints  # [slot] row id, or -1
    heads: Ints  # [slot] first half-edge, or -1 where the row has none any more
    degrees: Ints  # [slot]
    facts: Ints


@kernel
def _slot(rows: Ints, row: int) -> Any:
    """Where a row stands in the hash table, or would."""
    mask = mask_of(rows)
    slot = first_slot(mixed(SEED, np.uint64(row)), mask)
    while rows[slot] != row and rows[slot] != NOBODY:
        slot = next_slot(slot, mask)
    return slot


@measured(lambda _edges, lefts, _rights: 10 * len(lefts))
def add(edges: Edges, lefts: Ints, rights: Ints) -> None:
    """Add pairs that aren't there yet. The pools must have room, and the table for two more rows a pair."""
    for i in range(len(lefts)):
        pair = edges.facts[COUNT]
        edges.facts[COUNT] += 1
        edges.ends[pair, 0], edges.ends[pair, 1] = lefts[i], rights[i]
        for side in range(2):
            row = edges.ends[pair, side]
            half = 2 * pair + side
            edges.after[half], edges.before[half] = -1, -1
            if row < 0:
                continue
            slot = _slot(edges.rows, row)
            if edges.rows[slot] == NOBODY:
                edges.rows[slot], edges.heads[slot], edges.degrees[slot] = row, -1, 0
                edges.facts[SLOTS_USED] += 1
            head = edges.heads[slot]
            if head >= 0:
                edges.after[half] = head
                edges.before[head] = half
            edges.heads[slot] = half
            edges.degrees[slot] += 1


@kernel
def _unlink(edges: Edges, half: int) -> None:
    row = edges.ends[half >> 1, half & 1]
    if row < 0:
        return
    slot = _slot(edges.rows, row)
    after, before = edges.after[half], edges.before[half]
    if after >= 0:
        edges.before[after] = before
    if before >= 0:
        edges.after[before] = after
    else:
        edges.heads[slot] = after
    edges.degrees[slot] -= 1


@kernel
def _move(edges: Edges, pair: int, gap: int) -> None:
    """Let a pair, still linked, take the place of one that is not."""
    for side in range(2):
        half, to = 2 * pair + side, 2 * gap + side
        row = edges.ends[pair, side]
        edges.ends[gap, side] = row
        after, before = edges.after[half], edges.before[half]
        edges.after[to], edges.before[to] = after, before
        if after >= 0:
            edges.before[after] = to
        if before >= 0:
            edges.after[before] = to
        elif row >= 0:
            edges.heads[_slot(edges.rows, row)] = to


@measured(lambda _edges, rows, gone: 5 * len(rows) + 20 * len(gone))
def remove_rows(edges: Edges, rows: Ints, gone: Ints) -> int:
    """Remove all pairs of some rows; gives how many there were.

    OUT gone[pair, side]: the pairs removed; its length must be at least the sum of the rows' degrees
    """
    count = 0
    for i in range(len(rows)):
        slot = _slot(edges.rows, rows[i])
        if edges.rows[slot] == NOBODY:
            continue
        while edges.heads[slot] >= 0:
            pair = edges.heads[slot] >> 1
            gone[count, 0], gone[count, 1] = edges.ends[pair, 0], edges.ends[pair, 1]
            count += 1
            _unlink(edges, 2 * pair)
            _unlink(edges, 2 * pair + 1)
            last = edges.facts[COUNT] - 1
            edges.facts[COUNT] = last
            if pair != last:
                _move(edges, last, pair)
    return count


@measured(lambda _edges, rows, _degrees: 5 * len(rows))
def degrees_of(edges: Edges, rows: Ints, degrees: Ints) -> None:
    """OUT degrees[i]: in how many pairs a row is."""
    for i in range(len(rows)):
        slot = _slot(edges.rows, rows[i])
        degrees[i] = 0 if edges.rows[slot] == NOBODY else edges.degrees[slot]


@measured(lambda _edges, _row, found: 5 + len(found))
def pairs_of(edges: Edges, row: int, found: Ints) -> None:
    """OUT found[i]: the numbers of the pairs of a row; its length is the row's degree."""
    half = edges.heads[_slot(edges.rows, row)]
    for i in range(len(found)):
        found[i] = half >> 1
        half = edges.after[half]


@measured(lambda edges, _rows, _heads, _degrees: len(edges.rows) + 5 * edges.facts[COUNT])
def rehash(edges: Edges, rows: Ints, heads: Ints, degrees: Ints) -> int:
    """Fill a new hash table, without the rows that have no pairs any more; gives how many slots it uses.

    OUT rows[slot] (given all NOBODY), heads[slot], degrees[slot]
    """
    used = 0
    for old in range(len(edges.rows)):
        if edges.rows[old] != NOBODY and edges.heads[old] >= 0:
            slot = _slot(rows, edges.rows[old])
            rows[slot], heads[slot], degrees[slot] = edges.rows[old], edges.heads[old], edges.degrees[old]
            used += 1
    return used
