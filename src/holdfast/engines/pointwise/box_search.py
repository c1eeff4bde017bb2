"""The search for minimal boxes that no pair meets: with bits for all cells, or where few of many occur with lists.

What may be chosen on each column becomes arrays for `kernels/never_sets.py` and `kernels/never_lists.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from itertools import product
from math import prod
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import FREE, Boxes, Choice, Space, Values, choices
from holdfast.engines.pointwise.cells import (
    CellSet,
    WantedCoverage,
    cells_of,
    digits_of,
    first_that_fit,
    numbers_of,
    parted,
)
from holdfast.kernels.never_lists import VALUES, ListSearch, advance_lists, find_slabs
from holdfast.kernels.never_sets import ADDED, SLABS, WAYS, Columns, Search, Tail, advance
from holdfast.pairs.bitsets import Words

_BLOCK = 1 << 14
_WORDS = 1 << 25  # that are worked on between two calls of `tick`: a tenth of a second or so
Tick = Callable[[], None]
_WORD = 64  # bits


@dataclass(frozen=True)
class ChoiceColumn:
    """A column of a search: its values one by one, and what may be chosen."""

    digits: tuple[int, ...]
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class BoxQuestion:
    """Which boxes are looked for: what may be chosen on each column, how many marks at most, and whether the pairs are
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

    def answered(self, cells: CellSet, tick: Tick) -> Iterator[Boxes]:
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
                tick()
                yield block[:count]

    def answered_by_lists(self, values: Values, columns: Sequence[int], tick: Tick) -> Iterator[Boxes]:
        """All minimal boxes on some of the columns that none of the values meets."""
        box, listed = self._free(), first_that_fit(self.space, columns, len(values))
        if not len(values):
            yield box[None]
        elif not listed:
            yield from self.answered(CellSet.of(values, self.space, columns), tick)
        elif self.most > 0:
            cells = numbers_of(values, self.space, columns)
            first, last = parted(self.space, columns[listed:])
            lists, search = self._lists(columns, listed, cells), self._search(first, last, listed)
            block, bits = np.empty((_BLOCK, len(box)), np.uint8), cells_of(self.space, last)
            while lists.depth[0] >= 0 or search.depth[0] >= 0:
                count = advance_lists(lists, search, bits, self.most, _WORDS, box, block)
                tick()
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

    def _lists(self, columns: Sequence[int], listed: int, cells: Words) -> ListSearch:
        """On the first columns, beginning with the cells that occur."""
        first = [self.columns[c] for c in columns[:listed]]
        sizes = [cells_of(self.space, columns[d + 1 :]) for d in range(listed)]
        room = [len(cells), *(min(len(cells), size) for size in sizes)]
        start = np.concatenate([[0], np.cumsum(room)])
        number, within = np.empty((2, start[-1]), np.uint64)
        number[: len(cells)], within[: len(cells)] = cells, 1
        sets, marks, leans, following = np.zeros((4, listed + 1), np.int64)
        sets[0] = 1
        lists = ListSearch(
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
        find_slabs(lists, 0, len(cells))
        return lists


# ---- arrays for the kernels -----------------------------------------------------------------------------------------


def head(places: Sequence[int], columns: Sequence[ChoiceColumn]) -> Columns:
    """The columns but for the last ones, at these places of a box."""
    shape = len(columns), max((len(column.choices) for column in columns), default=1)
    made = Columns(
        place=np.array(places, np.int64),
        choices=np.array([len(column.choices) for column in columns], np.int64),
        masks=np.zeros(shape, np.uint8),
        leaning=np.zeros(shape, np.int64),
        joined=np.zeros((*shape, SLABS), np.int64),
        ways=np.zeros(shape, np.int64),
        added=np.zeros((*shape, WAYS, ADDED), np.int64),
        words=np.array([prod(len(own.digits) for own in columns[d:]) for d in range(len(columns) + 1)], np.int64),
    )
    for d, column in enumerate(columns):
        for c, choice in enumerate(column.choices):
            made.masks[d, c], made.leaning[d, c], made.ways[d, c] = choice.mask, choice.leaning, len(choice.added)
            made.joined[d, c] = _slabs(choice.mask, column, made.words[d + 1], SLABS)
            for step, mask in enumerate(choice.added):
                made.added[d, c, step] = _slabs(mask, column, made.words[d + 1], ADDED)
    return made


def roles(columns: Sequence[ChoiceColumn]) -> NDArray[np.int64]:
    """What each value of a column is to each choice: -1 if it is allowed, w if the w-th step adds it, 0 if neither."""
    made = np.zeros((len(columns), max((len(column.choices) for column in columns), default=1), SLABS), np.int64)
    for d, column in enumerate(columns):
        for c, choice in enumerate(column.choices):
            for digit, bit in enumerate(column.digits):
                added = [1 + step for step, mask in enumerate(choice.added) if bit & mask]
                made[d, c, digit] = -1 if bit & choice.mask else sum(added)
    return made


def _slabs(mask: int, column: ChoiceColumn, words: int, many: int) -> list[int]:
    """Where the slabs of some values begin; the first one again, where they are fewer than `many`."""
    begins = [words * digit for digit, bit in enumerate(column.digits) if bit & mask]
    return begins + begins[:1] * (many - len(begins))


def tail(places: Sequence[int], columns: Sequence[ChoiceColumn]) -> Tail:
    """The last columns, at these places of a box, with all boxes on them."""
    return Tail(np.array(places, np.int64), *_all_boxes(tuple(columns)))


@cache
def _all_boxes(columns: tuple[ChoiceColumn, ...]) -> tuple[NDArray[Any], ...]:
    """What `Tail` holds of each box on some columns."""
    boxes = list(product(*(column.choices for column in columns)))
    masks = [[choice.mask for choice in box] for box in boxes]
    weaker = [[_cells(columns, near) for near in _weaker(box)] for box in boxes]
    most = max(1, *map(len, weaker))
    return (
        np.array([_cells(columns, own) for own in masks], np.uint64),
        np.array([own + [2**_WORD - 1] * (most - len(own)) for own in weaker], np.uint64),
        np.array(masks, np.uint8).reshape(len(boxes), len(columns)),
        np.array([sum(mask != FREE for mask in own) for own in masks], np.int64),
        np.array([next((own.leaning for own in box if own.leaning), 0) for box in boxes], np.int64),
    )


def _weaker(box: tuple[Choice, ...]) -> list[list[int]]:
    """The masks of all boxes that are weaker than this by one step."""
    masks = [choice.mask for choice in box]
    return [[*masks[:c], masks[c] | added, *masks[c + 1 :]] for c, own in enumerate(box) for added in own.added]


def _cells(columns: tuple[ChoiceColumn, ...], masks: list[int]) -> int:
    """The cells that lie in a box, as bits."""
    bits, width = 1, 1
    for column, mask in zip(reversed(columns), reversed(masks), strict=True):
        bits = reduce(or_, (bits << digit * width for digit, bit in enumerate(column.digits) if bit & mask))
        width *= len(column.digits)
    return bits
