"""Tuples of codes: which of some tuples a table holds, and in which rows. Exact: tuples that share a hash are compared.

Cost: one pass over the codes of the columns; memory for the tuples looked up, or, in an index of a table, for its
distinct ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.given.finder import ROWS_AT_ONCE, Ids, TableFinder, WantedTuples, living_places, stretches
from holdfast.pairs.keys import KeyTable
from holdfast.table.shard import Shard
from holdfast.table.table import Table

TupleCodes = NDArray[np.int64]  # [column, row]
_FIRST_ROWS = 1 << 12  # most of the tuples looked up are met among few rows
_CELLS = 1 << 24


def of_table(table: Table, columns: Sequence[int]) -> KeyTable:
    """All tuples of living rows. It grows with those that are distinct."""
    known = KeyTable(len(columns))
    for _, _, rows in pieces(table, columns):
        known.entries_of_lanes(rows.view(np.uint64))
    return known


Index = Callable[[TupleCodes], NDArray[np.bool_]]  # which of some tuples, as codes of the columns, are there


def index_of(table: Table, columns: Sequence[int]) -> Index:
    """All tuples of living rows; where columns have few codes, as a mark for every tuple that could be."""
    sizes = [len(table.dictionaries[c]) for c in columns]
    if math.prod(sizes) > min(_CELLS, 64 * table.rows):
        known = of_table(table, columns)
        return lambda requested: known.find_lanes(np.ascontiguousarray(requested).view(np.uint64)) >= 0
    marks = np.zeros(sizes, np.bool_)
    for _, _, rows in pieces(table, columns):
        marks[tuple(rows)] = True
    return lambda requested: marks[tuple(requested)]


def present(requested: TupleCodes, table: Table, columns: Sequence[int]) -> NDArray[np.bool_]:
    """Which of some tuples a living row has; a code below 0 is that of a value that never was.

    The newest rows are looked at first, as they often hold the requested tuples; of others only those that may have a
    tuple that was not met yet, so a pass costs little once few are left.
    """
    wanted = WantedTuples(table, columns, requested[:, (requested >= 0).all(axis=0)])
    met = np.zeros(wanted.tuples.shape[1], np.bool_)
    for shard, alive in reversed(list(table.living())):
        start, size = 0, _FIRST_ROWS
        while start < len(shard) and not met.all():
            end = min(start + size, len(shard))
            met[wanted.met(shard, alive, start, end)[1]] = True
            wanted.narrow(~met)
            start, size = end, min(2 * size, ROWS_AT_ONCE)
    return np.append(met, False)[wanted.numbers_of(requested)]


def rows_with(requested: TupleCodes, table: Table, columns: Sequence[int], most: int | None = None) -> Ids:
    """The ids of living rows that have one of some tuples, ascending; given `most`, it stops once it has that many."""
    found = [np.empty(0, np.int64)]
    for ids, _ in TableFinder(table).rows_with(columns, requested):
        found.append(ids)
        if most is not None and sum(len(part) for part in found) >= most:
            break
    return np.concatenate(found)


def samples(table: Table, size: int) -> Iterator[tuple[Shard, NDArray[np.int64]]]:
    """The places of some living rows of each shard, spread over it."""
    for shard, alive in table.living():
        places = living_places(alive, 0, len(shard))
        yield shard, places[:: max(1, len(places) // size)]


def _tuples_at(shard: Shard, columns: Sequence[int], places: NDArray[np.int64]) -> TupleCodes:
    return np.stack([shard.columns[c][places].astype(np.int64) for c in columns])


def pieces(table: Table, columns: Sequence[int]) -> Iterator[tuple[Shard, NDArray[np.int64], TupleCodes]]:
    """Living rows, some at a time: their shard, their places in it, and their tuples."""
    for shard, places in stretches(table):
        yield shard, places, _tuples_at(shard, columns, places)


def are_distinct(table: Table, columns: Sequence[int]) -> bool:
    """Whether no two living rows have the same tuple."""
    return of_table(table, columns).used == table.rows


def full_rows(table: Table, columns: Sequence[int]) -> NDArray[np.int64]:
    """The ids of living rows without a null in some columns."""
    parts = [shard.ids_of(places[(rows != 0).all(axis=0)]) for shard, places, rows in pieces(table, columns)]
    return np.concatenate([np.empty(0, np.int64), *parts])
