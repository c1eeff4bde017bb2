"""How far a sequence rises: the least number of values that must go so that it never falls, the heaviest part that
never falls, and pairs that do fall.
"""

from typing import Any

import numpy as np

from holdfast.kernels.arrays import Ints, Mask
from holdfast.kernels.copying import copy_to
from holdfast.kernels.jit import kernel


@kernel
def count_out(values: Ints, tails: Ints, most: int) -> Any:
    """The least number of values that must go so that none is below one before it, or a number above `most`.

    The k-th tail is the least value at the end of a sequence of k + 1 values that never falls; a value prolongs the
    longest one, or takes the place of the first tail above it, and then one value more must go.

    Scratch: tails, as long as values
    """
    size = 0
    for i in range(len(values)):
        value = values[i]
        if size == 0 or tails[size - 1] <= value:
            tails[size] = value
            size += 1
            continue
        if i + 1 - size > most:
            return i + 1 - size
        tails[first_above(tails, 0, size - 1, value)] = value
    return len(values) - size


@kernel
def mark_out(values: Ints, tails: Ints, places: Ints, before: Ints, out: Mask) -> None:
    """OUT out[i]: whether the i-th value goes, of the fewest that must.

    Scratch: tails, as in `count_out`; places: those of the tails; before[i]: the place of the value before it
    """
    size = 0
    for i in range(len(values)):
        at = size
        if size > 0 and tails[size - 1] > values[i]:
            at = first_above(tails, 0, size - 1, values[i])
        tails[at], places[at] = values[i], i
        before[i] = places[at - 1] if at > 0 else -1
        size = max(size, at + 1)
    out[:] = True
    i = places[size - 1] if size > 0 else -1
    while i >= 0:
        out[i] = False
        i = before[i]


@kernel
def first_above(tails: Any, low: int, high: int, value: int) -> Any:
    """The first of ascending tails above a value: the one at `high`, or one from `low` on."""
    while low < high:
        middle = (low + high) // 2
        if tails[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def longest_climb(ones: Ints, others: Ints, tails: Ints) -> Any:
    """The length of the longest sequence in which both numbers rise with every step.

    IN ones, ascending, and others, ascending where ones are equal. Scratch: tails, as long as they are
    """
    size = 0
    begin = 0
    while begin < len(ones):
        end = begin
        while end < len(ones) and ones[end] == ones[begin]:
            end += 1
        for i in range(end - 1, begin - 1, -1):  # downwards, so that none of these follows another
            value = others[i]
            if size == 0 or tails[size - 1] < value:
                tails[size] = value
                size += 1
            else:
                tails[first_above(tails, 0, size - 1, value - 1)] = value
        begin = end
    return size


@kernel
def heaviest_rise(ones: Ints, others: Ints, weights: Ints, best: Ints, reached: Ints) -> Any:
    """The greatest weight of a choice of entries, at most one of each run of equal `ones`, whose others never fall.

    best[k], a Fenwick tree, knows the greatest weight of a choice that ends with an other of at most k - 1. The
    entries of a run look it up before any of them is entered, so that none follows another.

    IN ones, ascending; others from 0 on; best: zeros, one more than there are others. Scratch: reached, as long as ones
    """
    heaviest = np.int64(0)
    begin = 0
    while begin < len(ones):
        end = begin
        while end < len(ones) and ones[end] == ones[begin]:
            reached[end] = weights[end]
            before, at = np.int64(0), others[end] + 1
            while at > 0:
                before = max(before, best[at])
                at -= at & -at
            reached[end] += before
            heaviest = max(heaviest, reached[end])
            end += 1
        for i in range(begin, end):
            at = others[i] + 1
            while at < len(best):
                best[at] = max(best[at], reached[i])
                at += at & -at
        begin = end
    return heaviest


@kernel
def count_falls(values: Ints, spare: Ints) -> Any:
    """How many pairs of values fall, by merging. Leaves values sorted.

    Scratch: spare, as long as values
    """
    falls = np.int64(0)
    width = 1
    while width < len(values):
        for begin in range(0, len(values), 2 * width):
            middle, end = min(begin + width, len(values)), min(begin + 2 * width, len(values))
            left, right = begin, middle
            for at in range(begin, end):
                if right >= end or (left < middle and values[left] <= values[right]):
                    spare[at] = values[left]
                    left += 1
                else:
                    spare[at] = values[right]
                    right += 1
                    falls += middle - left
        copy_to(values, spare)
        width *= 2
    return falls
