"""Mending minimal hitting sets where the family of edges changed (Berge's step, with critical edges).

Axes: e element, w word of elements, k word of edges. `inside[e, k]` are the edges that hold an element.
"""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.hitting_bits import ONE, ZERO, Words, lowest, put
from holdfast.kernels.jit import kernel

Places = NDArray[np.int64]


@kernel
def mark_missing(sets: Words, edge: Words, marks: NDArray[np.bool_]) -> int:
    """OUT marks: which sets don't meet an edge; gives how many."""
    count = 0
    for i in range(len(sets)):
        met = ZERO
        for w in range(len(edge)):
            met |= sets[i, w] & edge[w]
        marks[i] = met == ZERO
        count += marks[i]
    return count


@kernel
def extend(sets: Words, edge: Words, inside: Words, found: Words) -> int:
    """Each set, minimal for the old edges and missing a new one, with each element of the new edge added: OUT found
    those that are minimal, which they are iff each old element stays critical for an old edge. Gives how many.
    """
    members, once = np.empty(64 * sets.shape[1], np.int64), np.empty(inside.shape[1], np.uint64)
    count = 0
    for i in range(len(sets)):
        size = _members(sets[i], members)
        _hit_once(members[:size], inside, once)
        for w in range(len(edge)):
            rest = edge[w]
            while rest:
                element = 64 * w + lowest(rest)
                rest &= rest - ONE
                if _all_critical(members[:size], once, inside, inside[element]):
                    found[count] = sets[i]
                    put(found[count], element)
                    count += 1
    return count


@kernel
def mark_minimal(sets: Words, inside: Words, marks: NDArray[np.bool_]) -> None:
    """OUT marks: in which hitting sets each element is critical for some edge."""
    members, once = np.empty(64 * sets.shape[1], np.int64), np.empty(inside.shape[1], np.uint64)
    nothing = np.zeros(inside.shape[1], np.uint64)
    for i in range(len(sets)):
        size = _members(sets[i], members)
        _hit_once(members[:size], inside, once)
        marks[i] = _all_critical(members[:size], once, inside, nothing)


@kernel
def _members(one: Words, members: Places) -> int:
    """OUT members: the elements of a set; gives how many."""
    size = 0
    for w in range(len(one)):
        rest = one[w]
        while rest:
            members[size] = 64 * w + lowest(rest)
            rest &= rest - ONE
            size += 1
    return size


@kernel
def _hit_once(members: Places, inside: Words, once: Words) -> None:
    """OUT once[k]: the edges that exactly one of the elements hits."""
    for k in range(len(once)):
        any_, many = ZERO, ZERO
        for u in members:
            many |= any_ & inside[u, k]
            any_ |= inside[u, k]
        once[k] = any_ & ~many


@kernel
def _all_critical(members: Places, once: Words, inside: Words, without: Words) -> bool:
    """Whether each element alone hits an edge that is not among those to leave out."""
    for u in members:
        critical = False
        for k in range(len(once)):
            if once[k] & inside[u, k] & ~without[k]:
                critical = True
                break
        if not critical:
            return False
    return True
