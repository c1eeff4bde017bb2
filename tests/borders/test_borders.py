"""Borders of rows that change, against the definition; whatever was sampled."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast.borders.borders as borders_module
import holdfast.borders.proving as proving_module
import holdfast.borders.rows as rows_module
from holdfast.borders.borders import Borders
from holdfast.borders.rows import CodedColumns, RankedColumns
from holdfast.borders.targets import Targets
from holdfast.pairs import bitsets
from holdfast.table.change import Change
from holdfast.table.nulls import GivenNulls, NullMode, Nulls
from holdfast.table.runner import Answer, Item, Runner, Threads
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.oracle.rows import Operation
from tests.table.building import Kept

Row = tuple[Any, ...]
COLUMNS = (
    *(Column(name, pa.int64()) for name in "abc"),
    *(Column(name, pa.string()) for name in "de"),
)
number, text = st.none() | st.integers(0, 3), st.none() | st.sampled_from(["", "a", "b"])
cells = st.tuples(number, number, number, text, text)
change = st.tuples(st.sampled_from(["insert", "insert", "insert", "update", "delete"]), st.integers(0, 12), cells)
batches = st.lists(st.lists(change, max_size=6), min_size=1, max_size=4)
ALL = Targets(len(COLUMNS), ascending_pairs=True, descending_pairs=True)


def _signs(one: Row, other: Row, nulls: GivenNulls) -> list[int | None]:
    """Of two rows, column by column: -1, 0, 1, or None where a null makes them different and neither less nor more."""
    signs: list[int | None] = []
    for a, b in zip(one, other, strict=True):
        if nulls == "distinct" and (a is None or b is None):
            signs.append(None)
        else:
            below = (a is None and b is not None) or (a is not None and b is not None and a < b)  # null is first
            signs.append(0 if a == b else -1 if below else 1)
    return signs


def _breaks(signs: Sequence[int | None], targets: Targets, target: int) -> bool:
    if target <= targets.key:
        return target == targets.key or signs[target] != 0
    a, b = (signs[column] for column in targets.columns_of[target])
    product = (a or 0) * (b or 0)
    return product > 0 if targets.is_descending(target) else product < 0


def _expected(
    rows: Sequence[Row], nulls: GivenNulls, targets: Targets, most: int | None
) -> dict[int, set[frozenset[int]]]:
    """The minimal contexts of each target, by a look at all pairs and all contexts."""
    pairs = [_signs(one, other, nulls) for one, other in combinations(rows, 2)]
    found = {}
    for target in targets.wanted():
        agreed = {
            frozenset(c for c, s in enumerate(signs) if s == 0) for signs in pairs if _breaks(signs, targets, target)
        }
        free = [c for c in range(targets.columns) if c not in targets.columns_of[target]]
        minimal: list[frozenset[int]] = []
        for size in range(len(free) + 1 if most is None else most + 1):
            for some in map(frozenset, combinations(free, size)):
                if not any(other <= some for other in minimal) and not any(some <= agree for agree in agreed):
                    minimal.append(some)
        found[target] = set(minimal)
    return found


class Elsewhere:
    """A runner that shares no memory with its tasks."""

    is_local = False

    def map(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        sent = [pickle.loads(pickle.dumps((function, item))) for item in items]
        return [there(item) for there, item in sent]


class World:
    """A table that batches change, a plain list of the same rows, and its borders."""

    def __init__(self, folder: str, nulls: NullMode) -> None:
        self.kept = Kept.empty(Schema("t", COLUMNS, (), Nulls(nulls)), folder)
        self.rows: list[Row] = []

    def change(self, wanted: Sequence[tuple[str, int, Row]]) -> Change:
        """What of it can be done: deletes and updates need a row that was there before."""
        operations: list[Operation] = []
        left = sorted(self.rows, key=repr)
        for kind, number, values in wanted:
            if kind != "insert" and left:
                gone = left.pop(number % len(left))
                self.rows.remove(gone)
                operations.append(("delete", gone))
            if kind != "delete":
                self.rows.append(values)
                operations.append(("insert", values))
        before = self.kept.table
        admitted, self.kept = self.kept.operate(operations)
        return Change(before, admitted.table, admitted.born, admitted.dead)

    def check(self, borders: Borders, targets: Targets, most: int | None) -> None:
        """That the borders are those of the rows, and that the evidence lives."""
        nulls = self.kept.table.schema.nulls
        assert _plain(borders) == _expected(self.rows, nulls, targets, most)
        kept = borders.evidence.witnesses
        assert np.isin(kept.rows, self.kept.table.living_ids()).all()


def _plain(borders: Borders) -> dict[int, set[frozenset[int]]]:
    return {
        target: {frozenset(columns) for columns in bitsets.elements_of_each(own.sets)}
        for target, own in borders.covers.items()
    }


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
@settings(max_examples=60)
@given(
    batches,
    st.sampled_from([1, 3, 1 << 16]),
    st.sampled_from([None, None, 2]),
    st.sampled_from([1, 64]),
    st.sampled_from([16, 0.1, 0.001]),
    st.sampled_from([Threads(), Elsewhere()]),
    st.booleans(),
)
def test_borders_follow(
    nulls: NullMode,
    stream: Any,
    sampled: int,
    most: int | None,
    neighbours: int,
    rows_a_value: float,
    runner: Runner,
    reload: bool,
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(borders_module, "_SAMPLED", sampled),
        patch.object(proving_module, "_NEIGHBOURS", neighbours),
        patch.object(proving_module, "_LOOK", neighbours),
        patch.object(proving_module, "_ROWS_A_VALUE", rows_a_value),
        patch.object(rows_module, "_LEAST", 4),
    ):
        world = World(folder, nulls)
        world.change(stream[0])
        rows = RankedColumns(world.kept.table)
        borders = Borders.of(rows, ALL, most, runner)
        world.check(borders, ALL, most)
        for wanted in stream[1:]:
            before = _plain(borders)
            change = world.change(wanted)
            rows.follow(change, runner)
            changed = borders.follow(change, runner)
            world.check(borders, ALL, most)
            after = _plain(borders)
            assert {target for target in ALL.wanted() if before[target] != after[target]} <= set(changed)
            assert all(own is borders.covers[target] for target, own in changed.items())
            if reload:
                borders = Borders.load(rows, ALL, most, borders.covers, borders.dump())


@settings(max_examples=30)
@given(batches)
def test_keys_and_constants_need_codes_alone(stream: Any) -> None:
    targets = Targets(len(COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder, "equal")
        world.change(stream[0])
        rows = CodedColumns(world.kept.table)
        borders = Borders.of(rows, targets)
        for wanted in stream[1:]:
            change = world.change(wanted)
            rows.follow(change, Threads())
            borders.follow(change)
        world.check(borders, targets, None)
