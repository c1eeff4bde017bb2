"""How far list order dependencies hold, and what they mean, against the definitions: random streams, tiny tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast.engines.order.canonical_set import canonical_set, parts_of
from holdfast.engines.order.list_error import rows_to_remove
from holdfast.engines.order.list_first import explained, look
from holdfast.engines.order.list_keeper import ListsKeeper
from holdfast.errors import BadInput
from holdfast.rules.lists import ListOD
from holdfast.rules.order import ConstantOD
from holdfast.table.nulls import Nulls
from tests.engines.denial.streams import Stream, Watching, keeper_of
from tests.engines.order.lists import plain
from tests.engines.order.test_list_engine import SCHEMA, batches, many, rows, rules
from tests.oracle import list_order as oracle
from tests.oracle import order, order_error


def fewest(stream: Stream, rule: ListOD) -> int:
    return oracle.fewest_to_remove(list(stream.rows.values()), *plain(stream.table, rule))


def kept(stream: Stream, rules: list[ListOD], limit: int) -> Watching:
    plan = keeper_of(rules, stream.table, limit, Nulls.EQUAL)
    lists = ListsKeeper(plan.table, plan.rules, plan.queries, plan.distinct, plan.nulls, plan.limit)
    return Watching.start(lists, stream.table)


@many
@given(st.lists(rows, max_size=8), batches, st.lists(rules, min_size=1, max_size=3), st.sampled_from([0, 4, 10_000]))
def test_the_error_follows_a_stream(start: list[Any], changes: list[Any], some: list[ListOD], limit: int) -> None:
    stream = Stream.of(SCHEMA, start)
    state = kept(stream, some, limit)
    for number, (inserts, picks) in enumerate([([], []), *changes]):
        if number == 2:
            state = state.reopened()
        dead = sorted({list(stream.rows)[pick % len(stream.rows)] for pick in picks}) if stream.rows else []
        state.follow(stream.change(inserts, dead))
        for rule, tally in zip(some, state.keeper.measured(state.state), strict=True):
            removed = fewest(stream, rule)
            assert tally.figures["to_remove"] == removed
            assert tally.figures["error"] == (removed / len(stream.rows) if removed else 0.0)
            assert bool(tally.violations) == bool(removed)


@many
@given(st.lists(rows, max_size=10), rules)
def test_the_error_is_that_of_the_definition(start: list[Any], rule: ListOD) -> None:
    stream = Stream.of(SCHEMA, start)
    assert rows_to_remove(rule, stream.table) == fewest(stream, rule)


@many
@given(st.lists(rows, max_size=8), rules)
def test_a_list_order_holds_iff_all_of_its_canonical_set_hold(start: list[Any], rule: ListOD) -> None:
    stream = Stream.of(SCHEMA, start)
    plain_rows, names = list(stream.rows.values()), SCHEMA.names
    parts = parts_of(rule, stream.table)
    assert oracle.holds(plain_rows, *plain(stream.table, rule)) == (not any(part.to_remove for part in parts))
    for part in parts:
        context = tuple(names.index(name) for name in part.rule.context)

        def breaks(one: order.Row, other: order.Row, canonical: Any = part.rule) -> bool:
            if isinstance(canonical, ConstantOD):
                return order.splits(one, other, names.index(canonical.column), "equal")
            a, b = (names.index(name) for name in canonical.pair)
            return order.swaps(one, other, a, b, canonical.direction, "equal")

        assert part.to_remove == order_error.fewest_to_remove(plain_rows, context, breaks, "equal")
        assert part.to_remove <= fewest(stream, rule), "what the whole needs is enough for each part"


def texts(text: str, names: str = "ABCD") -> list[str]:
    return [each.text for each in canonical_set(replace(ListOD.parse(text), table="t"), list(names))]


def test_example_5_of_the_paper() -> None:
    assert texts("[A, B] orders [C, D]") == [
        "{A, B}: [] -> C", "{A, B}: [] -> D", "{}: A ~ C", "{C}: A ~ D", "{A}: B ~ C", "{A, C}: B ~ D",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "means"),
    [
        ("[] orders [A, B]", ["{}: [] -> A", "{}: [] -> B"]),
        ("[A] orders [A]", []),
        ("[A] orders [A desc]", ["{}: [] -> A"]),
        ("[A] orders [A, B]", ["{A}: [] -> B"]),
        ("[A, B desc] orders [A, C]", ["{A, B}: [] -> C", "{A}: B ~ C desc"]),
        ("[B] orders [A desc, B]", ["{B}: [] -> A", "{}: A ~ B desc"]),
    ],
)
def test_what_always_holds_is_left_out(rule: str, means: list[str]) -> None:
    assert texts(rule) == means


# ---- what people see ------------------------------------------------------------------------------------------------

STAFF = pa.table({"salary": [45, 60, 50, 80], "tax": [9, 7, 8, 10]})


def test_an_error_may_be_allowed() -> None:
    assert not hf.orders(STAFF, "salary", "tax")
    assert hf.orders(STAFF, "salary", "tax").to_remove is None, "it stops at the first violation"
    near = hf.orders(STAFF, "salary", "tax", error=0.5)
    assert (bool(near), near.kind, near.to_remove, near.error) == (True, "swap", 2, 0.5)
    far = hf.orders(STAFF, "salary", "tax", error=0.49)
    assert (bool(far), far.to_remove) == (False, 2)
    assert far.to_json()["error_name"] == "g3"
    assert hf.orders(STAFF, "salary", "salary", error=0.1).to_json()["to_remove"] == 0
    with pytest.raises(BadInput, match="the error is a share"):
        hf.orders(STAFF, "salary", "tax", error=2)


def test_check_lets_nearly_ordered_lists_pass() -> None:
    rule = "[salary] orders [tax]"
    assert hf.check(STAFF, rule).violated
    near = hf.check(STAFF, rule, error=0.5)
    assert (near.violated, near.lines()[0]) == (False, "rules: 1, 0 of them violated")
    assert (near.to_json()[0]["violations"], near.to_json()[0]["to_remove"]) == (3, 2)
    assert hf.check(STAFF, [rule, "t.tax >= 8"], error=0.5).violated, "other rules must hold"


def test_an_explanation_shows_the_error_and_the_canonical_set() -> None:
    stream = Stream.of(SCHEMA, [(0, 0.5, "", True), (1, 0.0, "", True), (1, 0.5, "", True)])
    rule = replace(ListOD.parse("[a] orders [f, y]"), table="things")
    assert explained(rule, stream.table).lines()[2:] == [
        "Without 1 row (33.3333%) it would hold.",
        "It holds if and only if all of these canonical dependencies hold:",
        "  {a}: [] -> f   does not hold: 1 row to remove",
        "  {a}: [] -> y   holds",
        "  {}: a ~ f   does not hold: 1 row to remove",
        "  {f}: a ~ y   holds",
    ]
    assert look(rule, stream.table).parts is None
    trivial = replace(ListOD.parse("[a] orders [a]"), table="things")
    assert explained(trivial, stream.table).lines()[1:] == [
        "It holds: no rows violate it.",
        "It says nothing: no rows can violate it.",
    ]
