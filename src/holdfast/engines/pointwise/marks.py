"""Marks: what is asked of two rows, column by column; and boxes, which are conjunctions of marks.

A pair of rows (t, s) has one **value** in each column: t is less, equal or more there than s; or `OTHER`: on a column
that is compared for equality alone, the two differ; and where nulls are distinct, a null makes the comparison unknown.
A **mark** is the set of values that it allows, as bits. A column without a mark allows all of them, `FREE`.
A **box** is a row of masks, one a column: the conjunction of its marks. A pair lies in a box iff in every column its
value, one bit, is in the mask. A box in which no pair of different rows lies is **never** met.

A mark is weaker than another iff it allows more, and a box is weaker than another iff its mask is wider in some column
and nowhere narrower (papers: incpod, section III, "containment". The paper's definition says "for all marked columns of
X, if X' has a mark there", so that an X' with more columns than X would be contained in X; its examples mean the
opposite, which is what is done here: every mark of the weaker one is implied by a mark of the stronger one).
The paper is silent on whether t and s may be one row. With t = s no rule with `<` on the right and without a strict
mark on the left could ever hold, and a key would be met by every row; so pairs are of two different rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.uint8]  # [box, column] of masks
Values = NDArray[np.uint8]  # [pair, column] of single bits: the values of pairs of rows

LESS, EQUAL, MORE, OTHER = 1, 2, 4, 8
BITS = LESS, EQUAL, MORE, OTHER
FREE = LESS | EQUAL | MORE | OTHER
MASKS = {"<": LESS, "<=": LESS | EQUAL, "=": EQUAL, ">=": EQUAL | MORE, ">": MORE}
OPERATORS = {mask: operator for operator, mask in MASKS.items()}
MIRRORED = np.array([bits & ~(LESS | MORE) | (bits & LESS) << 2 | (bits & MORE) >> 2 for bits in range(16)], np.uint8)


@dataclass(frozen=True)
class Space:
    """How the columns of a table are compared.

    `ordered[c]`: column c takes all five marks; other columns take `=` alone. `unknown`: nulls are distinct, and so a
    comparison may be unknown: then it meets no mark, and it meets the negation of every mark.
    """

    ordered: tuple[bool, ...]
    unknown: bool = False

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.ordered)

    @cached_property
    def radix(self) -> list[int]:
        """How many values pairs may have in each column."""
        return [self.values(column).bit_count() for column in range(self.columns)]

    @cached_property
    def digits(self) -> NDArray[np.int64]:
        """The digit that stands for each value of each column, `[column, value]`; -1 where the column has none such."""
        found = np.full((self.columns, FREE + 1), -1)
        for column in range(self.columns):
            digits = [bit for bit in BITS if bit & self.values(column)]
            found[column, digits] = range(len(digits))
        return found

    def values(self, column: int) -> int:
        """All values that pairs may have in a column, as bits."""
        if not self.ordered[column]:
            return EQUAL | OTHER
        return FREE if self.unknown else LESS | EQUAL | MORE

    def left_marks(self, column: int) -> tuple[int, ...]:
        """The marks that a left side may have on a column."""
        return tuple(MASKS.values()) if self.ordered[column] else (EQUAL,)

    def negated(self, column: int, mark: int) -> int:
        """The values of a column that break a mark on the right side."""
        return self.values(column) & ~mark


def mirrored(boxes: Boxes) -> Boxes:
    """Boxes, or values, seen from the other row: `<` and `>` change places."""
    return MIRRORED[boxes]


def values_of(cells: NDArray[np.uint32], pairs: NDArray[np.int64], space: Space) -> Values:
    """The values of pairs of rows, given the ranks `[column, row]` of all rows; null has rank 0."""
    ones, others = np.ascontiguousarray(pairs.T)
    values = np.empty((len(cells), len(pairs)), np.uint8)
    for own, ranks, ordered in zip(values, cells, space.ordered, strict=True):
        one, other = ranks.take(ones), ranks.take(others)
        if ordered:
            np.left_shift(LESS, (one >= other).view(np.uint8) + (one > other), out=own)
        else:
            own[:] = np.where(one == other, np.uint8(EQUAL), np.uint8(OTHER))
        if space.unknown:
            own[(one == 0) | (other == 0)] = OTHER
    return values.T


def places_met(boxes: Boxes, values: Values) -> NDArray[np.int64]:
    """For each box the place of one of some values that lies in it, -1 where none does; a few for all boxes."""
    places, left = np.full(len(boxes), -1), np.arange(len(boxes))
    while len(left):
        within, inside = left == left[0], np.flatnonzero((values & boxes[left[0]]).all(axis=1))
        if len(inside):
            within = met(boxes[left], values[inside[0]])
            places[left[within]] = inside[0]
        left = left[~within]
    return places


def met(boxes: Boxes, values: Values) -> NDArray[np.bool_]:
    """Which boxes a pair with these values lies in."""
    found: NDArray[np.bool_] = (boxes & values != 0).all(axis=1)
    return found
