"""The laws that every engine keeps. The first is the one rule: maintained equals rediscovered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.changes.diff import Diff
from holdfast.engines.contract import Engine
from holdfast.engines.registry import make_engine, rule_classes
from holdfast.rules.given import GivenRule, TableRules
from holdfast.table.change import Change
from holdfast.table.nulls import NullMode
from tests.laws.budgets import by_groups
from tests.laws.world import Batch, Kept, Row, World, batches, null_modes, row_lists, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

streams = st.lists(batches, min_size=1, max_size=6)


RULES = {
    "same": "not(t.number = s.number and t.text != s.text)",
    "order": "not(t.flag = s.flag and t.number > s.number and t.real < s.real)",
    "open": "not(t.number >= s.number and t.day < s.day)",
    "one": "not(t.number < 0 and t.flag = true)",
    "some": "not(t.number < s.number and t.flag != s.flag) where t.number < 2 or t.day is null",
}
DEPENDENCIES = {"text": "number -> text", "all": "() -> flag", "real": "number, flag -> real", "key": "key(text, day)"}
DEPENDENCIES |= {
    "some": "number -> text where t.flag = true",
    "few": "key(number) where t.text != 'a' or t.day is null",
}
LISTS = {
    "both": "[flag, number desc] orders [flag, real]",
    "text": "[text] orders [day, text desc]",
    "all": "[] orders [flag]",
    "some": "[number] orders [day desc] where t.flag is not null",
}
REFERENCES = {"one": "t.number in t.real", "back": "t.real in t.number", "two": "t(number, real) in t(real, number)"}
ROWS = {
    "one": "t.number between -1 and 1",
    "other": "t.text like 'a%' or t.flag = true",
    "all": "t.number + 1 <= t.real or t.day is not null",
    "times": "t.day + 1 day > DATE '1970-01-01' or length(t.text) < 2",
}
TABLES = {
    "rows": "rows >= 5",
    "nulls": "share(null text) <= 0.25",
    "values": "distinct(real) = 3",
    "least": "min(number) >= -1",
    "last": "max(day) < DATE '1970-01-03'",
    "mean": "avg(real) between 0 and 1",
    "sum": "sum(number) <= 1",
    "sums of floats": "sum(real) >= 0",
    "spread": "stddev(number) < 1.5",
    "middle": "median(day) >= DATE '1970-01-01'",
    "quantile": "quantile(number, 0.9) <= 1",
    "some": "share(t.number > 0 or t.flag = true) <= 0.5",
    "few": "count(t.text like 'a%') <= 2",
    "mean of some": "avg(number) <= 1 where t.flag = true",
    "median of some": "median(real) <= 1 where length(t.text) > 0",
}
GIVEN = {
    name: {"t": TableRules(tuple(GivenRule(each, "t", text) for each, text in rules.items()))}
    for name, rules in (
        ("dc", RULES),
        ("named", DEPENDENCIES),
        ("lod", LISTS),
        ("reference", REFERENCES),
        ("row", ROWS),
        ("table", TABLES),
    )
}
NAMES = tuple(rule_classes())
ENGINES = {name: make_engine(name, given=GIVEN.get(name)) for name in NAMES}
ENGINES |= {f"{name} by groups": by_groups(make_engine(name, {"error": 0.2})) for name in ("ucc", "fd")}
for_every_engine = pytest.mark.parametrize("engine", list(ENGINES.values()), ids=list(ENGINES))

STRATEGIES = {f"{name} by borders": make_engine(name, {"method": "borders"}) for name in ("ucc", "fd", "od", "pod")}
for_every_strategy = pytest.mark.parametrize(
    "engine", [*ENGINES.values(), *STRATEGIES.values()], ids=[*ENGINES, *STRATEGIES]
)


@for_every_strategy
@settings(max_examples=30)
@given(first=row_lists, stream=streams, nulls=null_modes)
def test_maintained_equals_rediscovered(
    engine: Engine[Any, Any], first: list[Row], stream: list[Batch], nulls: NullMode
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    kept = Kept(engine, world)
    for batch in stream:
        before = kept.result()
        diff = kept.follow(world.change(batch))
        assert kept.result() == kept.rediscovered()
        assert kept.ranked() == kept.rediscovered_ranked(), "in the same order, with the same scores"
        assert kept.lines() == kept.rediscovered_lines(), "also where findings are equal and their figures differ"
        assert diff.patch(before) == kept.result(), "the diff leads from the old result to the new one"


@for_every_engine
@settings(max_examples=30)
@given(first=row_lists, inserts=row_lists, deletes=st.lists(st.integers(0, 50), max_size=6), nulls=null_modes)
def test_a_batch_and_its_negation(
    engine: Engine[Any, Any], first: list[Row], inserts: list[Row], deletes: list[int], nulls: NullMode
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    kept = Kept(engine, world)
    before = kept.result()
    gone = [first[place] for place in {d % len(first) for d in deletes}] if first else []
    kept.follow(world.signed(inserts, gone))
    kept.follow(world.signed(gone, inserts))
    assert kept.result() == before


@for_every_engine
@settings(max_examples=30)
@given(first=row_lists, inserts=row_lists, doomed=st.lists(rows, max_size=5), cut=st.integers(0, 12), nulls=null_modes)
def test_splitting_and_reordering(
    engine: Engine[Any, Any], first: list[Row], inserts: list[Row], doomed: list[Row], cut: int, nulls: NullMode
) -> None:
    whole, parts, shuffled = World(nulls), World(nulls), World(nulls)
    for world in (whole, parts, shuffled):
        world.change(Batch(first + doomed))
    kept = [Kept(engine, world) for world in (whole, parts, shuffled)]
    kept[0].follow(whole.signed(inserts, doomed))
    nothing: list[Row] = []
    for born, died in ((inserts[:cut], nothing), (nothing, doomed), (inserts[cut:], nothing)):
        kept[1].follow(parts.signed(born, died))
    kept[2].follow(shuffled.signed(inserts[::-1], doomed[::-1]))
    assert kept[0].result() == kept[1].result() == kept[2].result()


@for_every_engine
@settings(max_examples=30)
@given(first=row_lists, stream=streams, at=st.integers(0, 5), nulls=null_modes)
def test_save_and_load_in_the_middle(
    engine: Engine[Any, Any], first: list[Row], stream: list[Batch], at: int, nulls: NullMode
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    kept = Kept(engine, world)
    for number, batch in enumerate(stream):
        if number == at:
            kept.reload()
        kept.follow(world.change(batch))
    assert kept.result() == kept.rediscovered()


@for_every_engine
@settings(max_examples=20)
@given(first=row_lists, stream=streams, moments=st.sets(st.integers(0, 5)), nulls=null_modes)
def test_rewriting_the_table_on_the_way(
    engine: Engine[Any, Any], first: list[Row], stream: list[Batch], moments: set[int], nulls: NullMode
) -> None:
    """Results and diffs, witnesses included, are those of a table that was never rewritten."""
    worlds = World(nulls), World(nulls)
    for world in worlds:
        world.change(Batch(first))
    plain, kept = (Kept(engine, world) for world in worlds)
    for number, batch in enumerate(stream):
        if number in moments:
            kept.rewrite()
            assert kept.result() == plain.result()
        diffs = [one.follow(world.change(batch)) for one, world in zip((plain, kept), worlds, strict=True)]
        assert _plainly(diffs[0]) == _plainly(diffs[1])
        assert kept.result() == plain.result() == kept.rediscovered()


def _plainly(diff: Diff) -> list[Any]:
    """All parts of a diff, with the rules made; values of witnesses may be no numbers, which equal nothing."""
    parts = diff.gained, diff.lost, diff.changed, diff.violations, diff.causes
    return [*map(dict, parts), diff.worth, diff.gained_worth, repr(diff.witnesses)]


@for_every_engine
@settings(max_examples=20)
@given(first=row_lists, batch=batches, nulls=null_modes)
def test_an_engine_does_not_change_its_input(
    engine: Engine[Any, Any], first: list[Row], batch: Batch, nulls: NullMode
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    kept = Kept(engine, world)
    change = world.change(batch)
    before = _copies(change)
    kept.follow(change)
    assert all(np.array_equal(a, b) for a, b in zip(before, _copies(change), strict=True))


def _copies(change: Change) -> list[NDArray[Any]]:
    codes = [np.array(column) for table in (change.before, change.after) for s in table.shards for column in s.columns]
    alive = [np.array(mask) for table in (change.before, change.after) for mask in table.alive if mask is not None]
    return [*codes, *alive, change.inserted.copy(), change.deleted.copy(), change.dead.copy()]


@pytest.mark.spark
@for_every_strategy
def test_threads_and_spark_agree(engine: Engine[Any, Any], spark: SparkSession) -> None:
    from holdfast.spark.runner import SparkRunner

    here, there = World("equal"), World("equal")
    there.runner = SparkRunner(spark)
    some: list[Row] = [(1, "a", 0.0, True, 1), (1, "b", float("nan"), None, None), (None, "a", -0.0, True, 1)]
    more: list[Row] = [(2, "é", 1.5, False, 0), (1, "a", 0.0, True, 1)]
    for world in (here, there):
        world.change(Batch(some * 3))
        world.change(Batch(more, [0, 4]))
    kept = [Kept(engine, here), Kept(engine, there)]
    assert kept[0].result() == kept[1].result()
    for one, world in zip(kept, (here, there), strict=True):
        one.follow(world.change(Batch(some, [1, 2])))
    assert kept[0].result() == kept[1].result() == kept[1].rediscovered()
