"""The laws of the keepers of rules about rows, and about a table."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.contract import NoSettings
from holdfast.engines.given import GivenClass
from holdfast.engines.given.keeper import ADDED, RESOLVED, Keeper
from holdfast.engines.given.row_set import RowSet
from holdfast.engines.registry import rule_class
from holdfast.engines.watched import WatchedTable
from holdfast.rules.given import GivenRule, TableRules
from holdfast.table.change import Batch as Changes
from holdfast.table.runner import Threads
from tests.engines.given.pieces import same_in_any_order, some_of
from tests.laws.world import Batch, World, batches, row_lists

GIVEN = {
    "row": ("t.number between -1 and 1", "t.text like 'a%' or t.flag = true", "t.number + 1 <= t.real"),
    "table": ("rows >= 5", "share(null text) <= 0.25", "distinct(real) = 3", "min(number) >= -1"),
}
streams = st.lists(batches, min_size=1, max_size=3)


def keeper_of(name: str, subject: WatchedTable) -> Keeper[Any, Any]:
    declared = rule_class(name)
    assert isinstance(declared, GivenClass)
    rules = tuple(GivenRule(f"r{number}", "t", text) for number, text in enumerate(GIVEN[name]))
    return declared.keeper(NoSettings(), {"t": TableRules(rules)}, subject)


@pytest.mark.parametrize("name", GIVEN)
@settings(max_examples=30)
@given(first=row_lists)
def test_a_first_look_is_a_look_at_rows_that_are_all_born(name: str, first: list[Any]) -> None:
    world = World()
    subject = WatchedTable(world.table)
    keeper = keeper_of(name, subject)
    state = keeper.begin(subject, Threads())
    assert [each.violations for each in keeper.standings(state)] == keeper_counts(keeper, state)
    before = keeper.standings(state)
    change = world.change(Batch(first))
    subject.follow(change, Threads())
    state, answer = keeper.look(keeper.ready(state, Changes([change])), {"t": change.come}, {"t": change.gone})
    begun = keeper.begin(WatchedTable(world.table), Threads())
    assert repr(keeper.dump(state)) == repr(keeper.dump(begun))
    assert keeper.standings(state) == keeper.standings(begun)
    assert [each.figures for each in keeper.standings(state)] == [each.figures for each in keeper.standings(begun)]
    moved = [now.violations - was.violations for was, now in zip(before, keeper.standings(state), strict=True)]
    assert (answer.counts[:, ADDED] - answer.counts[:, RESOLVED]).tolist() == moved


def keeper_counts(keeper: Keeper[Any, Any], state: Any) -> list[int]:
    subject = WatchedTable(World().table)
    return [keeper.listing(state, subject, number).count for number in range(len(keeper.rules))]


@settings(max_examples=50)
@given(first=row_lists, stream=streams, seed=st.integers(0, 99))
def test_pieces_of_rows_add_up(first: list[Any], stream: list[Batch], seed: int) -> None:
    world, pieces = World(), range(3)
    world.change(Batch(first))
    subject = WatchedTable(world.table)
    keeper = keeper_of("row", subject)
    assert all(cut.by == "row" for cuts in keeper.cuts() for cut in cuts)
    state = keeper.begin(subject, Threads())
    piece_of = np.random.default_rng(seed).integers(0, len(pieces), 1_000)
    parts = [[RowSet(rows.ids()[piece_of[rows.ids()] == piece].copy()) for rows in state] for piece in pieces]
    for batch in stream:
        change = world.change(batch)
        come, gone = change.come, change.gone
        state, whole = keeper.look(state, {"t": come}, {"t": gone})
        answers = []
        for piece in pieces:
            born, dead = (some_of(rows, piece_of[rows.ids] == piece) for rows in (come, gone))
            parts[piece], answer = keeper.look(parts[piece], {"t": born}, {"t": dead})
            answers.append(answer)
        same_in_any_order(answers, whole)
        for number, rows in enumerate(state):
            assert sorted(row for part in parts for row in part[number].ids().tolist()) == rows.ids().tolist()


@pytest.mark.parametrize("name", GIVEN)
def test_a_plan_can_be_sent(name: str) -> None:
    subject = WatchedTable(World().table)
    keeper = keeper_of(name, subject)
    sent = pickle.loads(pickle.dumps(keeper))
    assert sent == keeper
    assert sent.standings(sent.begin(subject, Threads())) == keeper.standings(keeper.begin(subject, Threads()))
