"""The values that pairs have in some columns, as a set of cells: a bit for each combination of values.

The cells of the last columns share a word; the words are in the order of the combinations of the columns before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.marks import FREE, Space, Values
from holdfast.kernels.never import fill_cells
from holdfast.pairs.bitsets import Words

BITS = (1, 2, 4, 8)
_MOST = 1 << 26  # cells of one search
_WORD = 64
# Boxes on the last columns: all are tried, which is faster than to choose column by column, as long as they are few.
_BOXES = 256
_CHOICES = {2: 3, 3: 6, 4: 6}  # of a column with so many values: its marks, and none


def digits_of(space: Space, column: int) -> list[int]:
    """The values of a column one by one."""
    return [bit for bit in BITS if bit & space.values(column)]


def cells_of(space: Space, columns: Sequence[int]) -> int:
    """How many combinations of values some columns have."""
    return prod(space.values(c).bit_count() for c in columns)


def fits(space: Space, columns: Sequence[int]) -> bool:
    """Whether all combinations of values of some columns fit into memory."""
    return cells_of(space, columns) <= _MOST


@dataclass(frozen=True, eq=False)
class Cells:
    """The set of the cells that occur."""

    space: Space
    first: tuple[int, ...]  # columns but for the last ones
    last: tuple[int, ...]
    words: Words

    @staticmethod
    def of(values: Values, space: Space, columns: Sequence[int]) -> Cells:
        """Of pairs that have these values, in some columns."""
        first, last = _parted(space, tuple(columns))
        cells = Cells(space, first, last, np.zeros(cells_of(space, first), np.uint64))
        fill_cells(values, np.array(columns, np.int64), _weights(space, columns), cells_of(space, last), cells.words)
        return cells

    def where(self, column: int, mask: int) -> Cells:
        """Of the pairs with a value of the mask in one of the columns; without it, if it isn't one of the last."""
        digits = digits_of(self.space, column)
        allowed = [digit for digit, bit in enumerate(digits) if bit & mask]
        if column in self.first:
            at = self.first.index(column)
            slabs = self.words.reshape(cells_of(self.space, self.first[:at]), len(digits), -1)
            words = np.bitwise_or.reduce(slabs[:, allowed], axis=1).ravel()
            return replace(self, first=self.first[:at] + self.first[at + 1 :], words=words)
        width = cells_of(self.space, self.last[self.last.index(column) + 1 :])
        inside = sum(
            1 << bit for bit in range(cells_of(self.space, self.last)) if bit // width % len(digits) in allowed
        )
        return replace(self, words=self.words & np.uint64(inside))

    def only(self, columns: Sequence[int]) -> Cells:
        """On some of the columns; the last ones stay."""
        cells = self
        for column in self.first:
            if column not in columns:
                cells = cells.where(column, FREE)
        return cells


@dataclass(frozen=True, eq=False)
class Seen:
    """The values that pairs have; and their cells, made once for several searches."""

    values: Values
    space: Space

    @cached_property
    def cells(self) -> Cells | None:
        """None where they do not fit into memory."""
        columns = range(self.space.columns)
        return Cells.of(self.values, self.space, columns) if fits(self.space, columns) else None


def _parted(space: Space, columns: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The columns but for the last ones, and these."""
    first = len(columns)
    while first:
        last = columns[first - 1 :]
        boxes = prod(_CHOICES[space.values(c).bit_count()] for c in last)
        if cells_of(space, last) > _WORD or boxes > _BOXES:
            break
        first -= 1
    return columns[:first], columns[first:]


def _weights(space: Space, columns: Sequence[int]) -> NDArray[np.int64]:
    """What each value of each column adds to the number of a cell."""
    found = np.zeros((len(columns), FREE + 1), np.int64)
    for place, c in enumerate(columns):
        digits = digits_of(space, c)
        found[place, digits] = cells_of(space, columns[place + 1 :]) * np.arange(len(digits))
    return found
