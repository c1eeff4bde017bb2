"""Signatures as digits, one a column, in planes of bytes (see `kernels.digits`), and as numbers: the cells of a table.

Numbers have 32 bits. Where there are more, signatures are counted by their planes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.digits import LESS, MORE, SAME, UNKNOWN, Digits
from holdfast.pairs.signatures import ORDERED, SignatureKind, Signed, Words

Numbers = NDArray[np.signedinteger[Any]]  # how often each number occurs
_EQUAL_ONLY, _ORDERED, _WITH_UNKNOWN = 2, 3, 4  # digits of a column
_A_BYTE = 256
_A_WORD = 64
_LEAST_PLANES = 3  # that the kernel has room for


@dataclass(frozen=True)
class Numbering:
    """How many digits each column has, and so how signatures are numbered.

    `equal_only`: two digits; `unknown`: a null makes a comparison unknown, and is one digit more. The two exclude each
    other in effect: what is compared for equality alone knows no third answer.
    """

    equal_only: tuple[bool, ...]
    unknown: tuple[bool, ...]
    kind: SignatureKind

    @staticmethod
    def of(columns: int, kind: SignatureKind = ORDERED, unknown: Sequence[bool] | None = None) -> Numbering:
        """The numbering of the signatures of a kind on `columns` columns."""
        alone = tuple(not kind.ordered or c in kind.equal_only for c in range(columns))
        return Numbering(alone, tuple(unknown or [False] * columns), kind)

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
        """The columns of each plane: as many as fit a byte, and a word of a signature."""
        begins, size = list[int](), 1
        for c, base in enumerate(self.bases):
            if size * base > _A_BYTE or c % _A_WORD == 0:
                begins.append(c)
                size = 1
            size *= base
        return tuple(range(*pair) for pair in pairwise([*begins, self.columns]))

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
        """The same as the kernels read it. Where numbers don't fit 32 bits, only the planes count."""
        plane, weight = np.zeros(self.columns, np.int64), np.ones(self.columns, np.uint8)
        for p, columns in enumerate(self.planes):
            plane[columns.start : columns.stop] = p
            weight[columns.start : columns.stop] = np.cumprod([1, *(self.bases[c] for c in columns)])[:-1]
        scale = np.zeros(max(_LEAST_PLANES, len(self.planes)), np.uint32)
        scale[: len(self.planes)] = np.cumprod([1, *self._sizes], dtype=np.uint32)[:-1]
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

    @property
    def words_of_planes(self) -> int:
        """How many words the planes make, eight to a word."""
        return -(-max(_LEAST_PLANES, len(self.planes)) // 8)

    def signed(self, counts: Numbers) -> Signed:
        """The signatures that were counted, by number."""
        found = np.flatnonzero(counts)
        return self.words(found), counts[found].astype(np.int64)

    def words(self, numbers: NDArray[np.integer]) -> Words:
        """The signatures that have some numbers."""
        if not self.kind.ordered:
            return numbers.astype(np.uint64).reshape(-1, 1)
        planes, rest = np.empty((len(self.planes), len(numbers)), np.uint8), numbers.astype(np.uint32)
        for p, size in enumerate(self._sizes):
            whole = rest // np.uint32(size)
            planes[p] = rest - whole * np.uint32(size)
            rest = whole
        return self._signatures(planes)

    def signed_by_planes(self, counted: Signed) -> Signed:
        """The signatures that were counted by their planes, end to end in words."""
        words, counts = counted
        if not self.kind.ordered:
            return counted
        planes = np.ascontiguousarray(words).astype("<u8").view(np.uint8).T
        return self._signatures(planes[: len(self.planes)]), counts

    def _signatures(self, planes: NDArray[np.uint8]) -> Words:
        """Signatures of order, given what their planes hold, `[plane, signature]`."""
        lanes = np.zeros((self.kind.words(self.columns), planes.shape[1]), np.uint64)
        for own, columns in zip(planes, self.planes, strict=True):
            word, shift = columns.start // _A_WORD, np.uint64(columns.start % _A_WORD)
            forms = tuple((self.bases[c], self.equal_only[c]) for c in columns)
            for side, known in enumerate(_sides_of_plane(forms)):
                lanes[word + side * len(lanes) // 2] |= (known << shift).take(own)
        return lanes.T.copy()


@cache
def _sides_of_plane(forms: tuple[tuple[int, bool], ...]) -> tuple[Words, Words]:
    """What each number of a plane says of its columns: on which the second row is at most the first one, and on which
    at least. Of each column: how many digits there are for it, and whether it is compared for equality alone.
    """
    rest, below, above = np.arange(_A_BYTE), np.zeros(_A_BYTE, np.uint64), np.zeros(_A_BYTE, np.uint64)
    for c, (base, equal_only) in enumerate(forms):
        rest, digit = np.divmod(rest, base)
        at_most = (digit == SAME) | ((digit == LESS) & (not equal_only))
        at_least = (digit == SAME) | (digit == MORE)
        below |= at_most.astype(np.uint64) << np.uint64(c)
        above |= at_least.astype(np.uint64) << np.uint64(c)
    return below, above
