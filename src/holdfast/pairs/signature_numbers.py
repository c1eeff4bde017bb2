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

from holdfast.kernels.ternary import LESS, MORE, SAME, UNKNOWN, Digits, decode
from holdfast.pairs.signatures import Signed, Words

Numbers = NDArray[np.signedinteger[Any]]  # how often each number occurs
_EQUAL_ONLY, _ORDERED, _WITH_UNKNOWN = 2, 3, 4  # digits of a column
_A_BYTE = 256


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
        """The numbering of `columns` columns, some of which are compared for equality alone."""
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
        ends, size = [0], 1
        for c, base in enumerate(self.bases):
            if size * base > _A_BYTE:
                ends.append(c)
                size = 1
            size *= base
        return tuple(range(*pair) for pair in zip(ends, [*ends[1:], self.columns], strict=True))

    @property
    def _sizes(self) -> list[int]:
        """How many numbers each plane has."""
        return [int(np.prod([self.bases[c] for c in columns])) for columns in self.planes]

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return int(np.prod(self.bases, dtype=object))

    @property
    def digits(self) -> Digits:
        """The same as the kernels read it. Numbers must fit 32 bits."""
        plane, weight = np.zeros(self.columns, np.int64), np.ones(self.columns, np.uint8)
        for p, columns in enumerate(self.planes):
            plane[columns.start : columns.stop] = p
            weight[columns.start : columns.stop] = np.cumprod([1, *(self.bases[c] for c in columns)])[:-1]
        scale = np.zeros(max(3, len(self.planes)), np.uint32)
        scale[: len(self.planes)] = np.cumprod([1, *self._sizes])[:-1]
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
        words = np.empty((len(numbers), 2), np.uint64)
        decode(numbers, np.array(self._sizes, np.uint32), self._words_of_planes(), words)
        return words

    def _words_of_planes(self) -> Words:
        """What each number of each plane says of its columns, `[side, plane, number]`."""
        words = np.zeros((2, len(self.planes), _A_BYTE), np.uint64)
        for p, columns in enumerate(self.planes):
            rest = np.arange(_A_BYTE)
            for c in columns:
                rest, digit = np.divmod(rest, self.bases[c])
                at_most = (digit == SAME) | ((digit == LESS) & (not self.equal_only[c]))
                at_least = (digit == SAME) | (digit == MORE)
                words[0, p] |= at_most.astype(np.uint64) << np.uint64(c)
                words[1, p] |= at_least.astype(np.uint64) << np.uint64(c)
        return words
