"""Key spaces: keys compare as values do, across columns and types, and stay so while dictionaries grow."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.search.constants import CodeMask
from holdfast.search.keys import CodeSpace, JointSpace, KeySpace, OrderSpace, can_join, comparable
from holdfast.search.queries import Operator
from holdfast.search.sorting import ranks, sorted_order
from holdfast.table.images import NULL_KEY
from holdfast.table.table import Schema, Table
from holdfast.table.types import Column
from tests.oracle.denial import _compare
from tests.table.building import encoded
from tests.table.values import KINDS, decimal_of

NUMBERS = Schema(
    "numbers",
    (Column("i", pa.int64()), Column("f", pa.float64()), Column("d", pa.decimal128(20, 3))),
)
TEXTS = Schema("texts", (Column("x", pa.string()), Column("y", pa.string())))
near = st.integers(-3, 3)
integers = st.one_of(near, st.integers(-(2**63) + 1, 2**63 - 1), near.map(lambda n: 2**53 + n))
floats = st.one_of(near.map(float), st.floats(), near.map(lambda n: float(2**53 + n)))
decimals = st.one_of(st.integers(-3000, 3000), st.integers(-(10**20) + 1, 10**20 - 1)).map(lambda n: decimal_of(n, 3))
number_rows = st.lists(
    st.tuples(st.none() | integers, st.none() | floats, st.none() | decimals), min_size=1, max_size=8
)
text_rows = st.lists(st.tuples(*[st.none() | st.text("abé\U00010000", max_size=3)] * 2), min_size=1, max_size=8)


def check(space: KeySpace, table: Table, rows: list[tuple[Any, ...]], ordered: bool) -> None:
    codes, _ = encoded(table, rows)
    keys = {c: space.of(c, codes[c]) for c in range(len(codes))}
    cells = [(row[c], int(keys[c][r])) for r, row in enumerate(rows) for c in keys]
    for one, key in cells:
        assert (key == NULL_KEY) == (one is None)
        for other, second in cells:
            if one is not None and other is not None:
                assert (key == second) == _compare(one, "=", other)
                assert not ordered or (key < second) == _compare(one, "<", other)


@settings(max_examples=80, deadline=None)
@given(st.lists(number_rows, min_size=1, max_size=4), st.booleans())
def test_numbers_of_all_types_compare_by_value(batches: list[list[tuple[Any, ...]]], ordered: bool) -> None:
    follow(NUMBERS, batches, JointSpace(range(3), ordered), ordered)


@settings(max_examples=80, deadline=None)
@given(st.lists(text_rows, min_size=1, max_size=4), st.booleans())
def test_texts_of_two_columns_compare(batches: list[list[tuple[Any, ...]]], ordered: bool) -> None:
    follow(TEXTS, batches, JointSpace(range(2), ordered), ordered)


def follow(schema: Schema, batches: list[list[tuple[Any, ...]]], space: KeySpace, ordered: bool) -> None:
    table, seen = Table.empty(schema), list[tuple[Any, ...]]()
    kept: list[tuple[int, dict[int, list[int]]]] = []
    for rows in batches:
        _, table = encoded(table, rows)
        space.follow(table)
        seen += rows
        check(space, table, seen, ordered)
        codes, _ = encoded(table, batches[0])
        kept.append((space.generation, {c: space.of(c, codes[c]).tolist() for c in range(len(codes))}))
    for (generation, keys), (later, others) in itertools.pairwise(kept):
        assert generation != later or keys == others


def test_a_dictionary_that_diverged_gets_new_keys() -> None:
    space = JointSpace(range(2), ordered=True)
    _, one = encoded(Table.empty(TEXTS), [("a", "b")])
    space.follow(one)
    _, other = encoded(Table.empty(TEXTS), [("z", "b"), ("c", "a")])
    space.follow(other)
    assert space.generation > 0
    check(space, other, [("z", "b"), ("c", "a")], ordered=True)


def test_codes_and_order_keys_are_keys() -> None:
    schema = Schema("pairs", (Column("a", pa.int64()), Column("b", pa.int64())))
    rows = [(3, 1), (None, 3), (1, None), (2, 2)]
    _, table = encoded(Table.empty(schema), rows)
    order = OrderSpace(range(2))
    order.follow(table)
    check(order, table, rows, ordered=True)
    codes, _ = encoded(table, rows)
    assert (CodeSpace().of(0, codes[0]) == NULL_KEY).tolist() == [False, True, False, False]


def test_which_types_compare() -> None:
    assert comparable(pa.decimal128(10, 2), pa.decimal128(12, 2))
    assert not comparable(pa.decimal128(10, 2), pa.decimal128(10, 3))
    assert not comparable(pa.int64(), pa.float64())
    assert can_join(pa.int64(), pa.decimal128(38, 5))
    assert not can_join(pa.int64(), pa.string())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
def test_masks_compare_with_a_constant(kind: str, operator: Operator) -> None:
    values = list(KINDS[kind].always)
    schema = Schema("one", (Column("v", KINDS[kind].type),))
    half, table = encoded(Table.empty(schema), [(value,) for value in values[::2]])
    codes, grown = encoded(table, [(value,) for value in [*values, None]])
    for constant in values:
        mask = CodeMask(KINDS[kind].type, operator, constant)
        mask.of(table.dictionaries[0], half[0])
        found = mask.of(grown.dictionaries[0], codes[0]).tolist()
        assert found == [_compare(value, operator, constant) for value in [*values, None]]


@given(
    st.lists(st.tuples(st.sampled_from([-(2**63), -1, 0, 1, 2**63 - 1]), st.integers(0, 3)), max_size=20),
)
def test_sorting(rows: list[tuple[int, int]]) -> None:
    keys = [np.array([row[k] for row in rows], np.int64) for k in range(2)]
    assert sorted_order(keys, len(rows)).tolist() == sorted(range(len(rows)), key=lambda i: (*rows[i], i))
    distinct = sorted({row[0] for row in rows})
    assert ranks(keys[0]).tolist() == [distinct.index(row[0]) for row in rows]


def test_floats_compare_with_decimals_that_no_float_is() -> None:
    table = Table.empty(NUMBERS)
    rows = [(1, 0.1, Decimal("0.100")), (0, 1.1, Decimal("1.100")), (None, math.nan, Decimal("1E+16"))]
    _, table = encoded(table, rows)
    space = JointSpace(range(3), ordered=True)
    space.follow(table)
    check(space, table, rows, ordered=True)
