"""g3, the rows to remove, and explanations, against trying it out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.functional.clusters import Clusters
from holdfast.functional.explain import explain, rows_to_remove
from holdfast.table.table import Nulls
from tests.functional.world import NAMES
from tests.laws.world import Batch, Row, World, null_modes, rows
from tests.oracle import functional as oracle

lefts = st.lists(st.integers(0, 3), max_size=2, unique=True).map(sorted)


@settings(max_examples=100)
@given(some=st.lists(rows, max_size=6), lhs=lefts, rhs=st.sampled_from([None, 4]), nulls=null_modes)
def test_the_fewest_rows_are_removed(some: list[Row], lhs: list[int], rhs: int | None, nulls: Nulls) -> None:
    world = World(nulls)
    world.change(Batch(some))
    found = Clusters.of(world.table, lhs, rhs)
    gone = set(found.to_remove.tolist())
    assert len(gone) == oracle.fewest_to_remove(some, lhs, rhs, nulls)
    left = [row for place, row in zip(world.table.living_ids(), world.rows, strict=True) if place not in gone]
    assert oracle.fewest_to_remove(left, lhs, rhs, nulls) == 0
    agreeing = oracle.agree_sets(some, nulls)
    broken = sum(n for agree, n in agreeing.items() if agree.issuperset(lhs) and rhs not in agree)
    assert found.broken_pairs == broken


def test_what_an_explanation_tells() -> None:
    world = World()
    world.change(Batch([(1, "a", 0.0, True, 1)] * 3 + [(1, "b", 0.0, True, 1), (2, "b", 0.0, True, 1)]))
    told = explain(world.table, "number -> text")
    assert (told.holds, told.broken_pairs, told.to_remove, told.g1, told.g3) == (False, 3, 1, 0.3, 0.2)
    assert told.rule.error == 0.3
    (cluster,) = told.clusters
    assert (cluster.values, cluster.majority, cluster.counts) == ({"number": 1}, "a", (("a", 3), ("b", 1)))
    assert cluster.look_at == (3,)
    assert "look at rows 3" in told.lines()[1]
    assert told.to_json()["clusters"][0]["look_at"] == [3]
    removed, share = rows_to_remove(world.table, "key(number, text)")
    assert (removed.tolist(), share) == ([1, 2], 0.4)
    assert explain(world.table, "text, number -> flag").lines() == ["number, text -> flag holds in all 5 rows"]
    assert explain(world.table, "() -> text").broken_clusters == 1
    assert explain(world.table, "key(real)").clusters[0].look_at == (1, 2, 3, 4)


def test_an_unknown_column_is_named() -> None:
    world = World()
    with pytest.raises(BadInput, match="no column 'zip'"):
        explain(world.table, "zip -> text")
    assert explain(world.table, "number -> text").holds
    assert set(NAMES) == set(world.table.schema.names)
