"""Rules as SQL: DuckDB lists exactly the rows that break a rule, by the oracles, for every class and null mode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.rules.measure import TableRule
from holdfast.rules.registry import parse
from holdfast.rules.rule import Rule
from holdfast.rules.sql import query
from holdfast.table.nulls import Nulls
from tests.oracle import functional, row
from tests.rules.some import COLUMNS, Row, Rows, among, broken, is_directed, is_true, of_each_class

values = st.one_of(st.none(), st.integers(0, 2))
row_lists = st.lists(st.tuples(values, values, values), max_size=5)
nulls = st.sampled_from([Nulls.EQUAL, Nulls.DISTINCT])
_RULES = [
    "a -> b",
    "a, b -> c",
    "() -> a",
    "key()",
    "key(a)",
    "key(a, c)",
    "{}: a ~ b",
    "{c}: a ~ b desc",
    "{a}: [] -> c",
    "{a<, b>=} -> c<=",
    "{a<=} -> b=",
    "{a=} -> b=",
    "[a, b desc] orders [c]",
    "[] orders [a]",
    "not(t.a = s.a and t.b != s.b)",
    "not(t.a < s.b and t.c >= s.c)",
    "not(t.a > 1)",
    "t.a in (0, 2) or t.b between 1 and t.c",
    "orders.a in customers.b",
    "orders(a, b) in customers(b, a)",
    "rows > 2",
    "share(null a) <= 0.5",
]


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        yield made


Found = list[tuple[Any, ...]]


def run(database: duckdb.DuckDBPyConnection, sql: str, rows: Sequence[Row], others: Sequence[Row]) -> Found:
    database.register("data", _table(rows))
    database.register("customers", _table(others))
    return database.execute(sql).fetchall()


def _table(rows: Sequence[Row]) -> pa.Table:
    columns = {name: pa.array([each[at] for each in rows], pa.int64()) for at, name in enumerate(COLUMNS)}
    return pa.table({"id": pa.array(range(len(rows)), pa.int64()), **columns})


def check(
    database: duckdb.DuckDBPyConnection, rule: Rule, some: Sequence[Row], others: Sequence[Row], nulls: Nulls
) -> None:
    sql = query(rule, "data", ("id",), nulls)
    found = run(database, sql, some, others)
    rows = dict(enumerate(some))
    if isinstance(rule, TableRule):
        assert bool(found) == _is_broken(rule, list(among(rule, rows).values()))
        return
    expected = broken(rule, rows, nulls, others)
    if "HAVING" in sql:
        assert {each[:-1] for each in found} == _groups_of(rule, rows, expected), "all but the number of its rows"
        return
    if "JOIN" in sql:
        pairs = {(each[0], each[len(COLUMNS) + 1]) for each in found}
        assert pairs == expected if is_directed(rule) else _undirected(pairs) == _undirected(expected)
        assert all(t != s for t, s in pairs), "a row does not break a rule with itself"
    else:
        assert {(each[0],) for each in found} == expected


def _is_broken(rule: TableRule, rows: Sequence[Row]) -> bool:
    quantity, limits = rule.quantity, [each.value for each in rule.ends]
    if quantity.condition is not None:
        satisfying = sum(is_true(quantity.condition, each, each) for each in rows)
        if quantity.measure == "count":
            return row.is_broken([[]] * satisfying, "rows", None, rule.operator, *limits)
        marks = [[None]] * satisfying + [[1]] * (len(rows) - satisfying)
        return row.is_broken(marks, "share", 0, rule.operator, *limits)
    column = COLUMNS.index(quantity.column) if quantity.column else None
    part = None if quantity.part is None else quantity.part.value
    return row.is_broken(rows, quantity.measure, column, rule.operator, *limits, part=part)


def _undirected(pairs: Iterable[tuple[int, ...]]) -> set[frozenset[int]]:
    """Rows that break a rule with each other."""
    return set(map(frozenset, pairs))


def _groups_of(rule: Rule, rows: Rows, pairs: set[tuple[int, ...]]) -> set[tuple[Any, ...]]:
    (breach,) = rule.broken_by(Nulls.EQUAL)
    shared = [COLUMNS.index(each.cells[0].column) for each in breach.comparisons if each.operator == "="]
    return {tuple(rows[t][place] for place in shared) for t, _ in pairs}


@pytest.mark.parametrize("text", _RULES)
@settings(deadline=None, max_examples=60)
@given(some=row_lists, others=row_lists, nulls=nulls)
def test_a_query_lists_the_rows_that_break_a_rule(
    database: duckdb.DuckDBPyConnection, text: str, some: list[Row], others: list[Row], nulls: Nulls
) -> None:
    check(database, parse(text), some, others, nulls)


@of_each_class
@settings(deadline=None, max_examples=150)
@given(data=st.data(), some=row_lists, others=row_lists, nulls=nulls)
def test_also_of_random_rules_about_some_rows(
    database: duckdb.DuckDBPyConnection,
    rules: st.SearchStrategy[Rule],
    data: st.DataObject,
    some: list[Row],
    others: list[Row],
    nulls: Nulls,
) -> None:
    check(database, data.draw(rules), some, others, nulls)


def test_a_null_that_equals_nothing(database: duckdb.DuckDBPyConnection) -> None:
    rows = [(None, 1, 1), (None, 2, 1), (1, None, 1), (1, None, 2)]
    assert not functional.equal(None, None, "distinct")
    keys = run(database, query(parse("key(a)"), "data", (), Nulls.DISTINCT), rows, [])
    assert keys == [(1, 2)]
    split = run(database, query(parse("a -> b"), "data", (), Nulls.DISTINCT), rows, [])
    assert split == [(1, 0)], "two nulls differ"


def test_no_query_where_a_row_has_no_key() -> None:
    rule = parse("not(t.a = s.a and t.b <= s.c)")
    assert query(rule, "data", ()) == ""
    assert 't."id" IS DISTINCT FROM s."id"' in query(rule, "data", ("id",))
    pointwise = parse("{a<=} -> b=")
    assert query(pointwise, "data", ()), "rows that differ in b are two"
    assert query(pointwise, "data", (), Nulls.DISTINCT) == "", "a null differs from itself"


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("t.age < 120", 'SELECT * FROM "data" t\nWHERE NOT (t."age" < 120)'),
        ("not(t.age < 0)", 'SELECT * FROM "data" t\nWHERE t."age" < 0'),
        ("a -> b", 'SELECT "a", COUNT(DISTINCT "b") AS n FROM "data"\nGROUP BY "a"\nHAVING MIN("b") <> MAX("b") OR '
         'COUNT("b") BETWEEN 1 AND COUNT(*) - 1'),
        ("key(a) where t.b = 1", 'SELECT "a", COUNT(*) AS n FROM "data" t\nWHERE t."b" = 1\nGROUP BY "a"\n'
         "HAVING COUNT(*) > 1"),
        ("{}: a ~ b", 'SELECT * FROM "data" t JOIN "data" s\n  ON (t."a" < s."a" OR (t."a" IS NULL AND s."a" IS NOT '
         'NULL))\n  AND (s."b" < t."b" OR (s."b" IS NULL AND t."b" IS NOT NULL))'),
        ("data.a in u.b", 'SELECT * FROM "data" t\nWHERE t."a" IS NOT NULL\n  AND NOT EXISTS (SELECT 1 FROM "u" s '
         'WHERE t."a" = s."b")'),
        ("max(age) <= 7", 'SELECT MAX(t."age") AS value FROM "data" t\nHAVING NOT (MAX(t."age") <= 7)'),
        ("t.a matches 'x|y'", "SELECT * FROM \"data\" t\nWHERE NOT (regexp_like(t.\"a\", '^(?:x|y)$'))"),
        ("not(t.a = NaN)", "SELECT * FROM \"data\" t\nWHERE t.\"a\" = CAST('NaN' AS FLOAT)"),
    ],
)  # fmt: skip
def test_queries_as_people_see_them(text: str, sql: str) -> None:
    assert query(parse(text), "data", ()) == sql
