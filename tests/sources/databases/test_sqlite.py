"""SQLite: any column may hold any value, and what it declares counts where its values are such."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.sources.databases import sqlite
from holdfast.sources.databases.reading import read

Made = Callable[[str, Sequence[Any]], str]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Makes a table t of one column x, and gives the address of the file."""

    def make(declared: str, values: Sequence[Any]) -> str:
        with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
            connection.execute("DROP TABLE IF EXISTS t")
            connection.execute(f"CREATE TABLE t (x {declared})")
            connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
        return f"sqlite:{tmp_path}/shop.db"

    return make


CASES: list[tuple[str, list[Any], str, list[Any]]] = [
    ("INTEGER", [1, None, -(2**63)], "int64", [1, None, -(2**63)]),
    ("INTEGER", [1, 1.5], "double", [1.0, 1.5]),
    ("TEXT", [1, "a"], "string", ["1", "a"]),
    ("", ["a", ""], "string", ["a", ""]),
    ("REAL", [1, 0.1], "double", [1.0, 0.1]),
    ("BLOB", [b"a"], "binary", [b"a"]),
    ("BOOLEAN", [0, 1, None], "bool", [False, True, None]),
    ("BOOLEAN", [0, 2], "int64", [0, 2]),
    ("DATE", ["2024-02-29", None], "date32[day]", [dt.date(2024, 2, 29), None]),
    ("DATE", ["2024-02-30"], "string", ["2024-02-30"]),
    ("DATE", [20240229], "int64", [20240229]),
    ("DATETIME", ["2024-02-29 01:02:03"], "timestamp[us]", [dt.datetime(2024, 2, 29, 1, 2, 3)]),
    (
        "TIMESTAMP",
        ["2024-02-29T01:02:03Z"],
        "timestamp[us, tz=UTC]",
        [dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=dt.UTC)],
    ),
    ("TIMESTAMP", ["monday"], "string", ["monday"]),
    ("DECIMAL(5, 2)", [1, 0.1, -0.01], "decimal128(5, 2)", [Decimal("1.00"), Decimal("0.10"), Decimal("-0.01")]),
    ("NUMERIC(30,2)", [10**15, 1e15], "decimal128(30, 2)", [Decimal(10**15), Decimal(10**15)]),
    ("DECIMAL(5, 2)", [0.001], "double", [0.001]),
    ("DECIMAL(5, 2)", [100000], "int64", [100000]),
    ("DECIMAL(50, 2)", [1, 2.5], "double", [1.0, 2.5]),
    ("DECIMAL", [1], "int64", [1]),
    # No values: as declared.
    ("VARCHAR(10)", [None], "string", [None]),
    ("DATE", [], "date32[day]", []),
    ("BOOLEAN", [None], "bool", [None]),
    ("DECIMAL(5, 2)", [], "decimal128(5, 2)", []),
    ("DOUBLE", [], "double", []),
    ("", [None], "string", [None]),
]


@pytest.mark.parametrize(("declared", "values", "kind", "expected"), CASES)
def test_columns(declared: str, values: list[Any], kind: str, expected: list[Any], made: Made) -> None:
    table = read(f"{made(declared, values)}/t", None).table
    assert str(table.schema.types[0]) == kind
    assert table.column(0).to_pylist() == expected


def test_a_note_says_what_a_column_declares(made: Made) -> None:
    for declared, value in (("DATE", "soon"), ("TIMESTAMP", "soon"), ("BOOLEAN", 2), ("DECIMAL(3, 1)", 0.25)):
        (note,) = read(f"{made(declared, [value])}/t", None).notes
        assert note == f"column 'x' is declared {declared} and has other values; it is read as stored"
    for declared, value in (("DATE", "2024-02-29"), ("DATE", 20240229), ("BOOLEAN", 1), ("DECIMAL(3, 1)", 0.5)):
        assert read(f"{made(declared, [value])}/t", None).notes == ()


STORED = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text("aä\n", max_size=2)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STORED | st.binary(max_size=2), max_size=4))
def test_values_are_exact_or_refused(made: Made, values: list[Any]) -> None:
    """By definition: one kind of values is read as it is; integers and reals together, if floats hold the integers."""
    kinds = {type(value) for value in values if value is not None}
    address = f"{made('', values)}/t"
    if kinds == {int, float}:
        fits = all(value is None or int(float(value)) == value for value in values if isinstance(value, int))
        fits = fits and all(abs(value) <= 2**53 for value in values if isinstance(value, int))
    else:
        fits = len(kinds) < 2
    if not fits:
        with pytest.raises(BadInput, match=r"column 'x' (mixes|has fractions, and whole numbers)"):
            read(address, None)
        return
    assert read(address, None).table.column(0).to_pylist() == values


def test_a_column_without_values_at_first(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_ROWS_AT_ONCE", 2)
    assert read(f"{made('', [None, None, 'a'])}/t", None).table.column(0).to_pylist() == [None, None, "a"]


def test_a_wide_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_COLUMNS_AT_ONCE", 2)
    names = [f"c{i}" for i in range(5)]
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
        connection.execute(f"CREATE TABLE t ({', '.join(names)})")
        connection.execute("INSERT INTO t VALUES (1, 'a', 2.5, NULL, x'00')")
    table = read(f"sqlite:{tmp_path}/shop.db/t", None).table
    assert table.to_pylist() == [dict(zip(names, (1, "a", 2.5, None, b"\0"), strict=True))]


def test_a_query_knows_what_its_columns_declare(made: Made) -> None:
    address = made("DATE", ["2024-02-29", "2023-01-01"])
    table = read(address, "SELECT x, count(*) AS n FROM t GROUP BY x ORDER BY x;").table
    assert table.to_pylist() == [{"x": dt.date(2023, 1, 1), "n": 1}, {"x": dt.date(2024, 2, 29), "n": 1}]


def test_an_expression_becomes_what_is_expected(made: Made) -> None:
    address = made("", [])
    query = "SELECT date('2024-02-29') AS day, 1 AS flag, 0.1 AS price, 'a' AS at, 2 AS n"
    kinds = [("day", pa.date32()), ("flag", pa.bool_()), ("price", pa.decimal128(3, 2)), ("at", pa.timestamp("us"))]
    (row,) = read(address, query, pa.schema(kinds)).table.to_pylist()
    assert row == {"day": dt.date(2024, 2, 29), "flag": True, "price": Decimal("0.10"), "at": "a", "n": 2}
    assert read(address, query, pa.schema(kinds)).notes == ()
    (row,) = read(address, query).table.to_pylist()
    assert row == {"day": "2024-02-29", "flag": 1, "price": 0.1, "at": "a", "n": 2}


def test_refusals(made: Made, tmp_path: Path) -> None:
    address = made("", [1, "a"])
    for wrong, query, sentence in (
        (
            f"{address}/t",
            None,
            "column 'x' mixes integers with texts; mend the values, or read them as text",
        ),
        (f"{address}/tt", None, r"shop.db/tt: there is no table 'tt'; did you mean 't'\?"),
        (address, "SELECT * FROM nosuch", r"shop.db \(the query\): no such table: nosuch"),
        (address, "DELETE FROM t", "syntax error"),
        (f"sqlite:{tmp_path}/none.db/t", None, "there is no file .*none.db; check the path"),
    ):
        with pytest.raises(BadInput, match=sentence):
            read(wrong, query)
    assert not (tmp_path / "none.db").exists()
    assert read(address, "SELECT CAST(x AS TEXT) AS x FROM t").table.to_pylist() == [{"x": "1"}, {"x": "a"}]


def test_text_that_is_not_utf8(made: Made) -> None:
    address = made("TEXT", [])
    with closing(sqlite3.connect(address.removeprefix("sqlite:"))) as connection, connection:
        connection.execute("INSERT INTO t VALUES (CAST(x'ff' AS TEXT))")
    with pytest.raises(BadInput, match="Could not decode to UTF-8 column 'x'"):
        read(f"{address}/t", None)


def test_another_kind_of_file(tmp_path: Path) -> None:
    (tmp_path / "shop.db").write_text("id,n\n1,2\n")
    with pytest.raises(BadInput, match=r"shop\.db/t: file is not a database"):
        read(f"sqlite:{tmp_path}/shop.db/t", None)
