"""Approximate order dependencies, found and kept batch after batch, against the definition."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.engines.order.approximate import limit_of
from holdfast.engines.order.model import Compatible, Constant
from holdfast.engines.registry import make_engine
from holdfast.table.table import Nulls
from tests.engines.order.test_engine import NAMES, by_number
from tests.laws.world import Batch, Kept, Row, World, null_modes, row_lists, rows
from tests.laws.world import batches as larger_batches
from tests.oracle import order_error as oracle

batches = st.builds(Batch, st.lists(rows, max_size=4), st.lists(st.integers(0, 50), max_size=4))
errors = st.sampled_from(["0.01", "0.15", "0.3"])
levels = st.sampled_from([None, 0, 2])


def told(kept: Kept) -> dict[Any, float]:
    """The rules by column numbers, as the oracle has them, with their errors."""
    found = {}
    for rule in kept.result().values():
        assert isinstance(rule, Constant | Compatible)
        found[by_number(rule)] = rule.error
    return found


def expected(world: World, nulls: str, error: str, level: int | None) -> dict[Any, float]:
    given_so = world.rows, len(NAMES), nulls, error, level
    removed: dict[Any, int] = {**oracle.constants(*given_so), **oracle.pairs(*given_so)}
    return {rule: count / len(world.rows) for rule, count in removed.items()}


@settings(max_examples=100)
@given(st.lists(rows, max_size=5), st.lists(batches, max_size=3), null_modes, errors, levels, st.booleans())
@example(
    [(1, "a", 0.0, True, 1), (2, "b", 0.0, True, 1), (2, "a", 1.5, True, 1), (3, "a", 1.5, True, 1)],
    [Batch([], [0]), Batch([], [1])],
    "equal",
    "0.3",
    None,
    True,
)  # deletes alone lower an error that stays below the threshold
def test_every_batch_by_definition(
    first: list[Row], stream: list[Batch], nulls: Nulls, error: str, level: int | None, reload: bool
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    kept = Kept(make_engine("od", {"error": float(error), "max_level": level}), world)
    assert told(kept) == expected(world, nulls, error, level)
    for batch in stream:
        before = kept.result()
        if reload:
            kept.reload()
        diff = kept.maintain(world.change(batch))
        assert diff.patch(before) == kept.result()
        assert told(kept) == expected(world, nulls, error, level)


def test_thresholds_are_the_decimals_that_people_write() -> None:
    assert limit_of(0.01, 300) == 3
    assert limit_of(0.29, 100) == 29, "as floats, 0.29 * 100 is below 29"
    assert limit_of(0.1, 0) == 0


@settings(max_examples=40)
@given(row_lists, st.lists(larger_batches, min_size=1, max_size=4), null_modes, st.sampled_from([0.05, 0.2]))
def test_kept_equals_found_anew_whatever_happens_between(
    first: list[Row], stream: list[Batch], nulls: Nulls, error: float
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    kept = Kept(make_engine("od", {"error": error, "directions": "asc"}), world)
    between = (lambda: None, kept.reload, kept.rewrite)
    for number, batch in enumerate(stream):
        between[number % 3]()
        kept.maintain(world.change(batch))
        assert kept.result() == kept.rediscovered()
