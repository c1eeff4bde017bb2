"""Comparing chosen rows with stretches of rows, and which of their signatures are new.

A row has a digit in each column: 0 where it is less than the one it is compared with, 1 where it is equal, 2 where it
is more, 3 where a null makes that unknown; where columns are compared for equality alone, 0 where they differ. Digits,
each with the weight of its column, make the number of a pair.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import kernel


class Digits(NamedTuple):
    """How the digits of columns make a number."""

    weights: NDArray[np.uint32]
    equal_only: NDArray[np.bool_]
    unknown: bool


@kernel
def _add(own: Any, at: Any, n: Any, value: Any, weight: Any, equal_only: bool, unknown: bool, numbers: Any) -> None:
    """IN OUT numbers[j]: of row `at + j`"""
    none, thrice = np.uint32(0), np.uint32(3 * weight)
    if equal_only and unknown:
        for j in range(n):
            numbers[j] += weight if own[at + j] == value and value != 0 else none
    elif equal_only:
        for j in range(n):
            numbers[j] += weight if own[at + j] == value else none
    elif unknown and value == 0:
        for j in range(n):
            numbers[j] += thrice
    elif unknown:
        for j in range(n):
            cell = own[at + j]
            numbers[j] += (
                thrice if cell == 0 else (weight if cell >= value else none) + (weight if cell > value else none)
            )
    else:
        for j in range(n):
            cell = own[at + j]
            numbers[j] += (weight if cell >= value else none) + (weight if cell > value else none)


@kernel
def scan(
    columns: NDArray[np.uint32],
    digits: Digits,
    firsts: NDArray[np.int64],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    seen: NDArray[np.uint8],
    numbers: NDArray[np.uint32],
    pairs: NDArray[np.int64],
) -> Any:
    """Compare each row `firsts[k]` with those from `begins[k]` to `ends[k]`; of each number that was not seen, the first
    pair. Returns how many pairs there are; ends early where there is no more room.

    IN columns[c, row]; OUT pairs[pair, 2]: the row of the stretch and the one it was compared with; IN OUT seen[number]
    """
    found = 0
    for k in range(len(firsts)):
        first, begin = firsts[k], begins[k]
        count = ends[k] - begin
        numbers[:count] = 0
        for c in range(len(columns)):
            own = columns[c]
            _add(own, begin, count, own[first], digits.weights[c], digits.equal_only[c], digits.unknown, numbers)
        for j in range(count):
            if not seen[numbers[j]] and begin + j != first:
                if found == len(pairs):
                    return found
                seen[numbers[j]] = 1
                pairs[found, 0], pairs[found, 1] = begin + j, first
                found += 1
    return found
