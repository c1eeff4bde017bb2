"""The pair search that all keepers of a table share: each adds its queries.

Queries are added when a keeper begins or loads its state, so that queries of several keepers can share an index.
The first keeper that looks at a batch takes it in; later ones get the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from holdfast.progress import SILENT, Progress
from holdfast.search.queries import PairQuery
from holdfast.search.search import BatchPairs, PairSearch
from holdfast.table.change import Change
from holdfast.table.nulls import Nulls
from holdfast.table.rewrite import UsedCodes
from holdfast.table.rows import Rows
from holdfast.table.runner import Runner
from holdfast.table.table import Table

Arrays = Mapping[str, NDArray[Any]]


class TableSearch:
    """The pair search of a table in which a comparison with null is never true, as in SQL."""

    name: ClassVar[str] = "search"
    nulls: ClassVar[Nulls] = Nulls.SQL

    def __init__(self, table: Table) -> None:
        self.pairs = PairSearch(table, [], self.nulls)
        self.counted: set[int] = set()  # queries whose pairs are counted alone: those of rows that die, before they do
        self.keeps_indexes = False  # whether indexes are made for a dump where there are none yet
        self._batch: BatchPairs | None = None

    def ask(self, queries: Sequence[PairQuery]) -> range:
        """Add queries; gives their numbers."""
        first = len(self.pairs.queries)
        self.pairs.add(queries)
        return range(first, first + len(queries))

    def follow(self, change: Change, runner: Runner | None = None) -> None:  # noqa: ARG002  # a batch fits one machine
        """Make ready for a batch, unless that was done."""
        if self.pairs.table is not change.after:
            self.pairs.ready(change.before, change.after)
            self._batch = None

    def look(self, born: Rows, dead: Rows) -> BatchPairs:
        """Take in the rows of the batch, unless another keeper did; gives what they did to the pairs."""
        if self._batch is None:
            self._batch = self.pairs.look(born, dead, self.counted)
        return self._batch

    @classmethod
    def of(cls, table: Table, runner: Runner | None = None, progress: Progress = SILENT) -> Self:  # noqa: ARG003
        """Without queries yet."""
        return cls(table)

    @classmethod
    def load(cls, table: Table, arrays: Arrays, facts: Mapping[str, Any]) -> Self:
        """With the indexes that `dump` described, which are opened when they are needed."""
        search = cls(table)
        if facts and table.folder is not None:
            search.pairs.open_when_needed(arrays, facts, table.folder)
        return search

    def rewritten(self, table: Table, kept: UsedCodes) -> Self:  # noqa: ARG002
        """Without queries, as their owners add them again; indexes hold codes, and are made again."""
        search = type(self)(table)
        search.keeps_indexes = True
        return search

    def dump(self) -> tuple[Arrays, dict[str, Any]]:
        """Where the indexes lie in files. They are written where that is worth it."""
        folder = self.pairs.table.folder
        if folder is not None and (self.keeps_indexes or self.pairs.nbytes):
            self.pairs.write_indexes(folder)
        return self.pairs.dump()


class NullsFirstSearch(TableSearch):
    """The pair search of a table in which null equals null and is less than every value, as where rows are sorted."""

    name: ClassVar[str] = "search_nulls_first"
    nulls: ClassVar[Nulls] = Nulls.EQUAL
