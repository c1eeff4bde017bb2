"""Likely foreign keys: their counts, against the definition; and which are listed first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings

from holdfast.engines.inclusion.likely import COVERED, in_frame, likely
from holdfast.engines.inclusion.rank import WORTHY
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import LIKELY
from holdfast.progress import SILENT
from holdfast.table.runner import Threads
from holdfast.table.types import Column
from tests.engines.inclusion.several import Row, filled, first_rows, watched
from tests.oracle import inclusion as oracle


def likely_in(tables: Mapping[str, Mapping[str, list[Any]]], max_lhs: int = 3) -> dict[str, Scored]:
    schemas = {
        name: tuple(Column(column, pa.array(values).type) for column, values in columns.items())
        for name, columns in tables.items()
    }
    several = filled({name: list(zip(*each.values(), strict=True)) for name, each in tables.items()}, schemas)
    found = likely(watched(several.tables), Wanted(max_lhs=max_lhs), Threads(), SILENT)
    return {each.text: each for each in found}


def shop(customers: int = 100, orders: int = 1500) -> dict[str, dict[str, list[Any]]]:
    return {
        "customers": {"id": list(range(1, customers + 1)), "name": [f"name {i}" for i in range(customers)]},
        "orders": {
            "id": list(range(5000, 5000 + orders)),
            "cust": [1 + i * 7 % customers for i in range(orders)],
            "size": [1 + i % 5 for i in range(orders)],
        },
    }


def test_a_foreign_key_is_likely_and_sizes_within_keys_are_not() -> None:
    found = likely_in(shop())
    assert [text for text, each in found.items() if each.score >= LIKELY] == ["orders.cust in customers.id"]
    best = found["orders.cust in customers.id"]
    assert (best.table, best.support, best.to_remove, best.g3, best.rows) == ("orders", 1500, 0, 0.0, ())
    assert best.sentence.startswith("all 1,500 rows of orders have their partner in customers; customers.id is a key")


def test_orphans_are_counted_and_the_first_are_named() -> None:
    tables = shop()
    tables["orders"]["cust"][3:1500:400] = [None, 777, 778, 777]
    best = likely_in(tables)["orders.cust in customers.id"]
    assert (best.support, best.to_remove, best.g3) == (1499, 3, 3 / 1500)
    assert best.rows == (403, 803, 1203)
    assert best.sentence.startswith("3 of 1,499 rows of orders have no partner in customers")
    assert LIKELY < best.score < likely_in(shop())["orders.cust in customers.id"].score


def test_a_key_with_an_error_in_it_is_still_referred_to() -> None:
    tables = shop()
    tables["customers"]["id"][-1] = 1
    best = likely_in(tables)["orders.cust in customers.id"]
    assert best.score > LIKELY
    assert "a key but for 1.0% of its rows" in best.sentence


def test_several_columns_refer_where_none_of_them_does_alone() -> None:
    years, numbers = [2020 + i // 10 for i in range(50)], [i % 10 for i in range(50)]
    lines = {"year": years * 4, "number": numbers * 4, "line": [i // 50 for i in range(200)]}
    found = likely_in({"bills": {"year": years, "number": numbers}, "lines": lines})
    assert found["lines(year, number) in bills(year, number)"].score > LIKELY
    assert found["lines.year in bills.year"].score < LIKELY
    assert not any("(" in text for text in likely_in({"bills": {"year": years, "number": numbers}, "lines": lines}, 1))


def test_a_day_that_both_sides_share_says_nothing_while_there_is_only_one() -> None:
    orders: dict[str, list[Any]] = {
        "day": ["2026-01-01"] * 60,
        "order_id": list(range(1, 61)),
        "vat_rate": [7, 19] * 30,
    }
    found = likely_in({"orders": orders, "customers": shop()["customers"]})
    assert "orders(day, vat_rate) in orders(day, order_id)" not in found
    per_shop: dict[str, list[Any]] = {
        "shop": [i // 30 for i in range(60)],
        "line": [i % 30 for i in range(60)],
        "first": [0] * 60,
    }
    assert "orders(shop, first) in orders(shop, line)" in likely_in({"orders": per_shop, "sizes": shop()["orders"]})


def test_one_table_has_no_foreign_keys() -> None:
    assert likely_in({"staff": {"id": [1, 2, 3], "boss_id": [1, 1, 2]}}) == {}


def test_the_frame_of_scores() -> None:
    assert [in_frame(0.0), in_frame(WORTHY), in_frame(1.0)] == [0.0, LIKELY, pytest.approx(1.0)]


@settings(max_examples=30)
@given(first=first_rows)
def test_what_is_counted_is_what_the_definition_says(first: dict[str, list[Row]]) -> None:
    several = filled(first)
    scored = likely(watched(several.tables), Wanted(top=10_000), Threads(), SILENT)
    held, missing = oracle.columns(several.plain(), "typed"), oracle.unary(several.plain(), "typed", 1.0)
    expected = {
        f"{a[0]}.{a[1]} in {b[0]}.{b[1]}": (held[a].total(), rows)
        for (a, b), (_, rows) in missing.items()
        if held[a] and held[a].total() - rows >= COVERED * held[a].total()
    }
    single = {each.text: each for each in scored if "(" not in each.text}
    assert single.keys() <= expected.keys(), "the others score nothing"
    for text, each in single.items():
        assert (each.support, each.to_remove) == expected[text]
        rows = len(several.tables[each.table].living_ids())
        assert each.g3 == each.to_remove / rows
        assert len(each.rows) == (min(10, each.to_remove) if each.score >= LIKELY else 0)
        assert 0 < each.score <= 1
