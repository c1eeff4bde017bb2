"""What pairs of rows show in every few columns, and the minimal boxes of as few marks that none of them lies in.

A box of at most L marks is about L columns. So it is enough to know, for each set of L columns, which patterns of
values occur: a box is met iff one of its patterns does. That is worked out for all boxes about a set of columns at
once, column by column, and so is whether all that are weaker by a step are met.

Marks are those of never-sets: the five on a column that is ordered, `=` and `!=` on others. Where comparisons may be
unknown, a box may ask for one unknown comparison: a rule `X -> B op` is broken by a pair that meets X and is known to
break `B op`, or is unknown in B. What is weaker by a step than such a box is such a box.

Cost: 4^L counts and 7^L boxes for each set of columns; and then for each in which a pattern came or went.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import EQUAL, FREE, LESS, MORE, OTHER, Boxes, Mask, Space, Values
from holdfast.errors import BadInput
from holdfast.kernels import patterns as kernels
from holdfast.kernels.patterns import ColumnSets

Digits = NDArray[np.uint8]

_DIGITS = np.zeros(FREE + 1, np.uint8)
_DIGITS[[LESS, EQUAL, MORE, OTHER]] = range(4)
_MASKS = (FREE, LESS, LESS | EQUAL, EQUAL, EQUAL | MORE, MORE, OTHER)
_FREE, _LESS, _AT_MOST, _EQUAL, _AT_LEAST, _MORE, _OTHER = range(7)
# Of each mark those that are one step weaker.
_WEAKER = {_LESS: (_AT_MOST,), _AT_MOST: (_FREE,), _EQUAL: (_AT_MOST, _AT_LEAST), _AT_LEAST: (_FREE,)}
_WEAKER |= {_MORE: (_AT_LEAST,), _OTHER: (_FREE,)}
_MOST_CELLS = 1 << 26  # counts of patterns
_MOST_MARKS = 8  # 7^8 boxes about a set of columns take some megabytes
_AT_ONCE = 1 << 24  # boxes, or patterns of pairs


class Patterns:
    """How many of the pairs that were taken in have each pattern, and the minimal boxes that none lies in."""

    def __init__(self, space: Space, size: int) -> None:
        """Of pairs that are compared in some space, in every `size` columns."""
        self.space, self.size = space, min(size, space.columns)
        if comb(space.columns, self.size) << (2 * self.size) > _MOST_CELLS or self.size > _MOST_MARKS:
            raise BadInput(
                f"left sides of up to {size - 1} of {space.columns} columns are too many for a table as tall as this; "
                "bound them with --max-lhs, or choose columns with --columns"
            )
        self._columns = np.array(list(combinations(range(space.columns), self.size)), np.int64).reshape(-1, self.size)
        self._sets = _column_sets(space.columns, self.size)
        self._counts = np.zeros((len(self._columns), 4**self.size), np.int32)
        self._met = np.zeros(self._counts.shape, np.bool_)  # as of the boxes below
        self._of, self._never = np.empty(0, np.int64), np.empty((0, space.columns), np.uint8)
        self._stale = np.ones(len(self._columns), np.bool_)

    def add(self, values: Values, most: int) -> Mask:
        """Take in those of some pairs that have a pattern which fewer than `most` others have. Gives which."""
        kept, step = np.zeros(len(values), np.bool_), max(1, _AT_ONCE // len(self._columns))
        for begin in range(0, len(values), step):  # so that Ctrl-C is heard in between
            some = slice(begin, begin + step)
            kernels.keep_needed(_digits_of(values[some]), self._sets, most, self._counts, kept[some])
        return kept

    def drop(self, values: Values) -> None:
        """Let pairs go that were taken in."""
        kernels.drop(_digits_of(values), self._sets, self._counts)

    def never(self) -> Boxes:
        """The minimal boxes, both of each two mirror images, that none of the pairs lies in."""
        met = self._counts > 0
        met |= met[:, _mirrored(self.size)]
        stale = self._stale | (met != self._met).any(axis=1)
        if stale.any():
            self._met[stale], self._stale[:] = met[stale], False
            of, never = self._derived(np.flatnonzero(stale))
            keep = ~stale[self._of]
            self._of, self._never = np.concatenate([self._of[keep], of]), np.concatenate([self._never[keep], never])
        return np.unique(self._never, axis=0)

    def _derived(self, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], Boxes]:
        """The minimal boxes about some sets of columns, and which set each is about."""
        of, boxes = [np.empty(0, np.int64)], [self._never[:0]]
        step = max(1, _AT_ONCE // len(_MASKS) ** self.size)
        for begin in range(0, len(chosen), step):
            some = chosen[begin : begin + step]
            at, *marks = self._minimal(some).nonzero()
            found = np.full((len(at), self.space.columns), FREE, np.uint8)
            masks = np.array(_MASKS, np.uint8)[np.array(marks, np.int64).reshape(self.size, -1).T]
            np.put_along_axis(found, self._columns[some[at]], masks, axis=1)
            of.append(some[at])
            boxes.append(found)
        return np.concatenate(of), np.concatenate(boxes)

    def _minimal(self, some: NDArray[np.int64]) -> Mask:
        """Which boxes about sets of columns are minimal and not met: `[set, mark, mark, ...]`, numbers in `_MASKS`."""
        met = self._met[some].reshape((len(some), *[4] * self.size))
        plain = ~np.array(self.space.ordered, np.bool_)[self._columns[some]]  # [set, axis]
        for axis in range(self.size):
            met = _by_mark(met, axis + 1, plain[:, axis])
        minimal = ~met
        for axis in range(1, self.size + 1):
            for mark, weaker in _WEAKER.items():
                for other in weaker:
                    minimal[_at(axis, mark)] &= met[_at(axis, other)]
            self._leave_out(minimal, axis, plain[:, axis - 1])
        if self.space.unknown:
            numbers = np.indices((len(_MASKS),) * self.size) == _OTHER
            minimal[:, numbers.sum(axis=0) > 1] = False
        return minimal

    def _leave_out(self, minimal: Mask, axis: int, plain: Mask) -> None:
        """Leave boxes out that have a mark in a column which it doesn't take."""
        for mark in (_LESS, _AT_MOST, _AT_LEAST, _MORE):
            minimal[_at(axis, mark)] &= ~plain.reshape((-1, *[1] * (self.size - 1)))
        if not self.space.unknown:
            minimal[_at(axis, _OTHER)] &= plain.reshape((-1, *[1] * (self.size - 1)))


def _digits_of(values: Values) -> Digits:
    """The digits of pairs, `[column, pair]`."""
    return np.ascontiguousarray(_DIGITS[values].T)


def _by_mark(met: Mask, axis: int, plain: Mask) -> Mask:
    """Whether boxes are met, given the same with a value instead of a mark in one column. Columns that are not ordered
    have no `<=` and `>=`, so that what is weaker than `=` there is no mark at all.
    """
    less, equal, more, other = (np.take(met, digit, axis) for digit in range(4))
    free = less | equal | more | other
    unordered = plain.reshape((-1, *[1] * (free.ndim - 1)))
    at_most, at_least = (np.where(unordered, free, equal | side) for side in (less, more))
    return np.stack([free, less, at_most, equal, at_least, more, other], axis)


def _at(axis: int, mark: int) -> tuple[slice | int, ...]:
    return (*[slice(None)] * axis, mark)


def _mirrored(size: int) -> NDArray[np.int64]:
    """The mirror image of each pattern."""
    patterns = np.arange(4**size)
    digits = (patterns[:, None] >> (2 * np.arange(size))) & 3
    return np.asarray((np.array([2, 1, 0, 3])[digits] << (2 * np.arange(size))).sum(axis=1))


def _column_sets(columns: int, size: int) -> ColumnSets:
    """All sets of `size` columns, in lexicographic order, as the leaves of a tree."""
    last: dict[tuple[int, ...], int] = {(): 0}
    parent, column, first = [0], [0], 0
    for length in range(1, size + 1):
        first, above, last = len(parent), last, {}
        for some in combinations(range(columns), length):
            last[some] = len(parent)
            parent.append(above[some[:-1]])
            column.append(some[-1])
    folded = np.minimum(np.arange(4**size), _mirrored(size)).astype(np.uint32)
    return ColumnSets(np.array(parent, np.int32), np.array(column, np.int32), first, folded)
