"""The search for minimal boxes that no pair meets: with bits for all cells, or where few of many occur with lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from holdfast.engines.pointwise.boxes import FREE, Boxes, Space, Values, choices
from holdfast.engines.pointwise.cells import (
    CellSet,
    WantedCoverage,
    cells_of,
    digits_of,
    first_that_fit,
    numbers_of,
    parted,
)
from holdfast.engines.pointwise.choices import ChoiceColumn, head, roles, tail
from holdfast.kernels.never import WAYS, Search, advance
from holdfast.kernels.never_lists import VALUES, Lists, advance_lists, find_first_slabs
from holdfast.pairs.bitsets import Words

_BLOCK = 1 << 14
_WORDS = 1 << 25  # that are worked on between two calls of `tell`: a tenth of a second or so
Tell = Callable[[], None]


@dataclass(frozen=True)
class BoxQuestion:
    """Which boxes are asked for: what may be chosen on each column, how many marks at most, and whether the pairs are
    closed under mirrors, so that the boxes are, too.

    Answers come in blocks: each is overwritten by the next; rows have whole words, and beyond the columns no meaning.
    """

    space: Space
    columns: tuple[ChoiceColumn, ...]
    most: int
    symmetric: bool

    @staticmethod
    def of(space: Space, marks: Sequence[Sequence[int]], max_size: int | None, symmetric: bool) -> BoxQuestion:
        """From the marks that each column may have."""
        columns = [
            ChoiceColumn(tuple(digits_of(space, c)), choices(marks[c], space.values(c))) for c in range(space.columns)
        ]
        return BoxQuestion(space, tuple(columns), space.columns if max_size is None else max_size, symmetric)

    def on(self, columns: Sequence[int]) -> BoxQuestion:
        """The same question, of boxes with marks on some columns only."""
        free = [ChoiceColumn(column.digits, column.choices[-1:]) for column in self.columns]
        return replace(self, columns=tuple(self.columns[c] if c in columns else free[c] for c in range(len(free))))

    def answered(self, cells: CellSet, tell: Tell) -> Iterator[Boxes]:
        """All minimal boxes that none of the cells meets."""
        box = self._free()
        if not cells.words.any():
            yield box[None]
        elif self.most > 0:
            search = self._search(cells.first, cells.last, 0, cells.coverage)
            search.cells[: len(cells.words)] = cells.words
            search.sets[0], search.depth[0] = 1, 0
            block = np.empty((_BLOCK, len(box)), np.uint8)
            while search.depth[0] >= 0:
                count = advance(search, self.most, _WORDS, box, block)
                tell()
                yield block[:count]

    def answered_by_lists(self, values: Values, columns: Sequence[int], tell: Tell) -> Iterator[Boxes]:
        """All minimal boxes on some of the columns that none of the values meets."""
        box, listed = self._free(), first_that_fit(self.space, columns, len(values))
        if not len(values):
            yield box[None]
        elif not listed:
            yield from self.answered(CellSet.of(values, self.space, columns), tell)
        elif self.most > 0:
            cells = numbers_of(values, self.space, columns)
            first, last = parted(self.space, columns[listed:])
            lists, search = self._lists(columns, listed, cells), self._search(first, last, listed)
            block, bits = np.empty((_BLOCK, len(box)), np.uint8), cells_of(self.space, last)
            while lists.depth[0] >= 0 or search.depth[0] >= 0:
                count = advance_lists(lists, search, bits, self.most, _WORDS, box, block)
                tell()
                yield block[:count]

    def _free(self) -> Boxes:
        return np.full(8 * max(1, -(-len(self.columns) // 8)), FREE, np.uint8)

    def _search(
        self, first: Sequence[int], last: Sequence[int], before: int, coverage: WantedCoverage | None = None
    ) -> Search:
        """On columns after some others that are decided when it begins."""
        columns = head(first, [self.columns[c] for c in first])
        room = [1 + WAYS * min(before + d, self.most) for d in range(len(first) + 1)]
        start = np.concatenate([[0], np.cumsum(room * columns.words)])
        sets, marks, leans, following = np.zeros((4, len(room)), np.int64)
        bits = cells_of(self.space, last)
        counted = np.concatenate([[0], np.cumsum(columns.words * bits)])
        counts = np.empty(0 if coverage is None else counted[-1], np.uint64)
        if coverage is not None:
            counts[: len(coverage.counts)] = coverage.counts
        return Search(
            columns,
            tail(last, [self.columns[c] for c in last]),
            self.symmetric,
            np.empty(start[-1], np.uint64),
            start,
            sets,
            marks,
            leans,
            following,
            depth=np.full(1, -1),
            least=0 if coverage is None else coverage.least,
            counts=counts,
            counted=counted,
            bits=bits,
            budget=np.zeros(1, np.int64),
        )

    def _lists(self, columns: Sequence[int], listed: int, cells: Words) -> Lists:
        """On the first columns, beginning with the cells that occur."""
        first = [self.columns[c] for c in columns[:listed]]
        sizes = [cells_of(self.space, columns[d + 1 :]) for d in range(listed)]
        room = [len(cells), *(min(len(cells), size) for size in sizes)]
        start = np.concatenate([[0], np.cumsum(room)])
        number, within = np.empty((2, start[-1]), np.uint64)
        number[: len(cells)], within[: len(cells)] = cells, 1
        sets, marks, leans, following = np.zeros((4, listed + 1), np.int64)
        sets[0] = 1
        lists = Lists(
            head(columns[:listed], first),
            roles(first),
            np.array(sizes, np.uint64),
            number,
            within,
            start,
            np.zeros((listed + 1, VALUES + 1), np.int64),
            sets,
            marks,
            leans,
            following,
            depth=np.zeros(1, np.int64),
        )
        find_first_slabs(lists, len(cells))
        return lists
