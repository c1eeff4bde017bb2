"""List order dependencies against the definition: random lists on random streams of tiny adversarial tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.engines.given.listing import short_names, why_rows
from holdfast.engines.order.list_first import look
from holdfast.rules.lists import ListOD, SortColumn
from holdfast.table.table import Schema, Table
from holdfast.table.types import Column
from tests.engines.denial.streams import Stream, assert_kept, effects_of, listed
from tests.engines.order.lists import discover, wanted

SCHEMA = Schema(
    "things", (Column("a", pa.int64()), Column("f", pa.float64()), Column("x", pa.string()), Column("y", pa.bool_()))
)
VALUES: dict[str, tuple[Any, ...]] = {
    "a": (None, -1, 0, 1),
    "f": (None, 0.0, -0.0, 0.5, math.nan, -math.inf),
    "x": (None, "", "a", "é"),
    "y": (None, True, False),
}
rows = st.tuples(*(st.sampled_from(VALUES[column.name]) for column in SCHEMA.columns))
columns = st.builds(SortColumn, st.sampled_from(SCHEMA.names), st.booleans())
# Columns may stand twice, in both lists, upwards and downwards.
rules = st.builds(
    ListOD, st.lists(columns, max_size=3).map(tuple), st.lists(columns, min_size=1, max_size=3).map(tuple)
)
batches = st.lists(st.tuples(st.lists(rows, max_size=6), st.lists(st.integers(0, 30), max_size=5)), max_size=4)
many = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@many
@given(st.lists(rows, max_size=10), st.lists(rules, min_size=1, max_size=4))
def test_finds_all_violations_and_tells_splits_from_swaps(start: list[Any], given_rules: list[ListOD]) -> None:
    stream = Stream.of(SCHEMA, start)
    for rule, found in zip(given_rules, discover(stream.table, given_rules).found(), strict=True):
        expected = wanted(stream, rule)
        assert listed(found) == expected.keys()
        kinds = {pair: _kind(rule, stream.table, pair) for pair in expected}
        assert kinds == expected
    for rule, found in zip(given_rules, discover(stream.table, given_rules, limit=0).found(), strict=True):
        assert found.count == len(wanted(stream, rule))


def _kind(rule: ListOD, table: Table, pair: tuple[int, int]) -> str:
    ids = np.array(pair)
    return why_rows(rule, table, ids, short_names(table, ids)).kind


@many
@given(st.lists(rows, max_size=8), batches, st.lists(rules, min_size=1, max_size=3), st.sampled_from([0, 4, 10_000]))
def test_follows_a_stream(start: list[Any], changes: list[Any], given_rules: list[ListOD], limit: int) -> None:
    stream = Stream.of(SCHEMA, start)
    state = discover(stream.table, given_rules, limit)
    for number, (inserts, picks) in enumerate(changes):
        if number == 1:
            state = state.reopened()
        before = [set(wanted(stream, rule)) for rule in given_rules]
        dead = sorted({list(stream.rows)[pick % len(stream.rows)] for pick in picks}) if stream.rows else []
        effects = effects_of(state.follow(stream.change(inserts, dead)))
        for rule, old, found, each in zip(given_rules, before, state.found(), effects, strict=True):
            assert_kept(found, each, old, set(wanted(stream, rule)), limit)


@many
@given(st.lists(rows, max_size=8), rules)
def test_the_first_violation_is_one(start: list[Any], rule: ListOD) -> None:
    stream = Stream.of(SCHEMA, start)
    seen, expected = look(rule, stream.table), wanted(stream, rule)
    assert bool(seen) == (not expected)
    if not seen:
        t, s = seen.rows
        assert expected[t, s] == seen.kind
        assert str(seen).startswith(f"{rule.text}\nrow {t} and row {s} are a {seen.kind}: ")


def test_a_column_orders_itself_downwards_iff_it_is_constant() -> None:
    rule = ListOD((SortColumn("a"),), (SortColumn("a", True),))
    stream = Stream.of(SCHEMA, [(1, 0.0, "", None), (1, 0.5, "a", True)])
    state = discover(stream.table, [rule])
    assert state.found()[0].count == 0
    state.follow(stream.change([(None, 0.0, "", None)], []))
    assert listed(state.found()[0]) == {(2, 0), (2, 1)}, "null comes first, so it must come last"
