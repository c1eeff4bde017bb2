"""Signatures of pairs of rows: what two rows are to each other, column by column, as a row of 64-bit words.

Of the kind `EQUAL` a signature is the agree-set: bit c is set iff the two rows agree on column c (bit b is bit b % 64
of word b // 64). Of the kind `ORDERED` it has two bits a column, in two halves of as many words: bit `at_most(c)` is
set iff the second row's value is at most the first one's, and bit `at_least(c)` iff it is at least that. So a column
is `=` with both bits, `<` or `>` with one. With neither, a null made the comparison unknown: where nulls are distinct,
a null is neither below nor equal to nor above anything. Where nulls are equal, null equals null and sorts first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]
Signed = tuple[Words, Counts]  # signatures, a row of words each, with signed counts


@dataclass(frozen=True)
class Kind:
    """What a signature tells of each column."""

    name: str
    sides: int

    def words(self, columns: int) -> int:
        """How many words a signature has."""
        return self.sides * -(-columns // 64)

    def bits(self, columns: int) -> int:
        """One more than the highest bit that may be set."""
        return (self.sides - 1) * 64 * -(-columns // 64) + columns


EQUAL = Kind("equal", 1)
ORDERED = Kind("ordered", 2)


def at_most(column: int) -> int:
    """Of signatures of order, the bit of "the second row is at most the first, on this column"."""
    return column


def at_least(column: int, columns: int) -> int:
    """Of signatures of order, the bit of "the second row is at least the first, on this column"."""
    return 64 * -(-columns // 64) + column


def mirrored(pairs: Signed) -> Signed:
    """Signatures of order, each seen from the other row of its pair."""
    words, counts = pairs
    half = words.shape[1] // 2
    return np.concatenate([words[:, half:], words[:, :half]], axis=1), counts


def both_ways(parts: list[Signed], kind: Kind) -> list[Signed]:
    """Signatures that depend on which row comes first are counted from both rows."""
    return parts + [mirrored(part) for part in parts] if kind == ORDERED else parts
