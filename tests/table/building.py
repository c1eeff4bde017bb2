"""Small tables, and how the tests change them: plain rows in, the encoded table out."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import holdfast.changes.equal_rows
import holdfast.table.resolve
import holdfast.table.shard
import holdfast.table.table
from holdfast.changes.equal_rows import Codes
from holdfast.changes.operations import DELETE, INSERT, UPDATE, UPSERT
from holdfast.table import admit as admit_module
from holdfast.table import bulk
from holdfast.table.admit import Admitted, Incoming, admit
from holdfast.table.encode import Staged, merge, stage
from holdfast.table.load import load_table
from holdfast.table.resolve import Mode, OnMissing
from holdfast.table.runner import Threads
from holdfast.table.table import Schema, Table, TableFiles
from holdfast.table.types import Column
from tests.oracle import rows as oracle
from tests.oracle.rows import Operation, Row, plain_row

NUMBERS = {"insert": INSERT, "delete": DELETE, "update": UPDATE, "upsert": UPSERT}
COLUMNS = (Column("n", pa.int64()), Column("s", pa.string()), Column("f", pa.float64()))


def schema_of(key: tuple[int, ...] = (), columns: tuple[Column, ...] = COLUMNS) -> Schema:
    return Schema("things", columns, key)


def staged_of(rows: Sequence[Sequence[Any]], schema: Schema) -> Staged:
    arrays = [pa.array([row[c] for row in rows], column.type) for c, column in enumerate(schema.columns)]
    return stage([pa.chunked_array([array]) for array in arrays], schema.columns)


def kinds_of(operations: Sequence[Operation]) -> NDArray[np.int8]:
    return np.array([NUMBERS[kind] for kind, _ in operations], np.int8)


def encoded(table: Table, rows: Sequence[Sequence[Any]]) -> tuple[Codes, Table]:
    """Rows as codes, and the table with the dictionaries that know them."""
    staged = staged_of(rows, table.schema)
    codes, grown = [], []
    for c, dictionary in enumerate(table.dictionaries):
        (own,), fresh = merge([staged.values[c]], dictionary)
        codes.append(own[staged.codes[c]])
        grown.append(dictionary.extended(fresh))
    return np.stack(codes).astype(np.uint32), table.grown(tuple(grown))


def rows_of(table: Table, ids: NDArray[np.int64] | None = None) -> list[Row]:
    """The living rows, or those with some ids, in the form in which the oracle compares them."""
    values = table.values(table.living_ids() if ids is None else ids)
    return [plain_row(row) for row in zip(*(column.to_pylist() for column in values.columns), strict=True)]


def counted(table: Table) -> Counter[Row]:
    return Counter(rows_of(table))


@dataclass(frozen=True)
class Kept:
    """A table with the files that a commit would name."""

    table: Table
    files: TableFiles
    folder: str

    @staticmethod
    def empty(schema: Schema, folder: str) -> Kept:
        return Kept(Table.empty(schema), TableFiles(schema, (), 0), folder)

    def admit(self, incoming: Incoming) -> tuple[Admitted, Kept]:
        """Admit rows, and commit."""
        admitted = admit(self.table, incoming, self.folder, Threads(2), lambda _: None)
        next_id = admitted.table.next_id
        named = TableFiles(self.files.schema, self.files.segments + admitted.segments, next_id)
        return admitted, Kept(admitted.table, named, self.folder)

    def operate(
        self, operations: Sequence[Operation], on_missing: OnMissing = "error", pieces: int = 1
    ) -> tuple[Admitted, Kept]:
        return self.admit(self.incoming("changes", operations, on_missing, pieces))

    def become(self, rows: Sequence[Row], pieces: int = 1) -> tuple[Admitted, Kept]:
        """A snapshot."""
        return self.admit(self.incoming("snapshot", inserts(rows), pieces=pieces))

    def incoming(
        self, mode: Mode, operations: Sequence[Operation], on_missing: OnMissing = "error", pieces: int = 1
    ) -> Incoming:
        """Operations in memory, in some pieces. A piece of inserts alone has no operations."""
        chunks: list[tuple[Staged, NDArray[np.int8] | None]] = []
        for part in split(operations, pieces):
            kinds = kinds_of(part)
            staged = staged_of([row for _, row in part], self.files.schema)
            chunks.append((staged, None if (kinds == INSERT).all() else kinds))
        return Incoming(mode, chunks, rows=len(operations), on_missing=on_missing)

    def reloaded(self) -> Table:
        return load_table(self.files)


def split(items: Sequence[Operation], pieces: int) -> list[Sequence[Operation]]:
    """The items in order, in `pieces` pieces, some of them perhaps empty."""
    if not pieces:
        return []
    bounds = [len(items) * i // pieces for i in range(pieces + 1)]
    return [items[start:end] for start, end in itertools.pairwise(bounds)]


def inserts(rows: Sequence[Sequence[Any]]) -> list[Operation]:
    return [("insert", tuple(row)) for row in rows]


def deletes(rows: Sequence[Sequence[Any]]) -> list[Operation]:
    return [("delete", tuple(row)) for row in rows]


def in_files(incoming: Incoming, folder: str) -> Incoming:
    """The same rows, staged in files."""
    paths = []
    for staged, kinds in incoming.chunks:
        paths.append(bulk.write_staged(folder, staged, kinds))
    return Incoming(incoming.mode, paths=paths, rows=incoming.rows, on_missing=incoming.on_missing)


@contextmanager
def bulk_path(rows_a_slice: int = 3) -> Iterator[None]:
    """Sort in files, in slices of a few rows."""
    with patch.object(admit_module, "SMALL", 0), patch.object(admit_module, "_ROWS_A_SLICE", rows_a_slice):
        yield


@contextmanager
def colliding_hashes(distinct: int) -> Iterator[None]:
    """Let all rows share so few hashes, spread over the whole range of hashes."""

    def few(columns: list[NDArray[Any]], rows: int | None = None) -> NDArray[np.uint64]:
        count = len(columns[0]) if columns else (rows or 0)
        total = sum((column.astype(np.uint64) for column in columns), np.zeros(count, np.uint64))
        return (total % np.uint64(distinct)) * np.uint64(2**64 // distinct - 1)

    with ExitStack() as patches:
        modules = [holdfast.changes.equal_rows, holdfast.table.shard, holdfast.table.table]
        for module in (*modules, holdfast.table.resolve, admit_module):
            patches.enter_context(patch.object(module, "hash_rows", few))
        yield


def operated(kept: Kept, operations: Sequence[Operation], in_bulk: bool) -> Kept:
    """The table after some operations, in memory or in bulk, checked against the oracle; order keys are made."""
    outcome = oracle.apply(rows_of(kept.table), operations, kept.table.schema.key)
    wrong = set(outcome.duplicate)
    good = [each for place, each in enumerate(operations) if place not in wrong]
    incoming = kept.incoming("changes", good, on_missing="ignore")
    if in_bulk:
        with bulk_path():
            _, after = kept.admit(in_files(incoming, kept.folder))
    else:
        _, after = kept.admit(incoming)
    assert sorted(rows_of(after.table), key=repr) == sorted(outcome.rows, key=repr)
    for column in range(3):
        after.table.order_keys(column)
    return after
