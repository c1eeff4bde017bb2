"""Finds the rows that have some values: in a table, by a look at the codes of all its rows.

Cost: a pass over the rows with a mask for each column, and a look into a hash table for rows that have a wanted
code in every column. A caller that needs no more rows stops the pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.pairs.keys import KeyTable
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.shard import Shard
from holdfast.table.table import Alive, Table

Ids = NDArray[np.int64]

ROWS_AT_ONCE = 1 << 16


class Finder(Protocol):
    """Where a keeper finds older rows that a batch makes matter, such as the new oldest one of a group. Today it looks
    at the table as it is after the batch; a piece of a state can bring its own.
    """

    def rows_with(self, columns: Sequence[int], codes: NDArray[Any], first: int = 0) -> Iterator[tuple[Ids, Ids]]:
        """The living rows with ids from `first` on that have one of some distinct tuples of codes `[column, tuple]` in
        some columns: some at a time, the oldest first, as ids and for each the number of its tuple.
        """


@dataclass(frozen=True, eq=False)
class TableFinder:
    """The one of a whole table."""

    table: Table

    def rows_with(self, columns: Sequence[int], codes: NDArray[Any], first: int = 0) -> Iterator[tuple[Ids, Ids]]:
        """The living rows that have one of some tuples, which are distinct; see `Finder`."""
        if not codes.shape[1]:
            return
        wanted = KeyTable(max(len(columns), 1), codes.shape[1])
        wanted.entries(_as_keys(list(codes), codes.shape[1]))
        masks = [self._mask(column, own) for column, own in zip(columns, codes, strict=True)]
        for shard, alive in self.table.living():
            begin = int(shard.places_of(np.array([first]))[0]) if shard.last_id >= first else len(shard)
            for start in range(max(begin, 0), len(shard), ROWS_AT_ONCE):
                some = slice(start, min(start + ROWS_AT_ONCE, len(shard)))
                near = np.ones(some.stop - start, np.bool_) if alive is None else alive[some].copy()
                for column, mask in zip(columns, masks, strict=True):
                    near &= mask[shard.codes_at(column, some)]
                places = start + np.flatnonzero(near)
                found = wanted.find(_as_keys([shard.codes_at(column, places) for column in columns], len(places)))
                yield shard.ids_of(places[found >= 0]), found[found >= 0]

    def _mask(self, column: int, codes: NDArray[Any]) -> NDArray[np.bool_]:
        mask = np.zeros(len(self.table.dictionaries[column]), np.bool_)
        mask[codes.astype(np.int64)] = True
        return mask

    def first_with_values(self, columns: Sequence[int]) -> int | None:
        """The oldest living row without a null in some columns."""
        for shard, places in stretches(self.table):
            for column in columns:
                places = places[shard.codes_at(column, places) != NULL_CODE]
            if len(places):
                return int(shard.ids_of(places[:1])[0])
        return None


def stretches(table: Table) -> Iterator[tuple[Shard, Ids]]:
    """The places of living rows in their shard, some at a time, the oldest first."""
    for shard, alive in table.living():
        for start in range(0, len(shard), ROWS_AT_ONCE):
            yield shard, living_places(alive, start, min(start + ROWS_AT_ONCE, len(shard)))


def living_places(alive: Alive, start: int, end: int) -> Ids:
    """Those of living rows in a stretch of a shard."""
    return np.arange(start, end) if alive is None else start + np.flatnonzero(alive[start:end])


def _as_keys(columns: Sequence[NDArray[Any]], rows: int) -> NDArray[np.uint64]:
    keys = np.zeros((rows, max(len(columns), 1)), np.uint64)
    for place, codes in enumerate(columns):
        keys[:, place] = codes
    return keys
