"""Mending minimal hitting sets where the family of edges changed (Berge's step, with critical edges).

Axes: e element, w word of elements, k word of edges. `inside[e, k]` are the edges that hold an element.
"""

import numpy as np

from holdfast.kernels.arrays import Ints, Mask, Words
from holdfast.kernels.copying import copy_to
from holdfast.kernels.hitting import meet
from holdfast.kernels.hitting_bits import ALL, ONE, ZERO, lowest, members_of, popcount
from holdfast.kernels.jit import kernel

GROW_ONE = 200  # what it costs to grow a set, in words of edges looked at, apart from these


@kernel
def first_missed(sets: Words, edges: Words, places: Ints) -> None:
    """OUT places: the first edge that each set doesn't meet; how many there are if none."""
    for i in range(len(sets)):
        places[i] = _next_missed(sets, i, edges, 0)


@kernel
def _next_missed(sets: Words, i: int, edges: Words, place: int) -> int:
    while place < len(edges):
        met = False
        for w in range(edges.shape[1]):
            if sets[i, w] & edges[place, w]:
                met = True
                break
        if not met:
            break
        place += 1
    return place


@kernel
def grow(sets: Words, missed: Ints, edges: Words, most: int, budget: float, found: Words) -> int:
    """Sets, each minimal for the edges before the first that it misses, grown until they meet all: OUT found, those of
    at most `most` elements that are minimal.

    Gives how many, -1 where there is no room for them, or where more than `budget` words of edges are to be looked at.
    A set that misses an edge takes in each element of it that leaves the others critical: an element u stays critical
    iff not all edges that u alone hits hold the new element: iff their intersection does not. One pass over the edges
    decides it.
    """
    words = edges.shape[1]
    shared, members = np.empty((64 * words, words), np.uint64), np.empty(64 * words, np.int64)
    stack, places = np.empty(found.shape, np.uint64), np.empty(len(found), np.int64)
    one = np.empty(words, np.uint64)
    count = 0
    for i in range(len(sets)):
        copy_to(stack[0], sets[i])
        places[0], height = missed[i], 1
        while height:
            height -= 1
            copy_to(one, stack[height])
            place = places[height]
            size = members_of(one, members)
            if size == most:
                continue
            budget -= GROW_ONE + place * words
            if budget < 0 or height + 64 * words > len(stack) or count + 64 * words > len(found):
                return -1
            _share_critical(one, members[:size], edges, place, shared)
            for w in range(words):
                rest = edges[place, w]
                for u in members[:size]:
                    rest &= ~shared[u, w]
                while rest:
                    copy_to(stack[height], one)
                    stack[height, w] |= rest & (~rest + ONE)
                    rest &= rest - ONE
                    places[height] = _next_missed(stack, height, edges, place + 1)
                    if places[height] < len(edges):
                        height += 1
                    else:
                        copy_to(found[count], stack[height])
                        count += 1
    return count


@kernel
def _share_critical(one: Words, members: Ints, edges: Words, count: int, shared: Words) -> None:
    """OUT shared[u]: what those of the first edges share that an element u of a set alone hits."""
    words = edges.shape[1]
    for u in members:
        for w in range(words):
            shared[u, w] = ALL
    for k in range(count):
        hit, place = ZERO, -1
        for w in range(words):
            more = one[w] & edges[k, w]
            if more and (hit or more & (more - ONE)):
                place = -1
                break
            if more:
                hit, place = more, w
        if place >= 0:
            u = 64 * place + lowest(hit)
            for w in range(words):
                shared[u, w] &= edges[k, w]


@kernel
def mark_minimal(sets: Words, gone: Words, inside: Words, marks: Mask) -> None:
    """OUT marks: in which hitting sets, minimal before some edges went, each element is critical for an edge still.

    That is so where more than one element hits each of the edges that went.
    """
    members, once = np.empty(64 * sets.shape[1], np.int64), np.empty(inside.shape[1], np.uint64)
    for i in range(len(sets)):
        marks[i] = True
        for j in range(len(gone)):
            if _hits_once(sets, i, gone, j):
                size = members_of(sets[i], members)
                _hit_once(members[:size], inside, once)
                marks[i] = _all_critical(members[:size], once, inside)
                break


@kernel
def _hits_once(sets: Words, i: int, edges: Words, j: int) -> bool:
    """Whether exactly one element of a set hits an edge."""
    hits = 0
    for w in range(sets.shape[1]):
        hits += popcount(sets[i, w] & edges[j, w])
    return hits == 1


@kernel
def _hit_once(members: Ints, inside: Words, once: Words) -> None:
    """OUT once[k]: the edges that exactly one of the elements hits."""
    for k in range(len(once)):
        any_, many = ZERO, ZERO
        for u in members:
            many |= any_ & inside[u, k]
            any_ |= inside[u, k]
        once[k] = any_ & ~many


@kernel
def _all_critical(members: Ints, once: Words, inside: Words) -> bool:
    """Whether each element alone hits an edge."""
    for u in members:  # noqa: SIM110  # kernels have no generators
        if not meet(once, inside[u]):
            return False
    return True
