"""Which signatures of order occur among chosen pairs of rows, and the first pair that was seen to have each.

For tables with too many pairs to count them all. Rows are compared as in `counting`, at the price of a bit
for each signature that there may be: 66 KB with 12 columns of three values, 145 MB with 19, which is the most.
Cost, on one core: 1.2 to 1.8 ns a pair with 14 columns, where many rows are compared with many: then about a
hundred at a time, and a byte says where each value of the others lies among theirs. Rows in a window are compared by
their distance (`scan_apart`), which takes a little longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.cells import NEVER, Cells, cells_in
from holdfast.kernels.sightings import Seen, scan, scan_apart
from holdfast.pairs.signature_numbers import Numbering
from holdfast.pairs.signatures import values_of

Places = NDArray[np.int64]
Column = NDArray[np.unsignedinteger[Any]]
Shown = tuple[Places, NDArray[np.uint8]]  # pairs of places, `[pair, 2]`, and their values, `[pair, column]`
MOST_NUMBERS = 3**19
_ROOM = 1 << 16
_IN_A_BYTE = 126  # values that a byte can number, with the gaps between them and null
_WORTH_A_BYTE = 32  # rows that are compared with all: fewer do not pay for a pass over these


class NarrowRows:
    """Rows as ranks (or codes, where only equality counts), in as few bytes as fit, column by column."""

    def __init__(self, cells: NDArray[np.uint32], places: Places | None = None) -> None:
        """Of all rows of `cells[column, place]`, or of those at some places, which are then numbered in that order."""
        self.count = cells.shape[1] if places is None else len(places)
        tops = cells.max(axis=1, initial=0)
        self._columns = [
            (column if places is None else column.take(places)).astype(f"u{width}")
            for column, width in zip(cells, 1 << np.searchsorted([0xFE, 0xFFFE], tops), strict=True)
        ]
        self.cells = _in_one_block(self._columns)

    def narrowed_to(self, places: Places) -> Cells:
        """All rows, for comparing with at most `_IN_A_BYTE` of them, those at some places. A cell is a byte: where its
        value lies among the values of these. Null is 0, each value an even number, and what lies between is odd.
        """
        return _in_one_block([c if c.itemsize == 1 else _among(c, np.union1d(c[places], [0])) for c in self._columns])


def _among(column: Column, values: Column) -> NDArray[np.uint8]:
    """Where each cell of a column stands among some values."""
    top = int(column.max(initial=0))
    ranks = np.arange(top + 1) if top < len(column) else column  # each rank once, where these are fewer
    stand = (np.searchsorted(values, ranks) + np.searchsorted(values, ranks, "right") - 1).astype(np.uint8)
    return stand.take(column) if top < len(column) else stand


def _in_one_block(columns: Sequence[Column]) -> Cells:
    """Columns as kernels read them, each from a multiple of 4 bytes on."""
    width = np.array([column.itemsize for column in columns], np.int64)
    lengths = np.array([-(-column.nbytes // 4) * 4 for column in columns], np.int64)
    start = np.cumsum(lengths) - lengths
    flat = np.zeros(int(lengths.sum()), np.uint8)
    for column, begin in zip(columns, start, strict=True):
        flat[begin : begin + column.nbytes] = column.view(np.uint8)
    only, weights = np.full(len(columns), NEVER, np.uint32), np.empty(0, np.int64)
    return cells_in(flat, width, start, only, 0, weights)


class Sightings:
    """The signatures that were seen so far, each with its mirror image.

    A scan returns the pairs that were first to show a signature or its mirror image, and how the two rows of each
    compare in each column (see `values_of`).
    """

    def __init__(self, numbering: Numbering, known: NDArray[np.uint8] | None = None) -> None:
        """None yet; or those whose number is marked in `known` with 1."""
        assert numbering.size <= MOST_NUMBERS, "too many signatures for a bit each"
        self._numbering, self._digits = numbering, numbering.digits
        self._bits = np.packbits(np.zeros(numbering.size, np.uint8) if known is None else known, bitorder="little")

    def scan(self, rows: NarrowRows, firsts: Places, begin: int = 0, end: int | None = None) -> Shown:
        """Compare some rows with all, or with those at the places from `begin` to before `end`, itself aside each."""
        last, parts = rows.count if end is None else end, []
        for some in np.array_split(firsts, -(-len(firsts) // _IN_A_BYTE) or 1):
            cells = rows.narrowed_to(some) if len(some) >= _WORTH_A_BYTE else rows.cells
            parts.append(self._all(partial(scan, cells, some, begin, last, self._digits)))
        pairs, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        return pairs, values

    def scan_apart(self, rows: NarrowRows, distances: Places) -> Shown:
        """Compare each row with the rows at these distances behind it: of sorted rows, those in a window."""
        return self._all(partial(scan_apart, rows.cells, rows.count, distances, self._digits))

    def _all(self, work: Callable[[Places, Seen], bool]) -> Shown:
        """Work to the end, and return what it shows."""
        at, room = np.zeros(2, np.int64), (np.empty((_ROOM, 2), np.int64), np.empty(_ROOM, np.int64))
        parts, ended = [], False
        while not ended:
            seen = Seen(self._bits, np.zeros(1, np.int64), *room)
            ended = work(at, seen)
            parts.append([each[: seen.used[0]].copy() for each in room])
        pairs, found = (np.concatenate(each) for each in zip(*parts, strict=True))
        return pairs, values_of(self._numbering.words(found), self._numbering.columns)
