"""Pairs of rows that show much: chosen rows are compared with stretches of others, and what lies in some boxes is found.

A pair's values in all columns are a number; a plain table says of each number whether it lies in one of the boxes and was
not found yet. So a pair costs about a nanosecond, however many boxes there are. Where there are too many columns for
one table, boxes are put into several, each about as many columns as one holds; then a pair is found for values that
differ in those columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise.marks import EQUAL, FREE, LESS, MORE, OTHER, Boxes, Space
from holdfast.kernels import dominance, scanning
from holdfast.kernels.agree import Cells
from holdfast.pairs.narrow import narrow_rows
from holdfast.pairs.numbers import Numbering
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
# The digits that a mark allows: where a column is ordered, and where it is compared for equality alone.
_ORDERED = {
    FREE: slice(None),
    LESS: slice(0, 1),
    LESS | EQUAL: slice(0, 2),
    EQUAL: slice(1, 2),
    EQUAL | MORE: slice(1, 3),
    MORE: slice(2, 3),
    OTHER: slice(3, 4),
}
_UNORDERED = {FREE: slice(None), EQUAL: slice(1, 2), OTHER: slice(0, 1)}


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
    """Pairs of rows of some samples that lie in boxes, of which both mirror images are given. Of pairs with equal values in
    all columns there is one; where there are too many columns (see `holds_all`), there may be one of more.
    """
    every = range(space.columns)
    tables = [_Table(space, every, boxes)] if holds_all(space) else list(_tables(space, boxes))
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
        self._columns = list(columns)
        ordered = [space.ordered[c] for c in columns]
        alone = [number for number, by_order in enumerate(ordered) if not by_order]
        numbering = Numbering.of(len(self._columns), alone, [space.unknown] * len(self._columns))
        wanted = np.zeros(numbering.size, np.bool_)
        view = wanted.reshape(numbering.bases[::-1])  # the first column has the lowest digits
        for box in boxes[:, self._columns].tolist():
            at = [(_ORDERED if by_order else _UNORDERED)[mask] for mask, by_order in zip(box, ordered, strict=True)]
            view[tuple(at[::-1])] = True
        self._wanted, self._digits = np.packbits(wanted, bitorder="little"), numbering.digits

    def scanned(self, rows: RankedColumns, sample: Sample, so_far: SoFar) -> RowPairs:
        """The pairs of a sample that lie in the boxes."""
        cells, pairs = self._arranged(rows, sample), np.empty((_ROOM, 2), np.int64)
        found = []
        for part in _parts(sample):
            count = -1
            while count < 0:  # it ended for lack of room
                so_far(0)
                asked = part.firsts, part.begins, part.ends
                count = scanning.scan(cells, *asked, self._digits, self._wanted, pairs)
                found.append(sample.rows[pairs[: abs(count)]])
        return np.concatenate([np.empty((0, 2), np.int64), *found])

    def _arranged(self, rows: RankedColumns, sample: Sample) -> Cells:
        """The rows of a sample in its order."""
        tops = [int(rows.value_counts[c]) - 1 for c in self._columns]
        return narrow_rows([rows.cells[c] for c in self._columns], tops, sample.rows)


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
    """Tables for some boxes: each takes in boxes while their columns fit."""
    left = boxes
    while len(left):
        columns: list[int] = []
        for box in left:
            more = [c for c in np.flatnonzero(box != FREE).tolist() if c not in columns]
            if not columns or _fits(space, [*columns, *more]):
                columns += more
        outside = np.ones(boxes.shape[1], np.bool_)
        outside[columns] = False
        within = (left[:, outside] == FREE).all(axis=1)
        yield _Table(space, sorted(columns), left[within])
        left = left[~within]


def _fits(space: Space, columns: Sequence[int]) -> bool:
    return float(np.prod([_radix(space, c) for c in columns], dtype=np.float64)) <= MOST_CELLS


def holds_all(space: Space) -> bool:
    """Whether a table holds the values of all columns."""
    return _fits(space, range(space.columns))


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
