"""The pair search: all pairs of a table that meet some queries, the first one, how many; and the pairs of a batch.

    search = PairSearch(table, queries)
    search.all(limit)              the pairs of every query, by a search of the whole table that keeps nothing
    search.first(0)                one pair of a query, or None
    search.count(0)                how many it has
    search.ready(before, now)      keys are current with a batch
    batch = search.look(born, dead)  rows that died leave, rows born join: this needs no table
    batch.added(0, room)           the pairs of a query that the rows born are in

Indexes follow from the table: they are made when first needed, or opened from files that an earlier process has written
(see `index_files`), shared by all queries that can share one, and follow every batch.
Invariant: after `look`, every index holds exactly the living rows that belong into it.
Cost: 8 bytes a row and dimension, and 8 for the id, by about 1.3, for each index; a batch costs what its rows cost to
look up, not what the table holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.boxprobe import BELOW, OLDER, OTHERS, YOUNGER
from holdfast.search import scan
from holdfast.search.boxtree import TooMany
from holdfast.search.found import FoundPairs, Pairs, listed, no_pairs, paired
from holdfast.search.index import IndexFile, PairIndex
from holdfast.search.index_files import FEWEST, IndexFiles, write_where_due
from holdfast.search.layout import Layout, layouts_for
from holdfast.search.operands import Operands, Spaces, living
from holdfast.search.queries import PairQuery
from holdfast.table.nulls import Nulls
from holdfast.table.rows import Rows
from holdfast.table.runner import Threads
from holdfast.table.table import Table

Ids = NDArray[np.int64]
_GROWTH = 2  # the table's growth after which the layout of the indexes is thought over


class PairSearch:
    """Some queries on one table, at the moment of the last batch."""

    def __init__(self, table: Table, queries: Sequence[PairQuery], nulls: Nulls = Nulls.SQL) -> None:
        self.table = table
        self.queries = list(queries)
        self._nulls = nulls
        self.spaces = Spaces(table.schema, queries, nulls)
        self._indexes: list[PairIndex] | None = None
        self._places: list[tuple[int, int]] = []  # of each query: the index it asks as t, and the one as s
        self._distinct: list[int] = []  # values of each column when the indexes were laid out
        self._laid_out_at = 0
        self._files: IndexFiles | None = None  # indexes in files, which are opened when first needed
        self._is_behind = False  # whether indexes wait for the rows of a batch

    def add(self, queries: Sequence[PairQuery]) -> None:
        """Keep more queries. Indexes are laid out for all of them when they are next needed."""
        self.queries += queries
        self.spaces = Spaces(self.table.schema, self.queries, self._nulls)
        self._indexes = None

    @property
    def nbytes(self) -> int:
        """The bytes of the indexes."""
        return sum(index.tree.nbytes for index in self._indexes or [])

    # ---- the whole table --------------------------------------------------------------------------------------------

    def all(self, limit: int, queries: Sequence[PairQuery] | None = None) -> list[FoundPairs]:
        """The pairs of every query, or of some; counts alone of one with more than `limit`. No index lasts."""
        self.spaces.follow(self.table)
        wanted = self.queries if queries is None else queries
        return scan.find_among(living(self.spaces, self.table), wanted, limit)

    def pairs(self, number: int, limit: int) -> FoundPairs:
        """The pairs of one query; their number alone where they are more than `limit`."""
        query, rows = self.queries[number], self._rows()
        if query.single:
            return scan.alone(query, rows, limit)
        index = self._index(number, 0, rows)
        found = scan.pairs_between(query, index, rows, limit)
        return scan.counted(query, index, rows) if found is None else listed(found)

    def first(self, number: int, asking: Rows | None = None) -> tuple[int, int] | None:
        """One pair of a query, with one of some rows (None: of any), or None. The search ends with the first that it
        meets.
        """
        query, rows = self.queries[number], self._rows()
        if asking is not None:
            some = Operands(self.spaces, asking)
            found = self._index(number, 0, rows).first(query.as_t, some, OTHERS)
            if found is None and not query.symmetric:
                found = self._index(number, 1, rows).first(query.as_s, some, OTHERS)
            return found
        if query.single:
            alone = scan.passing(query, rows)
            return (int(alone[0]), -1) if len(alone) else None
        partners = YOUNGER if query.symmetric else OTHERS
        return self._index(number, 0, rows).first(query.as_t, rows, partners)

    def count(self, number: int) -> int:
        """How many pairs a query has."""
        query, rows = self.queries[number], self._rows()
        if query.single:
            return len(scan.passing(query, rows))
        return scan.counted(query, self._index(number, 0, rows), rows).count

    def _rows(self) -> Operands:
        self._forget_if_behind()
        self.spaces.follow(self.table)
        return living(self.spaces, self.table)

    # ---- files ------------------------------------------------------------------------------------------------------

    def write_indexes(self, folder: str) -> None:
        """Write to a folder the indexes that are worth it, and make them first where there are none yet."""
        self._forget_if_behind()
        if self._files is not None or self.table.rows < FEWEST or all(query.single for query in self.queries):
            return
        if self._indexes is None:
            self._build(self.table)
        assert self._indexes is not None
        write_where_due(self._indexes, self.spaces, self.table, folder)

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and facts that describe the indexes in files. `files` among the facts names these."""
        self._forget_if_behind()
        files = self._files
        if files is None:
            files = IndexFiles(self._distinct, self._laid_out_at, [index.written for index in self._indexes or []])
        return files.dump()

    def open_when_needed(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any], folder: str) -> None:
        """Go on with the indexes that `dump` described, whose files lie in a folder. No file is touched yet."""
        if any(name is not None for name in facts["files"]):
            self._files = IndexFiles.load(arrays, facts, folder)

    # ---- indexes ----------------------------------------------------------------------------------------------------

    def _index(self, number: int, side: int, rows: Operands | None = None) -> PairIndex:
        """The index that a query asks as t (side 0) or as s (side 1)."""
        if self._indexes is None:
            self._build(self.table, rows)
        assert self._indexes is not None
        return self._indexes[self._places[number][side]]

    def _build(self, table: Table, rows: Operands | None = None) -> None:
        """Open the indexes of a table, or make them."""
        self.spaces.follow(table)
        everyone = rows or living(self.spaces, table)
        known = self._files or IndexFiles(everyone.distinct, table.rows, [])
        layouts, self._places = self._layouts(known.distinct)
        self._distinct, self._laid_out_at, self._files = known.distinct, known.laid_out_at, None

        def made(place: int) -> PairIndex:
            tried = (
                PairIndex.opened(layouts[place], self.spaces, table, each) for each in _likely(known.indexes, place)
            )
            opened = next((index for index in tried if index is not None), None)
            return opened or PairIndex.of(layouts[place], everyone)

        self._indexes = Threads().map(made, range(len(layouts)))

    def _layouts(self, distinct: Sequence[int]) -> tuple[list[Layout], list[tuple[int, int]]]:
        lookups = [lookup for query in self.queries if not query.single for lookup in (query.as_t, query.as_s)]
        layouts, places = layouts_for(lookups, distinct)
        next_place = iter(places)
        return layouts, [(-1, -1) if query.single else (next(next_place), next(next_place)) for query in self.queries]

    # ---- a batch ----------------------------------------------------------------------------------------------------

    def ready(self, before: Table, now: Table) -> None:
        """Make ready for a batch, the one step of it that sees the table: the indexes have its rows as they were
        before, with keys that are current after it.

        They are made again where keys changed, where codes outgrew their packing, and where the table has grown so much
        that another layout suits it better (section 5.2: a schedule is thought over only when it could have changed).
        """
        self._forget_if_behind()
        self.spaces.follow(now)
        if self._indexes is None or any(index.stale(self.spaces, now) for index in self._indexes):
            self._rebuild(before, now)
        elif before.rows > _GROWTH * self._laid_out_at + 1024:
            self._laid_out_at = before.rows
            layouts, _ = self._layouts([len(dictionary) for dictionary in now.dictionaries])
            if layouts != [index.layout for index in self._indexes]:
                self._rebuild(before, now)
        self.table, self._is_behind = now, True

    def _rebuild(self, before: Table, now: Table) -> None:
        self._indexes = None  # free the old ones first
        self._build(before.grown(now.dictionaries).following(now))

    def _forget_if_behind(self) -> None:
        """Make new indexes where nothing searched them after the last batch."""
        if self._is_behind:
            self._indexes, self._is_behind = None, False

    def look(self, born: Rows, dead: Rows, counted: Iterable[int] = ()) -> BatchPairs:
        """Let the rows that died leave and those born join. `counted` names queries whose lost pairs are counted: that
        must be done before the rows leave.
        """
        if not self._is_behind or self._indexes is None:
            raise AssertionError("a search must be ready for a batch")
        come, gone = Operands(self.spaces, born), Operands(self.spaces, dead)
        lost = {number: self._count_within(number, gone) for number in counted}
        for index in self._indexes:
            if len(gone):
                index.delete(gone)
            if len(come):
                index.take_in(come)
        self._is_behind = False
        return BatchPairs(self, come, lost)

    def _pairs_with(self, number: int, born: Operands, room: int) -> Pairs | None:
        """The pairs that rows born are in, each once; None where they are more than there is room for.

        As t they meet all rows, as s only those that were there before the batch, so no pair of two new rows is found
        twice.
        """
        query = self.queries[number]
        if not len(born):
            return no_pairs()
        if query.single:
            return scan.alone(query, born, room).pairs
        try:
            return self._probe(number, born, room)
        except TooMany:
            return None

    def _probe(self, number: int, born: Operands, room: int) -> Pairs:
        query, as_t, as_s = self.queries[number], self._index(number, 0), self._index(number, 1)
        if query.symmetric:
            younger, older = as_t.probe(query.as_t, born, OLDER, limit=room)
            return paired(older, younger) if len(older) else no_pairs()
        ts, partners = as_t.probe(query.as_t, born, OTHERS, limit=room)
        ss, olds = as_s.probe(query.as_s, born, BELOW, bound=int(born.ids[0]), limit=room - len(ts))
        if not len(ts) and not len(ss):
            return no_pairs()
        return paired(np.concatenate([ts, olds]), np.concatenate([partners, ss]))

    def _count_within(self, number: int, batch: Operands) -> int:
        """How many pairs some rows are in; all of them are in the indexes now: as t and as s, less the pairs within the
        batch, which both counted.
        """
        query = self.queries[number]
        if not len(batch):
            return 0
        if query.single:
            return len(scan.passing(query, batch))
        as_t, as_s = self._index(number, 0), self._index(number, 1)
        within = PairIndex.of(as_t.layout, batch).count(query.as_t, batch)
        count = as_t.count(query.as_t, batch)
        if query.symmetric:
            return count - within // 2
        return count + as_s.count(query.as_s, batch) - within


@dataclass(frozen=True)
class BatchPairs:
    """What a batch did to the pairs of each query. Ask before the next batch comes."""

    _search: PairSearch
    _born: Operands
    lost: dict[int, int]  # of the queries that were named: how many pairs the rows that died were in

    def added(self, number: int, room: int) -> Pairs | None:
        """The pairs that rows born are in; None where they are more than there is room for."""
        return self._search._pairs_with(number, self._born, room)

    def count(self, number: int) -> int:
        """How many pairs the rows born are in."""
        return self._search._count_within(number, self._born)


def _likely(files: Sequence[IndexFile | None], place: int) -> list[IndexFile]:
    """The files that may hold an index, that of its place first: where queries came or went, places are others."""
    return [each for each in (*files[place : place + 1], *files[:place], *files[place + 1 :]) if each is not None]
