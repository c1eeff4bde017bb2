"""Evidence: which targets pairs of rows break, and which agree-sets are maximal for a target.

Sets of columns and of targets are rows of 64-bit words, as everywhere (`borders.targets` numbers the targets).
"""

from typing import Any

import numpy as np

from holdfast.kernels.arrays import Ints, Words
from holdfast.kernels.copying import copy_to
from holdfast.kernels.hitting_bits import is_inside, lowest, members_of
from holdfast.kernels.jit import inlined, kernel

_ONE, _ZERO, _BITS = (np.uint64(n) for n in (1, 0, 64))
SPARE = 3  # witnesses stored for a target of an agree-set, at most


@inlined
def has(row: Words, element: int) -> bool:
    """Whether a set holds an element."""
    return bool((row[element >> 6] >> np.uint64(element & 63)) & _ONE)


@inlined
def _put(row: Words, place: int, bits: Any) -> None:
    """Set some bits from a place on."""
    word, shift = place >> 6, np.uint64(place & 63)
    row[word] |= bits << shift
    if shift > _ZERO:
        over = bits >> (_BITS - shift)
        if over != _ZERO:
            row[word + 1] |= over


@kernel
def fill_broken(
    agree: Words, less: Words, more: Words, columns: int, ascending: bool, descending: bool, broken: Words
) -> None:
    """The targets that pairs break. IN agree, less, more [pair, word]; OUT broken[pair, word], zero before."""
    pairs = columns * (columns - 1) // 2
    for j in range(len(agree)):
        own = broken[j]
        for c in range(columns):
            if not has(agree[j], c):
                _put(own, c, _ONE)
        _put(own, columns, _ONE)
        if not (ascending or descending):
            continue
        place = columns + 1
        for a in range(columns - 1):
            is_less, is_more = has(less[j], a), has(more[j], a)
            if is_less or is_more:
                for w in range((a + 1) >> 6, ((columns - 1) >> 6) + 1):
                    first = max(a + 1, 64 * w)
                    shift, to = np.uint64(first - 64 * w), place + first - a - 1
                    lower, higher = less[j, w] >> shift, more[j, w] >> shift
                    if ascending:
                        _put(own, to, higher if is_less else lower)
                    if descending:
                        _put(own, to + pairs, lower if is_less else higher)
            place += columns - a - 1


@kernel
def gather(numbers: Ints, broken: Words, gathered: Words) -> None:
    """What the pairs of one agree-set break together. IN numbers[pair]: its agree-set; OUT gathered[set, word]"""
    for j in range(len(numbers)):
        for w in range(broken.shape[1]):
            gathered[numbers[j], w] |= broken[j, w]


@kernel
def sift(sets: Words, bits: Words, columns: int, inside: Words) -> Any:
    """Leave each set the targets that no larger one breaks, and drop sets that have none left. Returns how many stay.

    IN OUT sets, bits [set, word]: largest first, each set once; inside[column, word of sets]: anything, a column more
    than there are.
    A target that some larger set breaks is left to one of these that stays: so those that stayed are all to look at.
    """
    stay = 0
    inside[:, :] = _ZERO
    own = np.empty(64 * sets.shape[1], np.int64)
    for j in range(len(sets)):
        held = members_of(sets[j], own)
        left = False
        for w in range(bits.shape[1]):
            left |= bits[j, w] != _ZERO
        for word in range((stay + 63) >> 6):
            if not left:
                break
            above = inside[columns, word]
            for i in range(held):
                above &= inside[own[i], word]
                if above == _ZERO:
                    break
            while above != _ZERO and left:
                other = 64 * word + lowest(above)
                above &= above - _ONE
                left = False
                for w in range(bits.shape[1]):
                    bits[j, w] &= ~bits[other, w]
                    left |= bits[j, w] != _ZERO
        if left:
            copy_to(sets[stay], sets[j])
            copy_to(bits[stay], bits[j])
            mark = _ONE << np.uint64(stay & 63)
            for i in range(held):
                inside[own[i], stay >> 6] |= mark
            inside[columns, stay >> 6] |= mark
            stay += 1
    return stay


@kernel
def choose(numbers: Ints, broken: Words, bits: Words, rows: Ints, counted: Words, first: Ints, after: Ints) -> None:
    """Mark the pairs that are kept as witnesses: up to `SPARE` for each target of an agree-set, without common rows
    except for the first of a target.

    IN numbers[pair]: its agree-set, -1 where that was dropped; broken[pair, word]; bits[set, word]; rows[pair, 2]
    OUT after[pair]: -2 where the pair is not kept; a pair that is kept links to the next one of its set, -1: none
    counted[SPARE, set, word]: zero before; first[set]: -1 before, then the last pair kept of each set
    """
    words = bits.shape[1]
    for j in range(len(numbers)):
        after[j] = -2
        own = numbers[j]
        if own < 0:
            continue
        fresh, spare = False, False
        for w in range(words):
            use = broken[j, w] & bits[own, w]
            fresh |= use & ~counted[0, own, w] != _ZERO
            spare |= use & ~counted[SPARE - 1, own, w] != _ZERO
        if not spare:
            continue
        at, alone, again = first[own], True, False
        while at >= 0:
            same = 0
            for side in range(2):
                same += rows[at, 0] == rows[j, side] or rows[at, 1] == rows[j, side]
            alone &= same == 0
            again |= same == 2
            at = after[at]
        if again or not (fresh or alone):
            continue
        for w in range(words):
            use = broken[j, w] & bits[own, w]
            for level in range(SPARE - 1, 0, -1):
                counted[level, own, w] |= counted[level - 1, own, w] & use
            counted[0, own, w] |= use
        after[j] = first[own]
        first[own] = j


@kernel
def first_breaking(contexts: Words, targets: Ints, agree: Words, broken: Words, places: Ints) -> None:
    """For each rule the first pair that breaks it, -1 where none does. IN contexts[rule, word] and targets[rule];
    agree, broken [pair, word]: the columns on which pairs agree, the targets that they break; OUT places[rule]
    """
    for i in range(len(contexts)):
        places[i] = -1
        target = targets[i]
        for j in range(len(agree)):
            if has(broken[j], target) and is_inside(contexts, i, agree, j):
                places[i] = j
                break
