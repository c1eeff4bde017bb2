"""The rows of a table as the pair kernels want them: distinct, with a weight, narrow, in blocks.

Equal rows are one row with a weight. A batch adds to weights and appends rows that are new; a row of weight 0 stays,
as it may come back, until such rows are the most, and then all rows are packed again. They are also packed again when a
column gets more values than its width holds, which happens at most twice a column. The cells of a row are its codes, or
the ranks that stand for them (`ranked_rows`).

Invariant: no weight is negative (a batch's own rows excepted); every cell is below the largest number of its
column's width, which stands for "equals nothing".
Cost: 1, 2 or 4 bytes a cell and 32 bytes a row; a batch of m rows costs O(m) look-ups, whatever the table's size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.equal_rows import Codes
from holdfast.kernels.cells import BLOCK, NEVER, Cells, cells_in, place, unpack
from holdfast.kernels.hashing import refill, slots_for
from holdfast.pairs import keys
from holdfast.table.shard import Shard
from holdfast.table.table import Alive, Table

_AT_ONCE = 1 << 22  # cells
_LEAST = 1024
Weights = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Tops = Sequence[int] | NDArray[np.integer]


class WeightedRows:
    """Distinct rows with weights. `tops` are the largest cells to expect, by column."""

    def __init__(self, tops: Tops, room: int = 0) -> None:
        self._width = _widths(np.asarray(tops, np.int64))
        self.used = 0
        ends = np.cumsum(self._width * BLOCK)
        self._start = ends - self._width * BLOCK  # of each column in a block, in bytes
        self._stride = max(int(ends[-1]) if len(ends) else 0, 4)  # the length of a block
        self._only = np.full(len(self._width), NEVER, np.uint32)
        self._allocate(max(room, 1))

    @staticmethod
    def of(codes: Codes, steps: Weights, tops: Tops = (), hashes: Hashes | None = None) -> WeightedRows:
        """Rows given as codes, `[column, row]`, with the weight of each."""
        rows = WeightedRows(tops if len(tops) else codes.max(axis=1, initial=0), len(steps))
        rows._add(codes, steps, hashes_of(codes) if hashes is None else hashes)
        return rows

    @staticmethod
    def of_table(table: Table) -> WeightedRows:
        """All living rows of a table."""
        rows = WeightedRows(tops_of(table), table.rows)
        for shard, alive in table.living():
            rows.add_shard(shard, alive)
        return rows

    def add_shard(self, shard: Shard, alive: Alive) -> None:
        """Add the living rows of a shard, a stretch at a time."""
        stretch = max(_AT_ONCE // max(len(shard.columns), 1), 1)
        for begin in range(0, len(shard), stretch):
            part = slice(begin, begin + stretch)
            living = slice(None) if alive is None else alive[part]
            codes = np.array([column[part][living] for column in shard.columns], np.uint32)
            self.add(codes, np.ones(codes.shape[1], np.int64))

    @property
    def cells(self) -> Cells:
        """What the kernels read."""
        return cells_in(self._buffer, self._width, self._start, self._only, self._stride, self._weights)

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self._width)

    @property
    def weights(self) -> Weights:
        """The weight of each row."""
        return self._weights[: self.used]

    def with_nulls(self) -> NDArray[np.bool_]:
        """Which columns hold a null, whose cell is 0."""
        cells = (self.column(c) for c in range(self.columns))
        return np.array([not column.all() for column in cells], np.bool_)

    def codes(self) -> Codes:
        """The cells of each row, `[column, row]`."""
        codes = np.empty((self.used, self.columns), np.uint32)
        unpack(self.cells, codes)
        return np.ascontiguousarray(codes.T)

    def column(self, column: int) -> NDArray[np.unsignedinteger]:
        """The cells of a column, a copy."""
        return self._column(column).reshape(-1)[: self.used]

    def __reduce__(self) -> Any:
        """Pickled as what is in use, not as blocks."""
        return WeightedRows.of, (self.codes(), self.weights.copy(), self._tops())

    def add(self, codes: Codes, steps: Weights) -> Weights:
        """Add to the weights of some rows, given as codes; rows that are new get a place. Returns the place of each."""
        return self._add(codes, steps, hashes_of(codes))

    def _add(self, cells: Codes, steps: Weights, hashes: Hashes) -> Weights:
        """The same of rows whose cells may stand for codes; a row is always found by the hash of its codes."""
        places = np.empty(len(steps), np.int64)
        if not len(steps):
            return places
        tops = cells.max(axis=1).astype(np.int64)
        if (_widths(tops) > self._width).any():
            self._repack(tops)
        self._reserve(self.used + len(steps))
        self.used = place(self.cells, self._slots, self._hashes, self.used, cells, hashes, steps, places)
        return places

    def follow(self, batch: WeightedRows) -> Weights:
        """Take in a batch: rows, given as codes, with signed weights. Returns the place of each."""
        if self.used > _LEAST and 2 * np.count_nonzero(self.weights) < self.used:
            self._repack(np.zeros(self.columns, np.int64))
        codes = batch.codes()
        places = self.add(codes, batch.weights)
        if len(places) and self.weights[places].min() < 0:
            self.add(codes, -batch.weights)
            raise AssertionError("a batch deletes a row that the counted pairs do not know")
        return places

    def _column(self, column: int) -> NDArray[np.unsignedinteger]:
        """The cells of a column, to read and to write, `[block, place]`; behind the last row there is anything."""
        width = int(self._width[column])
        first = int(self._start[column])
        blocks = self._buffer.reshape(-1, self._stride)
        return blocks[:, first : first + width * BLOCK].view(f"u{width}")

    def _recode(self, column: int, old: Codes, new: Codes) -> None:
        """Replace the cells of a column: `old`, ascending, are all that occur; `new` has what replaces each.

        Rows keep their places and the hashes by which they are found.
        """
        tops = np.zeros(self.columns, np.int64)
        tops[column] = new.max(initial=0)
        if (_widths(tops) > self._width).any():
            self._repack(tops)
        if self._only[column] != NEVER:
            self._only[column] = new[np.searchsorted(old, self._only[column])]
        cells = self._column(column)
        recoded = _replaced(cells.reshape(-1)[: self.used], old, new)
        whole, rest = divmod(self.used, BLOCK)
        cells[:whole] = recoded[: self.used - rest].reshape(whole, BLOCK)
        cells[whole : whole + 1, :rest] = recoded[self.used - rest :]

    def _repack(self, tops: NDArray[np.int64]) -> None:
        """Make room for larger cells in each column that needs it, and let rows of weight 0 go."""
        living = self.weights != 0
        cells, hashes = self.codes().compress(living, axis=1), self._hashes[: self.used][living]
        packed = WeightedRows.of(cells, self.weights[living], np.maximum(tops, self._tops()), hashes)
        self.__dict__.update(packed.__dict__)

    def _tops(self) -> NDArray[np.int64]:
        """The largest cell that each column has room for."""
        return (np.int64(1) << 8 * self._width) - 2

    def _reserve(self, rows: int) -> None:
        """Have room for `rows` rows."""
        have = len(self._weights)
        if rows <= have:
            return
        buffer, weights, hashes = self._buffer, self._weights, self._hashes
        self._allocate(max(rows, 2 * have))
        self._buffer[: len(buffer)] = buffer
        self._weights[:have] = weights
        self._hashes[:have] = hashes
        refill(self._slots, self._hashes[: self.used])

    def _allocate(self, room: int) -> None:
        self._buffer = np.zeros(-(-room // BLOCK) * self._stride, np.uint8)
        self._weights = np.zeros(room, np.int64)
        self._hashes = np.zeros(room, np.uint64)
        self._slots = slots_for(room)


def hashes_of(codes: Codes) -> Hashes:
    """The hash of each row, given as codes, `[column, row]`."""
    return keys.hashes_of(codes.astype(np.uint64))


def _replaced(cells: NDArray[np.unsignedinteger], old: Codes, new: Codes) -> Codes:
    """Each cell's replacement: where numbers are small, from a table of all numbers up to the largest."""
    if not len(old) or old[-1] > 0xFFFF:
        return new[np.searchsorted(old, cells)]
    table = np.zeros(int(old[-1]) + 1, np.uint32)
    table[old] = new
    return table.take(cells)


def tops_of(table: Table) -> list[int]:
    """The largest code of each column."""
    return [len(dictionary) - 1 for dictionary in table.dictionaries]


def _widths(tops: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bytes that columns need for their largest codes, and for a number that is none of them."""
    return np.int64(1) << np.searchsorted([0xFE, 0xFFFE], tops)
