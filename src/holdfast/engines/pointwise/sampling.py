"""Pairs of rows that show much: chosen rows are compared with stretches of others, and what lies in some boxes is found.

A pair's values in the columns of the boxes are a number; a plain table says of each number whether it lies in one of the
boxes and was not found yet. So a pair costs about a nanosecond, however many boxes there are. Where these are about too
many columns for one table, they are put into several.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise.marks import EQUAL, FREE, LESS, MORE, OTHER, Boxes, Space
from holdfast.kernels import dominance, numbers, scanning
from holdfast.kernels.scanning import Digits
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.table.threads import OnProgress, SoFar, each

RowPairs = NDArray[np.int64]  # [pair, 2]: places
Places = NDArray[np.int64]

MOST_CELLS = 1 << 24  # of a table: 15 columns that are ordered
_ROOM = 1 << 16  # pairs that a scan finds at most
_STRETCH = 1 << 16  # rows that are compared at a time
_BLOCK = 4096  # rows of a random block
_PARTS = 4  # of new rows
_WINDOW = 32  # neighbours a row is compared with
_PAIRS_A_ROW = 4  # with neighbours in the order of one column
# The values that digits stand for: where a column is ordered, and where it is compared for equality alone.
_ORDERED, _UNORDERED = (LESS, EQUAL, MORE, OTHER), (OTHER, EQUAL)


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows in some order, by place, and which are compared: each of `firsts`, by its place in that order, with those
    from the one of `begins` to the one of `ends`.
    """

    rows: Places
    firsts: Places
    begins: Places
    ends: Places

    @property
    def pairs(self) -> int:
        """How many pairs are compared."""
        return int((self.ends - self.begins).sum())


def pairs_in(
    rows: RankedColumns,
    space: Space,
    boxes: Boxes,
    samples: Sequence[Sample],
    progress: OnProgress | None = None,
) -> RowPairs:
    """Pairs of rows of some samples that lie in boxes, at least one in each box in which there are any. Of each box its
    mirror image is given, too.
    """
    tables = list(_tables(space, boxes))
    pieces = [(table, sample) for table in tables for sample in samples]

    def work(piece: tuple[_Table, Sample], so_far: SoFar) -> RowPairs:
        table, sample = piece
        return table.scanned(rows, sample, so_far)

    pairs = sum(sample.pairs for sample in samples) * len(tables)
    found = each(pieces, work, None if pairs > _STRETCH else 0, progress)
    return np.concatenate([np.empty((0, 2), np.int64), *found])


class _Table:
    """The numbers of pairs that lie in some boxes about few columns, and were not found yet."""

    def __init__(self, space: Space, columns: Sequence[int], boxes: Boxes) -> None:
        marks = (boxes != FREE).sum(axis=0)
        self._columns = sorted(columns, key=lambda c: -int(marks[c]))  # the first ones decide most
        radixes = np.array([_radix(space, c) for c in self._columns], np.int64)
        strides = np.cumprod([1, *radixes[:0:-1]])[::-1][: len(radixes)]
        self.seen = np.ones(int(radixes.prod()), np.uint8)
        if (boxes == FREE).all(axis=1).any():
            self.seen[:] = 0
        else:
            numbers.fill(*self._allowed(space, boxes), radixes, strides, self.seen)
        self._digits = Digits(
            strides.astype(np.uint32), np.array([not space.ordered[c] for c in self._columns], np.bool_), space.unknown
        )

    def _allowed(self, space: Space, boxes: Boxes) -> tuple[NDArray[np.uint64], Words]:
        """The boxes that allow each digit of each column, and those that allow all digits behind each column."""
        words = bitsets.words_for(len(boxes))
        allowed = np.zeros((len(self._columns), len(_ORDERED), words), np.uint64)
        for place, column in enumerate(self._columns):
            for digit, value in enumerate(_ORDERED if space.ordered[column] else _UNORDERED):
                allowed[place, digit] = bitsets.packed((boxes[:, column] & value != 0)[None], words)[0]
        free = np.cumprod((boxes[:, self._columns] == FREE)[:, ::-1], axis=1, dtype=np.bool_)[:, ::-1]
        free = np.concatenate([free[:, 1:], np.ones((len(boxes), 1), np.bool_)], axis=1)
        return allowed, bitsets.packed(free.T, words)

    def scanned(self, rows: RankedColumns, sample: Sample, so_far: SoFar) -> RowPairs:
        """The pairs of a sample that lie in the boxes."""
        arranged = np.ascontiguousarray(rows.cells[self._columns][:, sample.rows])
        room, pairs = np.empty(_STRETCH, np.uint32), np.empty((_ROOM, 2), np.int64)
        found = []
        for part in _parts(sample):
            count = _ROOM
            while count == _ROOM:  # it ended for lack of room
                so_far(0)
                asked = part.firsts, part.begins, part.ends
                count = scanning.scan(arranged, self._digits, *asked, self.seen, room, pairs)
                found.append(sample.rows[pairs[:count]])
        return np.concatenate([np.empty((0, 2), np.int64), *found])


def _parts(sample: Sample) -> Iterator[Sample]:
    """A sample in parts that take a fraction of a second, with short stretches."""
    while sample.pairs and (sample.ends - sample.begins).max() > _STRETCH:
        middle = np.minimum(sample.begins + _STRETCH, sample.ends)
        yield from _parts(Sample(sample.rows, sample.firsts, sample.begins, middle))
        sample = Sample(sample.rows, sample.firsts, middle, sample.ends)
    step = 1 << 12
    for begin in range(0, len(sample.firsts), step):
        cut = slice(begin, begin + step)
        yield Sample(sample.rows, sample.firsts[cut], sample.begins[cut], sample.ends[cut])


def _radix(space: Space, column: int) -> int:
    """How many digits a column has."""
    return (4 if space.unknown else 3) if space.ordered[column] else 2


def _tables(space: Space, boxes: Boxes) -> Iterator[_Table]:
    """Tables for some boxes."""
    return starmap(partial(_Table, space), _parts_of(space, boxes))


def _parts_of(space: Space, boxes: Boxes) -> Iterator[tuple[list[int], Boxes]]:
    """Columns, and the boxes about them, such that a table holds them: each part takes in boxes while there is room."""
    while len(boxes):
        columns: list[int] = []
        for box in boxes:
            more = [c for c in np.flatnonzero(box != FREE).tolist() if c not in columns]
            if not columns or _fits(space, [*columns, *more]):
                columns += more
        outside = np.ones(boxes.shape[1], np.bool_)
        outside[columns] = False
        within = (boxes[:, outside] == FREE).all(axis=1)
        yield columns, boxes[within]
        boxes = boxes[~within]


def _fits(space: Space, columns: Sequence[int]) -> bool:
    return float(np.prod([_radix(space, c) for c in columns], dtype=np.float64)) <= MOST_CELLS


def tables_needed(space: Space, boxes: Boxes) -> int:
    """How many tables hold some boxes."""
    return sum(1 for _ in _parts_of(space, boxes))


# ---- samples --------------------------------------------------------------------------------------------------------


def all_pairs(rows: RankedColumns) -> RowPairs:
    """All ordered pairs of different living rows."""
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
    return np.stack([living[one], living[other]], axis=1)


def random_block(rows: RankedColumns) -> Sample:
    """Some random rows, a quarter of them against the others."""
    living = np.flatnonzero(rows.alive)
    chosen = np.random.default_rng(len(living)).permutation(living)[:_BLOCK]
    firsts = np.arange(len(chosen) // 4 + 1)[: len(chosen)]
    return Sample(chosen, firsts, firsts, np.full(len(firsts), len(chosen)))


def windows(rows: RankedColumns) -> list[Sample]:
    """For each column, rows against their neighbours in its order. Rows that are equal stand in the order of the column
    before, so that neighbours agree on much.
    """
    return [_window(rows, column) for column in range(rows.columns)]


def _window(rows: RankedColumns, column: int) -> Sample:
    order = np.flatnonzero(rows.alive).astype(np.int32)
    for by in (column - 1, column):
        before, order = order, np.empty_like(order)
        ends = np.empty(int(rows.value_counts[by]), np.int64)
        dominance.sort_by(before, rows.cells[by], False, ends, order)
    firsts = np.arange(0, len(order), max(1, _WINDOW // _PAIRS_A_ROW))
    return Sample(order.astype(np.int64), firsts, firsts + 1, np.minimum(firsts + 1 + _WINDOW, len(order)))


def against_all(rows: RankedColumns, fresh: int) -> list[Sample]:
    """The living rows from a place on, against all rows; in a few parts."""
    living = np.flatnonzero(rows.alive)
    parts = np.array_split(np.arange(int(np.searchsorted(living, fresh)), len(living)), _PARTS)
    return [Sample(living, part, np.zeros(len(part), np.int64), np.full(len(part), len(living))) for part in parts]
