"""The search for never-sets: minimal boxes in which no pair lies, depth first over the columns.

At each depth one column gets a mark or stays free. What is kept of the pairs that lie in the marks chosen so far are
their values in the columns still to come: a set E of cells, one a combination of values. And for each way to weaken one
mark by a step, a set D of cells: the values of the pairs that lie in the box only when this mark is weaker.
Choosing a mark joins the slabs of its values; weakening it adds those of the values that it does not allow.

A box is never met iff E becomes empty, and minimal iff no D does. A cell of D that is in E too can't be in a box that
is never met; so it is taken out of D, and where a D is empty the search goes no further. Cells are bits. The last
columns share a word, as far as their cells fit; the slabs of those before are whole words.

Where the pairs are closed under mirrors, so are the boxes: the first inequality chosen is `<` or `<=`, and each box
found is told with its mirror.

The search stops when its block is full or its budget of words is spent, and goes on from there when called again.

Axes: d depth, c choice (a mark, or none), s slab, a way to weaken (0 or 1).
Cost: O(sets kept * words of a slab) a step.
"""

from typing import NamedTuple

import numpy as np

from holdfast.kernels.hitting_bits import ONE, ZERO, Words
from holdfast.kernels.jit import kernel

SLABS = 4  # as many as a column has values at most; one with fewer names some of them twice


class Columns(NamedTuple):
    """The columns in the order of the search, and what may be chosen on each."""

    column: np.ndarray  # [d] int64, its place in a box
    choices: np.ndarray  # [d] int64, how many there are; the last one leaves the column free
    masks: np.ndarray  # [d, c] uint8, of values
    leaning: np.ndarray  # [d, c] int8, of a mark: -1 for `<` and `<=`, 1 for `>` and `>=`, 0 for the others
    joined: np.ndarray  # [d, c, s] int64, where the slabs begin that a choice joins: the word, or the bit of a word
    ways: np.ndarray  # [d, c] int64, how many steps weaken it
    added: np.ndarray  # [d, c, a, s] int64, where the slabs begin that a step adds
    words: np.ndarray  # [d + 1] int64, the words of a set
    bits: np.ndarray  # [d] int64, the bits of a slab within a word; 0 where it is whole words
    symmetric: int  # whether the pairs are closed under mirrors


class Search(NamedTuple):
    """A search in progress. `depth[0]` is where it stands; -1: done."""

    columns: Columns
    cells: Words  # all sets of all depths
    start: np.ndarray  # [d] int64, where those of a depth begin: first E, then each D
    sets: np.ndarray  # [d] int64, how many there are
    marks: np.ndarray  # [d] int64, marks chosen
    leans: np.ndarray  # [d] int64, whether one of them is an inequality
    next: np.ndarray  # [d] int64, the choice to try next
    depth: np.ndarray  # [1] int64


@kernel
def fill_cells(values: np.ndarray, column: np.ndarray, weight: np.ndarray, bits: int, cells: Words) -> None:
    """OUT cells: the set of the values of pairs. `weight[d, value]` is what a value adds to the place of a cell, of
    which a word holds `bits`.
    """
    for i in range(len(values)):
        place = 0
        for d in range(len(column)):
            place += weight[d, values[i, column[d]]]
        word = place // bits
        cells[word] |= ONE << np.uint64(place - word * bits)


@kernel
def take_out(cells: Words, others: Words) -> None:
    """OUT cells: without those of another set."""
    for w in range(len(cells)):
        cells[w] &= ~others[w]


@kernel
def advance(search: Search, most: int, budget: int, known: np.ndarray, found: np.ndarray) -> int:
    """Go on for about `budget` words or until OUT found[box, column] is full; gives how many boxes were found.

    `known` is the box chosen before the search began; what is found narrows it.
    """
    columns, depth, count = search.columns, search.depth[0], 0
    while depth >= 0 and count + 2 <= len(found) and budget > 0:
        choice = search.next[depth]
        if choice == columns.choices[depth]:
            depth -= 1
            continue
        search.next[depth] += 1
        if columns.leaning[depth, choice] > 0 and columns.symmetric and not search.leans[depth]:
            continue
        budget -= (1 + search.sets[depth]) * columns.words[depth + 1]
        if not _choose(search, depth, choice, most):
            continue
        if _is_empty(search.cells, search.start[depth + 1], columns.words[depth + 1]):
            count += _emit(search, depth, known, found[count : count + 2])
        elif search.marks[depth + 1] < most and depth + 1 < len(columns.column):
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
def _choose(search: Search, depth: int, choice: int, most: int) -> bool:
    """Make the sets of the depth below; false where no minimal never-set lies there."""
    columns, cells, sets = search.columns, search.cells, search.sets[depth]
    above, below = search.start[depth], search.start[depth + 1]
    size, bits, slab = columns.words[depth], columns.bits[depth], columns.words[depth + 1]
    marked = choice + 1 < columns.choices[depth]
    if marked and search.marks[depth] == most:
        return False
    _join(cells, above, columns.joined[depth, choice], bits, slab, below)
    to = below + sets * slab
    for way in range(columns.ways[depth, choice]):
        _join(cells, above, columns.added[depth, choice, way], bits, slab, to)
        if not _keep_outside(cells, below, slab, to):
            return False
        to += slab
    for i in range(1, sets):
        _join(cells, above + i * size, columns.joined[depth, choice], bits, slab, below + i * slab)
        if not _keep_outside(cells, below, slab, below + i * slab):
            return False
    search.sets[depth + 1] = sets + columns.ways[depth, choice]
    search.marks[depth + 1] = search.marks[depth] + marked
    search.leans[depth + 1] = search.leans[depth] | (columns.leaning[depth, choice] != 0)
    return True


@kernel
def _join(cells: Words, at: int, slabs: np.ndarray, bits: int, size: int, to: int) -> None:
    """OUT cells[to:]: the union of slabs of the set at a place."""
    a, b, c, d = slabs
    if bits:
        word = cells[at]
        a, b, c, d = np.uint64(a), np.uint64(b), np.uint64(c), np.uint64(d)
        cells[to] = ((word >> a) | (word >> b) | (word >> c) | (word >> d)) & ((ONE << np.uint64(bits)) - ONE)
    else:
        for w in range(size):
            cells[to + w] = cells[at + a + w] | cells[at + b + w] | cells[at + c + w] | cells[at + d + w]


@kernel
def _keep_outside(cells: Words, start: int, size: int, at: int) -> bool:
    """OUT cells[at:]: without the cells of the set at `start`; whether some are left."""
    left = ZERO
    for w in range(size):
        cells[at + w] &= ~cells[start + w]
        left |= cells[at + w]
    return bool(left)


@kernel
def _emit(search: Search, depth: int, known: np.ndarray, found: np.ndarray) -> int:
    """OUT found[0]: the box chosen down to a depth; OUT found[1]: its mirror, where that is another."""
    columns = search.columns
    for c in range(len(known)):
        found[0, c] = known[c]
    for d in range(depth + 1):
        found[0, columns.column[d]] = columns.masks[d, search.next[d] - 1]
    if not columns.symmetric or not search.leans[depth + 1]:
        return 1
    for c in range(len(known)):
        mask = found[0, c]
        found[1, c] = (mask & 10) | (mask & 1) << 2 | (mask & 4) >> 2
    return 2
