"""The values that pairs have in some columns, as a set of cells: a bit for each combination of values.

The cells of the last columns share a word; the words are in the order of the combinations of the columns before.
Where boxes are wanted that hold some share of all pairs, these are counted by cell, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import BITS, FREE, Space, Values
from holdfast.errors import BadInput
from holdfast.kernels.never_sets import fill_cells
from holdfast.pairs.bitsets import Words

_MOST = 1 << 26  # cells that get a bit, at most: 8 MB and more
# Cells that get a bit: at most this many, or this many for each that occurs; where there are more, lists are faster.
_FEW, _FOR_EACH = 1 << 12, 64
_COUNTED = 1 << 24  # cells that get a count, at most: 128 MB
# Counts pay where one cell in _DENSE occurs, or a wanted box holds as many pairs as _WIDE cells do on average; not with
# _SHORT marks or fewer. Else all rules are found faster, by never-sets.
_DENSE, _WIDE, _SHORT = 2, 16, 3
_NUMBERED = 31  # columns: a list says in bits which of the sets hold a cell, two for each mark and one more
_WORD = 64
# Boxes on the last columns: all are tried, which is faster than to choose column by column, as long as they are few.
_BOXES = 256
_CHOICES = {2: 3, 3: 6, 4: 6}  # by how many values a column has: its marks, and none


def digits_of(space: Space, column: int) -> list[int]:
    """The values of a column one by one."""
    return [bit for bit in BITS if bit & space.values(column)]


def cells_of(space: Space, columns: Sequence[int]) -> int:
    """How many combinations of values some columns have."""
    return prod(space.radix[c] for c in columns)


def fits(space: Space, columns: Sequence[int]) -> bool:
    """Whether all combinations of values of some columns fit into memory."""
    return cells_of(space, columns) <= _MOST


def first_that_fit(space: Space, columns: Sequence[int], many: int) -> int:
    """The first of the columns from which on a bit for each cell pays, given how many cells occur."""
    least = min(_MOST, max(_FEW, _FOR_EACH * many))
    return next(c for c in range(len(columns) + 1) if cells_of(space, columns[c:]) <= least)


def are_numbered(space: Space, columns: Sequence[int]) -> bool:
    """Whether the cells of some columns have numbers that fit a word, so that they can be listed."""
    return len(columns) <= _NUMBERED and not cells_of(space, columns) >> 63


def numbers_of(values: Values, space: Space, columns: Sequence[int]) -> Words:
    """The numbers of the cells that occur in some columns, ascending."""
    if not are_numbered(space, columns):
        raise BadInput(
            f"pointwise order dependencies among more than {_NUMBERED} columns need a bound on their left sides: "
            "ask for less (--max-lhs, --columns)"
        )
    return np.unique(_numbered(values, space, columns)).astype(np.uint64)


def counts_pay(space: Space, values: Values, counts: NDArray[np.int64], least: int, max_size: int | None) -> bool:
    """Whether it pays to search only for boxes that hold `least` pairs: where most cells occur, or such a box holds as
    many pairs as several of those that do; and there may be more than a few marks.
    """
    cells, pairs = cells_of(space, range(space.columns)), int(counts.sum())
    if cells > _COUNTED or (max_size is not None and max_size <= _SHORT):
        return False
    return cells <= _DENSE * len(values) or least * len(values) >= _WIDE * pairs


@dataclass(frozen=True, eq=False)
class WantedCoverage:
    """How many pairs have each of some values, or lie in each cell; and how many a box is to hold."""

    counts: NDArray[np.int64]
    least: int


@dataclass(frozen=True, eq=False)
class CellSet:
    """The set of the cells that occur."""

    space: Space
    first: tuple[int, ...]  # columns but for the last ones
    last: tuple[int, ...]
    words: Words
    coverage: WantedCoverage | None = None  # of all pairs, also where the set is of some of them

    @staticmethod
    def of(values: Values, space: Space, columns: Sequence[int]) -> CellSet:
        """Of pairs that have these values, in some columns."""
        first, last = parted(space, columns)
        cells = CellSet(space, first, last, np.zeros(cells_of(space, first), np.uint64))
        places, weights = np.array(columns, np.int64), weights_of(space, columns)
        fill_cells(np.ascontiguousarray(values), places, weights, cells_of(space, last), cells.words)
        return cells

    def counted(self, values: Values, coverage: WantedCoverage) -> CellSet:
        """With the counts of these values."""
        columns = (*self.first, *self.last)
        counts = np.zeros(cells_of(self.space, columns), np.int64)
        np.add.at(counts, _numbered(values, self.space, columns), coverage.counts)
        return replace(self, coverage=replace(coverage, counts=counts))

    def where(self, column: int, mask: int) -> CellSet:
        """Of the pairs with a value of the mask in one of the columns; without it, if it isn't one of the last."""
        digits = digits_of(self.space, column)
        allowed = [digit for digit, bit in enumerate(digits) if bit & mask]
        if column in self.first:
            at = self.first.index(column)
            shape, coverage = (cells_of(self.space, self.first[:at]), len(digits), -1), self.coverage
            words = np.bitwise_or.reduce(self.words.reshape(shape)[:, allowed], axis=1).ravel()
            if coverage is not None:
                coverage = replace(coverage, counts=coverage.counts.reshape(shape).sum(axis=1).ravel())
            return replace(self, first=self.first[:at] + self.first[at + 1 :], words=words, coverage=coverage)
        width = cells_of(self.space, self.last[self.last.index(column) + 1 :])
        inside = sum(
            1 << bit for bit in range(cells_of(self.space, self.last)) if bit // width % len(digits) in allowed
        )
        return replace(self, words=self.words & np.uint64(inside))

    def only(self, columns: Sequence[int]) -> CellSet:
        """On some of the columns; the last ones stay."""
        cells = self
        for column in self.first:
            if column not in columns:
                cells = cells.where(column, FREE)
        return cells


@dataclass(frozen=True, eq=False)
class PairValues:
    """The values that pairs have; and their cells, made once for several searches. With a coverage, all boxes that are
    searched for hold as many pairs.
    """

    values: Values
    space: Space
    coverage: WantedCoverage | None = None

    @cached_property
    def cells(self) -> CellSet | None:
        """None where they do not fit into memory, or few of many occur; never so with a coverage."""
        columns = range(self.space.columns)
        if self.coverage is not None:
            return CellSet.of(self.values, self.space, columns).counted(self.values, self.coverage)
        if first_that_fit(self.space, columns, len(self.values)):
            return None
        return CellSet.of(self.values, self.space, columns)


def parted(space: Space, columns: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The columns but for the last ones, and these."""
    first = len(columns)
    while first:
        last = columns[first - 1 :]
        boxes = prod(_CHOICES[space.radix[c]] for c in last)
        if cells_of(space, last) > _WORD or boxes > _BOXES:
            break
        first -= 1
    return tuple(columns[:first]), tuple(columns[first:])


def _numbered(values: Values, space: Space, columns: Sequence[int]) -> NDArray[np.int64]:
    """The number of the cell of each of some values."""
    numbers = np.zeros(len(values), np.int64)
    for c, weight in zip(columns, weights_of(space, columns), strict=True):
        numbers += weight[values[:, c]]
    return numbers


def weights_of(space: Space, columns: Sequence[int]) -> NDArray[np.int64]:
    """What each value of each column adds to the number of a cell; below 0 where the column does not have it."""
    later = [cells_of(space, columns[place:]) for place in range(1, len(columns) + 1)]
    return space.digits[list(columns)] * np.array(later, np.int64).reshape(-1, 1)
