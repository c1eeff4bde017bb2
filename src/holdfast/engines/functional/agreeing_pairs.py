"""How many pairs of rows agree on sets of columns, counted in groups of rows, never pair by pair.

A group of n rows that agree on some columns holds n (n - 1) / 2 such pairs. Equal rows are one row with a weight (see
`pairs.rows`): two different rows of a group that stand for v and w rows hold v w pairs, and the pairs among equal rows
are added apart. Rows are brought into groups by all columns of a set but one (see `borders.partitions`), which are
chosen so that many sets share them; by the last column they are only counted.

A number that was counted stays true: a batch adds and takes the pairs that its rows are in. They are compared with the
rows of the table, which gives agree-sets (see `pairs.counting`), and the number of each set changes by those that
contain it. Where that would cost more than groups, all numbers are dropped, and counted again when they are needed.
What nobody needed since the last batch is dropped, too.

Cost: to count a set, a look at the rows that share their other columns with a row; for a batch of m rows, m comparisons
a row. Memory: the rows, some bytes a cell; while sets are counted, 4 bytes a cell more, and partitions up to a bound.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.partitions import ColumnPartitions, Walks
from holdfast.borders.rows import RankedColumns
from holdfast.borders.strategy_choice import MOST_PLAIN
from holdfast.kernels.partitions import pairs_joined
from holdfast.pairs import bitsets
from holdfast.pairs.counting import Count, equal_pairs, merged
from holdfast.pairs.probes import batch_of
from holdfast.pairs.rows import WeightedRows
from holdfast.pairs.signatures import EQUAL, Signed
from holdfast.progress import Progress
from holdfast.rules.error_measures import pairs_of
from holdfast.table.change import Change
from holdfast.table.rewrite import UsedCodes
from holdfast.table.runner import Runner
from holdfast.table.table import Table
from holdfast.table.threads import OnProgress, SoFar, each

ColumnSet = int  # bit c stands for column c
NO_COLUMNS: ColumnSet = 0
Piece = tuple[tuple[int, ...], list[int]]  # columns that group the rows, and columns to add to these, each by itself
Pairs = dict[ColumnSet, int]  # how many agree on each set

_WORTH_THREADS = 1 << 18  # looks at rows: about a millisecond
_PER_PAIR, _PER_HASHED_PAIR, _PER_LOOK = 2, 16, 4  # what it costs to compare two rows, and to look at a row in a group


class AgreeingPairs:
    """How many pairs of rows agree on those sets of columns that engines needed. A part that they share."""

    name: ClassVar[str] = "agreeing-pairs"

    def __init__(self, table: Table, known: Pairs | None = None) -> None:
        self._table, self._known = table, known or {}
        self._needed = set(self._known)  # since the last batch
        self._rows: WeightedRows | None = None  # until they are needed

    @classmethod
    def of(cls, table: Table, runner: Runner, progress: Progress) -> Self:  # noqa: ARG003
        """Nothing is counted before it is needed."""
        return cls(table)

    def count(self, sets: Iterable[ColumnSet], progress: OnProgress | None = None) -> Pairs:
        """How many pairs agree on each of some sets of columns."""
        wanted = set(sets)
        self._needed |= wanted
        if new := wanted - self._known.keys() - {NO_COLUMNS}:
            groups = _Groups(self._rows_of_table(), self._table, reduce(or_, new))
            self._known |= groups.count(new, progress)
        self._known[NO_COLUMNS] = pairs_of(self._table.rows)
        return {columns: self._known[columns] for columns in wanted}

    def follow(self, change: Change, runner: Runner) -> None:  # noqa: ARG002
        """Take in a batch."""
        known = {columns: pairs for columns, pairs in self._known.items() if columns in self._needed}
        batch, distinct = batch_of(change), change.after.schema.nulls.are_distinct
        rows, self._known, self._needed = self._rows_of_table(), {}, set()
        self._table, places = change.after, rows.follow(batch)
        per_pair = _PER_PAIR if rows.columns <= MOST_PLAIN else _PER_HASHED_PAIR
        if batch.used * per_pair <= _PER_LOOK * len(known):
            more = _pairs_of_batch(batch, rows, places, distinct)
            self._known = {columns: pairs + _containing(more, columns) for columns, pairs in known.items()}

    def _rows_of_table(self) -> WeightedRows:
        self._rows = self._rows or WeightedRows.of_table(self._table)
        return self._rows

    def rewritten(self, table: Table, kept: UsedCodes) -> Self:  # noqa: ARG002
        """Numbers of pairs know no codes; rows are read again when they are needed."""
        return type(self)(table, self._known)

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays from which `load` makes the same."""
        words = bitsets.words_for(len(self._table.schema.columns))
        sets = bitsets.of_integers(self._known, words).reshape(-1)
        return {"sets": sets, "pairs": np.array(list(self._known.values()), np.int64)}, {}

    @classmethod
    def load(cls, table: Table, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Self:  # noqa: ARG003
        """What `dump` described."""
        sets = np.array(arrays["sets"], np.uint64).reshape(-1, bitsets.words_for(len(table.schema.columns)))
        return cls(table, dict(zip(bitsets.integers(sets), arrays["pairs"].tolist(), strict=True)))


def _pairs_of_batch(batch: WeightedRows, rows: WeightedRows, places: NDArray[np.int64], distinct: bool) -> Signed:
    """The agree-sets of the pairs that a batch brought and took, given where its rows stand among those after it. See
    `PairWatch` on pairs of equal rows.
    """
    return merged([equal_pairs(batch, EQUAL, distinct), *Count(batch, rows, EQUAL, distinct, own=places).whole()])


def _containing(pairs: Signed, columns: ColumnSet) -> int:
    """How many of some pairs agree on some columns."""
    sets, counts = pairs
    own = bitsets.of_integers([columns], sets.shape[1])
    return int(counts[(sets & own == own).all(axis=1)].sum())


class _Groups:
    """The rows of a table, to be counted in groups that agree on columns; `read` are the columns that are needed."""

    def __init__(self, rows: WeightedRows, table: Table, read: ColumnSet) -> None:
        living = np.flatnonzero(rows.weights)
        weights = rows.weights.take(living)
        self._weights = weights if (weights > 1).any() else weights[:0]
        self._cells = np.empty((rows.columns, len(living)), np.uint32)
        self._narrow = {}
        for column in range(rows.columns):
            if read >> column & 1:
                self._cells[column] = self._narrow[column] = rows.column(column).take(living)
        self._distinct = table.schema.nulls.are_distinct
        self._alike = merged([equal_pairs(rows, EQUAL, self._distinct)])
        self._values = np.array([len(dictionary) for dictionary in table.dictionaries], np.int64)
        columns = ColumnPartitions(RankedColumns.of_cells(self._cells, self._values, self._distinct))
        self._order, self._walks, self._own = columns.order, Walks(columns), threading.local()

    def count(self, sets: Collection[ColumnSet], progress: OnProgress | None) -> Pairs:
        """How many pairs agree on each of some sets, none of them empty."""
        workers, pieces = None if len(sets) * self._cells.shape[1] > _WORTH_THREADS else 0, self._pieces(sets)
        return {columns: pairs for found in each(pieces, self._piece, workers, progress) for columns, pairs in found}

    def _pieces(self, sets: Iterable[ColumnSet]) -> list[Piece]:
        """Sets cut into columns that group the rows, those that most sets share, and a last one."""
        cuts = {columns: [columns ^ 1 << last for last in self._order if columns >> last & 1] for columns in sets}
        shared = Counter(prefix for prefixes in cuts.values() for prefix in prefixes)
        last_of: dict[ColumnSet, list[int]] = defaultdict(list)
        for columns, prefixes in cuts.items():
            prefix = max(reversed(prefixes), key=lambda each: shared[each])
            last_of[prefix].append((columns ^ prefix).bit_length() - 1)
        return sorted((tuple(c for c in self._order if prefix >> c & 1), last) for prefix, last in last_of.items())

    def _piece(self, piece: Piece, so_far: SoFar) -> list[tuple[ColumnSet, int]]:
        """Those of the same columns and a last one, for each of some."""
        prefix, last = piece
        groups, found = self._walks.to(prefix), []
        own, sums = sum(1 << column for column in prefix), self._sums()
        for column in last:
            cells, values = self._narrow[column], int(self._values[column])
            joined = pairs_joined(groups.rows, groups.starts, cells, self._distinct, self._weights, sums[:values])
            columns = own | 1 << column
            found.append((columns, int(joined) + _containing(self._alike, columns)))
            so_far(len(found))
        return found

    def _sums(self) -> NDArray[np.int64]:
        """A thread's numbers for each value of a column, all of them 0."""
        if not hasattr(self._own, "sums"):
            self._own.sums = np.zeros(int(self._values.max(initial=1)), np.int64)
        sums: NDArray[np.int64] = self._own.sums
        return sums
