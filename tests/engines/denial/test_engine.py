"""The denial engine against the definition: random constraints on random streams of tiny adversarial tables."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.rules.conditions import Cell, Comparison, Row
from holdfast.rules.constants import Constant
from holdfast.rules.denial import DenialConstraint
from holdfast.search.queries import Operator
from holdfast.table.runner import Threads
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.engines.denial.streams import (
    Stream,
    Watching,
    assert_kept,
    detect,
    discover,
    effects_of,
    keeper_of,
    listed,
    wanted,
)

OPERATORS: tuple[Operator, ...] = ("=", "!=", "<", "<=", ">", ">=")
SCHEMA = Schema(
    "things",
    (
        Column("a", pa.int64()),
        Column("b", pa.int64()),
        Column("f", pa.float64()),
        Column("d", pa.decimal128(10, 2)),
        Column("x", pa.string()),
        Column("y", pa.string()),
    ),
)
_BIG = 2**53
VALUES: dict[str, tuple[Any, ...]] = {
    "a": (None, 0, 1, 2, _BIG + 1),
    "b": (None, 0, 1, 2, _BIG, 2**63 - 1),
    "f": (None, 0.0, -0.0, 0.5, 1.0, math.nan, math.inf, float(_BIG)),
    "d": (None, Decimal("0.00"), Decimal("0.50"), Decimal("1.00"), Decimal("0.51")),
    "x": (None, "", "a", "b", "é"),
    "y": (None, "a", "b", "ab"),
}
GROUPS = (("a", "b", "f", "d"), ("x", "y"))
rows = st.tuples(*(st.sampled_from(VALUES[column.name]) for column in SCHEMA.columns))


@st.composite
def predicates(draw: st.DrawFn) -> Comparison:
    group = draw(st.sampled_from(GROUPS))
    left = draw(st.sampled_from(group))
    operator = draw(st.sampled_from(OPERATORS))
    kind = draw(st.sampled_from(["same"] * 5 + ["cross"] * 3 + ["row", "constant"]))
    row: Row = draw(st.sampled_from(("t", "s")))
    if kind == "constant":
        value = draw(st.sampled_from([v for v in VALUES[left] if v is not None]))
        return Comparison(Cell(row, left), operator, Constant(value))
    if kind == "same":
        return Comparison(Cell("t", left), operator, Cell("s", left))
    right = draw(st.sampled_from([name for name in group if name != left]))
    second = Cell(row, right)
    return Comparison(Cell(row, left), operator, second if kind == "row" else second.swapped)


constraints = st.lists(predicates(), min_size=1, max_size=5).map(lambda p: DenialConstraint(tuple(p)))
batches = st.lists(st.tuples(st.lists(rows, max_size=6), st.lists(st.integers(0, 30), max_size=5)), max_size=5)
many = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@many
@given(st.lists(rows, max_size=14), st.lists(constraints, min_size=1, max_size=4))
def test_finds_all_violations(start: list[tuple[Any, ...]], rules: list[DenialConstraint]) -> None:
    stream = Stream.of(SCHEMA, start)
    for rule, found in zip(rules, detect(stream.table, rules), strict=True):
        assert listed(found) == wanted(stream, rule)
    for rule, found in zip(rules, detect(stream.table, rules, limit=0), strict=True):
        assert found.count == len(wanted(stream, rule))


@many
@given(
    st.lists(rows, max_size=10),
    batches,
    st.lists(constraints, min_size=1, max_size=4),
    st.sampled_from([0, 3, 10, 10_000]),
    st.integers(0, 4),
)
def test_follows_a_stream(
    start: list[tuple[Any, ...]],
    changes: list[tuple[list[tuple[Any, ...]], list[int]]],
    rules: list[DenialConstraint],
    limit: int,
    save_at: int,
) -> None:
    stream = Stream.of(SCHEMA, start)
    state = discover(stream.table, rules, limit=limit)
    for number, (inserts, picks) in enumerate(changes):
        if number == save_at:
            state = state.reopened()
        before = [wanted(stream, rule) for rule in rules]
        dead = sorted({list(stream.rows)[pick % len(stream.rows)] for pick in picks}) if stream.rows else []
        effects = effects_of(state.follow(stream.change(inserts, dead)))
        for rule, old, found, each in zip(rules, before, state.found(), effects, strict=True):
            assert_kept(found, each, old, wanted(stream, rule), limit)


def test_keepers_of_one_table_share_its_search() -> None:
    rules = [
        DenialConstraint.parse("not(t.a = s.a and t.b < s.b)"),
        DenialConstraint.parse("not(t.a = s.a and t.b > 1)"),
    ]
    stream = Stream.of(SCHEMA, [(i % 3, i % 4, None, None, None, None) for i in range(12)])
    first = discover(stream.table, rules[:1])
    keeper = keeper_of(rules[1:], stream.table, limit=0)
    second = Watching(keeper, first.subject, keeper.begin(first.subject, Threads(1)))
    assert second.state.search is first.state.search
    for dead in ([1, 4], [0, 7, 12]):
        before = [wanted(stream, rule) for rule in rules]
        change = stream.change([(1, 0, None, None, None, None), (2, 3, None, None, None, None)], dead)
        effects = [effects_of(watching.follow(change))[0] for watching in (first, second)]
        for rule, old, watching, each, limit in zip(rules, before, (first, second), effects, (100, 0), strict=True):
            assert_kept(watching.found()[0], each, old, wanted(stream, rule), limit)
