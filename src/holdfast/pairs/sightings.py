"""Which signatures of order occur among chosen pairs of rows, and the first pair that was seen to have each.

For tables with too many pairs to count them all. Rows are compared as they are counted (`compare`), at the price of a
bit for each signature that there may be: 66 KB with 12 columns of three values, 145 MB with 19, which is the most.
Cost, on one core: 1.2 to 1.8 ns a pair with 14 columns, where many rows are compared with many. Rows in a window are
compared at the same price by their distance (`scan_apart`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.agree import NEVER, Cells
from holdfast.kernels.sightings import Seen, scan, scan_apart
from holdfast.pairs.numbers import Numbering
from holdfast.pairs.signatures import values_of

Places = NDArray[np.int64]
Shown = tuple[Places, NDArray[np.uint8]]  # pairs of places, `[pair, 2]`, and their values, `[pair, column]`
MOST_NUMBERS = 3**19
_ROOM = 1 << 16


class NarrowRows:
    """Rows as ranks (or codes, where only equality counts), in as few bytes as fit, column by column."""

    def __init__(self, cells: NDArray[np.uint32], places: Places | None = None) -> None:
        """Of all rows of `cells[column, place]`, or of those at some places, which are then numbered in that order."""
        self.count = cells.shape[1] if places is None else len(places)
        tops = cells.max(axis=1, initial=0)
        width = np.int64(1) << np.searchsorted([0xFE, 0xFFFE], tops)
        ends = np.cumsum(-(-width * self.count // 4) * 4)
        start = np.r_[0, ends][:-1]
        flat = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
        for column, begin, each in zip(cells, start, width, strict=True):
            chosen = column if places is None else column.take(places)
            flat[begin : begin + each * self.count].view(f"u{each}")[:] = chosen
        only, weights = np.full(len(cells), NEVER, np.uint32), np.empty(0, np.int64)
        self.cells = Cells(flat, flat.view(np.uint16), flat.view(np.uint32), width, start, only, 0, weights)


class Sightings:
    """The signatures that were seen so far, each with its mirror image.

    What is told of a scan are the pairs that were first to show a signature, or its mirror image, and what the first
    row of each is to the second in each column (see `values_of`).
    """

    def __init__(self, numbering: Numbering, known: NDArray[np.uint8] | None = None) -> None:
        """None yet; or those whose number is marked in `known` with 1."""
        assert numbering.size <= MOST_NUMBERS, "too many signatures for a bit each"
        self._numbering, self._digits = numbering, numbering.digits
        self._bits = np.packbits(np.zeros(numbering.size, np.uint8) if known is None else known, bitorder="little")

    def scan(self, rows: NarrowRows, firsts: Places, begin: int = 0, end: int | None = None) -> Shown:
        """Compare some rows with all, or with those at the places from `begin` to before `end`, itself aside each."""
        last = rows.count if end is None else end
        return self._all(lambda at, seen: scan(rows.cells, firsts, begin, last, self._digits, at, seen))

    def scan_apart(self, rows: NarrowRows, distances: Places) -> Shown:
        """Compare each row with the rows that are so far behind it: of sorted rows, those in a window."""
        return self._all(lambda at, seen: scan_apart(rows.cells, rows.count, distances, self._digits, at, seen))

    def _all(self, work: Callable[[Places, Seen], bool]) -> Shown:
        """Work to the end, and tell what it shows."""
        at, room = np.zeros(2, np.int64), (np.empty((_ROOM, 2), np.int64), np.empty(_ROOM, np.int64))
        parts, ended = [], False
        while not ended:
            seen = Seen(self._bits, np.zeros(1, np.int64), *room)
            ended = work(at, seen)
            parts.append([each[: seen.used[0]].copy() for each in room])
        pairs, found = (np.concatenate(each) for each in zip(*parts, strict=True))
        return pairs, values_of(self._numbering.words(found), self._numbering.columns)
