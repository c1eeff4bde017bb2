"""The engine of pointwise order dependencies against the definition, batch after batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.changes.diff import Diff
from holdfast.engines.contract import Engine
from holdfast.engines.registry import make_engine
from holdfast.errors import BadInput
from holdfast.rules.pointwise import Pointwise
from holdfast.table.nulls import NullMode
from tests.laws.world import COLUMNS, Batch, Kept, Row, World, batches, null_modes, row_lists
from tests.oracle import pointwise as oracle

NAMES = [column.name for column in COLUMNS]
TEXT = NAMES.index("text")
streams = st.lists(batches, min_size=1, max_size=3)
Pods = set[oracle.Pod]


def listed(engine: Engine[Any, Any], state: Any) -> Pods:
    """The rules as the oracle has them."""
    result = engine.result(state)
    assert {text: result[text] for text in result} == dict(result)
    return {by_number(rule) for rule in result.values()}


def by_number(rule: Any) -> oracle.Pod:
    assert isinstance(rule, Pointwise)
    left = [""] * len(NAMES)
    for name, operator in rule.left:
        left[NAMES.index(name)] = operator
    return oracle.Pod(tuple(left), NAMES.index(rule.right[0]), rule.right[1], rule.vacuous)


def plain(row: Sequence[Any]) -> Row:
    """A row whose values Python compares as we do: NaN is the largest and equals itself."""
    return tuple((math.isnan(v), 0.0 if math.isnan(v) else v) if isinstance(v, float) else v for v in row)


def expected(rows: list[Row], nulls: str, options: dict[str, Any], most: int | None) -> Pods:
    ordered = [column != TEXT or options.get("ordered") is not None for column in range(len(NAMES))]
    found = oracle.rules([plain(row) for row in rows], ordered, nulls, most) if len(rows) > 1 else set()
    rhs = None if options.get("rhs") is None else NAMES.index(options["rhs"])
    return {rule for rule in found if (options.get("vacuous") or not rule.vacuous) and rhs in (None, rule.column)}


def coverage(rows: list[Row], nulls: str, ordered: list[bool], rule: oracle.Pod) -> float:
    signs = [
        [oracle.sign(a, b, o, nulls) for a, b, o in zip(plain(t), plain(s), ordered, strict=True)]
        for i, t in enumerate(rows)
        for j, s in enumerate(rows)
        if i != j
    ]
    met = sum(all(sign in oracle.MEANS[mark] for sign, mark in zip(own, rule.left, strict=True)) for own in signs)
    return met / len(signs)


@settings(max_examples=30)
@given(
    first=row_lists,
    stream=streams,
    nulls=null_modes,
    most=st.one_of(st.none(), st.integers(0, 3)),
    rhs=st.sampled_from([None, None, "number", "text"]),
    vacuous=st.booleans(),
    ordered=st.sampled_from([None, "text"]),
    method=st.sampled_from(["counts", "borders"]),
)
def test_every_batch_by_definition(
    first: list[Row],
    stream: list[Batch],
    nulls: NullMode,
    most: int | None,
    rhs: str | None,
    vacuous: bool,
    ordered: str | None,
    method: str,
) -> None:
    options = {"max_lhs": most, "rhs": rhs, "vacuous": vacuous, "ordered": ordered, "method": method}
    engine = make_engine("pod", options)
    world = World(nulls)
    world.change(Batch(first))
    kept = Kept(engine, world)
    bound = kept.state.spec.max_lhs
    assert listed(engine, kept.state) == expected(world.rows, nulls, options, bound)
    by_order = [column != TEXT or ordered is not None for column in range(len(NAMES))]
    for number, batch in enumerate(stream):
        if number == 1:
            kept.reload()
        before, were = listed(engine, kept.state), oracle.Pairs([plain(row) for row in world.rows], by_order, nulls)
        diff = kept.follow(world.change(batch))
        after = listed(engine, kept.state)
        assert after == expected(world.rows, nulls, options, bound)
        check_diff(diff, before, after, were, oracle.Pairs([plain(row) for row in world.rows], by_order, nulls), nulls)


def check_diff(diff: Diff, before: Pods, after: Pods, were: oracle.Pairs, pairs: oracle.Pairs, nulls: str) -> None:
    lost = {text: by_number(rule) for text, rule in diff.lost.items()}
    turned = [tuple(map(by_number, pair)) for pair in diff.changed.values()]
    assert {*lost.values(), *(was for was, _ in turned)} == before - after
    assert {*map(by_number, diff.gained.values()), *(now for _, now in turned)} == after - before
    for text, rule in lost.items():
        broken = pairs.meeting(rule.left) & pairs.breaking(rule.column, rule.operator)
        assert bool(broken) == (text in diff.witnesses), "a rule that still holds is not broken by anyone"
        if broken:
            check_witness(diff.witnesses[text].values, rule, nulls, pairs.ordered)
    for text, finding in diff.gained.items():
        rule = by_number(finding)
        broken = were.meeting(rule.left) & were.breaking(rule.column, rule.operator)
        assert bool(broken) == (diff.causes[text].kind == "mended")
    for text, cause in diff.causes.items():
        assert cause.kind in ("mended", "stronger", "untested"), (text, cause)


def check_witness(values: Any, rule: oracle.Pod, nulls: str, ordered: Sequence[bool]) -> None:
    one, other = (
        plain([float(row[n]) if n == "real" and row[n] is not None else row[n] for n in NAMES]) for row in values
    )
    signs = [oracle.sign(a, b, o, nulls) for a, b, o in zip(one, other, ordered, strict=True)]
    assert all(sign in oracle.MEANS[mark] for sign, mark in zip(signs, rule.left, strict=True))
    assert signs[rule.column] not in oracle.MEANS[rule.operator]


@settings(max_examples=15)
@given(
    rows=row_lists.filter(lambda rows: len(rows) > 1), nulls=null_modes, method=st.sampled_from(["counts", "borders"])
)
def test_coverage_is_the_share_of_pairs_that_meet_the_left_side(rows: list[Row], nulls: NullMode, method: str) -> None:
    engine = make_engine("pod", {"method": method, "vacuous": True, "max_lhs": 2})
    world = World(nulls)
    world.change(Batch(rows))
    ranked = list(engine.ranked(Kept(engine, world).state).values())
    ordered = [column != TEXT for column in range(len(NAMES))]
    for rule in ranked:
        assert isinstance(rule, Pointwise)
        assert rule.coverage == pytest.approx(coverage(world.rows, nulls, ordered, by_number(rule)))
        assert rule.vacuous == (rule.coverage == 0)
    least = {text for text, rule in engine.result(Kept(engine, world).state).items() if _covered(ranked, text) >= 0.2}
    some = make_engine("pod", {"method": method, "max_lhs": 2, "min_coverage": 0.2})
    assert set(some.result(Kept(some, world).state)) == least


def _covered(ranked: list[Any], text: str) -> float:
    return next(float(rule.coverage) for rule in ranked if rule.text == text)


@pytest.mark.parametrize("setting", ["rhs", "ordered"])
def test_a_column_that_is_not_there_is_refused(setting: str) -> None:
    world = World("equal")
    world.change(Batch([(1, "a", 0.0, True, 1)]))
    with pytest.raises(BadInput, match=f"--{setting}: there is no column 'nobody' in t; choose from: number, text"):
        Kept(make_engine("pod", {setting: "number, nobody"}), world)
