"""Approximate order dependencies, found and kept batch after batch, against the definition."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.borders.rows import RankedColumns
from holdfast.borders.targets import Targets
from holdfast.engines.order.approximate import ApproximateBorders, limit_of
from holdfast.pairs import bitsets
from holdfast.table.table import Nulls
from tests.laws.world import Batch, Row, World, null_modes, rows
from tests.oracle import order_error as oracle

COLUMNS = 5
row_lists = st.lists(rows, max_size=5)
batches = st.builds(Batch, st.lists(rows, max_size=4), st.lists(st.integers(0, 50), max_size=4))
errors = st.sampled_from(["0", "0.15", "0.3"])
TARGETS = Targets(COLUMNS, keys=False, ascending_pairs=True, descending_pairs=True)


def told(borders: ApproximateBorders) -> dict[Any, int]:
    """The rules by column numbers, as the oracle has them."""
    found: dict[Any, int] = {}
    covers = borders.covers
    for target, part in covers.items():
        assert part.removed is not None
        own = TARGETS.columns_of(target)
        direction = "desc" if TARGETS.is_descending(target) else "asc"
        for context, removed in zip(part.contexts, part.removed.tolist(), strict=True):
            columns = tuple(bitsets.elements(context))
            if len(own) == 1:
                found[columns, *own] = removed
            elif not any((context == other).all() for column in own for other in covers[column].contexts):
                found[columns, *own, direction] = removed
    return found


def expected(world: World, nulls: str, error: str, most: int | None) -> dict[Any, int]:
    given_so = world.rows, COLUMNS, nulls, error, most
    return {**oracle.constants(*given_so), **oracle.pairs(*given_so)}


@settings(max_examples=100)
@given(
    first=row_lists,
    stream=st.lists(batches, max_size=3),
    nulls=null_modes,
    error=errors,
    most=st.sampled_from([None, 2]),
)
def test_every_batch_by_definition(
    first: list[Row], stream: list[Batch], nulls: Nulls, error: str, most: int | None
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    borders = ApproximateBorders.of(RankedColumns(world.table), TARGETS, float(error), most)
    if len(world.rows) > 1:
        assert told(borders) == expected(world, nulls, error, most)
    for batch in stream:
        borders.follow(world.change(batch))
        if len(world.rows) > 1:
            assert told(borders) == expected(world, nulls, error, most)


def test_thresholds_are_the_decimals_that_people_write() -> None:
    assert limit_of(0.01, 300) == 3
    assert limit_of(0.29, 100) == 29, "as floats, 0.29 * 100 is below 29"
    assert limit_of(0.1, 0) == 0
