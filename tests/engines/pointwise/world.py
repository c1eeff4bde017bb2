"""A table that batches change, and a plain list of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from holdfast.engines.pointwise.boxes import EQUAL, LESS, MORE, OTHER, Space, Values
from holdfast.engines.watched import WatchedTable
from holdfast.table.change import Change
from holdfast.table.nulls import NullMode, Nulls
from holdfast.table.runner import Threads
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.oracle import pointwise as oracle
from tests.oracle.rows import Operation
from tests.table.building import Kept

Row = tuple[Any, ...]
COLUMNS = (*(Column(name, pa.int64()) for name in "abc"), Column("d", pa.float64()), Column("e", pa.string()))
ORDERED = (True, True, True, True, False)
number, text = st.none() | st.integers(0, 3), st.none() | st.sampled_from(["", "a", "b"])
real = st.none() | st.sampled_from([-1.5, 0.0, 2.5])
cells = st.tuples(number, number, number, real, text)
operation = st.tuples(st.sampled_from(["insert", "insert", "insert", "update", "delete"]), st.integers(0, 12), cells)
batches = st.lists(st.lists(operation, max_size=6), min_size=1, max_size=4)
BITS = {"<": LESS, "=": EQUAL, ">": MORE, "!": OTHER, "?": OTHER}


class World:
    """The table and the parts that engines share."""

    def __init__(self, folder: str, nulls: NullMode, first: Sequence[tuple[str, int, Row]]) -> None:
        self.kept = Kept.empty(Schema("t", COLUMNS, (), Nulls(nulls)), folder)
        self.rows: list[Row] = []
        self.space = Space(ORDERED, nulls == "distinct")
        self._change(first)
        self.subject = WatchedTable(self.kept.table)

    def follow(self, wanted: Sequence[tuple[str, int, Row]]) -> Change:
        """A batch, which the parts follow."""
        change = self._change(wanted)
        self.subject.follow(change, Threads())
        return change

    def _change(self, wanted: Sequence[tuple[str, int, Row]]) -> Change:
        """What of it can be done: deletes and updates need a row that was there before."""
        operations: list[Operation] = []
        left = sorted(self.rows, key=repr)
        for kind, place, values in wanted:
            if kind != "insert" and left:
                gone = left.pop(place % len(left))
                self.rows.remove(gone)
                operations.append(("delete", gone))
            if kind != "delete":
                self.rows.append(values)
                operations.append(("insert", values))
        before = self.kept.table
        admitted, self.kept = self.kept.operate(operations)
        return Change(before, admitted.table, admitted.born, admitted.dead)

    def values(self) -> Values:
        """The values of all pairs of rows, by definition."""
        nulls = "distinct" if self.space.unknown else "equal"
        signs = {
            tuple(oracle.sign(a, b, by_order, nulls) for a, b, by_order in zip(t, s, ORDERED, strict=True))
            for t, s in permutations(self.rows, 2)
        }
        return np.array([[BITS[sign] for sign in own] for own in signs], np.uint8).reshape(-1, len(ORDERED))
