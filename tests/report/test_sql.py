"""Rules as SQL: DuckDB lists rows exactly where the definition finds that a rule does not hold."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest
from holdfast.engines.meaning import Meaning
from holdfast.report.pairs import told
from holdfast.report.sql import query
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engines.registry import class_of_text
from holdfast.table.nulls import Nulls

_RULES = [
    "a -> b",
    "a, b -> c",
    "() -> a",
    "key(a)",
    "key(a, c)",
    "{}: a ~ b",
    "{c}: a ~ b desc",
    "{a}: [] -> c",
    "{a<, b>=} -> c<=",
    "{a=} -> b=",
    "[a, b desc] orders [c]",
    "[] orders [a]",
    "not(t.a = s.a and t.b != s.b)",
    "not(t.a < s.b and t.c >= s.c)",
    "not(t.a > 1)",
]
_VALUES = st.one_of(st.none(), st.integers(0, 2))
_ROWS = st.lists(st.tuples(_VALUES, _VALUES, _VALUES), max_size=5)


def meaning_of(text: str) -> Meaning:
    declared = class_of_text(text)
    assert declared is not None
    meanings = declared.load_meanings()
    assert meanings is not None
    return meanings.meaning(text)


def breaks(text: str, rows: list[dict[str, int | None]]) -> bool:
    """Whether two rows, in this order, or one, break a rule, by what `told` compares."""
    return told(meaning_of(text), rows, str, dict.fromkeys("abc", True)).sentence != ""


@pytest.mark.parametrize("text", _RULES)
@given(rows=_ROWS)
def test_a_query_finds_rows_where_some_break_the_rule(text: str, rows: list[tuple[int | None, ...]]) -> None:
    meaning = meaning_of(text)
    columns = {name: pa.array([row[at] for row in rows], pa.int64()) for at, name in enumerate("abc")}
    table = pa.table({"id": pa.array(range(len(rows)), pa.int64()), **columns})
    sql = query(meaning, "data", ("id",))
    found = duckdb.connect().register("data", table).execute(sql).fetchall()
    values = [dict(zip("abc", row, strict=True)) for row in rows]
    alone = not any("s." in part for part in sql.split()) and "GROUP" not in sql and "HAVING" not in sql
    if alone:  # a rule about single rows: the constant is compared by the engine, and here
        expected = any(row["a"] is not None and row["a"] > 1 for row in values)
    else:
        expected = any(breaks(text, [one, two]) for at, one in enumerate(values) for two in values[at + 1 :])
    assert bool(found) == expected


@pytest.mark.parametrize("text", ["a -> b", "a, b -> c", "() -> a", "key(a)", "key(a, c)"])
@given(rows=_ROWS)
def test_a_null_that_equals_nothing(text: str, rows: list[tuple[int | None, ...]]) -> None:
    meaning = meaning_of(text)
    table = pa.table({name: pa.array([row[at] for row in rows], pa.int64()) for at, name in enumerate("abc")})
    database = duckdb.connect()
    database.register("data", table)
    found = database.execute(query(meaning, "data", (), Nulls.DISTINCT)).fetchall()
    own = [  # a null is a value that no other row has
        dict(zip("abc", (f"{at}{name}" if v is None else v for name, v in zip("abc", row, strict=True)), strict=True))
        for at, row in enumerate(rows)
    ]
    expected = any(
        told(meaning, [one, two], str, dict.fromkeys("abc", False)).sentence
        for at, one in enumerate(own)
        for two in own[at + 1 :]
    )
    assert bool(found) == expected


def test_rows_without_a_partner() -> None:
    sql = query(meaning_of("orders.cust in customers.id"), "orders", ())
    database = duckdb.connect()
    database.execute("CREATE TABLE orders AS SELECT * FROM (VALUES (1), (2), (NULL)) o(cust)")
    database.execute("CREATE TABLE customers AS SELECT 1 AS id")
    assert database.execute(sql).fetchall() == [(2,)]


def test_no_query_where_a_row_can_not_be_told_from_itself() -> None:
    meaning = meaning_of("not(t.a = s.a and t.b <= s.c)")
    assert query(meaning, "data", ()) == ""
    assert 't."id" IS DISTINCT FROM s."id"' in query(meaning, "data", ("id",))
