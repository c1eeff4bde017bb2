"""Any database with an ADBC driver, by the scheme of its URI: here those of DuckDB and SQLite."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from holdfast.errors import BadInput, BadSurroundings
from holdfast.sources.databases.reading import read


@pytest.fixture(params=["duckdb", "sqlite"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "shop.db"
    if request.param == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE orders AS SELECT range AS n FROM range(3)")
    else:
        with closing(sqlite3.connect(path)) as file, file:
            file.execute("CREATE TABLE orders AS SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2")
    return f"adbc:{request.param}:{path}"


def test_a_table_and_a_query(shop: str) -> None:
    assert read(f"{shop}/orders", None).table.to_pydict() == {"n": [0, 1, 2]}
    assert read(shop, "SELECT max(n) AS n FROM orders").table.to_pydict() == {"n": [2]}


def test_a_query_changes_nothing(shop: str) -> None:
    read(shop, "DELETE FROM orders")
    assert read(f"{shop}/orders", None).table.num_rows == 3


def test_refusals(shop: str) -> None:
    with pytest.raises(BadInput, match=r"shop\.db/nosuch: .*nosuch"):
        read(f"{shop}/nosuch", None)
    with pytest.raises(BadSurroundings, match="this needs an ADBC driver: pip install adbc-driver-nosuch"):
        read("adbc:nosuch://host/db/orders", None)
    with pytest.raises(BadSurroundings, match="this needs an ADBC driver: pip install adbc-driver-flightsql"):
        read("adbc:grpc://host:1/orders", None)
