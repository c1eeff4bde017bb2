"""Found keys and FDs by score: as the oracle tells it, the best first, and what they were worth before a batch."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from holdfast.changes.diff import Finding, Worth
from holdfast.engines.functional.key_score import key_score
from holdfast.engines.registry import make_engine
from holdfast.engines.thresholds import BROKEN
from holdfast.rules.dependency import FD, Key
from holdfast.table.nulls import NullMode
from tests.laws.world import COLUMNS, Batch, Kept, Row, World, batches, null_modes, row_lists
from tests.oracle.evidence import evidence

NAMES = [column.name for column in COLUMNS]


@settings(max_examples=30)
@given(some=row_lists, nulls=null_modes)
def test_rules_are_ranked_by_the_score_of_the_oracle(some: list[Row], nulls: NullMode) -> None:
    world = World(nulls)
    world.change(Batch(some))
    for name in ("fd", "ucc"):
        kept = Kept(make_engine(name), world)
        ranked = kept.engine.ranked(kept.state)
        assert dict(ranked) == dict(kept.result())
        assert all(ranked[text] == rule for text, rule in ranked.items())
        scored = [rule for rule in ranked.values() if not _is_empty(rule)]
        assert [_is_empty(rule) for rule in ranked.values()] == [False] * len(scored) + [True] * (
            len(ranked) - len(scored)
        )
        scores = [_worth_of(rule).score for rule in scored]
        assert scores == sorted(scores, reverse=True)
        for rule in scored:
            assert _worth_of(rule) == _expected(world, rule, nulls), rule.text


@pytest.mark.parametrize("name", ["fd", "ucc"])
@settings(max_examples=30)
@given(first=row_lists, batch=batches, nulls=null_modes)
def test_the_worth_of_a_lost_rule_is_that_in_the_table_before(
    name: str, first: list[Row], batch: Batch, nulls: NullMode
) -> None:
    world, before = World(nulls), World(nulls)
    for each in (world, before):
        each.change(Batch(first))
    kept = Kept(make_engine(name), world)
    diff = kept.follow(world.change(batch))
    known = diff.worth or {}
    for text in diff.witnesses:
        expected = _expected(before, diff.lost[text], nulls)
        assert known[text] == expected if text in known else expected.score < BROKEN
    assert set(known) <= set(diff.witnesses)
    for text, worth in (diff.gained_worth or {}).items():
        assert worth == _expected(world, diff.gained[text], nulls)


def _is_empty(rule: Finding) -> bool:
    assert isinstance(rule, FD | Key)
    assert not rule.empty or rule.worth is None
    return rule.empty


def _worth_of(rule: Finding) -> Worth:
    assert isinstance(rule, FD | Key)
    assert rule.worth is not None
    return rule.worth


def _expected(world: World, rule: Finding, nulls: NullMode) -> Worth:
    assert isinstance(rule, FD | Key)
    places = [NAMES.index(name) for name in rule.lhs]
    left = [tuple(row[c] for c in places) for row in world.rows]
    if isinstance(rule, FD):
        counted = evidence(left, [row[NAMES.index(rule.rhs)] for row in world.rows], nulls)
        return Worth(counted.score(len(places)), counted.tested)
    unnamed = sum(None in names for names in left)
    return Worth(key_score(world.table.schema, places, len(left), unnamed, 0), len(left) - unnamed)
