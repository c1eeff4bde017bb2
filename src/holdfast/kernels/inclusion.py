"""Attribute clusters: counting codes, merging sorted columns, and counting which columns share which values.

n entries (a value of a column each), g values, c columns; a cluster is a bit set over columns, w words of 64 bits.
"""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.arrays import Bytes, Ints, Mask, Words
from holdfast.kernels.copying import copy_to
from holdfast.kernels.jit import kernel
from holdfast.kernels.strings import compare_bytes


@kernel
def count_codes(codes: NDArray[np.unsignedinteger], alive: Mask, total: NDArray[np.uint32]) -> None:
    """Count the codes of living rows. IN codes[n]; alive[n], or empty where all are alive. OUT total[code]."""
    if len(alive) == 0:
        for i in range(len(codes)):
            total[codes[i]] += 1
    else:
        for i in range(len(codes)):
            if alive[i]:
                total[codes[i]] += 1


@kernel
def _prefix(data: Bytes, start: int, end: int) -> np.uint64:
    """The first eight bytes as a number; shorter strings are filled up with zeros."""
    value = np.uint64(0)
    for i in range(8):
        value = value << np.uint64(8)
        if start + i < end:
            value |= np.uint64(data[start + i])
    return value


@kernel
def _below(a: int, b: int, prefix: Words, offsets: Ints, data: Bytes, at: Ints) -> bool:
    """Whether the head of list a comes before that of list b; equals come in the order of the lists."""
    if prefix[a] != prefix[b]:
        return bool(prefix[a] < prefix[b])
    x, y = at[a], at[b]
    sign = compare_bytes(data, offsets[x], offsets[x + 1], data, offsets[y], offsets[y + 1])
    return bool(sign < 0 or (sign == 0 and a < b))


@kernel
def merge_strings(offsets: Ints, data: Bytes, starts: Ints, order: Ints, fresh: Mask) -> None:
    """Merge sorted lists of strings with a heap of their heads.

    IN  offsets[n + 1], data: the strings of all lists end to end; list i holds starts[i] … starts[i + 1]
    OUT order[n]: the entries in order; fresh[n]: whether an entry differs from the one before
    """
    lists = len(starts) - 1
    at = starts[:lists].copy()
    prefix = np.zeros(lists, np.uint64)
    heap = np.empty(lists, np.int64)
    size = 0
    for each in range(lists):
        if at[each] == starts[each + 1]:
            continue
        prefix[each] = _prefix(data, offsets[at[each]], offsets[at[each] + 1])
        place = size
        size += 1
        while place > 0 and _below(each, heap[(place - 1) // 2], prefix, offsets, data, at):
            heap[place] = heap[(place - 1) // 2]
            place = (place - 1) // 2
        heap[place] = each
    last = -1
    for out in range(len(order)):
        top = heap[0]
        entry = at[top]
        order[out] = entry
        fresh[out] = (
            last < 0
            or compare_bytes(data, offsets[last], offsets[last + 1], data, offsets[entry], offsets[entry + 1]) != 0
        )
        last = entry
        at[top] += 1
        if at[top] == starts[top + 1]:
            size -= 1
            top = heap[size]
        else:
            prefix[top] = _prefix(data, offsets[at[top]], offsets[at[top] + 1])
        place = 0
        while 2 * place + 1 < size:
            child = 2 * place + 1
            if child + 1 < size and _below(heap[child + 1], heap[child], prefix, offsets, data, at):
                child += 1
            if not _below(heap[child], top, prefix, offsets, data, at):
                break
            heap[place] = heap[child]
            place = child
        if size:
            heap[place] = top


@kernel
def tally(
    order: Ints,
    fresh: Mask,
    column: Ints,
    count: Ints,
    begin: int,
    masks: Words,
    counts: Ints,
    values: Ints,
    rows: Ints,
) -> tuple[int, int]:
    """The clusters of the next values, and the values and rows that each pair of columns shares.

    IN  order[n], fresh[n]: entries with equal ones side by side; column[n], count[n]: of each entry, not in order
    OUT masks[m, w], counts[m]: clusters, as many as there is room for, each with how many values in a row have it
    IN OUT values[c, c], rows[c, c]: values of column a that column b holds too, and the rows of a that carry them
    Gives the entry to go on with, and how many clusters there are.
    """
    n = len(order)
    mask = np.zeros(masks.shape[1], np.uint64)
    found = 0
    while begin < n and found < len(masks):
        end = begin + 1
        while end < n and not fresh[end]:
            end += 1
        mask[:] = 0
        for i in range(begin, end):
            a = column[order[i]]
            mask[a >> 6] |= np.uint64(1) << np.uint64(a & 63)
            for j in range(begin, end):
                values[a, column[order[j]]] += 1
                rows[a, column[order[j]]] += count[order[i]]
        same = found > 0
        for w in range(len(mask)):
            same = same and masks[found - 1, w] == mask[w]
        if not same:
            copy_to(masks[found], mask)
            counts[found] = 0
            found += 1
        counts[found - 1] += 1
        begin = end
    return begin, found


@kernel
def account(count: Ints, columns: Ints, sign: int, masks: Words, values: Ints, rows: Ints) -> None:
    """Add some values (sign 1) to what the columns share, or take them away (sign -1).

    IN  count[g, k]: how often each value occurs in each of k columns, whose numbers are columns[k]
    OUT masks[g, w]: the cluster of each value; values[c, c], rows[c, c] as in `tally`
    """
    here = np.empty(len(columns), np.int64)
    for g in range(len(count)):
        held = 0
        for k in range(len(columns)):
            if count[g, k]:
                here[held] = k
                held += 1
                masks[g, columns[k] >> 6] |= np.uint64(1) << np.uint64(columns[k] & 63)
        for i in range(held):
            a = columns[here[i]]
            for j in range(held):
                values[a, columns[here[j]]] += sign
                rows[a, columns[here[j]]] += sign * count[g, here[i]]
