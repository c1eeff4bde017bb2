"""The law of sharing: classes that are watched together share what they know of a table, and each finds the same rules,
by the same strategy, as it does alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engines.found import witnesses
from holdfast.engines.found.witnesses import Compared
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.table.change import Change
from holdfast.table.nulls import NullMode
from tests.laws.world import Batch, Kept, Row, World, batches, null_modes, row_lists

CLASSES = ("fd", "ucc", "od")


def together(world: World, options: dict[str, Any]) -> list[Kept]:
    watched = WatchedTable(world.table)
    return [Kept(make_engine(name, options), world, watched) for name in CLASSES]


def apart(change: Change) -> Change:
    """The same change, of which nothing is known yet."""
    return Change(change.before, change.after, change.born, change.dead)


@pytest.mark.parametrize("method", ["auto", "counts", "borders"])
@given(first=row_lists, stream=st.lists(batches, max_size=4), nulls=null_modes)
def test_classes_watched_together_find_what_each_finds_alone(
    method: str, first: list[Row], stream: list[Batch], nulls: NullMode
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    sharing = together(world, {"method": method})
    alone = [Kept(make_engine(name, {"method": method}), world) for name in CLASSES]
    for batch in stream:
        change = world.change(batch)
        for one, other in zip(sharing, alone, strict=True):
            shared, own = one.follow(change), other.follow(apart(change))
            assert (dict(shared.lost), dict(shared.gained)) == (dict(own.lost), dict(own.gained))
            assert dict(shared.causes) == dict(own.causes)
            assert shared.witnesses.keys() == own.witnesses.keys()
            assert one.result() == one.rediscovered()
            assert one.engine.how(one.state) == other.engine.how(other.state)


def test_new_rows_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def counted(born: Any, table: Any) -> Iterator[Compared]:
        for seen in at_hand(born, table):
            compared.append(len(seen.pairs))
            yield seen

    at_hand = witnesses._at_hand
    monkeypatch.setattr(witnesses, "_at_hand", counted)
    world = World()
    world.change(Batch([(n, "ab"[n % 2], float(n), None, n) for n in range(4)]))
    sharing = together(world, {"method": "counts"})
    change = world.change(Batch([(0, "b", 1.0, True, 2), (1, "b", 0.0, False, 2)]))
    lost = [len(one.follow(change).lost) for one in sharing]
    assert np.all(lost)
    assert compared == [2 * 6 - 2]
