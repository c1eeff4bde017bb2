"""Attribute clusters: merging sorted columns, and counting which columns share which values.

n entries (a value of a column each), g values, c columns; a cluster is a bit set over columns, w words of 64 bits.
"""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import kernel
from holdfast.kernels.strings import _compare

_ODD = np.uint64(0x9E3779B97F4A7C15)


@kernel
def mixed(value: np.uint64) -> np.uint64:
    """A number with its bits mixed (xorshift), for hash tables."""
    value ^= value << np.uint64(13)
    value ^= value >> np.uint64(7)
    return value ^ (value << np.uint64(17))


@kernel
def _prefix(data: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    """The first eight bytes as a number; shorter strings are filled up with zeros."""
    value = np.uint64(0)
    for i in range(8):
        value = value << np.uint64(8)
        if start + i < end:
            value |= np.uint64(data[start + i])
    return value


@kernel
def _below(
    a: int,
    b: int,
    prefix: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    at: NDArray[np.int64],
) -> bool:
    """Whether the head of list a comes before that of list b; equals come in the order of the lists."""
    if prefix[a] != prefix[b]:
        return bool(prefix[a] < prefix[b])
    x, y = at[a], at[b]
    sign = _compare(data, offsets[x], offsets[x + 1], data, offsets[y], offsets[y + 1])
    return bool(sign < 0 or (sign == 0 and a < b))


@kernel
def merge_strings(
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    order: NDArray[np.int64],
    fresh: NDArray[np.bool_],
) -> None:
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
            last < 0 or _compare(data, offsets[last], offsets[last + 1], data, offsets[entry], offsets[entry + 1]) != 0
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
def _slot(mask: NDArray[np.uint64], masks: NDArray[np.uint64], counts: NDArray[np.int64]) -> int:
    """Where a cluster stands, or may stand, in an open hash table (count 0: free)."""
    hashed = _ODD
    for word in mask:
        hashed = mixed(hashed ^ word)
    slot = np.int64(hashed & np.uint64(len(counts) - 1))
    while counts[slot]:
        same = True
        for w in range(len(mask)):
            if masks[slot, w] != mask[w]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & (len(counts) - 1)
    return int(slot)


@kernel
def tally(
    order: NDArray[np.int64],
    fresh: NDArray[np.bool_],
    column: NDArray[np.int64],
    count: NDArray[np.int64],
    begin: int,
    masks: NDArray[np.uint64],
    counts: NDArray[np.int64],
    values: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> int:
    """Count clusters, and the values and rows that each pair of columns shares, of sorted entries from `begin` on.

    IN  order[n], fresh[n]: entries with equal ones side by side; column[n], count[n]: of each entry, not in order
    OUT masks[m, w], counts[m]: an open hash table of clusters, m a power of 2
    OUT values[c, c], rows[c, c]: values of column a that column b holds too, and the rows of a that carry them
    Gives where to go on: short of n, the table is half full, and must grow first.
    """
    n = len(order)
    mask = np.zeros(masks.shape[1], np.uint64)
    used = 0
    for slot in range(len(counts)):
        used += counts[slot] != 0
    while begin < n:
        if 2 * used > len(counts):
            return begin
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
        slot = _slot(mask, masks, counts)
        if counts[slot] == 0:
            masks[slot] = mask
            used += 1
        counts[slot] += 1
        begin = end
    return n


@kernel
def regrow(
    masks: NDArray[np.uint64], counts: NDArray[np.int64], masks_to: NDArray[np.uint64], counts_to: NDArray[np.int64]
) -> None:
    """Move a table of clusters into a larger one. OUT masks_to, counts_to."""
    for slot in range(len(counts)):
        if counts[slot]:
            to = _slot(masks[slot], masks_to, counts_to)
            masks_to[to] = masks[slot]
            counts_to[to] = counts[slot]


@kernel
def account(
    count: NDArray[np.int64],
    columns: NDArray[np.int64],
    sign: int,
    masks: NDArray[np.uint64],
    values: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> None:
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
