"""How many pairs of rows compare in which ways, line by line and for each two and three lines together.

A line compares a column of row t with a column of row s. Axes: l line, i row, c column, k way: less, equal, or known
(both have a value). Each row of `asking` makes a pair with each row of `rows`, 64 pairs to a word: a plane has the bits
of the pairs that compare so on a line, and what several lines have together is a count of the bits that their planes
share.
"""

import numpy as np

from holdfast.kernels.arrays import Ints, Words
from holdfast.kernels.hitting_bits import ONE, ZERO, popcount
from holdfast.kernels.jit import kernel, measured

WORDS = 32  # of a plane: those of 32 lines fit the fastest memory
_NULL = np.iinfo(np.int64).min  # the key of null


def _steps(asking: Ints, rows: Ints, own: Ints, is_t: bool, lines: Ints, ways: int, *out: Ints) -> int:  # noqa: ARG001
    pairs = asking.shape[1] * rows.shape[1]
    words = pairs // 64 + asking.shape[1]
    return int(2 * pairs * len(lines) + 16 * words * sum(each.size for each in out))


@measured(_steps)
def count_comparisons(
    asking: Ints, rows: Ints, own: Ints, is_t: bool, lines: Ints, ways: int, ones: Ints, twos: Ints, threes: Ints
) -> None:
    """OUT ones[l, k], twos[n, k, k], threes[n, k, k, k]: add the pairs of each row of asking[c, i] with those of
    rows[c, i], but not with the one at the place own[i] (-1: with all). `is_t`: the row that asks is t, else s.
    `lines[l]` has the column of t and that of s. `ways` is 2 where no value is missing: then nothing is counted of the
    way "known". Two and three lines are numbered in lexicographic order; where the arrays for them are empty, nothing
    is counted of them.
    """
    planes = np.zeros((len(lines), 3, WORDS), np.uint64)
    both = np.zeros(WORDS, np.uint64)
    for i in range(asking.shape[1]):
        for begin in range(0, rows.shape[1], 64 * WORDS):
            end = min(begin + 64 * WORDS, rows.shape[1])
            words = (end - begin + 63) >> 6
            for number in range(len(lines)):
                _fill(asking, i, rows, begin, end, own[i], is_t, lines[number], planes[number])
            _count(planes, words, ways, both, ones, twos, threes)


@kernel
def _fill(
    asking: Ints, i: int, rows: Ints, begin: int, end: int, own: int, is_t: bool, line: Ints, plane: Words
) -> None:
    """OUT plane[k]: the ways in which a row compares with some others on a line."""
    mine, theirs = (line[0], line[1]) if is_t else (line[1], line[0])
    value = asking[mine, i]
    for first in range(begin, end, 64):
        less, equal, known = ZERO, ZERO, ZERO
        for j in range(first, min(first + 64, end)):
            other, bit = rows[theirs, j], ONE << np.uint64(j - first)
            if j == own or value == _NULL or other == _NULL:
                continue
            known |= bit
            if value == other:
                equal |= bit
            elif (value < other) == is_t:
                less |= bit
        word = (first - begin) >> 6
        plane[0, word], plane[1, word], plane[2, word] = less, equal, known


@kernel
def _count(planes: Words, words: int, ways: int, both: Words, ones: Ints, twos: Ints, threes: Ints) -> None:
    """OUT ones, twos, threes."""
    lines = len(planes)
    for a in range(lines):
        for x in range(ways):
            total = 0
            for w in range(words):
                total += popcount(planes[a, x, w])
            ones[a, x] += total
            if total == 0 or len(twos) == 0:
                continue
            two = a * (2 * lines - a - 1) // 2  # the number of this line with the next
            left = lines - a  # of the lines from this one on
            three = len(threes) - left * (left - 1) * (left - 2) // 6  # the number of this line with the next two
            for b in range(a + 1, lines):
                for y in range(ways):
                    total = 0
                    for w in range(words):
                        both[w] = planes[a, x, w] & planes[b, y, w]
                        total += popcount(both[w])
                    twos[two, x, y] += total
                    if total == 0 or len(threes) == 0:
                        continue
                    for c in range(b + 1, lines):
                        for z in range(ways):
                            total = 0
                            for w in range(words):
                                total += popcount(both[w] & planes[c, z, w])
                            threes[three + c - b - 1, x, y, z] += total
                two += 1
                three += lines - b - 1
