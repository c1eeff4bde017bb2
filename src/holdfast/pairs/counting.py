"""Counting the signatures of pairs, in a plain table or in a hash table: decides which, and counts.

The pairs are those of some rows with a table's, or of all rows with each other. `signatures` says what a signature is.
For kinds of order the cells of rows are ranks (`ranked_rows`).

A count is cut into **tiles**, some queries against one block of rows, and tiles into shares, whose counts add up.
What runs here is the same in a thread and in a task elsewhere.
Cost, on one core: a nanosecond a pair up to 16 columns, or 25 where pairs are many, as counts lie in a plain table;
beyond, in a hash table, 15 ns with 109 columns and 30 ns with 223.
By order: 1.2 ns a pair with 12 columns of few values, in a plain table up to 16 columns where pairs are many; 66 ns and
more beyond.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.cells import BLOCK
from holdfast.kernels.tally import tally_hashed, tally_numbers
from holdfast.pairs.bitsets import packed
from holdfast.pairs.counter import KeyCounter
from holdfast.pairs.rows import WeightedRows
from holdfast.pairs.signature_numbers import Numbering, Numbers
from holdfast.pairs.signatures import SignatureKind, Signed, both_ways
from holdfast.table.threads import SoFar, each

OnProgress = Callable[[float], None]  # gets the share of pairs that are compared
Answer = TypeVar("Answer")
Tiles = NDArray[np.int64]  # first query, end of queries, block, and 1 where only rows after the query count

_NUMBERS, _MOST_NUMBERS = 1 << 16, 3**16  # cells of plain tables: of a small one, and of one with 172 MB
_PAIR_PAYS = 16  # cells that may be made, and looked through, for each pair that is not looked up in a hash table
# Pairs between two calls of `progress`: a tenth of a second or so.
_PLAIN_AT_ONCE, _HASHED_AT_ONCE = 1 << 27, 1 << 22
_WORTH_THREADS = 100_000_000  # cells to compare: some 10 ms; below, starting threads costs what they save


@dataclass(frozen=True)
class Count:
    """A count to make: which pairs, and how they are compared.

    `own` says where each query stands among the rows, if it does. The queries are then compared as if they came one by
    one: each with the rows as they are after those queries that are before it, and no others, have come.
    """

    queries: WeightedRows
    rows: WeightedRows
    kind: SignatureKind
    distinct: bool
    within: bool = False  # the queries are the rows, and each pair counts once
    own: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def tiles(self, pieces: int) -> Tiles:
        """All tiles, block by block, so that they deal out evenly to `pieces` shares."""
        last = self.queries.used
        step = max(1, min(BLOCK, -(-last // (8 * pieces if self.within else pieces))))
        firsts = np.arange(0, last, step)
        blocks = np.arange(-(-self.rows.used // BLOCK))
        grid = np.empty((len(blocks), len(firsts), 4), np.int64)
        grid[:, :, 0], grid[:, :, 1] = firsts, np.minimum(firsts + step, last)
        grid[:, :, 2], grid[:, :, 3] = blocks[:, None], self.within
        tiles = grid.reshape(-1, 4)
        return tiles[(tiles[:, 2] + 1) * BLOCK > tiles[:, 0]] if self.within else tiles

    def share(self, share: int, of: int, progress: SoFar = lambda _: None) -> Signed:
        """One of several shares of the count; `progress` gets how many pairs were compared so far."""
        if self._is_plain:
            return self._numbering.signed(self._numbers(share, of, progress))
        tiles = self._tiles_of(share, of)
        found = KeyCounter(self._numbering.words_of_planes, min(self._pairs_in(tiles), 1 << 16))
        for some in self._stretches(tiles, _HASHED_AT_ONCE, progress):
            self._tally(found, some)
        return self._numbering.signed_by_planes(found.signed())

    def whole(self, progress: OnProgress | None = None) -> list[Signed]:
        """All shares, in threads where that is worth it; `progress` gets the share of pairs that are compared."""
        return self._all_shares(self.share, progress)

    def from_both_rows(self, progress: OnProgress | None = None) -> list[Signed]:
        """The same, with each pair from both its rows where it matters which row is the first."""
        if not self.kind.ordered or not self._is_plain:
            return both_ways(self.whole(progress), self.kind)
        counts, *others = self._all_shares(self._numbers, progress)
        while others:
            counts += others.pop()
        counts += self._numbering.mirrored(counts)
        return [self._numbering.signed(counts)]

    def _all_shares(
        self, work: Callable[[int, int, SoFar], Answer], progress: OnProgress | None = None
    ) -> list[Answer]:
        shares = (os.cpu_count() or 1) if self._cells > _WORTH_THREADS else 1
        total = max(1, self._pairs_in(self.tiles(shares)))
        workers = None if shares > 1 else 0
        so_far = None if progress is None else lambda _, pairs: progress(pairs / total)
        return each(range(shares), lambda share, compared: work(share, shares, compared), workers, so_far)

    def _tiles_of(self, share: int, of: int) -> Tiles:
        return np.ascontiguousarray(self.tiles(of)[share::of])

    def _pairs_in(self, tiles: Tiles) -> int:
        """About how many pairs are compared in some tiles."""
        return int(((tiles[:, 1] - tiles[:, 0]) * np.minimum(BLOCK, self.rows.used - tiles[:, 2] * BLOCK)).sum())

    def _stretches(self, tiles: Tiles, at_once: int, progress: SoFar) -> Iterator[Tiles]:
        """The tiles in stretches of about `at_once` pairs; `progress` gets how many pairs are done."""
        step, done = max(1, at_once // BLOCK**2), 0
        for begin in range(0, len(tiles), step):
            yield tiles[begin : begin + step]
            done += self._pairs_in(tiles[begin : begin + step])
            progress(done)

    @property
    def is_small(self) -> bool:
        """Whether `into` is faster: one thread is enough, and there is no plain table to count in first."""
        return not self._is_plain and self._cells <= _WORTH_THREADS

    def into(self, table: KeyCounter) -> None:
        """Add the whole count, of agree-sets, to a table, straight: they are what the planes hold, end to end."""
        self._tally(table, self.tiles(1))

    @property
    def _is_plain(self) -> bool:
        """Whether to count in a plain table: a small one, or one that many pairs pay for."""
        pairs = self.queries.used * self.rows.used
        return self._numbering.size <= min(_MOST_NUMBERS, max(_NUMBERS, _PAIR_PAYS * pairs))

    @property
    def _cells(self) -> int:
        return self.queries.used * self.rows.used * self.rows.columns

    @cached_property
    def _numbering(self) -> Numbering:
        """How signatures are numbered; of order, with a digit more only where there are nulls."""
        unknown = [self.distinct] * self.rows.columns
        if self.distinct and self.kind.ordered:
            unknown = (self.rows.with_nulls() | self.queries.with_nulls()).tolist()
        return Numbering.of(self.rows.columns, self.kind, unknown)

    def _numbers(self, share: int, of: int, progress: SoFar) -> Numbers:
        """How often each number occurs in one of several shares."""
        counts: Numbers = np.zeros(self._numbering.size, np.int32 if self._most < 1 << 31 else np.int64)
        digits = self._numbering.digits
        for some in self._stretches(self._tiles_of(share, of), _PLAIN_AT_ONCE, progress):
            tally_numbers(self.queries.cells, self.rows.cells, self.own, some, self.rows.used, digits, counts)
        return counts

    @property
    def _most(self) -> int:
        """What no count from both rows can exceed, nor come below its negative, at any moment. Rows count once, and
        then as much more or less as their weights say, which may be others before the queries have come.
        """
        steps, weights = (int(np.abs(rows.weights).sum()) for rows in (self.queries, self.rows))
        return 2 * steps * (steps + weights + 2 * self.rows.used)

    def _tally(self, table: KeyCounter, tiles: Tiles) -> None:
        at, digits = np.zeros(2, np.int64), self._numbering.digits
        while not tally_hashed(
            self.queries.cells, self.rows.cells, self.own, tiles, self.rows.used, digits, table.arrays, at
        ):
            table.reserve(2 * table.used + BLOCK)


def merged(parts: Sequence[Signed]) -> Signed:
    """The sum of signed signatures: each once, none with count 0."""
    found = KeyCounter(parts[0][0].shape[1], sum(len(counts) for _, counts in parts))
    found.add(parts)
    return found.signed()


def all_pairs(
    rows: WeightedRows, kind: SignatureKind, distinct: bool, progress: OnProgress | None = None
) -> list[Signed]:
    """Every pair of rows once (of a kind of order: from both its rows), as parts to add up."""
    parts = Count(rows, rows, kind, distinct, within=True).from_both_rows(progress)
    return [*parts, *both_ways([equal_pairs(rows, kind, distinct)], kind)]


def equal_pairs(rows: WeightedRows, kind: SignatureKind, distinct: bool) -> Signed:
    """The pairs among equal rows: w (w - 1) / 2 for a row of weight w."""
    return _of_equals(rows, rows.weights * (rows.weights - 1) // 2, kind, distinct)


def _of_equals(rows: WeightedRows, counts: NDArray[np.int64], kind: SignatureKind, distinct: bool) -> Signed:
    """A count for the signature of each row with one that is equal: all columns, or those that are not null."""
    counted = np.flatnonzero(counts)
    if not len(counted):
        return np.empty((0, kind.words(rows.columns)), np.uint64), np.empty(0, np.int64)
    agree = rows.codes().T != 0 if distinct else np.ones((rows.used, rows.columns), np.bool_)
    sets = packed(agree[counted], -(-rows.columns // 64))
    return np.tile(sets, (1, kind.sides)), counts[counted]


def batch_pairs(batch: WeightedRows, kind: SignatureKind, distinct: bool, against: Sequence[Signed]) -> list[Signed]:
    """The pairs that a batch adds and takes, from those of its rows against the rows after it, wherever these are.

    Let rows have weights w before and v = w + d after. A pair of distinct rows i, j counts v_i v_j - w_i w_j
    = d_i v_j + d_j v_i - d_i d_j more than before, and the pairs among rows equal to i count
    (v_i (v_i - 1) - w_i (w_i - 1)) / 2 = d_i v_i - d_i (d_i + 1) / 2 more. So every row of the batch is compared with
    every row of the table after it, and what the batch's rows have with each other is subtracted once.
    One formula serves inserts, deletes and updates, and rows that a batch both adds and takes cost nothing.
    """
    among = Count(batch, batch, kind, distinct, within=True).share(0, 1)
    alike = -(batch.weights * (batch.weights + 1) // 2)
    return both_ways([*against, (among[0], -among[1]), _of_equals(batch, alike, kind, distinct)], kind)
