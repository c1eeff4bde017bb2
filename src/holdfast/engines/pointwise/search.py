"""The search for minimal boxes that no pair meets, on any number of columns.

`kernels/never.py` searches on as many columns as their cells, a bit each, fit into memory: some 16. Where there are
more, one column after the other is decided here on lists of values, until the others fit; the reasoning is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from holdfast.engines.pointwise.cells import Cells, digits_of, fits
from holdfast.engines.pointwise.layout import Choice, Column, choices, head, tail
from holdfast.engines.pointwise.marks import FREE, Boxes, Space, Values, mirrored
from holdfast.kernels.never import WAYS, Search, advance
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words

_BLOCK = 1 << 14
_WORDS = 1 << 26  # that are worked on between two calls of `tell`: a tenth of a second or so
Tell = Callable[[], None]


@dataclass(frozen=True)
class Question:
    """Which boxes are asked for: what may be chosen on each column, how many marks at most, and whether the pairs are
    closed under mirrors, so that the boxes are, too.

    Answers come in blocks: each is overwritten by the next; rows have whole words, and beyond the columns no meaning.
    """

    space: Space
    columns: tuple[Column, ...]
    most: int
    symmetric: bool

    @staticmethod
    def of(space: Space, marks: Sequence[Sequence[int]], max_size: int | None, symmetric: bool) -> Question:
        """From the marks that each column may have."""
        columns = [Column(tuple(digits_of(space, c)), choices(marks[c], space.values(c))) for c in range(space.columns)]
        return Question(space, tuple(columns), space.columns if max_size is None else max_size, symmetric)

    def on(self, columns: Sequence[int]) -> Question:
        """The same question, of boxes with marks on some columns only."""
        free = [Column(column.digits, column.choices[-1:]) for column in self.columns]
        return replace(self, columns=tuple(self.columns[c] if c in columns else free[c] for c in range(len(free))))

    def answered(self, seen: Values, columns: Sequence[int], tell: Tell) -> Iterator[Boxes]:
        """All minimal boxes with marks on some of the columns that none of the seen values meets."""
        return self._below(_Partial(self._free(), 0, False, seen, ()), list(columns), tell)

    def answered_by_cells(self, cells: Cells, tell: Tell) -> Iterator[Boxes]:
        """All minimal boxes that none of the cells meets."""
        if not cells.words.any():
            yield self._free()[None]
        elif self.most > 0:
            begin = _Partial(self._free(), 0, False, np.empty((0, 0), np.uint8), ())
            yield from self._searched(begin, cells, [], tell)

    def _free(self) -> Boxes:
        return np.full(8 * max(1, -(-len(self.columns) // 8)), FREE, np.uint8)

    def _below(self, partial: _Partial, columns: list[int], tell: Tell) -> Iterator[Boxes]:
        if not len(partial.met):
            yield partial.boxes(self.symmetric)
        elif not columns or partial.marks == self.most:
            return
        elif fits(self.space, columns):
            met, *near = (Cells.of(values, self.space, columns) for values in (partial.met, *partial.near))
            yield from self._searched(partial, met, [own.words & ~met.words for own in near], tell)
        else:
            tell()
            for choice in self.columns[columns[0]].choices:
                below = partial.with_choice(columns[0], choice, self.symmetric)
                if below is not None:
                    yield from self._below(below, columns[1:], tell)

    def _searched(self, partial: _Partial, met: Cells, near: list[Words], tell: Tell) -> Iterator[Boxes]:
        search = self._started(partial, met, near)
        block = np.empty((_BLOCK, len(partial.box)), np.uint8)
        while search.depth[0] >= 0:
            count = advance(search, self.most, _WORDS, partial.box, block)
            tell()
            if count:
                yield block[:count]

    def _started(self, partial: _Partial, met: Cells, near: list[Words]) -> Search:
        """A search at its beginning."""
        columns = head(met.first, [self.columns[c] for c in met.first])
        last = tail(met.last, [self.columns[c] for c in met.last])
        room = [1 + len(near) + WAYS * min(d, self.most) for d in range(len(met.first) + 1)]
        start = np.concatenate([[0], np.cumsum(room * columns.words)])
        cells = np.empty(start[-1], np.uint64)
        np.concatenate([met.words, *near], out=cells[: start[1]])
        sets, marks, leans, following = np.zeros((4, len(room)), np.int64)
        sets[0], marks[0], leans[0] = room[0], partial.marks, partial.leans
        here = np.zeros(1, np.int64)
        return Search(columns, last, self.symmetric, cells, start, sets, marks, leans, following, here)


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
