"""The search for minimal sets that miss little: edges have weights, and up to `limit` of their sum may stay unhit.

The same walk as in `kernels.hitting`, with one more branch: an edge may be left unhit for good, which closes all its
elements. A choice is given up when the edges that can't be hit any more weigh more than the limit, or when the choice
without one of its elements would miss no more than the limit already: more elements can't mend either. Each set is met
once: where it meets the edge at hand, under the last of the edge's elements that it holds; else where the edge is left.

The edge to branch on is the heaviest missed one: where it outweighs what may still be missed, it can't be left out.

Axes as there: e element, w word of elements, k word of edges, d depth.
"""

from typing import NamedTuple

from holdfast.kernels.arrays import Ints, Mask, Words
from holdfast.kernels.copying import copy_to
from holdfast.kernels.hitting import emit, take_lowest
from holdfast.kernels.hitting_bits import ONE, ZERO, lowest, put
from holdfast.kernels.jit import kernel

_LEAVE = -1  # what is chosen at a level that leaves its edge unhit


class Weighted(NamedTuple):
    """A search in progress. `depth[0]` is where it stands; -1: done. Edges come the heaviest first."""

    edges: Words  # [edge, w]
    weights: Ints  # [edge]
    inside: Words  # [e, k]
    missed: Words  # [d, k] edges not hit
    once: Words  # [d, k] edges hit exactly once
    open: Words  # [d, w] elements that may still be chosen
    todo: Words  # [d, w] elements to try here
    leave: Mask  # [d] whether leaving the edge unhit is yet to try
    chosen: Ints  # [d]
    depth: Ints  # [1]


@kernel
def advance_weighted(search: Weighted, limit: int, most: int, budget: int, found: Words, missing: Ints) -> int:
    """Go on for at most `budget` steps or until OUT found[:, w] is full; gives how many sets were found, and OUT
    missing: the weight that each misses.
    """
    depth, count = search.depth[0], 0
    while depth >= 0 and count < len(found) and budget > 0:
        element = _next(search, depth)
        if element < _LEAVE:
            depth -= 1
            if depth >= 0 and search.chosen[depth] != _LEAVE:
                put(search.open[depth], search.chosen[depth])
            continue
        budget -= 1
        left = _choose(search, depth, element, limit)
        if left < 0:
            continue
        if left <= limit:
            emit(search.chosen[: depth + 1], found[count])
            missing[count] = left
            count += 1
        elif _size(search.chosen[: depth + 1]) < most and _branch(search, depth + 1, limit):
            depth += 1
            continue
        if element != _LEAVE:
            put(search.open[depth], element)
    search.depth[0] = depth
    return count


@kernel
def begin_weighted(search: Weighted, limit: int) -> None:
    """Set up the first level; more than the limit is missed there."""
    search.depth[0] = 0 if _branch(search, 0, limit) else -1


@kernel
def _next(search: Weighted, depth: int) -> int:
    """_LEAVE where that is to try: while all elements of the edge are closed; then an element; then less."""
    if search.leave[depth]:
        search.leave[depth] = False
        return _LEAVE
    element = take_lowest(search.todo[depth])
    return element if element >= 0 else _LEAVE - 1


@kernel
def _choose(search: Weighted, depth: int, element: int, limit: int) -> int:
    """Choose an element (or leave an edge): the weight missed then, -1 if an element has become needless."""
    missed, once = search.missed[depth], search.once[depth]
    then_missed, then_once = search.missed[depth + 1], search.once[depth + 1]
    search.chosen[depth] = element
    if element == _LEAVE:
        copy_to(then_missed, missed)
        copy_to(then_once, once)
        return _weigh(missed, search.weights)
    inside = search.inside[element]
    for k in range(len(missed)):
        then_missed[k] = missed[k] & ~inside[k]
        then_once[k] = (once[k] & ~inside[k]) | (missed[k] & inside[k])
    left = _weigh(then_missed, search.weights)
    for d in range(depth + 1):
        u = search.chosen[d]
        if u != _LEAVE and not _weighs_more(then_once, search.inside[u], search.weights, limit - left):
            return -1
    return left


@kernel
def _weigh(bits: Words, weights: Ints) -> int:
    total = 0
    for k in range(len(bits)):
        rest = bits[k]
        while rest:
            total += weights[64 * k + lowest(rest)]
            rest &= rest - ONE
    return total


@kernel
def _weighs_more(a: Words, b: Words, weights: Ints, bound: int) -> bool:
    """Whether the edges in both weigh more than a bound, and at least something."""
    total = 0
    for k in range(len(a)):
        rest = a[k] & b[k]
        while rest:
            total += weights[64 * k + lowest(rest)]
            if total > bound:
                return True
            rest &= rest - ONE
    return False


@kernel
def _branch(search: Weighted, depth: int, limit: int) -> bool:
    """Open a level: pick the heaviest missed edge that can be hit; false if too much can't be hit any more."""
    open_, todo, missed = search.open[depth], search.todo[depth], search.missed[depth]
    if depth > 0:
        copy_to(open_, search.open[depth - 1])
    best, lost = -1, 0
    for k in range(len(missed)):
        rest = missed[k]
        while rest:
            i = 64 * k + lowest(rest)
            rest &= rest - ONE
            some = ZERO
            for w in range(len(open_)):
                some |= search.edges[i, w] & open_[w]
            if some == ZERO:
                lost += search.weights[i]
                if lost > limit:
                    return False
            elif best < 0:
                best = i
    if best < 0:
        return False
    for w in range(len(todo)):
        todo[w] = search.edges[best, w] & open_[w]
        open_[w] &= ~todo[w]
    search.leave[depth] = lost + search.weights[best] <= limit
    return True


@kernel
def _size(chosen: Ints) -> int:
    size = 0
    for element in chosen:
        size += element != _LEAVE
    return size
