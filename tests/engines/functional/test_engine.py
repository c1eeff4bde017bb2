"""The engines of keys and FDs against the definition, batch after batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.contract import Engine
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.rules.dependency import FD
from holdfast.table.nulls import NullMode
from tests.engines.functional.world import NAMES, empty, found
from tests.laws.budgets import by_groups
from tests.laws.world import Batch, Kept, Row, World, batches, null_modes, row_lists
from tests.oracle import functional as oracle

streams = st.lists(batches, min_size=1, max_size=4)
errors = st.sampled_from(["0", "0.05", "0.3"])
bounds = st.one_of(st.none(), st.integers(0, 3))


def engines(
    error: str = "0", most: int | None = None, method: str = "auto"
) -> tuple[Engine[Any, Any], Engine[Any, Any]]:
    options = {"error": float(error), "max_lhs": most, "method": "auto" if method == "groups" else method}
    made = make_engine("fd", options), make_engine("ucc", options)
    return (by_groups(made[0]), by_groups(made[1])) if method == "groups" else made


def expected(world: World, nulls: str, error: str, most: int | None) -> list[dict[Any, float]]:
    given_so = world.rows, len(NAMES), nulls, error, most
    return [oracle.fds(*given_so), oracle.keys(*given_so)]


@settings(max_examples=80)
@given(first=row_lists, stream=streams, nulls=null_modes, error=errors, most=bounds, tall=st.booleans())
def test_every_batch_by_definition(
    first: list[Row], stream: list[Batch], nulls: NullMode, error: str, most: int | None, tall: bool
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    watched = WatchedTable(world.table)
    method = ("groups" if float(error) else "borders") if tall else "counts"
    kept = [Kept(engine, world, watched) for engine in engines(error, most, method)]
    assert method == "borders" or kept[0].state.strategy.pairs is kept[1].state.strategy.pairs, "pairs are counted once"
    _check_rules(kept, world, nulls, error, most)
    for batch in stream:
        change = world.change(batch)
        for one in kept:
            before = one.result()
            diff = one.follow(change)
            assert diff.patch(before) == one.result()
            _check_witnesses(diff, world, nulls)
        _check_rules(kept, world, nulls, error, most)


def _check_rules(kept: list[Kept], world: World, nulls: NullMode, error: str, most: int | None) -> None:
    fds, keys = expected(world, nulls, error, most)
    assert [found(one.engine, one.state) for one in kept] == [fds, keys]
    untested = {rule for rule in fds if oracle.is_empty(world.rows, rule[0], nulls)}
    assert empty(kept[0].engine, kept[0].state) == untested
    assert empty(kept[1].engine, kept[1].state) == {(k,) for k in keys if oracle.is_empty(world.rows, k, nulls)}


def _check_witnesses(diff: Any, world: World, nulls: NullMode) -> None:
    """A lost rule has a witness that breaks it, or none because it isn't minimal any more, no pair tests it, or none
    did before.
    """
    for text, rule in diff.lost.items():
        lhs = rule.lhs if isinstance(rule, FD) else rule.columns
        others = [getattr(other, "lhs", getattr(other, "columns", ())) for other in diff.gained.values()
                  if getattr(other, "rhs", None) == getattr(rule, "rhs", None)]  # fmt: skip
        if text not in diff.witnesses:
            implied = any(set(other) < set(lhs) for other in others)
            is_broken = not implied and world.table.rows >= 2
            assert not is_broken or rule.empty, f"{text} went without a witness"
            assert (text in diff.untested) == is_broken
            continue
        assert not rule.empty, f"nothing had tested {text}"
        one, other = diff.witnesses[text].rows
        rows = world.table.values(np.array([one, other])).to_pylist()
        assert one != other
        assert set(world.table.living_ids()) >= {one, other}
        assert all(oracle.equal(rows[0][name], rows[1][name], nulls) for name in lhs)
        if isinstance(rule, FD):
            assert not oracle.equal(rows[0][rule.rhs], rows[1][rule.rhs], nulls)
        assert list(diff.witnesses[text].values[0]) == NAMES


def test_loaded_together_they_share_again() -> None:
    world = World()
    world.change(Batch([(1, "a", 0.0, True, 1), (2, "a", None, True, 1)]))
    watched = WatchedTable(world.table)
    fd, ucc = (Kept(engine, world, watched) for engine in engines())
    again = WatchedTable(world.table, *watched.dump())
    states = [one.engine.load(again, *one.engine.dump(one.state)) for one in (fd, ucc)]
    assert states[0].strategy.pairs is states[1].strategy.pairs
    assert [dict(one.engine.result(s)) for one, s in zip((fd, ucc), states, strict=True)] == [fd.result(), ucc.result()]


@pytest.mark.parametrize(("error", "most"), [(1.0, None), (-0.1, None), (0.0, -1)])
def test_senseless_settings_are_refused(error: float, most: int | None) -> None:
    with pytest.raises(BadInput):
        make_engine("fd", {"error": error, "max_lhs": most})
