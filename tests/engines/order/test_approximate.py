"""Approximate order dependencies, found and kept batch after batch, against the definition."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.engines.order import changed_groups
from holdfast.engines.registry import make_engine
from holdfast.rules.order import Compatible, ConstantOD
from holdfast.table.nulls import NullMode
from tests.engines.order.test_engine import NAMES, by_number, orders, unordered
from tests.laws.world import Batch, Kept, Row, World, null_modes, row_lists, rows
from tests.laws.world import batches as larger_batches
from tests.oracle import order_error as oracle

batches = st.builds(Batch, st.lists(rows, max_size=4), st.lists(st.integers(0, 50), max_size=4))
errors = st.sampled_from(["0.01", "0.15", "0.3"])
levels = st.sampled_from([None, 0, 2])


def errors_of(kept: Kept) -> dict[Any, float]:
    """The rules by column numbers, as the oracle has them, with their errors."""
    found = {}
    for rule in kept.result().values():
        assert isinstance(rule, ConstantOD | Compatible)
        found[by_number(rule)] = rule.error
    return found


def expected(world: World, nulls: str, error: str, level: int | None, ordered: str | None) -> dict[Any, float]:
    given_so = world.rows, len(NAMES), nulls, error, level
    removed: dict[Any, int] = {**oracle.constants(*given_so), **oracle.pairs(*given_so, unordered(ordered))}
    return {rule: count / len(world.rows) for rule, count in removed.items()}


@settings(max_examples=60)
@given(
    st.lists(rows, max_size=5),
    st.lists(batches, max_size=3),
    null_modes,
    errors,
    levels,
    orders,
    st.booleans(),
    st.booleans(),
)
@example(
    [(1, "a", 0.0, True, 1), (2, "b", 0.0, True, 1), (2, "a", 1.5, True, 1), (3, "a", 1.5, True, 1)],
    [Batch([], [0]), Batch([], [1])],
    "equal",
    "0.3",
    None,
    None,
    True,
    True,
)  # deletes alone lower an error that stays below the threshold
def test_every_batch_by_definition(
    first: list[Row],
    stream: list[Batch],
    nulls: NullMode,
    error: str,
    level: int | None,
    ordered: str | None,
    reload: bool,
    small: bool,
) -> None:
    with counting_touched_groups(always=small):
        check_every_batch(first, stream, nulls, error, level, ordered, reload)


@contextmanager
def counting_touched_groups(always: bool) -> Iterator[None]:
    """Count after a batch the groups that it touched, however large a part of the table these are; or as it comes."""
    with pytest.MonkeyPatch.context() as patch:
        if always:
            patch.setattr(changed_groups, "_FEW", 0)
            patch.setattr(changed_groups, "_MOST", 0)
        yield


def check_every_batch(
    first: list[Row],
    stream: list[Batch],
    nulls: NullMode,
    error: str,
    level: int | None,
    ordered: str | None,
    reload: bool,
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    kept = Kept(make_engine("od", {"error": float(error), "max_level": level, "ordered": ordered}), world)
    assert errors_of(kept) == expected(world, nulls, error, level, ordered)
    for batch in stream:
        before = kept.result()
        if reload:
            kept.reload()
        diff = kept.follow(world.change(batch))
        assert diff.patch(before) == kept.result()
        assert errors_of(kept) == expected(world, nulls, error, level, ordered)


@settings(max_examples=20)
@given(
    row_lists,
    st.lists(larger_batches, min_size=1, max_size=4),
    null_modes,
    st.sampled_from([0.05, 0.2]),
    st.sampled_from([None, 40]),
)
def test_kept_equals_rediscovered_whatever_happens_between(
    first: list[Row], stream: list[Batch], nulls: NullMode, error: float, least: int | None
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    kept = Kept(make_engine("od", {"error": error, "directions": "asc", "min_score": least}), world)
    between = (lambda: None, kept.reload, kept.rewrite)
    with counting_touched_groups(always=True):
        for number, batch in enumerate(stream):
            between[number % 3]()
            kept.follow(world.change(batch))
            assert kept.result() == kept.rediscovered()
