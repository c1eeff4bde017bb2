"""How many pairs lie in each of many boxes, and which values these pairs have.

Boxes with marks on the same columns share one projection of the pairs: on these columns. It comes from a projection on
one column more, and so on up to all columns: a tree, in which each column in turn is kept or dropped. A projection is a
table of all cells (combinations of values) where these are not many more than the pairs; else a list of those that
occur.

Cost: O(4 ** columns) for all sets of columns together, less where boxes have few marks; and for each box its cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import packed
from holdfast.engines.pointwise.marks import FREE, Boxes, Space, Values
from holdfast.kernels.marginals import from_list, from_table
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words

Numbers = NDArray[np.int64]
_BITS = (1, 2, 4, 8)
_PACKED = 15  # columns whose values, four bits each, are one number
_SMALL, _DENSE, _LARGE = 1 << 12, 8, 1 << 26  # a table: up to so many cells; or so many for each pair, but no more than


def counts_within(seen: Values, counts: Numbers, space: Space, boxes: Boxes) -> Numbers:
    """The sum of the counts of the seen values that lie in each box."""
    return _joined(seen, counts.astype(np.int64, copy=False), space, boxes, np.add)


def values_within(seen: Values, space: Space, boxes: Boxes) -> Boxes:
    """For each box and column, the values that occur in that column within the box."""
    found = np.zeros(boxes.shape, np.uint8)
    for begin in range(0, space.columns, _PACKED):
        own = range(begin, min(begin + _PACKED, space.columns))
        numbers = np.zeros(len(seen), np.int64)
        for c in own:
            numbers |= seen[:, c].astype(np.int64) << 4 * (c - begin)
        joined = _joined(seen, numbers, space, boxes, np.bitwise_or)
        for c in own:
            found[:, c] = joined >> 4 * (c - begin) & FREE
    return found


def _joined(seen: Values, numbers: Numbers, space: Space, boxes: Boxes, how: np.ufunc) -> Numbers:
    """The numbers of the seen values that lie in each box, joined."""
    found = np.zeros(len(boxes), np.int64)
    marked, order, ends = _by_columns(boxes)
    for which, projection in _leaves(_first(seen, numbers, space, how), 0, marked, np.arange(len(marked))):
        own = order[ends[which] : ends[which + 1]]
        found[own] = projection.within(boxes[own])
    return found


def _by_columns(boxes: Boxes) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """The sets of columns that boxes have marks on; the boxes set by set; and where those of each set begin and end."""
    words = bitsets.packed(boxes != FREE, bitsets.words_for(boxes.shape[1]))
    keys = words[:, 0] if words.shape[1] == 1 else bitsets.as_keys(words)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    ends = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=len(first)))])
    return boxes[first] != FREE, np.argsort(group, kind="stable"), ends


def _leaves(
    projection: _Projection, kept: int, marked: NDArray[np.bool_], wanted: NDArray[np.int64]
) -> Iterator[tuple[int, _Projection]]:
    """The projections on the wanted sets of columns, all of which keep the first `kept` columns of this one."""
    if kept == len(projection.columns):
        yield int(wanted[0]), projection
        return
    keeps = marked[wanted, projection.columns[kept]]
    if keeps.any():
        yield from _leaves(projection, kept + 1, marked, wanted[keeps])
    if not keeps.all():
        yield from _leaves(projection.without(kept), kept, marked, wanted[~keeps])


@dataclass(frozen=True, eq=False)
class _Projection:
    """Numbers of pairs, joined by their values in some columns: all cells, or where `cells` is given those that occur,
    with four bits a column of the table.
    """

    space: Space
    how: np.ufunc
    columns: tuple[int, ...]
    numbers: Numbers
    cells: Words | None

    def without(self, place: int) -> _Projection:
        """Without one of the columns."""
        columns = self.columns[:place] + self.columns[place + 1 :]
        if self.cells is None:
            shape = [self.space.values(c).bit_count() for c in self.columns]
            parts = self.numbers.reshape(prod(shape[:place]), shape[place], -1)
            joined = self.how.reduce(parts, axis=1).ravel()
            return _Projection(self.space, self.how, columns, joined, None)
        word, shift = divmod(4 * self.columns[place], 64)
        cells = self.cells.copy()
        cells[:, word] &= ~np.uint64(FREE << shift)
        return _listed(self.space, self.how, columns, self.numbers, cells)

    def within(self, boxes: Boxes) -> Numbers:
        """The numbers of the pairs that lie in each of some boxes with marks on these columns."""
        found, sums = np.zeros(len(boxes), np.int64), self.how is np.add
        if self.cells is not None:
            from_list(self.cells, self.numbers, packed(boxes), sums, found)
        else:
            room = np.empty(len(self.numbers), np.int64)
            own = np.ascontiguousarray(boxes[:, list(self.columns)])
            from_table(self.numbers, _weights(self.space, self.columns), own, sums, room, found)
        return found


def _first(seen: Values, numbers: Numbers, space: Space, how: np.ufunc) -> _Projection:
    """On all columns."""
    return _listed(space, how, tuple(range(space.columns)), numbers, packed(seen))


def _listed(space: Space, how: np.ufunc, columns: tuple[int, ...], numbers: Numbers, cells: Words) -> _Projection:
    """From a list of cells that may occur several times: as a table where that pays."""
    size = prod(space.values(c).bit_count() for c in columns)
    if size <= max(_SMALL, min(_LARGE, _DENSE * len(cells))):
        return _Projection(space, how, columns, _table(space, how, columns, numbers, cells, size), None)
    _, first, group = np.unique(bitsets.as_keys(cells), return_index=True, return_inverse=True)
    order = np.argsort(group, kind="stable")
    begins = np.searchsorted(group[order], np.arange(len(first)))
    return _Projection(space, how, columns, how.reduceat(numbers[order], begins), cells[first])


def _table(space: Space, how: np.ufunc, columns: tuple[int, ...], numbers: Numbers, cells: Words, size: int) -> Numbers:
    places = np.zeros(len(cells), np.int64)
    for c, weight in zip(columns, _weights(space, columns), strict=True):
        of_value = np.zeros(FREE + 1, np.int64)
        of_value[list(_BITS)] = weight
        word, shift = divmod(4 * c, 64)
        places += of_value[(cells[:, word] >> np.uint64(shift)) & np.uint64(FREE)]
    table = np.zeros(size, np.int64)
    how.at(table, places, numbers)
    return table


def _weights(space: Space, columns: tuple[int, ...]) -> NDArray[np.int64]:
    """What each value of each column adds to the place of a cell; -1 where the column does not have it."""
    weights, cells = np.full((len(columns), len(_BITS)), -1, np.int64), 1
    for place in reversed(range(len(columns))):
        own = [b for b, bit in enumerate(_BITS) if bit & space.values(columns[place])]
        weights[place, own] = cells * np.arange(len(own))
        cells *= len(own)
    return weights
