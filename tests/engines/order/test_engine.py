"""The engine of order dependencies against the definition, batch after batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.changes.diff import Diff
from holdfast.engines.contract import Engine
from holdfast.engines.found import witnesses
from holdfast.engines.registry import make_engine
from holdfast.errors import BadInput
from holdfast.rules.order import Canonical, Compatible, ConstantOD, parse
from holdfast.table.nulls import NullMode
from tests.laws.world import COLUMNS, Batch, Kept, Row, World, batches, null_modes, row_lists
from tests.oracle import functional
from tests.oracle import order as oracle

NAMES = [column.name for column in COLUMNS]
streams = st.lists(batches, min_size=1, max_size=4)
levels = st.one_of(st.none(), st.integers(0, 3))
least_scores = st.one_of(st.none(), st.integers(0, 60))
directions = st.sampled_from(["asc", "both"])
orders = st.sampled_from([None, "text", "*"])  # of text
Rules = dict[Any, int]  # as the oracle has them, with their scores


def listed(engine: Engine[Any, Any], state: Any) -> Rules:
    """The rules by column numbers, each with its score, which must fall from one to the next."""
    ranked = list(engine.ranked(state).values())
    found: Rules = {}
    for rule in ranked:
        assert isinstance(rule, ConstantOD | Compatible)
        assert rule.tested_pairs is not None
        found[by_number(rule)] = rule.tested_pairs
    assert [rule.tested_pairs for rule in ranked] == sorted(found.values(), reverse=True)  # type: ignore[attr-defined]
    result = engine.result(state)
    assert {by_number(rule) for rule in result.values()} == set(found)  # type: ignore[arg-type]
    assert {text: result[text] for text in result} == dict(result)
    return found


def by_number(rule: Canonical) -> Any:
    context = tuple(map(NAMES.index, rule.context))
    if isinstance(rule, ConstantOD):
        return context, NAMES.index(rule.column)
    return context, *map(NAMES.index, rule.pair), rule.direction


def unordered(ordered: str | None) -> list[int]:
    """The text column, unless a setting gives it an order."""
    return [] if ordered else [NAMES.index("text")]


def expected(rows: list[Row], nulls: str, options: dict[str, Any]) -> Rules:
    directions = ("asc", "desc")[: 1 if options["directions"] == "asc" else 2]
    rules: set[Any] = oracle.constants(rows, len(NAMES), nulls, options["max_level"])
    rules |= oracle.pairs(rows, len(NAMES), nulls, options["max_level"], directions, unordered(options["ordered"]))
    scores = {rule: oracle.score(rows, rule, nulls) for rule in rules}
    return {rule: score for rule, score in scores.items() if score >= (options["min_score"] or 0)}


@settings(max_examples=60)
@given(
    first=row_lists,
    stream=streams,
    nulls=null_modes,
    directions=directions,
    level=levels,
    least=least_scores,
    method=st.sampled_from(["counts", "borders"]),
    ordered=orders,
)
def test_every_batch_by_definition(
    first: list[Row],
    stream: list[Batch],
    nulls: NullMode,
    directions: str,
    level: int | None,
    least: int | None,
    method: str,
    ordered: str | None,
) -> None:
    options = {"directions": directions, "max_level": level, "min_score": least, "method": method, "ordered": ordered}
    world = World(nulls)
    world.change(Batch(first))
    kept = Kept(make_engine("od", options), world)
    known = expected(world.rows, nulls, options)
    assert listed(kept.engine, kept.state) == known
    for batch in stream:
        before, old_rows = kept.result(), world.rows
        diff = kept.follow(world.change(batch))
        assert diff.patch(before) == kept.result()
        assert diff.lost.keys() == before.keys() - kept.result().keys()
        known = expected(world.rows, nulls, options)
        assert listed(kept.engine, kept.state) == known
        assert empty(kept) == {rule for rule in known if functional.is_empty(world.rows, oracle.needed(rule), nulls)}
        _check_lost(diff, world, nulls)
        _check_gained(diff, old_rows, nulls, least or 0)


def test_batches_where_witnesses_are_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witnesses, "_TRIED", 0)
    test_every_batch_by_definition()


def empty(kept: Kept) -> set[Any]:
    """The rules that say of themselves that nothing tests them."""
    return {by_number(rule) for rule in kept.result().values() if getattr(rule, "empty", False)}  # type: ignore[arg-type]


def holds(rule: Canonical, rows: list[Row], nulls: str) -> bool:
    context, *about = by_number(rule)
    check: Any = oracle.constant_holds if isinstance(rule, ConstantOD) else oracle.pair_holds
    return bool(check(rows, context, *about, nulls))


def _check_lost(diff: Diff, world: World, nulls: NullMode) -> None:
    """A lost rule has a witness that breaks it, unless nothing had tested it; or it holds, and its cause tells from
    what it follows.
    """
    for text, rule in diff.lost.items():
        assert isinstance(rule, ConstantOD | Compatible)
        cause = diff.causes[text]
        if len(world.rows) < 2:
            assert cause.kind == "untested"
        if holds(rule, world.rows, nulls):
            assert text not in diff.witnesses
            assert text not in diff.untested
            _check_implied(diff, rule, world.rows, nulls)
            continue
        assert cause.kind == ("split" if isinstance(rule, ConstantOD) else "swap")
        assert (text in diff.untested) == (text not in diff.witnesses) == rule.empty
        if rule.empty:
            continue
        witness = diff.witnesses[text]
        assert set(world.table.living_ids()) >= set(witness.rows)
        one, other = (tuple(row.values()) for row in world.table.values(np.array(witness.rows)).to_pylist())
        context, *about = by_number(rule)
        assert list(oracle.pairs_within([one, other], context, nulls)), "they agree on the context"
        breaks: Any = oracle.splits if isinstance(rule, ConstantOD) else oracle.swaps
        assert breaks(one, other, *about, nulls)


def _check_gained(diff: Diff, old_rows: list[Row], nulls: NullMode, least: int) -> None:
    """A gained rule had too low a score, or did not hold; or it did, and its cause tells from what it followed."""
    for text, rule in diff.gained.items():
        assert isinstance(rule, ConstantOD | Compatible)
        if diff.causes[text].kind == "score":
            assert oracle.score(old_rows, by_number(rule), nulls) < least
        elif not holds(rule, old_rows, nulls):
            assert diff.causes[text].kind == "mended"
        else:
            _check_implied(diff, rule, old_rows, nulls)


def _check_implied(diff: Diff, rule: Canonical, rows: list[Row], nulls: NullMode) -> None:
    """The cause of a rule that holds in some rows, and isn't listed of them."""
    cause = diff.causes[rule.text]
    _, *about = by_number(rule)
    if len(rows) < 2:
        assert cause.kind == "untested"
    elif cause.kind != "score":
        other = parse(cause.by, NAMES, "t")
        assert holds(other, rows, nulls)
        if cause.kind == "smaller context":
            assert set(other.context) < set(rule.context)
            assert by_number(other)[1:] == tuple(about)
        else:
            assert cause.kind == "constant"
            assert isinstance(other, ConstantOD)
            assert isinstance(rule, Compatible)
            assert set(other.context) <= set(rule.context)
            assert other.column in rule.pair


@pytest.mark.parametrize("method", ["counts", "borders"])
def test_a_rule_that_a_batch_mends_and_breaks(method: str) -> None:
    """The row that goes was the only one to break `{flag}: [] -> day`; the one that comes breaks it again."""
    nothing: Row = (None, None, None, None, None)
    first: list[Row] = [(None, None, 0.0, None, 0), *[nothing] * 6, (None, None, 0.0, False, 0)]
    more: Row = (None, "", 0.0, None, None)
    world = World()
    world.change(Batch(first))
    kept = Kept(make_engine("od", {"method": method}), world)
    for batch in (Batch([more]), Batch([more]), Batch([(None, None, None, False, None)], [0])):
        kept.follow(world.change(batch))
        assert kept.result() == kept.rediscovered()


@pytest.mark.parametrize("wrong", [{"error": 1.0}, {"max_level": -1}, {"min_score": -1}, {"directions": "desc"}])
def test_senseless_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        make_engine("od", wrong)
