"""Binary search among byte strings that lie end to end in one buffer (Arrow's layout)."""

from holdfast.kernels.arrays import Bytes, Ints, Mask
from holdfast.kernels.jit import kernel, measured


@kernel
def compare_bytes(a: Bytes, a0: int, a1: int, b: Bytes, b0: int, b1: int) -> int:
    """Below, at or above 0 as a[a0:a1] is below, equal to or above b[b0:b1], byte by byte."""
    for i in range(min(a1 - a0, b1 - b0)):
        x, y = a[a0 + i], b[b0 + i]
        if x != y:
            return -1 if x < y else 1
    return (a1 - a0) - (b1 - b0)


@measured(lambda offsets, _data, _order, asked, *_: 4 * len(asked) * len(offsets).bit_length())
def lower_bound(offsets: Ints, data: Bytes, order: Ints, q_offsets: Ints, q_data: Bytes, at: Ints, equal: Mask) -> None:
    """For each query: how many of the sorted strings are below it, and whether the next one equals it.

    IN  offsets, data: n strings; order: their sorting permutation, or empty where they lie sorted
    IN  q_offsets, q_data: m queries
    OUT at[m], equal[m]
    """
    n = len(offsets) - 1
    sorted_already = len(order) == 0
    for q in range(len(q_offsets) - 1):
        q0, q1 = q_offsets[q], q_offsets[q + 1]
        low, high = 0, n
        hit = False
        while low < high:
            middle = (low + high) // 2
            row = middle if sorted_already else order[middle]
            sign = compare_bytes(data, offsets[row], offsets[row + 1], q_data, q0, q1)
            if sign < 0:
                low = middle + 1
            else:
                high = middle
                if sign == 0:
                    hit = True
        at[q] = low
        equal[q] = hit
