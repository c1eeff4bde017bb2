"""The search for never-sets: minimal boxes in which no pair lies, depth first over the columns.

At each depth one column gets a mark or stays free. What is kept of the pairs that lie in the marks chosen so far are
their values in the columns still to come: a set E of cells, one a combination of values. And for each way to weaken one
mark by a step, a set D of cells: the values of the pairs that lie in the box only when this mark is weaker.
Choosing a mark joins the slabs of its values; weakening it adds those of the values that it does not allow.

A box is never met iff E becomes empty, and minimal iff no D does. A cell of D that is in E too can't be in a box that
is never met; so it is taken out of D, and where a D is empty the search goes no further. Cells are bits. The last
columns share a word, and all boxes on them are tried at once; the slabs of the columns before are whole words.

Where the pairs are closed under mirrors, so are the boxes: the first inequality chosen is `<` or `<=`, and each box
found is told with its mirror.

The search stops when its block is full or its budget of words is spent, and goes on from there when called again.

Axes: d depth, c choice (a mark, or none), s slab, a way to weaken, b box on the last columns.
Cost: O(sets kept * words of a slab) a step, O(boxes) at the last columns.
"""

from typing import NamedTuple

import numpy as np

from holdfast.kernels.hitting_bits import ONE, ZERO, Words
from holdfast.kernels.jit import kernel

SLABS = 4  # that a choice joins at most; where they are fewer, one is named more than once
ADDED = 2  # that a step adds at most
WAYS = 2  # to weaken a mark, at most


class Columns(NamedTuple):
    """The columns but for the last ones, in the order of the search, and what may be chosen on each."""

    place: np.ndarray  # [d] int64, in a box
    choices: np.ndarray  # [d] int64, how many there are; the last one leaves the column free
    masks: np.ndarray  # [d, c] uint8, of values
    leaning: np.ndarray  # [d, c] int64: -1 for `<` and `<=`, 1 for `>` and `>=`, 0 for the others
    joined: np.ndarray  # [d, c, s] int64, where the slabs begin that a choice joins
    ways: np.ndarray  # [d, c] int64, how many steps weaken it
    added: np.ndarray  # [d, c, a, s] int64, where the slabs begin that a step adds
    words: np.ndarray  # [d + 1] int64, the words of a set


class Tail(NamedTuple):
    """The last columns, and all boxes on them."""

    place: np.ndarray  # [column] int64, in a box
    cells: Words  # [b] that lie in the box
    weaker: Words  # [b, way] the cells of each box that is weaker by one step; all cells where there are no more
    masks: np.ndarray  # [b, column] uint8, of values
    marks: np.ndarray  # [b] int64, how many
    leaning: np.ndarray  # [b] int64, of the first inequality


class Search(NamedTuple):
    """A search in progress. `depth[0]` is where it stands; -1: done."""

    columns: Columns
    tail: Tail
    symmetric: bool  # whether the pairs are closed under mirrors
    cells: Words  # all sets of all depths
    start: np.ndarray  # [d + 1] int64, where those of a depth begin: first E, then each D
    sets: np.ndarray  # [d + 1] int64, how many there are
    marks: np.ndarray  # [d + 1] int64, marks chosen
    leans: np.ndarray  # [d + 1] int64, whether one of them is an inequality
    next: np.ndarray  # [d + 1] int64, the choice to try next
    depth: np.ndarray  # [1] int64


@kernel
def fill_cells(values: np.ndarray, places: np.ndarray, weight: np.ndarray, bits: int, cells: Words) -> None:
    """OUT cells: the set of the values of pairs. `weight[column, value]` is what a value adds to the number of a cell,
    and a word holds so many of these.
    """
    for i in range(len(values)):
        cell = 0
        for c in range(len(places)):
            cell += weight[c, values[i, places[c]]]
        word = cell // bits
        cells[word] |= ONE << np.uint64(cell - word * bits)


@kernel
def take_out(cells: Words, others: Words) -> None:
    """OUT cells: without those of another set."""
    for w in range(len(cells)):
        cells[w] &= ~others[w]


@kernel
def advance(search: Search, most: int, budget: int, known: np.ndarray, found: np.ndarray) -> int:
    """Go on for about `budget` words or until OUT found[box, column] is full; gives how many boxes were found.

    `known` is the box chosen before the search began; what is found narrows it. A block has room for two boxes, and
    two for each box on the last columns.
    """
    columns, tail, cells, start = search.columns, search.tail, search.cells, search.start
    depth, count = search.depth[0], 0
    room = len(found) - 2 * max(1, len(tail.cells))
    while depth >= 0 and count <= room and budget > 0:
        if depth == len(columns.place):
            budget -= len(tail.cells)
            count = _finish(search, most, known, found, count)
            depth -= 1
            continue
        choice = search.next[depth]
        if choice == columns.choices[depth]:
            depth -= 1
            continue
        search.next[depth] += 1
        leaning, free = columns.leaning[depth, choice], choice + 1 == columns.choices[depth]
        if leaning > 0 and search.symmetric and not search.leans[depth]:
            continue
        sets, words, slab = search.sets[depth], columns.words[depth], columns.words[depth + 1]
        ways = columns.ways[depth, choice]
        budget -= (sets + ways) * slab
        joined, added = columns.joined[depth, choice], columns.added[depth, choice]
        if not _choose(cells, start[depth], start[depth + 1], sets, words, slab, joined, added, ways):
            continue
        search.sets[depth + 1] = sets + ways
        search.marks[depth + 1] = search.marks[depth] + (not free)
        search.leans[depth + 1] = search.leans[depth] | (leaning != 0)
        if _is_empty(cells, start[depth + 1], slab):
            found[count] = known
            count = _emit(search, depth + 1, search.leans[depth + 1], found, count)
        elif search.marks[depth + 1] < most:
            depth += 1
            search.next[depth] = 0
    search.depth[0] = depth
    return count


@kernel
def _is_empty(cells: Words, start: int, words: int) -> bool:
    for w in range(start, start + words):  # noqa: SIM110  # kernels have no generators
        if cells[w]:
            return False
    return True


@kernel
def _choose(
    cells: Words,
    above: int,
    below: int,
    sets: int,
    words: int,
    slab: int,
    joined: np.ndarray,
    added: np.ndarray,
    ways: int,
) -> bool:
    """Make the sets of the depth below; false where one of them is empty that must not be. OUT cells[below:]."""
    j, k, m, n = joined[0], joined[1], joined[2], joined[3]
    for w in range(slab):
        at = above + w
        cells[below + w] = cells[at + j] | cells[at + k] | cells[at + m] | cells[at + n]
    to = below + sets * slab
    for way in range(ways):
        left, p, q = ZERO, added[way, 0], added[way, 1]
        for w in range(slab):
            word = (cells[above + p + w] | cells[above + q + w]) & ~cells[below + w]
            cells[to + w] = word
            left |= word
        if not left:
            return False
        to += slab
    to = below
    for _ in range(1, sets):
        above += words
        to += slab
        left = ZERO
        for w in range(slab):
            at = above + w
            word = (cells[at + j] | cells[at + k] | cells[at + m] | cells[at + n]) & ~cells[below + w]
            cells[to + w] = word
            left |= word
        if not left:
            return False
    return True


@kernel
def _finish(search: Search, most: int, known: np.ndarray, found: np.ndarray, count: int) -> int:
    """Try all boxes on the last columns. OUT found[count:]; gives the new count."""
    tail, depth = search.tail, len(search.columns.place)
    at, free = search.start[depth], most - search.marks[depth]
    met, sets, leans = search.cells[at], search.sets[depth], search.leans[depth]
    for b in range(len(tail.cells)):
        inside = tail.cells[b]
        if met & inside or tail.marks[b] > free or (tail.leaning[b] > 0 and search.symmetric and not leans):
            continue
        minimal = True
        for i in range(at + 1, at + sets):
            minimal &= (search.cells[i] & inside) != ZERO
        for way in range(tail.weaker.shape[1]):
            minimal &= (met & tail.weaker[b, way]) != ZERO
        if minimal:
            found[count] = known
            for c in range(len(tail.place)):
                found[count, tail.place[c]] = tail.masks[b, c]
            count = _emit(search, depth, leans | (tail.leaning[b] != 0), found, count)
    return count


@kernel
def _emit(search: Search, depth: int, leans: int, found: np.ndarray, count: int) -> int:
    """OUT found[count:]: the box chosen down to a depth, and its mirror where that is another; gives the new count."""
    columns = search.columns
    for d in range(depth):
        found[count, columns.place[d]] = columns.masks[d, search.next[d] - 1]
    if not search.symmetric or not leans:
        return count + 1
    for c in range(found.shape[1]):
        mask = found[count, c]
        found[count + 1, c] = (mask & 10) | (mask & 1) << 2 | (mask & 4) >> 2
    return count + 2
