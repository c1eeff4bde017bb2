"""Several small tables on which the laws are tried, with columns of every kind that share values."""

from __future__ import annotations

import datetime
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from holdfast.changes.diff import Diff
from holdfast.changes.operations import DELETE
from holdfast.engines.inclusion import InclusionSettings
from holdfast.engines.inclusion.clusters import members
from holdfast.engines.inclusion.engine import InclusionEngine
from holdfast.engines.inclusion.explain import INDExplanation
from holdfast.engines.inclusion.state import INDState
from holdfast.engines.registry import rule_class
from holdfast.engines.watched import WatchedTable
from holdfast.table.admit import Incoming, admit
from holdfast.table.change import Batch, Change
from holdfast.table.encode import Staged, stage
from holdfast.table.load import load_table
from holdfast.table.rewrite import UsedCodes, rewritten
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Schema, Table, TableFiles
from holdfast.table.types import Column

Row = tuple[Any, ...]
SCHEMAS = {
    "a": (Column("n", pa.int64()), Column("d", pa.decimal128(5, 2)), Column("s", pa.string())),
    "b": (Column("m", pa.int64()), Column("f", pa.float64()), Column("t", pa.string()), Column("day", pa.date32())),
    "c": (Column("long", pa.decimal128(30, 3)), Column("k", pa.int64()), Column("yes", pa.bool_())),
}

_day = datetime.date(2020, 2, 29)
_OF_TYPE: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): st.sampled_from([None, -1, 0, 1, 2, 2**60]),
    pa.decimal128(5, 2): st.sampled_from([None, *map(Decimal, ("0.00", "1.00", "0.50", "-1.00", "0.10"))]),
    pa.decimal128(30, 3): st.sampled_from(
        [None, *map(Decimal, ("0.500", "1.000", f"{2**60}.000", f"{2**70}.000", "0.100"))]
    ),
    pa.float64(): st.sampled_from(
        [None, 0.0, -0.0, 1.0, 0.5, 0.1, 2.0**60, 2.0**70, 1e300, float("nan"), float("inf")]
    ),
    pa.string(): st.sampled_from([None, "", "a", "é", "1", "0.50", "1.0", "true", "2020-02-29"]),
    pa.bool_(): st.sampled_from([None, True, False]),
    pa.date32(): st.sampled_from([None, _day, _day + datetime.timedelta(1)]),
}


def rows_of(name: str, most: int = 6) -> st.SearchStrategy[list[Row]]:
    return st.lists(st.tuples(*(_OF_TYPE[column.type] for column in SCHEMAS[name])), max_size=most)


first_rows = st.fixed_dictionaries({name: rows_of(name) for name in SCHEMAS})
batches = st.sampled_from(list(SCHEMAS)).flatmap(
    lambda name: st.tuples(st.just(name), rows_of(name, 4), st.lists(st.integers(0, 20), max_size=4))
)


class Several:
    """Tables that batches change, and plain lists of the same rows."""

    def __init__(self, schemas: dict[str, tuple[Column, ...]] | None = None, key: tuple[int, ...] = ()) -> None:
        self.schemas = schemas or SCHEMAS
        self.folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, self.folder)
        self.tables = {name: Table.empty(Schema(name, columns, key)) for name, columns in self.schemas.items()}
        self.where = {name: TableFiles(table.schema, (), 0) for name, table in self.tables.items()}
        self.rows: dict[str, list[Row]] = {name: [] for name in self.schemas}

    def change(self, name: str, inserts: Sequence[Row] = (), deletes: Iterable[int] = ()) -> Change:
        """Insert rows, and delete those at some places (taken modulo the number of rows)."""
        rows = self.rows[name]
        doomed = list(dict.fromkeys(place % len(rows) for place in deletes)) if rows else []
        gone = [rows[place] for place in doomed]
        self.rows[name] = [row for place, row in enumerate(rows) if place not in doomed] + list(inserts)
        chunks: list[tuple[Staged, Any]] = []
        if gone:
            chunks.append((self._staged(name, gone), np.full(len(gone), DELETE, np.int8)))
        if inserts:
            chunks.append((self._staged(name, inserts), None))
        before = self.tables[name]
        incoming = Incoming("changes", chunks, (), len(gone) + len(inserts))
        done = admit(before, incoming, self.folder, Threads(), lambda _: None)
        assert done.table.where is not None
        self.tables[name], self.where[name] = done.table, done.table.where
        return Change(before, done.table, done.born, done.dead)

    def _staged(self, name: str, rows: Sequence[Row]) -> Staged:
        columns = self.schemas[name]
        arrays = [pa.array([row[c] for row in rows], column.type) for c, column in enumerate(columns)]
        return stage([pa.chunked_array([array]) for array in arrays], columns)

    def reopen(self) -> None:
        """Read the tables again from their files, as another process would."""
        self.tables = {name: load_table(where) for name, where in self.where.items()}

    def rewrite(self, names: Iterable[str]) -> dict[str, UsedCodes]:
        """Rewrite the files of some tables; returns the codes that stayed."""
        kept: dict[str, UsedCodes] = {}
        for name in names:
            made = rewritten(self.tables[name], self.folder)
            self.where[name] = TableFiles(self.tables[name].schema, made.segments, self.tables[name].next_id)
            self.tables[name] = load_table(self.where[name])
            kept[name] = made.kept
        return kept

    def plain(self) -> dict[str, tuple[list[str], list[Row]]]:
        """The tables as the oracle wants them."""
        return {name: ([column.name for column in columns], self.rows[name]) for name, columns in self.schemas.items()}


def filled(rows: dict[str, list[Row]], schemas: dict[str, tuple[Column, ...]] | None = None) -> Several:
    several = Several(schemas)
    for name, some in rows.items():
        several.change(name, some)
    return several


def watched(tables: Mapping[str, Table]) -> dict[str, WatchedTable]:
    return {name: WatchedTable(table) for name, table in tables.items()}


class Watched:
    """The engine's state of several tables, kept up to date."""

    def __init__(
        self, several: Several, options: InclusionSettings | None = None, runner: Runner | None = None
    ) -> None:
        self.several, self.runner = several, runner or Threads()
        self.engine = InclusionEngine(rule_class("ind"), options or InclusionSettings())
        self.tables = watched(several.tables)
        self.state: INDState = self.engine.discover(self.tables, self.runner)

    def apply(self, name: str, inserts: Sequence[Row] = (), deletes: Iterable[int] = ()) -> Diff:
        change = self.several.change(name, inserts, deletes)
        self.tables[name].follow(change, self.runner)
        batch = Batch([change])
        return self.engine.explained(self.state, self.engine.follow(self.state, batch, self.runner), batch)

    def explain(self, text: str) -> INDExplanation:
        return self.engine.explain(self.state, self.tables, text)

    def rewrite(self, names: Iterable[str]) -> None:
        """Rewrite the files of some tables, and go on with those."""
        kept = self.several.rewrite(names)
        for name, stays in kept.items():
            self.tables[name].rewritten(self.several.tables[name], stays)
        self.state = self.engine.rewritten(self.state, self.tables, kept)

    def clusters(self) -> dict[frozenset[tuple[str, str]], int]:
        named = [(each.table, each.name) for each in self.state.attributes]
        return {frozenset(named[i] for i in members(mask)): n for mask, n in self.state.clusters.counts.items()}

    def result(self) -> dict[str, Any]:
        return dict(self.engine.result(self.state))

    def rediscovered(self) -> dict[str, Any]:
        return dict(self.engine.result(self.engine.discover(watched(self.several.tables), Threads())))

    def reload(self) -> None:
        arrays, facts = self.engine.dump(self.state)
        self.several.reopen()
        self.tables = {
            name: WatchedTable(self.several.tables[name], {k: np.array(v) for k, v in each.dump()[0].items()})
            for name, each in self.tables.items()
        }
        self.state = self.engine.load(self.tables, {k: np.array(v) for k, v in arrays.items()}, facts)


def texts_of(pairs: Iterable[Any]) -> set[str]:
    """The texts of dependencies that the oracle tells as pairs of attributes, or of tuples of them."""
    return {_text(pair) for pair in pairs}


def _text(pair: Any) -> str:
    if isinstance(pair[0][0], str):
        (table, column), (other, referenced) = pair
        return f"{table}.{column} in {other}.{referenced}"
    left, right = ([side[1] for side in sides] for sides in zip(*pair, strict=True))
    return f"{pair[0][0][0]}({', '.join(left)}) in {pair[0][1][0]}({', '.join(right)})"
