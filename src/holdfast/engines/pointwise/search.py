"""The search for minimal boxes that no pair meets, on any number of columns.

`kernels/never.py` searches on as many columns as their cells, a bit each, fit into memory: some 16. Where there are
more, one column after the other is decided here on lists of values, until the others fit; the reasoning is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from holdfast.engines.pointwise.layout import Choice, Column, cells_of, choices, head, parted, tail, weights
from holdfast.engines.pointwise.marks import FREE, Boxes, Space, Values, mirrored
from holdfast.kernels.never import WAYS, Search, advance, fill_cells, take_out
from holdfast.pairs import bitsets

_CELLS = 1 << 26  # of one search
_BLOCK = 1 << 14
_WORDS = 1 << 26  # that are worked on between two calls of `tell`: a tenth of a second or so
Tell = Callable[[], None]


@dataclass(frozen=True)
class Question:
    """Which boxes are asked for: what may be chosen on each column, how many marks at most, and whether the pairs are
    closed under mirrors, so that the boxes are, too.
    """

    columns: tuple[Column, ...]
    most: int
    symmetric: bool

    @staticmethod
    def of(space: Space, marks: Sequence[Sequence[int]], max_size: int | None, symmetric: bool) -> Question:
        """From the marks that each column may have."""
        values = [space.values(c) for c in range(space.columns)]
        columns = [Column(c, values[c], choices(marks[c], values[c])) for c in range(space.columns)]
        return Question(tuple(columns), space.columns if max_size is None else max_size, symmetric)

    def cells(self, columns: Sequence[int]) -> int:
        """How many combinations of values some columns have."""
        return cells_of([self.columns[c] for c in columns])

    def fits(self, columns: Sequence[int]) -> bool:
        """Whether all combinations of values of some columns fit into memory."""
        return self.cells(columns) <= _CELLS

    def answered(self, seen: Values, columns: Sequence[int], tell: Tell) -> Iterator[Boxes]:
        """All minimal boxes with marks on some of the columns that none of the seen values meets, in blocks.

        A block is overwritten by the next; its rows have whole words, and beyond the columns no meaning.
        """
        width = 8 * max(1, -(-len(self.columns) // 8))
        beginning = _Partial(np.full(width, FREE, np.uint8), 0, False, seen, ())
        return self._below(beginning, list(columns), tell)

    def _below(self, partial: _Partial, columns: list[int], tell: Tell) -> Iterator[Boxes]:
        if not len(partial.met):
            yield partial.boxes(self.symmetric)
        elif not columns or partial.marks == self.most:
            return
        elif self.fits(columns):
            yield from self._searched(partial, columns, tell)
        else:
            tell()
            for choice in self.columns[columns[0]].choices:
                below = partial.with_choice(columns[0], choice, self.symmetric)
                if below is not None:
                    yield from self._below(below, columns[1:], tell)

    def _searched(self, partial: _Partial, columns: list[int], tell: Tell) -> Iterator[Boxes]:
        search = self._started(partial, columns)
        block = np.empty((_BLOCK, len(partial.box)), np.uint8)
        while search.depth[0] >= 0:
            count = advance(search, self.most, _WORDS, partial.box, block)
            tell()
            if count:
                yield block[:count]

    def _started(self, partial: _Partial, columns: list[int]) -> Search:
        """A search at its beginning."""
        mine = [self.columns[c] for c in columns]
        first, last = parted(mine)
        made, depths = head(first), len(first) + 1
        sets = [1 + len(partial.near) + WAYS * min(d, self.most) for d in range(depths)]
        start = np.concatenate([[0], np.cumsum(sets * made.words)])
        cells = np.zeros(start[-1], np.uint64)
        met, *near = cells[: start[1]].reshape(sets[0], -1)
        fill_cells(partial.met, np.array(columns), weights(mine), cells_of(last), met)
        for values, own in zip(partial.near, near, strict=True):
            fill_cells(values, np.array(columns), weights(mine), cells_of(last), own)
            take_out(own, met)
        sets_of, marks, leans, following = np.zeros((4, depths), np.int64)
        sets_of[0], marks[0], leans[0] = sets[0], partial.marks, partial.leans
        here = np.zeros(1, np.int64)
        return Search(made, tail(last), self.symmetric, cells, start, sets_of, marks, leans, following, here)


@dataclass(frozen=True, eq=False)
class _Partial:
    """A box that is decided on some columns: the values of the pairs that lie in it; and for each way to weaken it by
    one step, those of the pairs that lie in it only then. Columns that are decided have the value 0.
    """

    box: Boxes
    marks: int
    leans: bool
    met: Values
    near: tuple[Values, ...]

    def boxes(self, symmetric: bool) -> Boxes:
        """The box, and its mirror where that is another."""
        return np.stack([self.box, mirrored(self.box)] if symmetric and self.leans else [self.box])

    def with_choice(self, column: int, choice: Choice, symmetric: bool) -> _Partial | None:
        """With one more column decided; None where no minimal never-set lies below, or that of a mirror does."""
        if symmetric and not self.leans and choice.leaning > 0:
            return None
        met = _projected(self.met, column, choice.mask)
        joined = [_projected(own, column, choice.mask) for own in self.near]
        added = [_projected(self.met, column, mask) for mask in choice.added]
        near = tuple(_minus(own, met) for own in (*joined, *added))
        if not all(map(len, near)):
            return None
        box = self.box.copy()
        box[column] = choice.mask
        return _Partial(box, self.marks + (choice.mask != FREE), self.leans or choice.leaning != 0, met, near)


def _projected(values: Values, column: int, mask: int) -> Values:
    """Those with a value of the mask in a column, without it, each once."""
    rows = _words(values[(values[:, column] & mask) != 0])
    rows.view(np.uint8)[:, column] = 0
    return np.unique(bitsets.as_keys(rows)).view(np.uint8).reshape(-1, 8 * rows.shape[1])


def _minus(values: Values, others: Values) -> Values:
    return bitsets.minus(_words(values), _words(others)).view(np.uint8)


def _words(values: Values) -> bitsets.Words:
    """Rows of whole words."""
    lack = -values.shape[1] % 8
    padded = np.pad(values, ((0, 0), (0, lack))) if lack else np.ascontiguousarray(values)
    return padded.view(np.uint64)
