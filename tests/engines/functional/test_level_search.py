"""Approximate keys and FDs from pairs counted in groups: as from counted pairs, under batches, by either arithmetic."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.functional import agreeing_pairs
from holdfast.engines.functional.agreeing_pairs import AgreeingPairs
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT
from holdfast.table.nulls import NullMode
from holdfast.table.runner import Threads
from tests.laws.budgets import by_groups
from tests.laws.world import COLUMNS, Batch, Kept, Row, World, batches, null_modes, row_lists
from tests.oracle.functional import agree_sets

streams = st.lists(batches, min_size=1, max_size=5)
settings_of_rules = st.fixed_dictionaries(
    {"error": st.sampled_from([0.02, 0.1, 0.25, 0.6]), "max_lhs": st.sampled_from([None, 0, 1, 3])}
)


@pytest.mark.parametrize("per_look", [0, 4], ids=["counted again", "kept"])
@pytest.mark.parametrize("name", ["fd", "ucc"])
@settings(max_examples=60)
@given(first=row_lists, copies=st.integers(1, 3), stream=streams, nulls=null_modes, options=settings_of_rules)
def test_both_strategies_agree(
    per_look: int, name: str, first: list[Row], copies: int, stream: list[Batch], nulls: NullMode, options: Any
) -> None:
    world = World(nulls)
    world.change(Batch(first * copies))
    by_pairs = Kept(make_engine(name, {**options, "method": "counts"}), world)
    kept = Kept(by_groups(make_engine(name, options)), world)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreeing_pairs, "_PER_LOOK", per_look)
        for batch in stream:
            assert kept.result() == by_pairs.result()
            assert kept.lines() == by_pairs.lines(), "with the same errors and scores, in the same order"
            change = world.change(batch)
            one, other = by_pairs.follow(change), kept.follow(change)
            assert [dict(one.lost), dict(one.gained), dict(one.changed)] == [
                dict(other.lost),
                dict(other.gained),
                dict(other.changed),
            ]
            assert dict(one.causes) == dict(other.causes)
        assert kept.result() == by_pairs.result()


@settings(max_examples=60)
@given(first=row_lists, stream=streams, nulls=null_modes, threads=st.booleans())
def test_agreeing_pairs_by_definition(first: list[Row], stream: list[Batch], nulls: NullMode, threads: bool) -> None:
    world = World(nulls)
    world.change(Batch(first * 2))
    watched = WatchedTable(world.table)
    pairs = watched.part(AgreeingPairs, Threads(), SILENT)
    places = range(len(COLUMNS))
    every = [sum(1 << c for c in chosen) for size in range(len(places) + 1) for chosen in combinations(places, size)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreeing_pairs, "_WORTH_THREADS", 0 if threads else 1 << 60)
        for batch in (*stream, Batch()):
            agreeing = agree_sets(world.rows, nulls)
            expected = {
                columns: sum(n for agree, n in agreeing.items() if all(c in agree for c in places if columns >> c & 1))
                for columns in every
            }
            assert pairs.count(every) == expected
            watched.follow(world.change(batch), Threads())


def test_what_nobody_needs_is_dropped_with_the_next_batch() -> None:
    world = World()
    world.change(Batch([(1, "a", 0.0, True, 1), (1, "b", 0.0, True, 1)]))
    watched = WatchedTable(world.table)
    pairs = watched.part(AgreeingPairs)
    assert pairs.count([0b1, 0b11]) == {0b1: 1, 0b11: 0}
    watched.follow(world.change(Batch([(1, "b", 0.0, True, 1)])), Threads())
    assert pairs.count([0b11]) == {0b11: 1}
    watched.follow(world.change(Batch()), Threads())
    assert pairs.dump()[0]["sets"].tolist() == [0b11]
    again = AgreeingPairs.load(world.table, *pairs.dump())
    assert again.count([0b1, 0b11]) == {0b1: 3, 0b11: 1}
