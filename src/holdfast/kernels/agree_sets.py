"""Counting by key in a hash table of fixed-width keys of 64-bit words, and bitmaps over its entries."""

from typing import NamedTuple

import numpy as np

from holdfast.kernels.arrays import Ints, Mask, Words
from holdfast.kernels.jit import kernel

_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)


class Counter(NamedTuple):
    """A hash table (see `hashing`) with counts: `slots[slot]`, `keys[entry, word]`, `used[0]`, `counts[entry]`.

    Of an addition under way, `touched[: known[0]]` are the entries it has touched, each once, `before` their counts
    before it, and `marks[entry]` says that an entry is among them. An entry comes with count 0 and no mark.
    """

    slots: Words
    keys: Words
    used: Ints
    counts: Ints
    marks: Mask
    touched: Ints
    before: Ints
    known: Ints


@kernel
def add_all(table: Counter, at: Ints, counts: Ints, times: int) -> None:
    """Add counts times `times` to entries, which may repeat; notes the entries that it touches.

    IN at[i], counts[i]; OUT table
    """
    totals, marks, touched, before, known = table.counts, table.marks, table.touched, table.before, table.known[0]
    for i in range(len(at)):
        entry = at[i]
        if not marks[entry]:
            marks[entry] = True
            touched[known] = entry
            before[known] = totals[entry]
            known += 1
        totals[entry] += times * counts[i]
    table.known[0] = known


@kernel
def settle(table: Counter, appeared: Ints, vanished: Ints, had: Ints) -> tuple[int, int, bool]:
    """End an addition: which entries had count 0 and have more, which had more and have 0.

    OUT appeared[k], vanished[k], and the count had[k] that an entry had before it vanished; gives how many appeared and
    vanished, and whether all counts are 0 or more: if not, all are as they were before.
    """
    right = True
    for k in range(table.known[0]):
        right &= table.counts[table.touched[k]] >= 0
    come, gone = 0, 0
    for k in range(table.known[0]):
        entry, before = table.touched[k], table.before[k]
        table.marks[entry] = False
        if not right:
            table.counts[entry] = before
        elif before == 0 and table.counts[entry] > 0:
            appeared[come] = entry
            come += 1
        elif before > 0 and table.counts[entry] == 0:
            vanished[gone] = entry
            had[gone] = before
            gone += 1
    table.known[0] = 0
    return come, gone, right


@kernel
def _transpose(rows: Words) -> None:
    """A matrix of 64 x 64 bits, in place: bit j of word i becomes bit i of word j (halves, quarters, and so on)."""
    width = 32
    mask = _LOW
    while width:
        shift = np.uint64(width)
        i = 0
        while i < 64:
            swapped = ((rows[i] >> shift) ^ rows[i + width]) & mask
            rows[i] ^= swapped << shift
            rows[i + width] ^= swapped
            i = (i + width + 1) & ~width
        width //= 2
        mask ^= mask << np.uint64(width)


@kernel
def index_keys(keys: Words, first: int, used: int, bitmaps: Words) -> None:
    """Bring the bitmaps up to date from group `first` on: bit e % 64 of `bitmaps[b, e // 64]` is bit b of `keys[e]`.

    IN keys[entry, word]; OUT bitmaps[bit, group]
    """
    rows = np.empty(64, np.uint64)
    for group in range(first, (used + 63) // 64):
        for w in range(keys.shape[1]):
            for i in range(64):
                entry = group * 64 + i
                rows[i] = keys[entry, w] if entry < used else np.uint64(0)
            _transpose(rows)
            for b in range(min(64, len(bitmaps) - 64 * w)):
                bitmaps[64 * w + b, group] = rows[b]


@kernel
def sum_where(bitmaps: Words, counts: Ints, used: int, within: Ints, without: int) -> int:
    """The sum of the counts of entries that have all the bits `within` and lack the bit `without` (-1: any)."""
    total = 0
    for group in range((used + 63) // 64):
        left = ~np.uint64(0)
        if without >= 0:
            left = ~bitmaps[without, group]
        for b in within:
            left &= bitmaps[b, group]
        if left == 0:
            continue
        own = counts[group * 64 : min(group * 64 + 64, used)]
        for i in range(len(own)):
            total += own[i] * np.int64((left >> np.uint64(i)) & _ONE)
    return total
