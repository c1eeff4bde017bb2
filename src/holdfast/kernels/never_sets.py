"""The search for never-sets: minimal boxes in which no pair lies, depth first over the columns.

At each depth one column gets a mark or stays free. The pairs that lie in the marks chosen so far are represented by
their values in the columns still to come: a set E of cells, one for each combination of values. Each way to weaken one
mark by a step has a set D of cells: the values of the pairs that lie in the box only when this mark is weaker.
Choosing a mark joins the slabs of its values; weakening it adds those of the values that it does not allow.

A box is never met iff E becomes empty, and minimal iff no D does. A cell of D that is in E too can't be in a box that
is never met; so it is taken out of D, and where a D is empty the search goes no further. Cells are bits. The last
columns share a word, and all boxes on them are tried at once; the slabs of the columns before are whole words.

Where the pairs are closed under mirrors, so are the boxes: the first inequality chosen is `<` or `<=`, and each box
found is reported with its mirror.

Where boxes are wanted that hold a number of pairs, these are counted by cell, apart from the sets: all pairs, and not
only those in E. Choosing a mark sums the slabs of its values. A box that is never met has no cell of E, so that
pairs in these no longer count. Where fewer are left than wanted, the search goes no further.

The search stops when its block is full or its budget of words is spent, and goes on from there when called again.

Axes: d depth, c choice (a mark, or none), s slab, a way to weaken, b box on the last columns.
Cost: O(sets kept * words of a slab) a step, O(boxes) at the last columns.
"""

from typing import NamedTuple

import numpy as np

from holdfast.kernels.arrays import Words
from holdfast.kernels.copying import copy_to
from holdfast.kernels.hitting_bits import ONE, ZERO
from holdfast.kernels.jit import kernel

SLABS = 4  # that a choice joins at most; where they are fewer, one is named more than once
ADDED = 2  # that a step adds at most
WAYS = 2  # to weaken a mark, at most
IN_VAIN, OPEN, NEVER = 0, 1, 2  # what a choice leads to: nothing, more choices, or a never-set


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
    least: int  # pairs that a box is to hold; 0: they are not counted
    counts: Words  # the pairs by cell, of all depths
    counted: np.ndarray  # [d + 1] int64, where those of a depth begin
    bits: int  # that count in a word
    budget: np.ndarray  # [1] int64, what was left of it when the search stopped


@kernel
def fill_cells(values: np.ndarray, places: np.ndarray, weight: np.ndarray, bits: int, cells: Words) -> None:
    """OUT cells: the set of the values of pairs. `weight[column, value]` is what a value adds to the number of a cell;
    a word holds `bits` cells.
    """
    for i in range(len(values)):
        cell = 0
        for c in range(len(places)):
            cell += weight[c, values[i, places[c]]]
        word = cell // bits
        cells[word] |= ONE << np.uint64(cell - word * bits)


@kernel
def advance(search: Search, most: int, budget: int, known: np.ndarray, found: np.ndarray) -> int:
    """Go on for about `budget` words or until OUT found[box, column] is full; gives how many boxes were found.

    `known` is the box chosen before the search began; what is found narrows it. A block has room for two boxes, and
    two for each box on the last columns.
    """
    # Each array by a name of its own: to take it out of a tuple costs as much as a step.
    choices, leaning, words = search.columns.choices, search.columns.leaning, search.columns.words
    joined, ways, added = search.columns.joined, search.columns.ways, search.columns.added
    cells, start, sets, following = search.cells, search.start, search.sets, search.next
    marks, leans, tail, boxes = search.marks, search.leans, search.tail, len(search.tail.cells)
    least, counts, counted, bits = search.least, search.counts, search.counted, search.bits
    depth, count = search.depth[0], 0
    while depth >= 0 and count + 2 * max(1, boxes) <= len(found) and budget > 0:
        if depth == len(choices):
            budget -= boxes
            at, b = start[depth], -1
            while True:
                lean_less = search.symmetric and not leans[depth]
                b = _next_box(tail, cells, at, at + sets[depth], most - marks[depth], lean_less, b + 1)
                if b == boxes:
                    break
                if least == 0 or _pairs_within(counts, counted[depth], bits, tail.cells[b]) >= least:
                    count = _emit(search, depth, b, known, found, count)
            depth -= 1
            continue
        choice = following[depth]
        if choice == choices[depth]:
            depth -= 1
            continue
        following[depth] += 1
        if leaning[depth, choice] > 0 and search.symmetric and not leans[depth]:
            continue
        marks[depth + 1] = marks[depth] + (choice + 1 < choices[depth])
        leans[depth + 1] = leans[depth] | (leaning[depth, choice] != 0)
        budget -= sets[depth] * words[depth + 1]
        outcome = _choose(cells, start, sets, words, joined, ways, added, depth, choice, marks[depth + 1] == most)
        if least > 0 and outcome != IN_VAIN:
            slab = words[depth + 1]
            budget -= slab * bits
            above, below = counted[depth], counted[depth + 1]
            pairs = _count_outside(counts, above, joined[depth, choice], bits, below, cells, start[depth + 1], slab)
            if pairs < least:
                outcome = IN_VAIN
        if outcome == NEVER:
            count = _emit(search, depth + 1, -1, known, found, count)
        elif outcome == OPEN:
            depth += 1
            following[depth] = 0
    search.depth[0], search.budget[0] = depth, budget
    return count


@kernel
def _choose(
    cells: Words,
    start: np.ndarray,
    sets: np.ndarray,
    words: np.ndarray,
    joined: np.ndarray,
    ways: np.ndarray,
    added: np.ndarray,
    depth: int,
    choice: int,
    last: bool,
) -> int:
    """Make the sets of the depth below: OUT cells, sets. Gives whether a box is found there, may be, or is not."""
    above, below, size, slab = start[depth], start[depth + 1], words[depth], words[depth + 1]
    j, k = joined[depth, choice, 0], joined[depth, choice, 1]
    m, n = joined[depth, choice, 2], joined[depth, choice, 3]
    met = _join(cells, above, j, k, m, n, slab, below)
    if met and last:
        return IN_VAIN
    had = sets[depth]
    for way in range(ways[depth, choice]):
        p, q = added[depth, choice, way, 0], added[depth, choice, way, 1]
        if not _join_outside(cells, above, p, q, p, q, slab, below, below + (had + way) * slab):
            return IN_VAIN
    for i in range(1, had):
        if not _join_outside(cells, above + i * size, j, k, m, n, slab, below, below + i * slab):
            return IN_VAIN
    sets[depth + 1] = had + ways[depth, choice]
    return OPEN if met else NEVER


@kernel
def _join(cells: Words, at: int, j: int, k: int, m: int, n: int, slab: int, to: int) -> bool:
    """OUT cells[to:]: the union of slabs of the set at a place; whether there is a cell in it."""
    some = ZERO
    for w in range(slab):
        word = cells[at + j + w] | cells[at + k + w] | cells[at + m + w] | cells[at + n + w]
        cells[to + w] = word
        some |= word
    return bool(some)


@kernel
def _join_outside(cells: Words, at: int, j: int, k: int, m: int, n: int, slab: int, out: int, to: int) -> bool:
    """The same, without the cells of the set at `out`."""
    if slab == 1:  # as on most steps: a loop costs more than what it does
        some = (cells[at + j] | cells[at + k] | cells[at + m] | cells[at + n]) & ~cells[out]
        cells[to] = some
        return bool(some)
    some = ZERO
    for w in range(slab):
        word = (cells[at + j + w] | cells[at + k + w] | cells[at + m + w] | cells[at + n + w]) & ~cells[out + w]
        cells[to + w] = word
        some |= word
    return bool(some)


@kernel
def _count_outside(
    counts: Words, above: int, slabs: np.ndarray, bits: int, below: int, cells: Words, at: int, slab: int
) -> np.int64:
    """OUT counts[below:]: the sum of slabs of the counts above, and 0 for the cells of the set at a place; gives how
    many pairs these are.
    """
    size, total = slab * bits, ZERO
    j, k, m, n = slabs[0], slabs[1], slabs[2], slabs[3]
    one, two = counts[above + j * bits :][:size], counts[above + k * bits :][:size]
    three, four = counts[above + m * bits :][:size], counts[above + n * bits :][:size]
    # all bits, or none where a slab is the first one, named again as there are no more
    second, third, fourth = ZERO - np.uint64(k != j), ZERO - np.uint64(m != j), ZERO - np.uint64(n != j)
    sums = counts[below:][:size]
    for w in range(slab):
        word = cells[at + w]
        for bit in range(bits):
            cell = w * bits + bit
            own = one[cell] + (two[cell] & second) + (three[cell] & third) + (four[cell] & fourth)
            own &= (word >> np.uint64(bit) & ONE) - ONE  # a cell of the set: no bits
            sums[cell] = own
            total += own
    return np.int64(total)


@kernel
def _pairs_within(counts: Words, at: int, bits: int, inside: np.uint64) -> np.int64:
    """How many pairs lie in a box on the last columns."""
    total = ZERO
    for bit in range(bits):
        if inside >> np.uint64(bit) & ONE:
            total += counts[at + bit]
    return np.int64(total)


@kernel
def _next_box(tail: Tail, cells: Words, begin: int, end: int, free: int, lean_less: bool, b: int) -> int:
    """The next box on the last columns, from b on, that makes a minimal never-set with at most `free` marks."""
    inside, weaker, met = tail.cells, tail.weaker, cells[begin]
    while b < len(inside):
        if not met & inside[b] and tail.marks[b] <= free and not (lean_less and tail.leaning[b] > 0):
            minimal = True
            for way in range(weaker.shape[1]):
                if not met & weaker[b, way]:
                    minimal = False
                    break
            i = begin + 1
            while minimal and i < end:
                minimal = (cells[i] & inside[b]) != ZERO
                i += 1
            if minimal:
                return b
        b += 1
    return b


@kernel
def _emit(search: Search, depth: int, b: int, known: np.ndarray, found: np.ndarray, count: int) -> int:
    """OUT found[count:]: the box chosen down to a depth and on the last columns (b: which; -1: none), and its mirror
    where that is another; gives the new count.
    """
    columns, tail, leans = search.columns, search.tail, search.leans[depth] != 0
    copy_to(found[count], known)
    for d in range(depth):
        found[count, columns.place[d]] = columns.masks[d, search.next[d] - 1]
    if b >= 0:
        leans |= tail.leaning[b] != 0
        for c in range(len(tail.place)):
            found[count, tail.place[c]] = tail.masks[b, c]
    return with_mirror(found, count, search.symmetric and leans)


@kernel
def with_mirror(found: np.ndarray, count: int, leans: bool) -> int:
    """OUT found[count + 1]: the mirror of the box before, where that leans; gives the new count."""
    if not leans:
        return count + 1
    for c in range(found.shape[1]):
        mask = found[count, c]  # less and more, the bits 1 and 4, change places
        found[count + 1, c] = (mask & 10) | (mask & 1) << 2 | (mask & 4) >> 2
    return count + 2
