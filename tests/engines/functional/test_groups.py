"""Rows in groups, kept under batches: against the definition, and against fresh groups."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.functional import groups
from holdfast.engines.functional.groups import PARTS, Groups
from holdfast.engines.given.keeper import Effect
from holdfast.table.change import Change
from holdfast.table.nulls import NullMode
from holdfast.table.table import Table
from tests.laws.world import Batch, Row, World, batches, null_modes, row_lists, rows
from tests.oracle import functional as oracle
from tests.oracle.evidence import evidence

lefts = st.lists(st.integers(0, 3), max_size=2, unique=True).map(sorted)
rights = st.sampled_from([None, 4])


@settings(max_examples=80)
@given(some=st.lists(rows, max_size=6), lhs=lefts, rhs=rights, nulls=null_modes)
def test_the_fewest_rows_are_outside(some: list[Row], lhs: list[int], rhs: int | None, nulls: NullMode) -> None:
    world = World(nulls)
    world.change(Batch(some))
    found = Groups(world.table, lhs, rhs)
    gone = set(found.outside_pairs()[:, 0].tolist())
    assert found.to_remove == len(gone) == oracle.fewest_to_remove(some, lhs, rhs, nulls)
    left = [row for place, row in zip(world.table.living_ids(), world.rows, strict=True) if place not in gone]
    assert oracle.fewest_to_remove(left, lhs, rhs, nulls) == 0
    agreeing = oracle.agree_sets(some, nulls)
    assert found.broken_pairs == sum(n for s, n in agreeing.items() if s.issuperset(lhs) and rhs not in s)


@settings(max_examples=80)
@given(
    first=row_lists,
    stream=st.lists(batches, min_size=1, max_size=6),
    lhs=lefts,
    rhs=rights,
    nulls=null_modes,
    reloaded=st.sets(st.integers(0, 5)),
)
def test_kept_equals_fresh(
    first: list[Row], stream: list[Batch], lhs: list[int], rhs: int | None, nulls: NullMode, reloaded: set[int]
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    kept = Groups(world.table, lhs, rhs)
    for number, batch in enumerate(stream):
        if number in reloaded:
            kept = Groups.load(world.table, lhs, rhs, kept.dump())
            assert set(kept.dump()) <= set(PARTS)
        before = set(kept.outside_pairs()[:, 0].tolist())
        effect = followed(kept, world.change(batch))
        fresh = Groups(world.table, lhs, rhs)
        _same(kept, fresh)
        after = set(kept.outside_pairs()[:, 0].tolist())
        assert sorted(effect.added[:, 0].tolist()) == sorted(after - before)
        assert sorted(effect.resolved[:, 0].tolist()) == sorted(before - after)
        assert (effect.count_added, effect.count_resolved) == (len(effect.added), len(effect.resolved))
        _breaks(world, kept, lhs, rhs, nulls)


@settings(max_examples=40)
@given(first=row_lists, stream=st.lists(batches, min_size=1, max_size=4), lhs=lefts, most=st.integers(0, 3))
def test_rows_that_swap_are_counted_and_listed_where_they_are_few(
    first: list[Row], stream: list[Batch], lhs: list[int], most: int
) -> None:
    world = World()
    world.change(Batch(first))
    kept = Groups(world.table, lhs, 4)
    for batch in stream:
        before, change = set(kept.outside_pairs()[:, 0].tolist()), world.change(batch)
        with patch.object(groups, "MOST", most):
            effect = followed(kept, change)
        after = set(kept.outside_pairs()[:, 0].tolist())
        moved = [after - before, before - after]
        plain = [moved[0] & set(change.born), moved[1] & set(change.dead.tolist())]
        swapped = sum(map(len, moved)) - sum(map(len, plain))
        listed = [set(effect.added[:, 0].tolist()), set(effect.resolved[:, 0].tolist())]
        assert (effect.count_added, effect.count_resolved) == tuple(map(len, moved))
        assert listed == (moved if swapped <= most else plain)


@settings(max_examples=80)
@given(first=row_lists, stream=st.lists(batches, min_size=1, max_size=4), lhs=lefts, rhs=rights)
def test_changed_left_sides_come_with_what_most_of_their_rows_say(
    first: list[Row], stream: list[Batch], lhs: list[int], rhs: int | None
) -> None:
    world = World()
    world.change(Batch(first))
    kept = Groups(world.table, lhs, rhs)
    for batch in stream:
        before = _right_sides(world.table, lhs, rhs)
        found = followed(kept, world.change(batch)).clusters
        after = _right_sides(world.table, lhs, rhs)
        wrong = {left: _fewest(before.get(left), rhs) for left in before | after}
        changed = {left for left, old in wrong.items() if _fewest(after.get(left), rhs) != old}
        assert found is not None
        assert {tuple(left) for left in found.codes.T.tolist()} == changed
        for place, left in enumerate(map(tuple, found.codes.T.tolist())):
            said = after.get(left, Counter())
            assert found.place_of(found.codes[:, place]) == place
            assert (found.before[place], found.after[place]) == (wrong[left], _fewest(after.get(left), rhs))
            assert found.sizes[place] == said.total()
            if rhs is not None and said:
                most = int(found.usual_counts[place])
                assert said[int(found.usual[place])] == most == max(said.values())


def _right_sides(table: Table, lhs: list[int], rhs: int | None) -> dict[tuple[int, ...], Counter[int]]:
    """How many rows have which code on the right side, by the codes on the left."""
    found: dict[tuple[int, ...], Counter[int]] = {}
    for row in table.codes(table.living_ids()).T.tolist():
        found.setdefault(tuple(row[c] for c in lhs), Counter())[0 if rhs is None else row[rhs]] += 1
    return found


def _fewest(said: Counter[int] | None, rhs: int | None) -> int:
    """How many rows of a left side to remove."""
    return 0 if not said else said.total() - (1 if rhs is None else max(said.values()))


def followed(kept: Groups, change: Change) -> Effect:
    kept.ready(change)
    return kept.follow(change.come, change.gone)


def _same(kept: Groups, fresh: Groups) -> None:
    assert (kept.broken_pairs, kept.to_remove) == (fresh.broken_pairs, fresh.to_remove)
    assert kept.outside_pairs()[:, 0].tolist() == fresh.outside_pairs()[:, 0].tolist()
    clusters = [
        [rows.tolist() for rows in groups.rows_in(int(c))] for groups in (kept, fresh) for c in groups.broken_clusters()
    ]
    assert clusters[: len(clusters) // 2] == clusters[len(clusters) // 2 :]


def _breaks(world: World, kept: Groups, lhs: list[int], rhs: int | None, nulls: NullMode) -> None:
    """Each row outside breaks the rule with its partner, which is not outside."""
    ids = world.table.living_ids()
    rows = [tuple(row.values()) for row in world.table.values(ids).to_pylist()]
    values = dict(zip(ids.tolist(), rows, strict=True))
    pairs = kept.outside_pairs().tolist()
    outside = {one for one, _ in pairs}
    for one, other in pairs:
        assert other not in outside
        assert all(oracle.equal(values[one][c], values[other][c], nulls) for c in lhs)
        assert rhs is None or not oracle.equal(values[one][rhs], values[other][rhs], nulls)


def test_what_is_empty_is_let_go() -> None:
    world = World()
    world.change(Batch([(number, "a", 0.0, True, number % 7) for number in range(3000)]))
    kept = Groups(world.table, [0], 4)
    followed(kept, world.change(Batch([(1, "a", 0.0, True, 5)] * 2, list(range(2500)))))
    assert kept.entries == 2 * 501
    _same(kept, Groups(world.table, [0], 4))
    assert len(np.unique(kept.outside_pairs()[:, 0])) == kept.to_remove


@settings(max_examples=80)
@given(
    first=row_lists,
    stream=st.lists(batches, min_size=1, max_size=6),
    lhs=lefts,
    nulls=null_modes,
    looked_at=st.sets(st.integers(-1, 5)),
    reloaded=st.sets(st.integers(0, 5)),
)
def test_the_evidence_kept_is_that_of_the_living_rows(
    first: list[Row], stream: list[Batch], lhs: list[int], nulls: NullMode, looked_at: set[int], reloaded: set[int]
) -> None:
    world = World(nulls)
    world.change(Batch(first))
    kept = Groups(world.table, lhs, 4)
    for number, batch in enumerate([Batch(), *stream], -1):
        if number in reloaded:
            kept = Groups.load(world.table, lhs, 4, kept.dump())
        followed(kept, world.change(batch))
        if number in looked_at or number == len(stream) - 1:
            left = [tuple(row[c] for c in lhs) for row in world.rows]
            assert kept.evidence == evidence(left, [row[4] for row in world.rows], nulls)
            assert kept.with_nulls == sum(None in names for names in left)
