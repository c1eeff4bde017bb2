"""Which signature numbers (see `pairs.signature_numbers`) lie in boxes.

A number is made of digits, one a column; a box allows some digits of each column. Columns are gone through one after
the other, with the boxes that the digits so far leave: as soon as none is left, or one is sure of all that follow, a
whole stretch of numbers is decided.
"""

from typing import Any

import numpy as np

from holdfast.kernels.arrays import Bytes, Ints, Words
from holdfast.kernels.jit import inlined, kernel


@inlined
def _left(boxes: Any, allowed: Any, certain: Any, left: Any) -> Any:
    """OUT left: those of some boxes that a digit leaves. Returns 0 where none is left, 2 where one is certain."""
    some, sure = np.uint64(0), np.uint64(0)
    for word in range(len(boxes)):
        left[word] = boxes[word] & allowed[word]
        some |= left[word]
        sure |= left[word] & certain[word]
    return 2 if sure else 1 if some else 0


@kernel
def clear_boxed(allowed: Words, certain: Words, radixes: Ints, strides: Ints, seen: Bytes) -> None:
    """Clear the cells of all numbers that lie in a box.

    IN  allowed[column, digit, word]: the boxes, as bits, that allow a digit; certain[column, word]: those that allow
        all digits of the columns behind it; strides[column]: how many numbers a digit of a column stands for
    OUT seen[number]: 0 where it lies in a box, and as it was elsewhere
    """
    columns, words = len(radixes), certain.shape[1]
    left = np.empty((columns + 1, words), np.uint64)
    left[0] = ~np.uint64(0)
    digits, begins = np.zeros(columns + 1, np.int64), np.zeros(columns + 1, np.int64)
    column = 0
    while column >= 0:
        digit = digits[column]
        if digit == radixes[column]:
            column -= 1
            continue
        digits[column] += 1
        begin = begins[column] + digit * strides[column]
        found = _left(left[column], allowed[column, digit], certain[column], left[column + 1])
        if found == 2:
            seen[begin : begin + strides[column]] = 0
        elif found == 1:
            column += 1
            digits[column], begins[column] = 0, begin
