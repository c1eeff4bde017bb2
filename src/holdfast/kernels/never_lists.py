"""The search for never-sets where few of many cells occur: on its first columns, with lists of the cells that do.

The search is that of `kernels/never_sets.py`. A list has each cell once that is in E or in some D: its number, and
as bits the sets that hold it. Bit 0 is E; a cell of E is in no D. The lists are sorted, so that the slabs of the next
column follow each other, and choosing a mark merges those of its values. Where the columns left have few cells, the
sets become bits, and the search goes on there.

Axes: d depth, c choice, v value of a column, by its place among them.
Cost: O(cells listed) a step.
"""

from typing import NamedTuple

import numpy as np

from holdfast.kernels.arrays import Words
from holdfast.kernels.copying import copy_to
from holdfast.kernels.hitting_bits import ONE, ZERO, lowest
from holdfast.kernels.jit import kernel
from holdfast.kernels.never_sets import IN_VAIN, NEVER, OPEN, Columns, Search, advance, with_mirror

VALUES = 4  # that a column has at most
_END = np.uint64(0xFFFFFFFFFFFFFFFF)
_FREE = 15  # the mask of a column without a mark


class ListSearch(NamedTuple):
    """The first columns, what may be chosen on each, and how far the search is. `depth[0]` is -1 when it is done."""

    columns: Columns
    role: np.ndarray  # [d, c, v] int64: -1 if the choice allows the value, w if the w-th step adds it, 0 if neither
    size: Words  # [d] the cells of the columns after
    cell: Words  # of all lists: the numbers of the cells
    within: Words  # of all lists: the sets that hold each
    start: np.ndarray  # [d + 1] int64, where the list of a depth begins
    slabs: np.ndarray  # [d + 1, v + 1] int64, where its slabs begin and end
    sets: np.ndarray  # [d + 1] int64, how many there are
    marks: np.ndarray  # [d + 1] int64, marks chosen
    leans: np.ndarray  # [d + 1] int64, whether one of them is an inequality
    next: np.ndarray  # [d + 1] int64, the choice to try next
    depth: np.ndarray  # [1] int64


@kernel
def advance_lists(
    lists: ListSearch, search: Search, bits: int, most: int, budget: int, box: np.ndarray, found: np.ndarray
) -> int:
    """Go on for about `budget` cells or until OUT found[box, column] is full; gives how many boxes were found.

    `search` is the one on the other columns; `bits` are those of a word there. OUT box: what is chosen so far.
    """
    depth, count, room = lists.depth[0], 0, len(found) - 2 * max(1, len(search.tail.cells))
    while count <= room and budget > 0:
        if search.depth[0] >= 0:
            count += advance(search, most, budget, box, found[count:])
            budget = search.budget[0]
            continue
        if depth < 0:
            break
        choice = lists.next[depth]
        if choice == lists.columns.choices[depth]:
            box[lists.columns.place[depth]] = _FREE
            depth -= 1
            continue
        lists.next[depth] += 1
        if lists.columns.leaning[depth, choice] > 0 and search.symmetric and not lists.leans[depth]:
            continue
        budget -= lists.slabs[depth, VALUES] - lists.slabs[depth, 0]
        outcome = _choose(lists, depth, choice, most)
        box[lists.columns.place[depth]] = lists.columns.masks[depth, choice]
        if outcome == NEVER:
            copy_to(found[count], box)
            count = with_mirror(found, count, search.symmetric and lists.leans[depth + 1] != 0)
        elif outcome == OPEN and depth + 1 == len(lists.columns.place):
            _begin(lists, search, bits)
        elif outcome == OPEN:
            depth += 1
            lists.next[depth] = 0
    lists.depth[0] = depth
    return count


@kernel
def _choose(lists: ListSearch, depth: int, choice: int, most: int) -> int:
    """Make the list of the depth below; gives whether a box is found there, may be, or is not."""
    role, size, sets = lists.role[depth, choice], lists.size[depth], lists.sets[depth]
    lists.sets[depth + 1] = sets + lists.columns.ways[depth, choice]
    lists.marks[depth + 1] = lists.marks[depth] + (choice + 1 < lists.columns.choices[depth])
    lists.leans[depth + 1] = lists.leans[depth] | (lists.columns.leaning[depth, choice] != 0)
    slabs, to = lists.slabs[depth], lists.start[depth + 1]
    end, seen = _merge(lists.cell, lists.within, slabs.copy(), slabs, role, size, sets, to)
    needed = ((ONE << np.uint64(lists.sets[depth + 1] - 1)) - ONE) << ONE
    if (seen & needed) != needed or (seen & ONE and lists.marks[depth + 1] == most):
        return IN_VAIN
    if not seen & ONE:
        return NEVER
    find_slabs(lists, depth + 1, end)
    return OPEN


@kernel
def _merge(
    cell: Words, within: Words, at: np.ndarray, slabs: np.ndarray, role: np.ndarray, size: int, sets: int, to: int
) -> tuple[int, np.uint64]:
    """OUT cell[to:], within[to:]: the slabs of the values that have a role, as one list; gives where it ends, and all
    sets that hold a cell of it. OUT at: for the place in each slab.
    """
    seen = ZERO
    while True:
        low = _END
        for v in range(VALUES):
            if role[v] != 0 and at[v] < slabs[v + 1]:
                low = min(low, cell[at[v]] - np.uint64(v) * size)
        if low == _END:
            return to, seen
        held = ZERO
        for v in range(VALUES):
            if role[v] != 0 and at[v] < slabs[v + 1] and cell[at[v]] - np.uint64(v) * size == low:
                if role[v] < 0:
                    held |= within[at[v]]
                elif within[at[v]] & ONE:
                    held |= ONE << np.uint64(sets + role[v] - 1)
                at[v] += 1
        if held & ONE:
            held = ONE
        if held:
            cell[to], within[to] = low, held
            seen |= held
            to += 1


@kernel
def find_slabs(lists: ListSearch, depth: int, end: int) -> None:
    """OUT slabs[depth]: where the slabs begin of a list that ends there; the last columns have but one."""
    at, slabs = lists.start[depth], lists.slabs[depth]
    slabs[0], slabs[VALUES] = at, end
    if depth < len(lists.size):
        for v in range(1, VALUES):
            while at < end and lists.cell[at] < np.uint64(v) * lists.size[depth]:
                at += 1
            slabs[v] = at


@kernel
def _begin(lists: ListSearch, search: Search, bits: int) -> None:
    """Begin the search on the last columns with the last list. OUT search."""
    depth, cells, words = len(lists.columns.place), search.cells, search.columns.words[0]
    search.sets[0], search.marks[0], search.leans[0] = lists.sets[depth], lists.marks[depth], lists.leans[depth]
    search.next[0] = search.depth[0] = 0
    cells[: words * lists.sets[depth]] = ZERO
    for i in range(lists.slabs[depth, 0], lists.slabs[depth, VALUES]):
        word = np.int64(lists.cell[i]) // bits
        bit, held = ONE << np.uint64(np.int64(lists.cell[i]) - word * bits), lists.within[i]
        while held:
            cells[lowest(held) * words + word] |= bit
            held &= held - ONE
