"""Pairs of rows that show much: chosen rows are compared with others, and what lies in some boxes is found.

A pair's values in the columns of the boxes are a number, and a bit of each number says whether it lies outside all of
the boxes, or was found before (see `holdfast.pairs.sightings`). So a pair costs a nanosecond or two, however many boxes
there are. Where these are about more columns than a word has bits for, they are put into several parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.partitions import sorted_by
from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise.boxes import EQUAL, FREE, LESS, MORE, OTHER, Boxes, Space
from holdfast.engines.pointwise.cells import cells_of
from holdfast.kernels.numbers_in_boxes import clear_boxed
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.sightings import NarrowRows, Sightings
from holdfast.pairs.signature_numbers import Numbering
from holdfast.pairs.signatures import ordered_but
from holdfast.table.threads import SoFar, each

RowPairs = NDArray[np.int64]  # [pair, 2]: places
Places = NDArray[np.int64]

_MOST_NUMBERS = 1 << 24  # 15 columns that are ordered
_AT_ONCE = 1 << 26  # pairs that are compared between two looks at the clock
_BLOCK = 4096  # rows of a random block
_DISTANCES = np.array([1, 2, 3, 5, 8, 13, 21, 34], np.int64)  # of neighbours in the order of a column
_ROWS_A_PART = 256  # of new ones, at least
_PARTS = 2  # of new rows, at most
# The values that digits stand for: where a column is ordered, and where it is compared for equality alone.
_ORDERED, _UNORDERED = (LESS, EQUAL, MORE, OTHER), (OTHER, EQUAL)


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows, by place, of which `count`, from the one numbered `first` on, are compared with all of them."""

    rows: Places
    first: int
    count: int


Column = int  # in whose order each row is compared with some behind it
RowSample = RowBlock | Column


def pairs_in(rows: RankedColumns, space: Space, boxes: Boxes, samples: Sequence[RowSample]) -> RowPairs:
    """Pairs of rows of some samples that lie in boxes, of which the mirror images are given, too; of blocks of rows, at
    least one pair in each box in which there are any.
    """
    parts = [_Part(space, columns, some) for columns, some in _parts_of(space, boxes)]
    pieces = [partial(part.in_block, rows, own) for part in parts for own in samples if isinstance(own, RowBlock)]
    pieces += [partial(_among_neighbours, rows, own, parts) for own in samples if not isinstance(own, RowBlock)]
    found = each(pieces, lambda piece, so_far: piece(so_far), None if rows.count > _BLOCK else 0)
    return np.concatenate([np.empty((0, 2), np.int64), *found])


def _in_order(rows: RankedColumns, column: Column) -> Places:
    """The living rows in the order of a column. Rows that are equal stand in the order of the column before, so that
    neighbours agree on much.
    """
    order = np.flatnonzero(rows.alive).astype(np.int32)
    for by in (column - 1, column):
        order = sorted_by(order, rows.cells[by], int(rows.value_counts[by]))
    return order.astype(np.int64)


def _among_neighbours(rows: RankedColumns, column: Column, parts: Sequence[_Part], _: SoFar) -> RowPairs:
    """The pairs of neighbours that lie in boxes. Where there are several parts, each looks at a stretch of the rows, so
    that it takes no longer.
    """
    order = _in_order(rows, column)
    step = max(1, -(-len(order) // len(parts)))
    stretches = [order[begin : begin + step + int(_DISTANCES[-1])] for begin in range(0, len(order), step)]
    found = [part.among_neighbours(rows, stretch) for part, stretch in zip(parts, stretches, strict=False)]
    return np.concatenate([np.empty((0, 2), np.int64), *found])


class _Part:
    """The numbers of pairs that lie in some boxes about few columns, and were not found yet."""

    def __init__(self, space: Space, columns: Sequence[int], boxes: Boxes) -> None:
        marks = (boxes != FREE).sum(axis=0)
        self._columns = sorted(columns, key=lambda c: int(marks[c]))  # the last ones, the high digits, decide most
        alone = [place for place, c in enumerate(self._columns) if not space.ordered[c]]
        numbering = Numbering.of(len(self._columns), ordered_but(alone), [space.unknown] * len(self._columns))
        self._sightings = Sightings(numbering, self._outside(numbering, space, boxes))

    def _outside(self, numbering: Numbering, space: Space, boxes: Boxes) -> NDArray[np.uint8]:
        """Which numbers lie outside all boxes."""
        outside = np.ones(numbering.size, np.uint8)
        if (boxes == FREE).all(axis=1).any():
            outside[:] = 0
        else:
            bases = np.array(numbering.bases[::-1], np.int64)
            strides = np.cumprod([1, *numbering.bases])[-2::-1]
            clear_boxed(*self._allowed(space, boxes), bases, strides, outside)
        return outside

    def _allowed(self, space: Space, boxes: Boxes) -> tuple[NDArray[np.uint64], Words]:
        """The boxes that allow each digit of each column, and those that allow all digits behind each column; from the
        last column to the first.
        """
        words, columns = bitsets.words_for(len(boxes)), self._columns[::-1]
        allowed = np.zeros((len(columns), len(_ORDERED), words), np.uint64)
        for place, column in enumerate(columns):
            for digit, value in enumerate(_ORDERED if space.ordered[column] else _UNORDERED):
                allowed[place, digit] = bitsets.packed((boxes[:, column] & value != 0)[None], words)[0]
        free = np.cumprod((boxes[:, columns] == FREE)[:, ::-1], axis=1, dtype=np.bool_)[:, ::-1]
        behind = np.concatenate([free[:, 1:], np.ones((len(boxes), 1), np.bool_)], axis=1)
        return allowed, bitsets.packed(behind.T, words)

    def in_block(self, rows: RankedColumns, block: RowBlock, so_far: SoFar) -> RowPairs:
        """The pairs of a block that lie in the boxes."""
        found, narrow = [np.empty((0, 2), np.int64)], self._narrow(rows, block.rows)
        step, end = max(1, _AT_ONCE // max(1, len(block.rows))), block.first + block.count
        for begin in range(block.first, end, step):
            so_far(0)
            firsts = np.arange(begin, min(begin + step, end))
            found.append(block.rows[self._sightings.scan(narrow, firsts)[0]])
        return np.concatenate(found)

    def among_neighbours(self, rows: RankedColumns, order: Places) -> RowPairs:
        """The pairs of rows that are some distance apart in an order and lie in the boxes."""
        return order[self._sightings.scan_apart(self._narrow(rows, order), _DISTANCES)[0]]

    def _narrow(self, rows: RankedColumns, places: Places) -> NarrowRows:
        return NarrowRows(rows.cells[self._columns, : rows.count], places)


def _parts_of(space: Space, boxes: Boxes) -> Iterator[tuple[list[int], Boxes]]:
    """Columns and the boxes about them, such that there are not too many numbers: each part takes in boxes while there
    is room.
    """
    while len(boxes):
        columns = _joined(space, np.unique(boxes != FREE, axis=0)[::-1])  # those about the first columns first
        outside = np.ones(boxes.shape[1], np.bool_)
        outside[columns] = False
        within = (boxes[:, outside] == FREE).all(axis=1)
        yield columns, boxes[within]
        boxes = boxes[~within]


def _joined(space: Space, marked: NDArray[np.bool_]) -> list[int]:
    """The columns of some boxes, of the first and of others while there is room; at least one."""
    columns: list[int] = []
    for own in marked:
        more = [c for c in np.flatnonzero(own).tolist() if c not in columns]
        if not columns or cells_of(space, [*columns, *more]) <= _MOST_NUMBERS:
            columns += more
        elif cells_of(space, [*columns, more[0]]) > _MOST_NUMBERS:
            break  # there is hardly room for one more
    return columns or [0]


def parts_needed(space: Space, boxes: Boxes) -> int:
    """In how many parts boxes are looked at."""
    return sum(1 for _ in _parts_of(space, boxes))


# ---- samples --------------------------------------------------------------------------------------------------------


def all_pairs(rows: RankedColumns) -> RowPairs:
    """All pairs of different living rows."""
    living = np.flatnonzero(rows.alive)
    one, other = np.nonzero(~np.eye(len(living), dtype=np.bool_))
    return np.stack([living[one], living[other]], axis=1)


def random_pairs(rows: RankedColumns, count: int) -> RowPairs:
    """So many pairs of different living rows, the same each time for as many rows."""
    living = np.flatnonzero(rows.alive)
    if len(living) < 2:
        return np.empty((0, 2), np.int64)
    chance = np.random.default_rng(len(living))
    one = chance.integers(0, len(living), count)
    other = (one + chance.integers(1, len(living), count)) % len(living)
    return np.stack([living[one], living[other]]).T


def random_block(rows: RankedColumns) -> RowBlock:
    """Some random rows, a quarter of them against all of them."""
    living = np.flatnonzero(rows.alive)
    chosen = np.random.default_rng(len(living)).permutation(living)[:_BLOCK]
    return RowBlock(chosen, 0, -(-len(chosen) // 4))


def against_all(rows: RankedColumns, fresh: int) -> list[RowBlock]:
    """The living rows from a place on, against all rows; in a few parts."""
    living = np.flatnonzero(rows.alive)
    first = int(np.searchsorted(living, fresh))
    parts = min(_PARTS, 1 + (len(living) - first) // _ROWS_A_PART)
    ends = np.linspace(first, len(living), parts + 1).astype(np.int64).tolist()
    return [RowBlock(living, begin, end - begin) for begin, end in pairwise(ends)]
