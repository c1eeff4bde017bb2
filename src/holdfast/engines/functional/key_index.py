"""The rows of a table by their values in the columns of a key, in a file: a process that opens a state finds the rows
that share a key with those of a batch, and need not group all rows to follow it.

A file holds one sorted array with a number for each row that lived when it was written: the hash of the row's codes in
the high bits, its id in the low ones. It never changes. Whether a row still lives, and which codes it has, the table
says: so deletes need no note, and keys that share a hash do no harm. Rows born since are few, or the file is written
again; they are added when it is opened.

Invariant: every living row with an id below `end` is in the file or added to it.
Cost: 8 bytes a row. Opening costs what the rows born since cost; to find m keys takes O(m log n) steps, a look at the
blocks where they are, and one at the codes of the rows found.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.equal_rows import Codes, hash_rows
from holdfast.engines.given.finder import TableFinder
from holdfast.errors import Missing
from holdfast.search.operands import living_since
from holdfast.table import files
from holdfast.table.checks import CheckedArrays
from holdfast.table.table import Table

Ids = NDArray[np.int64]
Entries = NDArray[np.uint64]

FEWEST = 1 << 15  # rows: fewer are grouped as fast as a file is opened
MUCH = 32  # a file is written again where more than one row in MUCH has changed since
_ENTRIES = "entries"
_ROOM = 4  # bits of ids for rows that come before a file is written again


@dataclass(frozen=True)
class KeyFile:
    """The file of an index: its name, how many rows it holds, and the id of the first row that came later."""

    name: str
    rows: int
    next_id: int

    def drift(self, table: Table) -> int:
        """How many rows were born since, and how many died."""
        born = table.next_id - self.next_id
        return born + self.rows + born - table.rows

    def is_far_from(self, table: Table) -> bool:
        """Whether so much has changed that it is to be written again."""
        return self.drift(table) * MUCH > table.rows


@dataclass(frozen=True)
class StoredKey:
    """What a dump holds of the groups of a key that are too many for it: their totals, and the file of its index, if
    there is one.
    """

    totals: tuple[int, ...]
    file: KeyFile | None = None

    @staticmethod
    def of_json(stored: Mapping[str, Any]) -> StoredKey:
        """From the plain object that the facts of a dump hold."""
        return StoredKey(tuple(stored["totals"]), None if stored["file"] is None else KeyFile(**stored["file"]))


def write(table: Table, columns: Sequence[int]) -> KeyFile | None:
    """Write the index of all living rows; None where they are few, or where no file of theirs could be mapped."""
    if table.rows < FEWEST or table.folder is None:
        return None
    bits = table.next_id.bit_length() + _ROOM
    entries = _sorted(_living(table, columns, 0), bits)
    name = f"{uuid.uuid4().hex}.arrow"
    files.write(f"{table.folder}/{name}", {_ENTRIES: entries}, {"bits": bits, "columns": list(columns)})
    return KeyFile(name, len(entries), table.next_id)


class KeyIndex:
    """Finds the living rows with some codes in the columns of a key, among those with ids below `end`."""

    def __init__(self, table: Table, columns: Sequence[int], held: CheckedArrays, bits: int, first: int) -> None:
        """Of the entries that a file holds, and of the rows from the id `first` on."""
        self.end = table.next_id
        self._columns, self._held, self._bits = list(columns), held, np.uint64(bits)
        self._since = _sorted(_living(table, columns, first), bits)

    @staticmethod
    def opened(table: Table, columns: Sequence[int], file: KeyFile) -> KeyIndex | None:
        """The index in a file, of a table that is as it was, or as it became since; None where the file is gone, or of
        less use than grouping all rows again.
        """
        if table.folder is None or file.is_far_from(table):
            return None
        try:
            held, facts = files.read(f"{table.folder}/{file.name}")
        except Missing:
            return None
        fits = facts["columns"] == [*columns] and table.next_id < 1 << facts["bits"]
        return KeyIndex(table, columns, held, facts["bits"], file.next_id) if fits else None

    def rows(self, table: Table, wanted: Codes) -> tuple[Ids, NDArray[np.int64]]:
        """The rows that have the codes `wanted[:, i]`, which are distinct, in the columns of the key and live in some
        version of the table: their ids, ascending, and the i of each.
        """
        low = hash_rows(list(wanted), wanted.shape[1]) >> self._bits << self._bits
        high = low | self._ids_mask
        inside = self._between(self._held.search(_ENTRIES, low, "left"), self._held.search(_ENTRIES, high, "right"))
        since = self._between(np.searchsorted(self._since, low), np.searchsorted(self._since, high, side="right"))
        entries = np.concatenate([self._held.some(_ENTRIES, inside[0]), self._since[since[0]]])
        ids, query = (entries & self._ids_mask).astype(np.int64), np.concatenate([inside[1], since[1]])
        _, living = table.which_live(ids)
        ids, query = ids[living], query[living]
        same = (table.codes(ids, self._columns) == wanted[:, query]).all(axis=0)
        order = np.argsort(ids[same])
        return ids[same][order], query[same][order]

    @property
    def _ids_mask(self) -> np.uint64:
        return (np.uint64(1) << self._bits) - np.uint64(1)

    @staticmethod
    def _between(starts: Ids, ends: Ids) -> tuple[Ids, Ids]:
        """The places from each start to before its end, and for each the number of the start."""
        sizes = ends - starts
        number = np.repeat(np.arange(len(starts)), sizes)
        return starts[number] + np.arange(len(number)) - np.repeat(np.cumsum(sizes) - sizes, sizes), number


@dataclass(frozen=True, eq=False)
class IndexFinder:
    """The `Finder` (see `engines/given/keeper`) of a table with an index of the wanted columns: rows that
    came after the index was made cost a pass.
    """

    index: KeyIndex
    table: Table

    def rows_with(self, columns: Sequence[int], codes: NDArray[Any], first: int = 0) -> Iterator[tuple[Ids, Ids]]:
        """The living rows that have one of some tuples, which are distinct; see `Finder`."""
        ids, number = self.index.rows(self.table, codes.astype(np.uint32))
        yield ids[ids >= first], number[ids >= first]
        yield from TableFinder(self.table).rows_with(columns, codes, max(first, self.index.end))


def _living(table: Table, columns: Sequence[int], first: int) -> Iterator[tuple[Ids, Entries]]:
    """The living rows with ids from `first` on, shard by shard, each with the hash of its codes in some columns."""
    for shard, places in living_since(table, first):
        yield shard.ids_of(places), hash_rows([shard.codes_at(c, places) for c in columns], len(places))


def _sorted(rows: Iterator[tuple[Ids, Entries]], bits: int) -> Entries:
    """The entries of some rows, in order: hashes without their low bits, where the ids stand."""
    width = np.uint64(bits)
    parts = ((hashes >> width << width) | ids.view(np.uint64) for ids, hashes in rows)
    entries = np.concatenate([np.empty(0, np.uint64), *parts])
    entries.sort()
    return entries
