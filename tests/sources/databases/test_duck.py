"""DuckDB: its types, its queries, and its refusals."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from holdfast.errors import BadInput
from holdfast.sources.databases.reading import read
from holdfast.table.types import kept_type

Made = Callable[..., str]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Makes a database by statements, and gives its address."""

    def make(*statements: str) -> str:
        with duckdb.connect(str(tmp_path / "shop.db")) as connection:
            for each in statements:
                connection.execute(each)
        return f"duckdb:{tmp_path}/shop.db"

    return make


VALUES = {
    "TINYINT": ("-1", -1),
    "UBIGINT": ("18446744073709551615", 2**64 - 1),
    "HUGEINT": ("99999999999999999999999999999999999999", 10**38 - 1),
    "UHUGEINT": ("5", 5),
    "DECIMAL(38, 3)": ("1.25", Decimal("1.250")),
    "BOOLEAN": ("true", True),
    "DATE": ("2024-02-29", dt.date(2024, 2, 29)),
    "TIMESTAMP": ("2024-02-29 01:02:03.4", dt.datetime(2024, 2, 29, 1, 2, 3, 400000)),
    "TIMESTAMPTZ": ("2024-02-29 01:02:03+02", dt.datetime(2024, 2, 28, 23, 2, 3, tzinfo=dt.UTC)),
    "TIME": ("10:00:00", dt.time(10)),
    "TIMETZ": ("10:00:00+02", "10:00:00+02"),
    "UUID": ("11111111-2222-3333-4444-555555555555", "11111111-2222-3333-4444-555555555555"),
    "JSON": ('{"a":1}', '{"a":1}'),
    "ENUM('a', 'b')": ("b", "b"),
}


@pytest.mark.parametrize("kind", VALUES)
def test_values(kind: str, made: Made) -> None:
    text, expected = VALUES[kind]
    table = read(made(f'CREATE TABLE t ("a b" {kind})', f"INSERT INTO t VALUES ('{text}'), (NULL)") + "/t", None).table
    assert table.column_names == ["a b"]
    assert table.column(0).to_pylist() == [expected, None]
    assert kept_type(table.schema.types[0]) is not None


@pytest.mark.parametrize("kind", ["INTEGER[]", "STRUCT(a INTEGER)", "BLOB", "INTERVAL", "MAP(INTEGER, INTEGER)"])
def test_what_can_not_be_compared(kind: str, made: Made) -> None:
    table = read(made(f"CREATE TABLE t (x {kind})") + "/t", None).table
    assert kept_type(table.schema.types[0]) is None


def test_a_query(made: Made) -> None:
    address = made("CREATE SCHEMA s", "CREATE TABLE s.t AS SELECT range AS n FROM range(5)")
    assert read(address, "SELECT n FROM s.t WHERE n > 2 ORDER BY n DESC;").table == pa.table({"n": [4, 3]})
    assert read(f"{address}/s.t", None).table.num_rows == 5


def test_an_error_in_the_middle(made: Made) -> None:
    with pytest.raises(BadInput, match=r"\(the query\): .*Could not convert string 'x'"):
        read(made(), "SELECT CAST(CASE WHEN range = 900000 THEN 'x' ELSE '1' END AS INTEGER) AS n FROM range(1000000)")


def test_no_progress_bar_stands_among_results(made: Made) -> None:
    table = read(made(), "SELECT current_setting('enable_progress_bar') AS shown").table
    assert table.to_pydict() == {"shown": [False]}


def test_refusals(made: Made, tmp_path: Path) -> None:
    address = made("CREATE TABLE orders (n HUGEINT)", f"INSERT INTO orders VALUES ({2**127 - 1})")
    for wrong, query, sentence in (
        (f"{address}/order", None, r"shop.db/order: there is no table 'order'; did you mean 'orders'\?"),
        (f"{address}/orders", None, "DECIMAL"),
        (address, "SELECT FROM", r"shop.db \(the query\): syntax error"),
        (address, "SELECT * FROM nosuch", "Table with name nosuch does not exist"),
        (address, "DELETE FROM orders", "not one query; give one SELECT"),
        (address, "SELECT 1; SELECT 2", "not one query; give one SELECT"),
        (f"duckdb:{tmp_path}/none.db/orders", None, r"none.db; check the path"),
    ):
        with pytest.raises(BadInput, match=sentence):
            read(wrong, query)
    assert not (tmp_path / "none.db").exists()


def test_another_kind_of_file(tmp_path: Path) -> None:
    (tmp_path / "shop.db").write_text("id,n\n1,2\n")
    with pytest.raises(BadInput, match="not a valid DuckDB database file"):
        read(f"duckdb:{tmp_path}/shop.db/orders", None)
    with closing(sqlite3.connect(tmp_path / "lite.db")) as connection, connection:
        connection.execute("CREATE TABLE orders (n)")
    with pytest.raises(BadInput, match=r"lite\.db/orders: this is a file of SQLite; write sqlite: in place of duckdb:"):
        read(f"duckdb:{tmp_path}/lite.db/orders", None)


def test_a_file_that_another_process_writes(made: Made, tmp_path: Path) -> None:
    address = made("CREATE TABLE t (n INTEGER)")
    with duckdb.connect(str(tmp_path / "shop.db")), pytest.raises(BadInput, match=r"shop\.db/t: "):
        read(f"{address}/t", None)
