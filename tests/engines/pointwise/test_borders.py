"""The borders strategy under batches, against all pairs of rows, with any sample."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast.borders.rows as rows_module
import holdfast.engines.pointwise.borders as witnesses_module
from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise.borders import PointwiseBorders
from holdfast.engines.pointwise.boxes import FREE, OPERATORS, OTHER, Boxes, Space
from holdfast.engines.pointwise.never_sets import left_sides
from holdfast.engines.pointwise.patterns import Patterns
from holdfast.engines.pointwise.strategies import PointwiseSpec
from holdfast.engines.pointwise.sweeps import RowPairs
from holdfast.errors import BadInput
from holdfast.progress import SILENT
from holdfast.table.nulls import NullMode
from holdfast.table.runner import Runner, Threads
from tests.engines.pointwise.world import ORDERED, World, batches
from tests.oracle import pointwise as oracle

SIGNS = {**OPERATORS, FREE: "", OTHER: "!="}


class Elsewhere:
    """A runner that shares no memory with its tasks."""

    is_local = False

    def map(self, function: Callable[[Boxes], RowPairs], items: Sequence[Boxes]) -> list[RowPairs]:
        work = pickle.loads(pickle.dumps(function))
        return [work(pickle.loads(pickle.dumps(item))) for item in items]


def check(strategy: PointwiseBorders, world: World, max_lhs: int | None) -> None:
    """That the evidence decides what all pairs decide, and lives."""
    every, seen = world.values(), strategy.seen
    assert {tuple(own) for own in seen.tolist()} <= {tuple(own) for own in every.tolist()}
    arrays, _ = strategy.dump()
    assert np.isin(arrays["rows"], world.kept.table.living_ids()).all()
    most = len(ORDERED) if max_lhs is None else max_lhs
    if not world.space.unknown:
        assert strategy.never is not None
        expected = oracle.never_sets(world.rows, ORDERED, most=most + 1)
        assert {oracle.folded(own) for own in _written(strategy.never)} == expected
    for column in range(len(ORDERED)):
        for mark in world.space.left_marks(column):
            broken = world.space.negated(column, mark)
            assert _plain(left_sides(seen, world.space, column, broken, most)) == _plain(
                left_sides(every, world.space, column, broken, most)
            )


def _plain(boxes: Boxes) -> set[tuple[int, ...]]:
    return {tuple(box) for box in boxes.tolist()}


def _written(boxes: Boxes) -> list[oracle.Conjunction]:
    return [tuple(SIGNS[mask] for mask in box) for box in boxes.tolist()]


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
@settings(max_examples=20, deadline=None)
@given(
    batches,
    st.sampled_from([None, 0, 1, 2, 2, 3]),
    st.sampled_from([Threads(), Elsewhere()]),
    st.booleans(),
    st.fixed_dictionaries(
        {
            "_A_PATTERN": st.sampled_from([1, 3]),
            "_TO_START": st.sampled_from([1, 5, 50]),
            "_SWEEPS_A_COLUMN": st.sampled_from([0, 0.4, 1000]),
            "_AT_ONCE": st.sampled_from([1, 5, 1000]),
            "_ROWS_A_SWEEP": st.sampled_from([0, 0.1, 30]),
        }
    ),
)
def test_follows(
    nulls: NullMode, stream: Any, max_lhs: int | None, runner: Runner, reload: bool, constants: dict[str, float]
) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as patches:
        patches.enter_context(patch.object(rows_module, "_LEAST", 4))
        for name, value in constants.items():
            patches.enter_context(patch.object(witnesses_module, name, value))
        world = World(folder, nulls, stream[0])
        spec = PointwiseSpec(world.space, max_lhs)
        strategy = PointwiseBorders.begin(world.subject, spec, runner, SILENT)
        check(strategy, world, max_lhs)
        for wanted in stream[1:]:
            before = strategy.dump()[0]["never"].tolist()
            change = world.follow(wanted)
            changed = strategy.follow(change, runner, SILENT)
            check(strategy, world, max_lhs)
            assert changed == (strategy.dump()[0]["never"].tolist() != before)
            if reload:
                strategy = PointwiseBorders.load(world.subject, spec, *strategy.dump())


def test_too_many_columns_for_long_left_sides() -> None:
    with pytest.raises(BadInput, match="bound them with --max-lhs"):
        Patterns(Space((True,) * 60), 4)


def test_tallies_the_same_pairs_each_time() -> None:
    rows = [("insert", 0, (i % 4, i % 3, i, float(i % 5), "x")) for i in range(30)]
    with tempfile.TemporaryDirectory() as folder, patch.object(witnesses_module, "_COUNTED", 500):
        world = World(folder, "equal", rows)
        strategy = PointwiseBorders.begin(world.subject, PointwiseSpec(world.space, 2), Threads(), SILENT)
        one, other = strategy.pair_counts(), strategy.pair_counts()
    assert not one.exact
    assert one.pairs == 500
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.counts, other.counts)
    assert _plain(one.values) <= _plain(world.values())
    assert world.subject.part(RankedColumns).count == len(rows)
