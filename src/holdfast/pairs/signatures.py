"""Signatures of pairs of rows: what two rows are to each other, column by column, as a row of 64-bit words.

Of the kind `EQUAL` a signature is the agree-set: bit c is set iff the two rows agree on column c (bit b is bit b % 64
of word b // 64). Of the kind `ORDERED` it has two bits a column, in two halves of as many words: bit `at_most(c)` is
set iff the second row's value is at most the first one's, and bit `at_least(c)` iff it is at least that. So a column
is `=` with both bits, `<` or `>` with one. With neither, a null made the comparison unknown: where nulls are distinct,
a null is neither below nor equal to nor above anything. Where nulls are equal, null equals null and sorts first.
In a kind of order some columns may be compared for equality alone (`ordered_but`): there both bits are set where the
rows agree, and neither where they differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.pairs.bitsets import unpacked

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]
Signed = tuple[Words, Counts]  # signatures, a row of words each, with signed counts


@dataclass(frozen=True)
class SignatureKind:
    """What a signature says of each column."""

    sides: int
    equal_only: tuple[int, ...] = ()  # of a kind of order, the columns that are compared for equality alone

    @property
    def ordered(self) -> bool:
        """Whether rows are compared by order, so that it matters which of two rows comes first."""
        return self.sides == 2

    def words(self, columns: int) -> int:
        """How many words a signature has."""
        return self.sides * -(-columns // 64)

    def bits(self, columns: int) -> int:
        """One more than the highest bit that may be set."""
        return (self.sides - 1) * 64 * -(-columns // 64) + columns


EQUAL = SignatureKind(1)
ORDERED = SignatureKind(2)
_VALUES = np.array([8, 4, 1, 2], np.uint8)  # by the two bits of a column: neither, at most, at least, both


def ordered_but(columns: Iterable[int]) -> SignatureKind:
    """The kind of order in which these columns are compared for equality alone."""
    return SignatureKind(ORDERED.sides, tuple(sorted(set(columns))))


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


def values_of(words: Words, columns: int) -> NDArray[np.uint8]:
    """What the first row of a pair is to the second in each column, `[signature, column]`: 1 where it is less, 2 where
    they are equal, 4 where it is more, and 8 where it is neither: the two differ, or a null makes it unknown.
    """
    half = words.shape[1] // 2
    second_at_most, second_at_least = (unpacked(side)[:, :columns] for side in (words[:, :half], words[:, half:]))
    values: NDArray[np.uint8] = _VALUES.take(second_at_most + 2 * second_at_least)
    return values


def both_ways(parts: list[Signed], kind: SignatureKind) -> list[Signed]:
    """Signatures that depend on which row comes first are counted from both rows."""
    return parts + [mirrored(part) for part in parts] if kind.ordered else parts
