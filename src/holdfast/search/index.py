"""One index of a pair search: a box tree over the rows that pass some checks, and how lookups are put to it.

Dimensions of the tree: the equality columns as one key, the leading column, the other columns compared; where the key
had to be hashed, the equality columns themselves, so that no collision goes unnoticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import Missing
from holdfast.kernels.boxprobe import EQ, GE, GT, LE, LT, NE, BoxQueries
from holdfast.kernels.boxtree import LEAF, LEAST, SUMS
from holdfast.search.boxtree import BoxTree, full_blocks, single_blocks
from holdfast.search.layout import Layout, by_selectivity
from holdfast.search.operands import Line, Operands, Packing, Spaces, born_since
from holdfast.search.queries import Check, Condition, Lookup
from holdfast.search.sorting import sorted_order
from holdfast.table import files
from holdfast.table.private_arrays import PrivateArrays, let_go
from holdfast.table.table import Table

Ids = NDArray[np.int64]
_CODE = {"=": EQ, "!=": NE, "<": LT, "<=": LE, ">": GT, ">=": GE}
_FEW = 4096
MUCH = 32  # where more than one row in MUCH has changed since an index was written, it is sooner made than opened
_BULK = 4  # a batch of more than a fourth of the rows is not put in row by row


@dataclass
class IndexFile:
    """The file that an index was last written to, and what became of its rows since."""

    path: str
    next_id: int = 0  # rows from here on are not in the file
    inserted: int = 0
    made_up_for: int = 0  # rows that this process had to put in and take out when it opened the file
    deleted: list[tuple[NDArray[np.int64], Ids]] = field(default_factory=list)  # keys and ids of rows in the file

    def forget(self, matrix: NDArray[np.int64], ids: Ids) -> None:
        """Remember that rows died, so that a process that opens the file takes them out again."""
        old = ids < self.next_id
        if old.any():
            self.deleted.append((np.compress(old, matrix, axis=1), ids[old]))

    @property
    def drift(self) -> int:
        """How many rows a process that opens the file has to put in and to take out."""
        return self.inserted + sum(len(ids) for _, ids in self.deleted)


class PairIndex:
    """The rows of a table that pass `layout.found` and can be found by its equality columns."""

    tree: BoxTree

    def __init__(self, layout: Layout, spaces: Spaces, table: Table, bits: Sequence[int] | None = None) -> None:
        """An index that has no rows yet; `bits`: how wide each equality column is packed, if that was decided before.
        Use `of` or `opened`.
        """
        self.layout = layout
        self.written: IndexFile | None = None
        self.grouped: Ids | None = None  # the rows in the index, where those alone with their key were left out
        self._floor = LEAST if spaces.nulls.are_equal else LEAST + 1
        self._packing = Packing(spaces, layout.keys, table, bits)
        self._columns = self._dimensions()
        lines: list[Line] = [(self._packing, layout.keys)] if layout.keys else []
        self._lines = (*lines, *self._columns[len(lines) :])
        self._used = sorted({*layout.keys, *(c for c in self._columns if c >= 0)})
        self._generation = spaces.generation(self._used)
        self._conditions: dict[tuple[Lookup, tuple[int, ...]], _TreeConditions] = {}

    @staticmethod
    def of(layout: Layout, rows: Operands, *, only_groups: bool = False) -> PairIndex:
        """The index of some rows. `only_groups` leaves out those that share their equality key with no other."""
        index = PairIndex(layout, rows.spaces, rows.table)
        matrix, ids = index._matrix(rows)
        if only_groups and layout.keys:
            matrix, ids = _sharing_keys(matrix, ids)
            index.grouped = ids
        index.tree = BoxTree(matrix, ids)
        return index

    # ---- in files ---------------------------------------------------------------------------------------------------

    def is_lasting(self, spaces: Spaces) -> bool:
        """Whether another process could go on with the keys in the tree."""
        return spaces.is_lasting(self._used)

    def write(self, path: str, table: Table) -> None:
        """Write the index, which is current with a table, to a new file."""
        facts = {"rows": len(self.tree), "next_id": table.next_id, "bits": self._packing.bits}
        files.write(path, self.tree.arrays(), facts | {"holds": self._holds(), "sums": SUMS})
        let_go(path)
        self.written = IndexFile(path, table.next_id)

    @staticmethod
    def opened(layout: Layout, spaces: Spaces, table: Table, written: IndexFile) -> PairIndex | None:
        """The index in a file, brought up to date with a table; None where that can't be done, or would take longer
        than to make the index: the file is gone or of another kind, another layout is wanted, or much has changed.
        """
        try:
            file = PrivateArrays(written.path)
        except Missing:
            return None
        index = PairIndex(layout, spaces, table, file.facts["bits"])
        if file.facts.get("sums") != SUMS or index._holds() != file.facts.get("holds"):
            return None
        if index.stale(spaces, table) or not index.is_lasting(spaces):
            return None
        born, rows = born_since(spaces, table, file.facts["next_id"]), file.facts["rows"]
        if (len(born) + written.drift) * MUCH > rows:
            return None
        index.tree = BoxTree.opened(file, max(1, len(index._columns)), rows)
        index.written = IndexFile(written.path, file.facts["next_id"])
        for matrix, ids in written.deleted:
            index._delete(matrix, ids)
        index.insert(born)
        index.written.made_up_for = index.written.drift
        return index

    def _holds(self) -> list[str]:
        """Which rows the index holds, by which columns: two indexes that say the same are interchangeable. Of rows with
        a null in an equality column a key holds none, and a leading column does.
        """
        return [f"keys {self.layout.keys}", *map(str, self._columns), *map(repr, self.layout.found)]

    # ---- rows and searches ------------------------------------------------------------------------------------------

    def _dimensions(self) -> list[int]:
        """The column of each dimension; -1 for a key of several."""
        layout = self.layout
        columns = [layout.keys[0] if len(layout.keys) == 1 else -1] if layout.keys else []
        columns += [layout.lead] if layout.lead is not None else []
        others = [c for c in layout.others if c != layout.lead]
        return columns + others + ([] if self._packing.exact else list(layout.keys))

    def stale(self, spaces: Spaces, table: Table) -> bool:
        """Whether the keys in the tree are no longer those of the columns, and it must be made again."""
        return self._generation != spaces.generation(self._used) or not self._packing.fits(spaces, table)

    def _matrix(self, rows: Operands) -> tuple[NDArray[np.int64], Ids]:
        return rows.matrix(self.layout.found, self.layout.keys, self._lines)

    def insert(self, rows: Operands) -> None:
        """Put in the rows that belong."""
        self._insert(*self._matrix(rows))

    def _insert(self, matrix: NDArray[np.int64], ids: Ids) -> None:
        self.tree.insert(matrix, ids)
        if self.written is not None:
            self.written.inserted += len(ids)

    def delete(self, rows: Operands) -> None:
        """Take out the rows that belong."""
        self._delete(*self._matrix(rows))

    def _delete(self, matrix: NDArray[np.int64], ids: Ids) -> None:
        self.tree.delete(matrix, ids)
        if self.written is not None:
            self.written.forget(matrix, ids)

    def take_in(self, rows: Operands) -> None:
        """Put in the rows that belong, younger than all others. Where that is quicker, as they are many, a new tree is
        made of its own rows and these.
        """
        matrix, ids = self._matrix(rows)
        if len(ids) <= _FEW or len(ids) * _BULK <= len(self.tree):
            self._insert(matrix, ids)
            return
        if len(self.tree):
            old, old_ids = self.tree.contents()
            by_id = np.argsort(ids)
            matrix = np.concatenate([old, np.take(matrix, by_id, axis=1)], axis=1)
            ids = np.concatenate([old_ids, ids[by_id]])
            order = sorted_order(list(matrix[:2]), len(ids))
            matrix, ids = np.take(matrix, order, axis=1), ids[order]
        self.tree, self.written = BoxTree(matrix, ids), None

    def probe(
        self,
        lookup: Lookup,
        asking: Operands,
        partners: int,
        *,
        bound: int = 0,
        limit: int,
        blocks: bool = False,
    ) -> tuple[Ids, Ids]:
        """Ids of the rows that ask, and of those they found. `blocks` where the rows that ask are a whole table."""
        question, starts = self._question_of(lookup, asking, partners, bound, blocks)
        queries, rows = self.tree.probe(question, starts, limit)
        return question.own[queries], rows

    def first(self, lookup: Lookup, asking: Operands, partners: int) -> tuple[int, int] | None:
        """A row that asks, of a whole table, and one that it found: the search ends with the first."""
        question, starts = self._question_of(lookup, asking, partners, 0, blocks=True)
        hit = self.tree.first(question, starts)
        return None if hit is None else (int(question.own[hit[0]]), hit[1])

    def count(self, lookup: Lookup, asking: Operands, both: Operands | None = None) -> int:
        """How many pairs of different rows there are. `both`: those of the rows that ask which are also among the rows
        that the index was made of; None: all of them.
        """
        total = int(self.tree.count(self._question(lookup, asking, 0, 0)).sum())
        rows = asking if both is None else both
        with_itself = (Check(c.mine, c.operator, c.theirs) for c in lookup.conditions)
        mask = rows.passing((*lookup.asking, *lookup.found, *with_itself))
        return total - (len(rows) if mask is None else int(np.count_nonzero(mask)))

    def _question_of(
        self, lookup: Lookup, asking: Operands, partners: int, bound: int, blocks: bool
    ) -> tuple[BoxQueries, NDArray[np.int64]]:
        question = self._question(lookup, asking, partners, bound)
        size = len(question.own)
        return question, full_blocks(size) if blocks else single_blocks(size)

    def _question(self, lookup: Lookup, asking: Operands, partners: int, bound: int) -> BoxQueries:
        conditions = self._conditions_of(lookup, asking)
        operands, own = asking.matrix(lookup.asking, lookup.theirs, conditions.lines)
        return BoxQueries(conditions.dims, conditions.ops, operands, own, partners, bound, self._floor)

    def _conditions_of(self, lookup: Lookup, asking: Operands) -> _TreeConditions:
        """The lookup in terms of the tree, with its conditions in the best order as of now."""
        rest = lookup.rest if len(lookup.rest) < 2 else tuple(by_selectivity(lookup.rest, asking.distinct))
        order = tuple(c.mine for c in rest)
        if (lookup, order) not in self._conditions:
            self._conditions[lookup, order] = self._made(lookup, rest)
        return self._conditions[lookup, order]

    def _made(self, lookup: Lookup, rest: tuple[Condition, ...]) -> _TreeConditions:
        parts: list[tuple[int, str, Line]] = []
        if lookup.by_key:
            theirs = tuple(c.theirs for c in lookup.by_key)
            parts.append((0, "=", (self._packing, theirs)))
        if not self._packing.exact:
            parts += [(self._dim(c.mine), "=", c.theirs) for c in lookup.by_key]
        parts += [(self._dim(c.mine), c.operator, c.theirs) for c in rest]
        # What the order of the rows settles comes first: dimension 0, then 1, `!=` last (see `boxprobe`).
        parts.sort(key=lambda part: (min(part[0], 2), part[0] < 2 and part[1] == "!="))
        return _TreeConditions(parts)

    def _dim(self, column: int) -> int:
        keys = 1 if self.layout.keys else 0
        return keys + self._columns[keys:].index(column)


def _sharing_keys(rows: NDArray[np.int64], ids: Ids) -> tuple[NDArray[np.int64], Ids]:
    """Those of some rows that share their key with another one. Few rows need not be sorted, and stay as they are."""
    if len(ids) <= LEAF:
        return rows, ids
    same = rows[0, 1:] == rows[0, :-1]
    shared = np.zeros(len(ids), np.bool_)
    shared[1:] |= same
    shared[:-1] |= same
    return np.compress(shared, rows, axis=1), ids[shared]


class _TreeConditions:
    """A lookup's conditions by dimension of one tree, and the lines that rows bring to them when they ask."""

    def __init__(self, parts: list[tuple[int, str, Line]]) -> None:
        self.dims = np.array([dim for dim, _, _ in parts], np.int64)
        self.ops = np.array([_CODE[operator] for _, operator, _ in parts], np.int64)
        self.lines: tuple[Line, ...] = tuple(line for _, _, line in parts)
