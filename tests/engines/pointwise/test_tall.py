"""The borders strategy on real rows, against the values of all their pairs."""

from __future__ import annotations

import tempfile

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from benchmarks.data import flights
from holdfast.changes.operations import DELETE, INSERT
from holdfast.engines.pointwise.borders import PointwiseBorders
from holdfast.engines.pointwise.boxes import Boxes, Space
from holdfast.engines.pointwise.never_sets import never_sets
from holdfast.engines.pointwise.strategies import PointwiseSpec
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT
from holdfast.table.admit import Incoming
from holdfast.table.change import Change
from holdfast.table.encode import stage
from holdfast.table.runner import Threads
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.engines.pointwise.tables import values_of
from tests.table.building import Kept

TEXT = ("year", "carrier", "tailnum", "origin", "dest")
ROWS = 3_000


def ordered_columns() -> pa.Table:
    """Some flights, with the 14 columns that have an order and more than one value."""
    rows = np.sort(np.random.default_rng(0).choice(336_776, ROWS, replace=False))
    return flights().drop_columns(list(TEXT)).take(rows)


def ranked(table: pa.Table) -> NDArray[np.int32]:
    """Ranks `[row, column]`, null has rank 0."""
    found = []
    for column in table.itercolumns():
        codes = column.combine_chunks().dictionary_encode()
        order = np.argsort(np.argsort(codes.dictionary.cast(pa.int64()).to_numpy())) + 1
        places = codes.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)
        found.append(np.append(order, 0)[places])
    return np.array(found, np.int32).T


def incoming(table: pa.Table, kind: int, columns: tuple[Column, ...]) -> Incoming:
    staged = stage(table.columns, columns)
    return Incoming("changes", [(staged, np.full(len(table), kind, np.int8))], rows=len(table), on_missing="error")


@pytest.mark.parametrize("max_lhs", [1, 3])
def test_real_rows(max_lhs: int) -> None:
    every = ordered_columns()
    columns = tuple(Column(field.name, field.type) for field in every.schema)
    space = Space((True,) * len(columns))

    def expected(table: pa.Table) -> set[tuple[int, ...]]:
        return _plain(never_sets(values_of(ranked(table)), space, max_lhs + 1))

    with tempfile.TemporaryDirectory() as folder:
        _, kept = Kept.empty(Schema("flights", columns), folder).admit(incoming(every[:-500], INSERT, columns))
        subject = WatchedTable(kept.table)
        strategy = PointwiseBorders.begin(subject, PointwiseSpec(space, max_lhs), Threads(), SILENT)
        assert strategy.never is not None
        assert _plain(strategy.never) == expected(every[:-500])
        for some, kind, left in ((every[-500:], INSERT, every), (every[:300], DELETE, every[300:])):
            before = kept.table
            admitted, kept = kept.admit(incoming(some, kind, columns))
            change = Change(before, admitted.table, admitted.born, admitted.dead)
            subject.follow(change, Threads())
            strategy.follow(change, Threads(), SILENT)
            assert _plain(strategy.never) == expected(left)


def _plain(boxes: Boxes) -> set[tuple[int, ...]]:
    return {tuple(box) for box in boxes.tolist()}
