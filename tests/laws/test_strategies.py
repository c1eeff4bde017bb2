"""The law of strategies: maintained results equal those from scratch also after a table has grown past the size at
which the strategy changes. So no strategy may bound, sample or round by itself.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.engines.contract import Engine
from holdfast.engines.pointwise import borders
from holdfast.engines.registry import make_engine
from holdfast.table.nulls import NullMode
from tests.laws.budgets import COUNTED, SMALL_BUDGETS
from tests.laws.test_laws import GIVEN, NAMES
from tests.laws.world import Batch, Kept, Row, World, batches, null_modes, row_lists, rows

SETTINGS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in NAMES),
    ("ucc", {"max_lhs": 2}),
    ("fd", {"max_lhs": 1}),
    ("ucc", {"error": 0.1}),
    ("fd", {"error": 0.1}),
    ("fd", {"error": 0.3, "max_lhs": 2}),
    ("od", {"max_level": 1}),
    ("od", {"min_score": 0.2}),
    ("pod", {"max_lhs": 4}),
    ("pod", {"max_lhs": 1, "vacuous": True}),
    ("pod", {"min_coverage": 0.1}),
    ("pod", {"min_coverage": 0.4, "rhs": "number", "ordered": "text"}),
]
for_every_question = pytest.mark.parametrize(
    "engine",
    [make_engine(name, options, GIVEN.get(name)) for name, options in SETTINGS],
    ids=[" ".join([name, *map(str, options.items())]) for name, options in SETTINGS],
)


@pytest.fixture(autouse=True)
def small_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strategies change at a handful of rows, and shares of pairs come from a sample."""
    for module, name, value in SMALL_BUDGETS:
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(borders, "_COUNTED", 16)


@for_every_question
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    first=st.lists(rows, max_size=COUNTED),
    growth=row_lists,
    stream=st.lists(batches, max_size=3),
    nulls=null_modes,
)
def test_kept_equals_found_where_ways_differ(
    engine: Engine[Any, Any], first: list[Row], growth: list[Row], stream: list[Batch], nulls: NullMode
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    kept = Kept(engine, world)
    for batch in (Batch(growth), *stream):
        before = kept.result()
        diff = kept.follow(world.change(batch))
        assert kept.result() == kept.rediscovered()
        assert diff.patch(before) == kept.result()
    kept.reload()
    kept.follow(world.change(Batch(first)))
    assert kept.result() == kept.rediscovered()


@pytest.mark.parametrize("name", ["ucc", "fd", "od", "pod"])
def test_ways_do_differ(name: str) -> None:
    engine, world = make_engine(name), World()
    world.change(Batch([(1, "a", 0.0, True, 1)]))
    kept = Kept(engine, world)
    kept.follow(world.change(Batch([(n, "b", 1.5, False, n % 3) for n in range(6)])))
    assert "by counting" in engine.how(kept.state)
    assert "by borders" in engine.how(Kept(engine, world).state)
