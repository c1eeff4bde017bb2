"""The encoded table at one moment: dictionaries, shards, and which rows are alive.

A table is a value. A batch gives a new one that shares dictionaries, shards and most of the masks of living rows with
the old one. So an engine may look at the table before and after the batch, and a failed batch leaves nothing behind.

Row ids are dense, given at insert and never reused; shards hold them in ascending order.
Cost: a new version copies the masks of living rows (a byte a row) of the shards in which rows died, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.changes.equal_rows import Codes, hash_rows
from holdfast.table.dictionary import Dictionary
from holdfast.table.nulls import Nulls
from holdfast.table.order import OrderKeys
from holdfast.table.shard import AnyCodes, Shard
from holdfast.table.types import NUMBER, Column, family

Alive = NDArray[np.bool_] | None  # None: every row is alive


@dataclass(frozen=True)
class Schema:
    """What a table is declared to be. `key` holds column numbers; empty: rows are found by their content, and messages
    may call them by the columns `named_by`.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[int, ...] = ()
    nulls: Nulls = Nulls.EQUAL
    named_by: tuple[int, ...] = field(default=(), compare=False)

    @property
    def names(self) -> list[str]:
        """The column names, in order."""
        return [column.name for column in self.columns]

    def named(self, names: Sequence[str]) -> list[Column]:
        """The columns with some names."""
        by_name = {column.name: column for column in self.columns}
        return [by_name[name] for name in names]

    @cached_property
    def numeric(self) -> frozenset[str]:
        """The columns that hold numbers."""
        return frozenset(column.name for column in self.columns if family(column.type) == NUMBER)

    @property
    def found_by(self) -> list[int]:
        """The columns by which a row is found again."""
        return list(self.key) or list(range(len(self.columns)))

    def arrow(self) -> pa.Schema:
        """As an Arrow schema."""
        return pa.schema([(column.name, column.type) for column in self.columns])


@dataclass(frozen=True)
class Segment:
    """A segment file and the id of its first row."""

    path: str
    first_id: int = 0


@dataclass(frozen=True)
class TableFiles:
    """All that a task needs to open a table."""

    schema: Schema
    segments: tuple[Segment, ...]
    next_id: int


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a table at one moment."""

    schema: Schema
    dictionaries: tuple[Dictionary, ...]
    shards: tuple[Shard, ...] = ()
    alive: tuple[Alive, ...] = ()
    next_id: int = 0
    rows: int = 0
    where: TableFiles | None = None  # the files it lies in, once it lies in files
    # Order keys follow the dictionaries; all versions of a table share them.
    _order: dict[int, OrderKeys] = field(default_factory=dict)

    @staticmethod
    def empty(schema: Schema) -> Table:
        """The table without rows, and without files yet."""
        dictionaries = tuple(Dictionary(column.type) for column in schema.columns)
        return Table(schema, dictionaries, where=TableFiles(schema, (), 0))

    @property
    def files(self) -> TableFiles:
        """The files that the table lies in, as it does once a batch is admitted: tasks open it by them."""
        assert self.where is not None, "a table lies in files before tasks look at it"
        return self.where

    def order_keys(self, column: int) -> OrderKeys:
        """The order keys of a column, current with this version of the table."""
        dictionary = self.dictionaries[column]
        keys = self._order.get(column)
        if keys is None:  # of threads that make them at once, all go on with those of one
            keys = self._order.setdefault(column, OrderKeys(dictionary))
        keys.follow(dictionary)
        return keys

    def following(self, older: Table) -> Table:
        """This version of a table, with the order keys that an older one has made already."""
        return replace(self, _order=older._order)

    def grown(self, dictionaries: tuple[Dictionary, ...]) -> Table:
        """The same rows with newer dictionaries."""
        return replace(self, dictionaries=dictionaries)

    @cached_property
    def encoding(self) -> Table:
        """What codes mean in this version of the table: the same dictionaries and order keys, and no rows."""
        return Table(self.schema, self.dictionaries, next_id=self.next_id, _order=self._order)

    def changed(self, shards: list[Shard], dead: NDArray[np.int64]) -> Table:
        """The table after some rows died and some shards arrived, whose ids follow on."""
        masks = list(self.alive)
        for index, members in self._members(dead):
            old, places = masks[index], self.shards[index].places_of(dead[members])
            masks[index] = np.ones(len(self.shards[index]), np.bool_) if old is None else old.copy()
            masks[index][places] = False  # type: ignore[index]  # just made
        arrived = [shard for shard in shards if len(shard)]
        return replace(
            self,
            where=None,
            shards=self.shards + tuple(arrived),
            alive=(*masks, *(None for _ in arrived)),
            next_id=arrived[-1].last_id + 1 if arrived else self.next_id,
            rows=self.rows - len(dead) + sum(len(shard) for shard in arrived),
        )

    @property
    def nbytes(self) -> int:
        """The bytes of all values and rows, those that died included, as files keep them."""
        return sum(dictionary.nbytes for dictionary in self.dictionaries) + sum(shard.nbytes for shard in self.shards)

    def living(self) -> Iterator[tuple[Shard, Alive]]:
        """Each shard with the mask of its living rows."""
        return zip(self.shards, self.alive, strict=True)

    def living_ids(self) -> NDArray[np.int64]:
        """The ids of all living rows, ascending."""
        parts = [s.id_array() if mask is None else s.id_array()[mask] for s, mask in self.living()]
        return np.concatenate([np.empty(0, np.int64), *parts])

    @property
    def folder(self) -> str | None:
        """The folder of this machine that its files lie in, if there is one: elsewhere nothing can be mapped."""
        segments = self.where.segments if self.where is not None else ()
        folder = segments[0].path.rpartition("/")[0] if segments else ""
        return folder if folder and "://" not in folder else None

    def codes(self, ids: NDArray[np.int64], columns: Sequence[int] | None = None) -> Codes:
        """The codes of some rows, `[column, row]`, in the order of the ids; of all columns, or of some."""
        wanted = range(len(self.schema.columns)) if columns is None else columns
        codes = np.empty((len(wanted), len(ids)), np.uint32)
        for index, members in self._members(ids):
            shard = self.shards[index]
            into, places = _stretch(members), _stretch(shard.places_of(ids[members]))
            for line, column in enumerate(wanted):
                codes[line, into] = shard.codes_at(column, places)
        return codes

    def which_live(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which of some rows lie in the table, and which of these are alive. Dead rows lie there until compaction."""
        there, alive = np.zeros((2, len(ids)), np.bool_)
        known = np.flatnonzero(ids <= max((shard.last_id for shard in self.shards), default=-1))
        for index, members in self._members(ids[known]):
            shard, mask, own = self.shards[index], self.alive[index], known[members]
            places = np.maximum(shard.places_of(ids[own]), 0)
            there[own] = shard.ids_of(places) == ids[own]
            alive[own] = there[own] if mask is None else there[own] & mask[places]
        return there, alive

    def column_codes(self, column: int) -> AnyCodes:
        """The codes of one column, of the living rows in the order of their ids, as narrow as they are stored."""
        whole = [(shard.columns[column], mark) for shard, mark in self.living()]
        parts = [codes if mark is None else codes[mark] for codes, mark in whole]
        return np.concatenate([np.empty(0, np.uint8), *parts])

    def decode(self, codes: Codes) -> pa.Table:
        """Rows of codes as values."""
        columns = [d.values(codes[c]) for c, d in enumerate(self.dictionaries)]
        return pa.Table.from_arrays(columns, schema=self.schema.arrow())

    def values(self, ids: NDArray[np.int64]) -> pa.Table:
        """The values of some rows."""
        return self.decode(self.codes(ids))

    def find(
        self, codes: Codes, wanted: NDArray[np.int64], hashes: NDArray[np.uint64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Up to `wanted[i]` living rows that have the codes `codes[:, i]` in the columns that rows are found by,
        the oldest first: pairs of i and row id. The codes given must be distinct; `hashes` are theirs, where known.
        """
        by = self.schema.found_by
        hashes = hash_rows(list(codes)) if hashes is None else hashes
        left = wanted.copy()
        queries, ids = [], []
        for shard, mask in self.living():
            query, place = _find_in(shard, mask, by, codes, hashes, left)
            np.subtract.at(left, query, 1)
            queries.append(query)
            ids.append(shard.ids_of(place))
        none = np.empty(0, np.int64)
        return np.concatenate([none, *queries]), np.concatenate([none, *ids])

    def _members(self, ids: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Which of the ids lie in which shard."""
        if not len(ids):
            return
        of = np.searchsorted([shard.last_id for shard in self.shards], ids)
        for index in np.unique(of):
            yield int(index), np.flatnonzero(of == index)


def _stretch(places: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """The same places as a slice where they follow one another, as those of a batch do: many times as fast."""
    first, end = int(places[0]), int(places[-1]) + 1
    in_a_row = end - first == len(places) and bool((np.diff(places) == 1).all())
    return slice(first, end) if in_a_row else places


def _find_in(
    shard: Shard,
    mask: Alive,
    by: list[int],
    codes: Codes,
    hashes: NDArray[np.uint64],
    wanted: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first `wanted[i]` living rows of a shard that equal query i in some columns: pairs of i and place.

    Candidates are looked at in rounds of growing size, for where equal rows are many, few of them are wanted.
    """
    at = shard.search(hashes, "left")
    end = shard.search(hashes, "right")
    open_ = np.flatnonzero((wanted > 0) & (at < end))
    left = wanted.copy()
    found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    look = 4
    while len(open_):
        size = np.minimum(end[open_] - at[open_], np.maximum(look, 2 * left[open_]))
        query = np.repeat(open_, size)
        step = np.arange(len(query)) - np.repeat(np.cumsum(size) - size, size)
        place = shard.places_at(at[query] + step)
        good = np.ones(len(query), np.bool_) if mask is None else mask[place]
        for c, column in enumerate(by):
            good &= shard.codes_at(column, place) == codes[c, query]
        query, place = query[good], place[good]
        rank = np.arange(len(query)) - np.searchsorted(query, query)
        query, place = query[rank < left[query]], place[rank < left[query]]
        found.append((query, place))
        np.subtract.at(left, query, 1)
        at[open_] += size
        open_ = open_[(left[open_] > 0) & (at[open_] < end[open_])]
        look *= 8
    none = np.empty(0, np.int64)
    return np.concatenate([none, *(q for q, _ in found)]), np.concatenate([none, *(p for _, p in found)])
