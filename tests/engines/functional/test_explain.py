"""Explanations of rules. How rows are grouped for them is tried out in `test_groups`."""

from __future__ import annotations

import pytest

from holdfast.engines.functional.explain import explain
from holdfast.errors import BadInput
from tests.engines.functional.world import NAMES
from tests.laws.world import Batch, World


def test_what_an_explanation_tells() -> None:
    world = World()
    world.change(Batch([(1, "a", 0.0, True, 1)] * 3 + [(1, "b", 0.0, True, 1), (2, "b", 0.0, True, 1)]))
    explained = explain(world.table, "number -> text")
    assert (explained.holds, explained.broken_pairs, explained.to_remove, explained.g1, explained.g3) == (
        False,
        3,
        1,
        0.3,
        0.2,
    )
    assert explained.rule.error == 0.3
    (cluster,) = explained.clusters
    assert (cluster.values, cluster.majority, cluster.counts) == ({"number": 1}, "a", (("a", 3), ("b", 1)))
    assert cluster.look_at == (3,)
    assert explained.lines()[1].endswith("; look at row 3 (text b, real 0.0, flag True, day 1970-01-02)")
    assert explained.to_json()["clusters"][0]["look_at"] == [3]
    assert explain(world.table, "key(number, text)").g3 == 0.4
    assert explain(world.table, "text, number -> flag").lines() == ["number, text -> flag holds in all 5 rows"]
    assert explain(world.table, "() -> text").broken_clusters == 1
    assert explain(world.table, "key(real)").clusters[0].look_at == (1, 2, 3, 4)


def test_clusters_that_are_not_shown_are_counted() -> None:
    world = World()
    world.change(Batch([(n, text, 0.0, True, 1) for n in range(3) for text in "aab"]))
    assert explain(world.table, "number -> text", clusters=1).lines()[2:] == ["  … and 2 more clusters"]
    assert explain(world.table, "number -> text", clusters=2).lines()[3:] == ["  … and 1 more cluster"]
    assert len(explain(world.table, "number -> text").lines()) == 4


def test_nulls_that_differ_are_listed_one_by_one() -> None:
    world = World("distinct")
    world.change(Batch([(1, None, 0.0, True, 1)] * 2 + [(1, "b", 0.0, True, 1), (None, "b", 0.0, True, 1)]))
    explained = explain(world.table, "number -> text")
    assert "number = 1: text is null x 1, null x 1, 'b' x 1; most say null; " in explained.lines()[1]
    (cluster,) = explained.clusters
    assert (cluster.rows, cluster.counts, cluster.look_at) == (3, ((None, 1), (None, 1), ("b", 1)), (1, 2))
    assert cluster.majority is None


def test_an_unknown_column_is_named() -> None:
    world = World()
    with pytest.raises(BadInput, match="no column 'zip'"):
        explain(world.table, "zip -> text")
    assert explain(world.table, "number -> text").holds
    assert set(NAMES) == set(world.table.schema.names)
