"""The search for minimal hitting sets: depth first, with critical edges (Murakami and Uno's MMCS).

A set of elements hits an edge if they meet. A chosen element is **critical** for an edge that it alone hits; a hitting
set is minimal iff every element is critical for some edge, and a choice in which one is not can't be mended by choosing
more, so the search never goes on from there. Each step takes an edge not hit yet with the fewest elements open, and
tries them one by one; elements tried stay closed below their later siblings, so each set is met once.

Where it departs: MMCS keeps a list of critical edges for each chosen element. Here bitmaps over the edges say which
are missed and which are hit exactly once, and `once & inside[u]` are the critical edges of u: two rows of words a
depth, no lists, no undoing. On the last level that a bound allows, only elements in all missed edges are tried.

The search stops when its block is full or its budget of steps is spent, and goes on from there when called again.

Axes: e element, w word of elements, k word of edges, d depth.
Cost: O(edges) a step to choose the edge, O(depth * edges / 64) to test an element.
"""

from typing import NamedTuple

import numpy as np

from holdfast.kernels.arrays import Words
from holdfast.kernels.hitting_bits import ZERO, lowest, popcount, put
from holdfast.kernels.jit import kernel


class HittingSearch(NamedTuple):
    """A search in progress. `depth[0]` is where it stands; -1: done."""

    edges: Words  # [edge, w]
    inside: Words  # [e, k] the edges that hold an element
    missed: Words  # [d, k] the edges not hit
    once: Words  # [d, k] the edges hit exactly once
    open: Words  # [d, w] elements that may still be chosen below
    todo: Words  # [d, w] elements to try here
    chosen: np.ndarray  # [d] int64
    depth: np.ndarray  # [1] int64


@kernel
def advance(search: HittingSearch, most: int, budget: int, found: Words) -> int:
    """Go on for at most `budget` steps or until OUT found[:, w] is full; gives how many sets were found."""
    depth, count = search.depth[0], 0
    while depth >= 0 and count < len(found) and budget > 0:
        element = take_lowest(search.todo[depth])
        if element < 0:
            depth -= 1
            if depth >= 0:
                put(search.open[depth], search.chosen[depth])
            continue
        budget -= 1
        if not _choose(search, depth, element):
            continue
        if _is_empty(search.missed[depth + 1]):
            emit(search.chosen[: depth + 1], found[count])
            count += 1
        elif depth + 1 < most and _branch(search, depth + 1, most):
            depth += 1
            continue
        put(search.open[depth], element)
    search.depth[0] = depth
    return count


@kernel
def begin(search: HittingSearch, most: int) -> None:
    """Set up the first level: nothing is chosen, and `open[0]` holds what may be."""
    search.depth[0] = 0
    if most < 1 or not _branch(search, 0, most):
        search.depth[0] = -1


@kernel
def take_lowest(todo: Words) -> int:
    """Take the lowest element out of a set; -1 if there is none."""
    for w in range(len(todo)):
        if todo[w]:
            place = lowest(todo[w])
            todo[w] &= todo[w] - np.uint64(1)
            return 64 * w + place
    return -1


@kernel
def _is_empty(bits: Words) -> bool:
    for k in range(len(bits)):  # noqa: SIM110  # kernels have no generators
        if bits[k]:
            return False
    return True


@kernel
def _choose(search: HittingSearch, depth: int, element: int) -> bool:
    """Choose an element; false if an earlier one is then critical for no edge."""
    missed, once, inside = search.missed[depth], search.once[depth], search.inside[element]
    then_missed, then_once = search.missed[depth + 1], search.once[depth + 1]
    for k in range(len(missed)):
        then_missed[k] = missed[k] & ~inside[k]
        then_once[k] = (once[k] & ~inside[k]) | (missed[k] & inside[k])
    for d in range(depth):
        if not meet(then_once, search.inside[search.chosen[d]]):
            return False
    search.chosen[depth] = element
    return True


@kernel
def meet(a: Words, b: Words) -> bool:
    """Whether two sets have an element in common."""
    for k in range(len(a)):  # noqa: SIM110
        if a[k] & b[k]:
            return True
    return False


@kernel
def _branch(search: HittingSearch, depth: int, most: int) -> bool:
    """Open a level: pick the elements to try there, those of one missed edge, or of all of them where it is the last.
    False if an edge missed there can't be hit any more.
    """
    open_, todo, missed = search.open[depth], search.todo[depth], search.missed[depth]
    if depth > 0:
        for w in range(len(open_)):
            open_[w] = search.open[depth - 1, w]
    if depth + 1 == most:
        return _in_all(search.edges, missed, open_, todo)
    edge = _fewest(search.edges, missed, open_)
    if edge < 0:
        return False
    for w in range(len(todo)):
        todo[w] = search.edges[edge, w] & open_[w]
        open_[w] &= ~todo[w]
    return True


@kernel
def _fewest(edges: Words, missed: Words, open_: Words) -> int:
    """The missed edge with the fewest open elements; -1 if one has none."""
    best, least = -1, 1 << 30
    for k in range(len(missed)):
        word = missed[k]
        while word:
            i = 64 * k + lowest(word)
            word &= word - np.uint64(1)
            size = 0
            for w in range(len(open_)):
                size += popcount(edges[i, w] & open_[w])
            if size < least:
                if size == 0:
                    return -1
                best, least = i, size
                if size == 1:
                    return best
    return best


@kernel
def _in_all(edges: Words, missed: Words, open_: Words, todo: Words) -> bool:
    """OUT todo: the open elements that all missed edges hold; false if there are none."""
    for w in range(len(todo)):
        todo[w] = open_[w]
    for k in range(len(missed)):
        word = missed[k]
        while word:
            i = 64 * k + lowest(word)
            word &= word - np.uint64(1)
            left = ZERO
            for w in range(len(todo)):
                todo[w] &= edges[i, w]
                left |= todo[w]
            if left == ZERO:
                return False
    return True


@kernel
def emit(chosen: np.ndarray, found: Words) -> None:
    """OUT found: the chosen elements as a bitset; what is below 0 is none."""
    for w in range(len(found)):
        found[w] = ZERO
    for element in chosen:
        if element >= 0:
            put(found, element)
