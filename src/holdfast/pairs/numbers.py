"""Signatures of order as numbers, the cells of a plain table to count in: a digit a column (see `kernels.ternary`).

Numbers have 32 bits, so that there are no more than 32 columns, and a signature has two words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.ternary import LESS, MORE, SAME, UNKNOWN, Digits
from holdfast.pairs.signatures import Signed, Words

Numbers = NDArray[np.signedinteger[Any]]  # how often each number occurs
_EQUAL_ONLY, _ORDERED, _WITH_UNKNOWN = 2, 3, 4  # digits of a column
_A_BYTE, _TWO_BYTES = 1 << 8, 1 << 16


@dataclass(frozen=True)
class Numbering:
    """How many digits each column has, and so how signatures are numbered.

    `equal_only`: two digits; `unknown`: a null makes a comparison unknown, and is one digit more. The two exclude each
    other in effect: what is compared for equality alone knows no third answer.
    """

    equal_only: tuple[bool, ...]
    unknown: tuple[bool, ...]

    @staticmethod
    def of(columns: int, equal_only: Sequence[int] = (), unknown: Sequence[bool] | None = None) -> Numbering:
        """The numbering of so many columns, some of which are compared for equality alone."""
        alone = set(equal_only)
        return Numbering(tuple(c in alone for c in range(columns)), tuple(unknown or [False] * columns))

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.equal_only)

    @cached_property
    def bases(self) -> tuple[int, ...]:
        """How many digits there are for each column."""
        return tuple(
            _EQUAL_ONLY if alone else _WITH_UNKNOWN if unknown else _ORDERED
            for alone, unknown in zip(self.equal_only, self.unknown, strict=True)
        )

    @cached_property
    def planes(self) -> tuple[range, ...]:
        """The columns of each plane: as many as fit a byte."""
        return self._groups(_A_BYTE)

    def _groups(self, most: int) -> tuple[range, ...]:
        """Columns in groups: as many as have not more numbers."""
        ends, size = [0], 1
        for c, base in enumerate(self.bases):
            if size * base > most:
                ends.append(c)
                size = 1
            size *= base
        return tuple(range(*pair) for pair in zip(ends, [*ends[1:], self.columns], strict=True))

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return int(np.prod(self.bases, dtype=object))

    @property
    def digits(self) -> Digits:
        """The same as the kernels read it. Numbers must fit 32 bits."""
        plane, weight = np.zeros(self.columns, np.int64), np.ones(self.columns, np.uint8)
        sizes = [1]
        for p, columns in enumerate(self.planes):
            bases = [self.bases[c] for c in columns]
            plane[columns.start : columns.stop] = p
            weight[columns.start : columns.stop] = np.cumprod([1, *bases])[:-1]
            sizes.append(int(np.prod(bases)))
        scale = np.zeros(max(3, len(self.planes)), np.uint32)
        scale[: len(self.planes)] = np.cumprod(sizes)[:-1]
        return Digits(plane, weight, scale, np.array(self.equal_only, np.bool_), np.array(self.unknown, np.bool_))

    def mirrored(self, counts: Numbers) -> Numbers:
        """Counts by number, with each pair seen from the other row: less and more change places."""
        seen = counts.reshape(self.bases[::-1])  # the first column has the lowest digits, and so the last axis
        for axis, base in enumerate(self.bases[::-1]):
            if base == _ORDERED:
                seen = np.flip(seen, axis)
            elif base == _WITH_UNKNOWN:
                seen = seen.take([MORE, SAME, LESS, UNKNOWN], axis)
        return seen.reshape(-1)

    def signed(self, counts: Numbers) -> Signed:
        """The signatures that were counted, by number."""
        found = np.flatnonzero(counts)
        return self.words(found), counts[found].astype(np.int64)

    def words(self, numbers: NDArray[np.integer]) -> Words:
        """The signatures that have some numbers."""
        words = np.zeros((2, len(numbers)), np.uint64)
        rest = numbers.astype(np.uint32)  # division is slow, and less so in 32 bits
        for columns in self._groups(_TWO_BYTES):
            known = self._words_of(columns)
            rest, own = np.divmod(rest, np.uint32(known.shape[1]))
            for side in range(2):
                words[side] |= known[side].take(own)
        return np.ascontiguousarray(words.T)

    def _words_of(self, columns: range) -> Words:
        """What each number of some columns says of them, `[side, number]`."""
        rest = np.arange(int(np.prod([self.bases[c] for c in columns])))
        words = np.zeros((2, len(rest)), np.uint64)
        for c in columns:
            rest, digit = np.divmod(rest, self.bases[c])
            at_most = (digit == SAME) | ((digit == LESS) & (not self.equal_only[c]))
            at_least = (digit == SAME) | (digit == MORE)
            words[0] |= at_most.astype(np.uint64) << np.uint64(c)
            words[1] |= at_least.astype(np.uint64) << np.uint64(c)
        return words
