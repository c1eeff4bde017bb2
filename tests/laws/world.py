"""A small table on which the laws are tried: random rows, random batches, with ties, nulls, NaN and duplicates."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import reject
from hypothesis import strategies as st

from holdfast.changes.diff import Diff, Finding, Result
from holdfast.changes.operations import DELETE
from holdfast.engines.contract import HISTORY, Engine
from holdfast.engines.watched import WatchedTable
from holdfast.table.admit import Incoming, admit
from holdfast.table.change import Batch as Changes
from holdfast.table.change import Change
from holdfast.table.encode import stage
from holdfast.table.load import load_table
from holdfast.table.nulls import NullMode, Nulls
from holdfast.table.rewrite import UsedCodes, rewritten
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Schema, Table, TableFiles
from holdfast.table.types import Column

COLUMNS = (
    Column("number", pa.int64()),
    Column("text", pa.string()),
    Column("real", pa.float64()),
    Column("flag", pa.bool_()),
    Column("day", pa.date32()),
)
Row = tuple[Any, ...]

numbers = st.one_of(st.none(), st.integers(-2, 2))
texts = st.one_of(st.none(), st.sampled_from(["", "a", "aa", "b", "é", "𝄞"]))
reals = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.5, -1.5, float("nan"), float("inf")]))
flags = st.one_of(st.none(), st.booleans())
days = st.one_of(st.none(), st.integers(-1, 2))
rows = st.tuples(numbers, texts, reals, flags, days)
row_lists = st.lists(rows, max_size=12)
null_modes = st.sampled_from(["equal", "distinct"])


@dataclass(frozen=True)
class Batch:
    """Rows to insert, and the places (taken modulo the number of living rows) of rows to delete."""

    inserts: list[Row] = field(default_factory=list)
    deletes: list[int] = field(default_factory=list)


batches = st.builds(Batch, row_lists, st.lists(st.integers(0, 50), max_size=6))


class World:
    """A table that batches change, and a plain list of the same rows."""

    def __init__(self, nulls: NullMode = "equal", runner: Runner | None = None) -> None:
        schema = Schema("t", COLUMNS, (), Nulls(nulls))
        self.runner = runner or Threads()
        self.folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, self.folder)
        self.table = Table.empty(schema)
        self.where = TableFiles(schema, (), 0)
        self.rows: list[Row] = []

    def change(self, batch: Batch) -> Change:
        """Apply a batch to the table; returns the change that engines follow."""
        doomed = list(dict.fromkeys(place % len(self.rows) for place in batch.deletes)) if self.rows else []
        gone = [self.rows[place] for place in doomed]
        self.rows = [row for place, row in enumerate(self.rows) if place not in doomed] + list(batch.inserts)
        return self.signed(batch.inserts, gone)

    def signed(self, inserts: list[Row], deletes: list[Row]) -> Change:
        """Insert and delete rows by their values."""
        chunks: list[tuple[Any, Any]] = []
        if deletes:
            chunks.append((_staged(deletes), np.full(len(deletes), DELETE, np.int8)))
        if inserts:
            chunks.append((_staged(inserts), None))
        incoming = Incoming("changes", chunks, (), len(inserts) + len(deletes))
        before = self.table
        done = admit(before, incoming, self.folder, self.runner, lambda _: None)
        self.table = done.table
        assert done.table.where is not None
        self.where = done.table.where
        return Change(before, done.table, done.born, done.dead)

    def rewrite(self) -> UsedCodes:
        """Rewrite the table's files; returns the codes that stayed."""
        made = rewritten(self.table, self.folder)
        self.where = TableFiles(self.table.schema, made.segments, self.table.next_id)
        self.table = load_table(self.where)
        return made.kept


class Kept:
    """An engine's state of a world, kept up to date by maintenance. Several may share what they watch."""

    def __init__(self, engine: Engine[Any, Any], world: World, watched: WatchedTable | None = None) -> None:
        if engine.declared.name == "lod" and world.table.schema.nulls.are_distinct:
            reject()  # such nulls have no order, so lists are refused
        self.engine, self.world = engine, world
        self.watched = watched or WatchedTable(world.table)
        self.state = engine.discover(self._subject(self.watched), world.runner)

    def _subject(self, watched: WatchedTable) -> Any:
        return {"t": watched} if self.engine.declared.across else watched

    def follow(self, change: Change) -> Diff:
        if self.watched.table is not change.after:
            self.watched.follow(change, self.world.runner)
        batch = Changes([change])
        return self.engine.explained(self.state, self.engine.follow(self.state, batch, self.world.runner), batch)

    def rewrite(self) -> None:
        """Rewrite the table's files, and go on with those."""
        kept = self.world.rewrite()
        self.watched.rewritten(self.world.table, kept)
        self.state = self.engine.rewritten(self.state, self._subject(self.watched), {"t": kept})

    def reload(self) -> None:
        """Go on with what is kept on disk, as another process would."""
        shared, about = self.watched.dump()
        self.watched = WatchedTable(self.world.table, {k: np.array(v) for k, v in shared.items()}, about)
        arrays, facts = self.engine.dump(self.state)
        self.state = self.engine.load(self._subject(self.watched), {k: np.array(v) for k, v in arrays.items()}, facts)

    def result(self) -> Result:
        return dict(self.engine.result(self.state))

    def ranked(self) -> list[Finding]:
        return list(self.engine.ranked(self.state).values())

    def rediscovered(self) -> Result:
        return self._discovered().result()

    def rediscovered_ranked(self) -> list[Finding]:
        return self._discovered().ranked()

    def lines(self) -> list[dict[str, Any]]:
        """The findings as objects, but for what is history, and no fact of the table."""
        lines = [finding.to_json() for finding in self.ranked()]
        return [{name: line[name] for name in line if name not in HISTORY} for line in lines]

    def rediscovered_lines(self) -> list[dict[str, Any]]:
        return self._discovered().lines()

    def _discovered(self) -> Kept:
        return Kept(self.engine, self.world)


def _staged(some: list[Row]) -> Any:
    arrays = [pa.chunked_array([_array(column, [row[i] for row in some])]) for i, column in enumerate(COLUMNS)]
    return stage(arrays, COLUMNS)


def _array(column: Column, values: list[Any]) -> pa.Array:
    if pa.types.is_date(column.type):
        return pa.array(values, pa.int32()).cast(pa.date32())
    return pa.array(values, column.type)


def multiset(some: list[Row]) -> Counter[str]:
    """Rows as a multiset; NaN equals NaN and -0.0 equals 0.0."""
    return Counter(repr(tuple(v + 0.0 if isinstance(v, float) else v for v in row)) for row in some)
