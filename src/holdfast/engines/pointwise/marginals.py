"""How many pairs lie in each of many boxes, and which values these pairs have.

Boxes with marks on the same columns share one projection of the pairs: on these columns. It comes from a projection on
one column more, and so on up to all columns: a tree, in which each column in turn is kept or dropped. A projection is a
table of all cells (combinations of values) where these are not many more than the pairs; else a list of those that
occur. Where pairs and boxes are few, each pair is simply held against each box.

Cost: O(4 ** columns) for all sets of columns together, less where boxes have few marks; and for each box its cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import BITS, COLUMNS_OF_WORD, FREE, Boxes, Space, Values, packed
from holdfast.engines.pointwise.cells import cells_of, weights_of
from holdfast.kernels.marginals import from_list, from_table, to_table
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words

Numbers = NDArray[np.int64]
_SMALL, _DENSE, _LARGE = 1 << 20, 8, 1 << 24  # cells of a table: up to _SMALL, or _DENSE a pair, but at most _LARGE
_FEW = 1 << 24  # pairs times boxes: fewer are looked at one by one


def counts_within(seen: Values, counts: Numbers, space: Space, boxes: Boxes) -> Numbers:
    """The sum of the counts of the seen values that lie in each box."""
    return _joined(packed(seen), counts.astype(np.int64, copy=False), space, boxes, np.add)


def values_within(seen: Values, space: Space, boxes: Boxes) -> Boxes:
    """For each box and column, the values that occur in that column within the box."""
    found, cells = np.zeros(boxes.shape, np.uint8), packed(seen)
    for word in range(cells.shape[1]):
        numbers = np.ascontiguousarray(cells[:, word]).view(np.int64)
        joined = _joined(cells, numbers, space, boxes, np.bitwise_or)
        for c in range(COLUMNS_OF_WORD * word, min(COLUMNS_OF_WORD * (word + 1), space.columns)):
            found[:, c] = joined >> 4 * (c % COLUMNS_OF_WORD) & FREE
    return found


def _joined(cells: Words, numbers: Numbers, space: Space, boxes: Boxes, how: np.ufunc) -> Numbers:
    """The numbers of the cells that lie in each box, joined."""
    every = _Projection(space, how, tuple(range(space.columns)), numbers, cells)
    if len(cells) * len(boxes) <= _FEW:
        return every.within(boxes)
    found = np.zeros(len(boxes), np.int64)
    order, ends = _by_columns(boxes)
    boxes = boxes[order]
    for which, projection in _leaves(every.dense(), boxes[ends[:-1]] != FREE):
        begin, end = ends[which], ends[which + 1]
        found[order[begin:end]] = projection.within(boxes[begin:end])
    return found


def _by_columns(boxes: Boxes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The boxes by the set of columns that they have marks on; and where those of each set begin and end."""
    words = bitsets.packed(boxes != FREE, bitsets.words_for(boxes.shape[1]))
    keys = (
        bitsets.as_keys(words) if words.shape[1] > 1 else words[:, 0].astype(np.min_scalar_type(words.max(initial=0)))
    )
    order = np.argsort(keys, kind="stable")
    differ = np.flatnonzero(keys[order][1:] != keys[order][:-1]) + 1
    return order, np.concatenate([[0], differ, [len(boxes)]]) if len(boxes) else np.zeros(1, np.int64)


def _leaves(every: _Projection, marked: NDArray[np.bool_]) -> Iterator[tuple[int, _Projection]]:
    """The projection on each of some sets of columns."""
    stack = [(every, 0, np.arange(len(marked)))]  # with the columns that are sure to be kept, and the sets that ask
    while stack:
        projection, kept, wanted = stack.pop()
        if kept == len(projection.columns):
            yield from ((which, projection) for which in wanted.tolist())
            continue
        keeps = marked[wanted, projection.columns[kept]]
        if not keeps.all():
            stack.append((projection.without(kept), kept, wanted[~keeps]))
        if keeps.any():
            stack.append((projection, kept + 1, wanted[keeps]))


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
            before, own = cells_of(self.space, self.columns[:place]), self.space.radix[self.columns[place]]
            parts = self.numbers.reshape(before, own, -1)
            joined = self.how(parts[:, 0], parts[:, 1])
            for digit in range(2, own):
                self.how(joined, parts[:, digit], out=joined)
            return replace(self, columns=columns, numbers=joined.ravel())
        word, at = divmod(self.columns[place], COLUMNS_OF_WORD)
        cells = self.cells.copy()
        cells[:, word] &= ~np.uint64(FREE << 4 * at)
        return replace(self, columns=columns, cells=cells).dense()

    def dense(self) -> _Projection:
        """As a table where that pays; else each cell once."""
        assert self.cells is not None
        size = cells_of(self.space, self.columns)
        if size <= max(_SMALL, min(_LARGE, _DENSE * len(self.cells))):
            return replace(self, numbers=self._table(size), cells=None)
        keys = bitsets.as_keys(self.cells)
        order = np.argsort(keys, kind="stable")
        begins = np.flatnonzero(np.concatenate([[True], keys[order][1:] != keys[order][:-1]])[: len(keys)])
        return replace(self, numbers=self.how.reduceat(self.numbers[order], begins), cells=self.cells[order[begins]])

    def _table(self, size: int) -> Numbers:
        assert self.cells is not None
        weights = np.zeros((self.cells.shape[1], COLUMNS_OF_WORD, FREE + 1), np.int64)
        for c, weight in zip(self.columns, weights_of(self.space, self.columns), strict=True):
            word, at = divmod(c, COLUMNS_OF_WORD)
            weights[word, at] = weight
        table = np.zeros(size, np.int64)
        to_table(self.cells, weights, self.numbers, self.how is np.add, table)
        return table

    def within(self, boxes: Boxes) -> Numbers:
        """The numbers of the pairs that lie in each of some boxes with marks on these columns."""
        found, sums = np.zeros(len(boxes), np.int64), self.how is np.add
        if self.cells is not None:
            from_list(self.cells, self.numbers, packed(boxes), sums, found)
        else:
            room = np.empty(len(self.numbers), np.int64)
            own = np.ascontiguousarray(boxes[:, list(self.columns)])
            weights = weights_of(self.space, self.columns).take(BITS, axis=1)
            from_table(self.numbers, weights, own, sums, room, found)
        return found
