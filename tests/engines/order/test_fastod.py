"""Differential: the paper's lattice, the definition, and both of our ways tell the same rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from holdfast.engines.registry import make_engine
from holdfast.table.table import Nulls
from tests.engines.order.fastod import Fastod
from tests.engines.order.test_engine import NAMES, by_number
from tests.engines.order.test_paper import NAMES as TABLE_1_NAMES
from tests.engines.order.test_paper import ROWS as TABLE_1
from tests.laws.world import Batch, Kept, Row, World, null_modes, row_lists
from tests.oracle import order as oracle


@settings(max_examples=100)
@given(rows=row_lists, nulls=null_modes)
def test_the_same_rules(rows: list[Row], nulls: Nulls) -> None:
    columns = len(NAMES)
    expected: set[Any] = oracle.constants(rows, columns, nulls)
    expected |= oracle.pairs(rows, columns, nulls)
    assert Fastod(rows, columns, nulls).found == expected
    world = World(nulls)
    world.change(Batch(rows))
    for method in ("counts", "borders"):
        result: Any = Kept(make_engine("od", {"method": method}), world).result()
        assert {by_number(rule) for rule in result.values()} == expected, method


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
def test_table_1(nulls: str) -> None:
    columns = len(TABLE_1_NAMES)
    expected: set[Any] = oracle.constants(TABLE_1, columns, nulls)
    assert Fastod(TABLE_1, columns, nulls).found == expected | oracle.pairs(TABLE_1, columns, nulls)
