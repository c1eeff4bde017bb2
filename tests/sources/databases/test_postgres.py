"""PostgreSQL, a real server: its types, its queries, its refusals, and no password anywhere."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.errors import BadInput
from holdfast.sources.databases.reading import read
from holdfast.table.types import kept_type
from tests.sources.databases.server import PASSWORD, Server

UUID = "11111111-2222-3333-4444-555555555555"
VALUES = {
    "smallint": ("-1", "int16", -1),
    "bigint": ("9223372036854775807", "int64", 2**63 - 1),
    "numeric(10, 2)": ("1.5", "decimal128(10, 2)", Decimal("1.50")),
    "numeric(5, -2)": ("12345", "decimal128(7, 0)", Decimal(12300)),
    "numeric(3, 5)": ("0.00123", "decimal128(5, 5)", Decimal("0.00123")),
    "numeric(50, 2)": ("1.5", "decimal128(38, 2)", Decimal("1.50")),
    "numeric": ("-12.345", "decimal128(38, 3)", Decimal("-12.345")),
    "money": ("12.5", "decimal128(38, 2)", Decimal("12.50")),
    "real": ("1.5", "float", 1.5),
    "double precision": ("-Infinity", "double", float("-inf")),
    "varchar(3)": ("ab ", "string", "ab "),
    "name": ("ab", "string", "ab"),
    "boolean": ("true", "bool", True),
    "date": ("4713-01-01 BC", "date32[day]", None),
    "timestamp": ("2024-02-29 01:02:03.4", "timestamp[us]", dt.datetime(2024, 2, 29, 1, 2, 3, 400000)),
    "timestamptz": ("2024-02-29 01:00+02", "timestamp[us, tz=UTC]", dt.datetime(2024, 2, 28, 23, tzinfo=dt.UTC)),
    "time": ("10:00:00", "time64[us]", dt.time(10)),
    "timetz": ("10:00:00+02", "string", "10:00:00+02"),
    "uuid": (UUID, "string", UUID),
    "json": ('{"a": 1}', "string", '{"a": 1}'),
    "jsonb": ('{"a":1}', "string", '{"a": 1}'),
    "inet": ("10.0.0.1", "string", "10.0.0.1/32"),
    "oid": ("4294967295", "int64", 2**32 - 1),
    "int4range": ("[1,3]", "string", "[1,4)"),
    "mood": ("glad", "string", "glad"),
}


@pytest.fixture(scope="module", autouse=True)
def mood(postgres: Server) -> None:
    postgres.run("CREATE TYPE mood AS ENUM ('sad', 'glad')", "CREATE DOMAIN few AS int CHECK (VALUE < 10)")


def column(server: Server, kind: str, *values: str) -> str:
    """A table with a column `a b` of a type, and a null, by its address."""
    rows = ", ".join(f"('{value}')" for value in values)
    server.run("DROP TABLE IF EXISTS t", f'CREATE TABLE t ("a b" {kind})', "INSERT INTO t VALUES (NULL)")
    if rows:
        server.run(f"INSERT INTO t VALUES {rows}")
    return server.address("t")


@pytest.mark.parametrize("kind", VALUES)
def test_values(kind: str, postgres: Server) -> None:
    text, expected, value = VALUES[kind]
    table = read(column(postgres, kind, text), None).table
    assert table.column_names == ["a b"]
    assert str(table.schema.types[0]) == expected
    assert kept_type(table.schema.types[0]) is not None
    assert table.column(0)[0].as_py() is None
    if value is not None:
        assert table.column(0)[1].as_py() == value


@pytest.mark.parametrize("kind", ["int[]", "bytea", "interval"])
def test_what_can_not_be_compared(kind: str, postgres: Server) -> None:
    address = column(postgres, kind)
    assert kept_type(read(address, None).table.schema.types[0]) is None
    postgres.run("ALTER TABLE t ADD COLUMN n int")
    assert hf.discover(address).left_out == {"t": ("a b",)}


def test_a_domain_is_what_it_is_made_of(postgres: Server) -> None:
    assert str(read(column(postgres, "few", "7"), None).table.schema.types[0]) == "int32"


@pytest.mark.parametrize(
    ("kind", "value", "sentence"),
    [
        ("numeric", "NaN", "column 'a b' has NaN"),
        ("numeric(5, 2)", "NaN", "column 'a b' has NaN"),
        ("numeric", "1" + "0" * 38, "column 'a b' has numbers of more than 38 digits"),
        ("date", "infinity", "column 'a b' has infinity"),
        ("timestamp", "-infinity", "column 'a b' has infinity"),
        ("timestamptz", "infinity", "column 'a b' has infinity"),
    ],
)
def test_values_that_no_type_holds(kind: str, value: str, sentence: str, postgres: Server) -> None:
    with pytest.raises(BadInput, match=sentence):
        read(column(postgres, kind, value), None)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**18), max_value=10**18, places=7)))
def test_numbers_without_declared_digits_are_exact(postgres: Server, numbers: list[Decimal]) -> None:
    address = column(postgres, "numeric", *(str(number.normalize()) for number in numbers))
    assert read(address, None).table.column(0).to_pylist() == [None, *numbers]


def test_queries(postgres: Server) -> None:
    postgres.run("DROP TABLE IF EXISTS t", "CREATE TABLE t (n int, d numeric(5, 1))", "INSERT INTO t VALUES (1, 2.5)")
    database = postgres.database()
    found = read(database, "SELECT n AS m, d, d * 1.00 AS more FROM t ORDER BY n;").table
    assert found.to_pylist() == [{"m": 1, "d": Decimal("2.5"), "more": Decimal("2.500")}]
    assert str(found.schema.types[1]) == "decimal128(5, 1)"
    for query, sentence in (
        ("SELECT FROM nosuch", r"\(the query\): relation \"nosuch\" does not exist"),
        ("SELECT 1/0", "division by zero"),
        ("SELECT 1 AS n, 2 AS n", "both named 'n'"),
        ("DELETE FROM t RETURNING n", "syntax error|data-modifying"),
        ("WITH gone AS (DELETE FROM t RETURNING n) SELECT * FROM gone", "read-only|top level"),
    ):
        with pytest.raises(BadInput, match=sentence):
            read(database, query)
    assert read(postgres.address("t"), None).table.num_rows == 1


def test_an_error_in_the_middle(postgres: Server) -> None:
    with pytest.raises(BadInput, match=r"\(the query\): division by zero"):
        read(postgres.database(), "SELECT 1 / (n - 150000) AS n FROM generate_series(1, 200000) AS n")


def test_a_table_that_is_not_there(postgres: Server) -> None:
    postgres.run("CREATE TABLE IF NOT EXISTS orders (n int)", "CREATE SCHEMA IF NOT EXISTS other")
    postgres.run("CREATE TABLE IF NOT EXISTS other.orders AS SELECT 1 AS n")
    with pytest.raises(BadInput, match=r"there is no table 'Orders'; did you mean 'orders'\?"):
        read(postgres.address("Orders"), None)
    assert read(postgres.address("other.orders"), None).table.num_rows == 1


def test_one_moment_of_the_database(postgres: Server, tmp_path: Path) -> None:
    """A batch is the difference of two moments."""
    postgres.run("DROP TABLE IF EXISTS t", "CREATE TABLE t AS SELECT n, n % 3 AS k FROM generate_series(1, 9) AS n")
    with hf.Monitor.create(tmp_path / "state", {"t": postgres.address("t")}, key=["n"]) as monitor:
        postgres.run("DELETE FROM t WHERE n = 1", "UPDATE t SET k = 7 WHERE n = 2", "INSERT INTO t VALUES (10, 1)")
        batch = monitor.apply(snapshot=postgres.address("t")).batch
        assert (batch.inserted, batch.deleted) == (2, 2)


def test_a_password_is_never_shown_or_kept(postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    postgres.run("DROP TABLE IF EXISTS t", "CREATE TABLE t AS SELECT 1 AS n", "GRANT SELECT ON t TO ann")
    plain = f"postgres://ann@/postgres/t?host={postgres.socket}"
    inside = plain.replace("ann@", f"ann:{quote(PASSWORD, safe='')}@")
    for wrong, secret in ((plain, "wrong-word"), (plain.replace("ann@", "ann:wrong-word@"), None)):
        monkeypatch.delenv("PGPASSWORD", raising=False)
        if secret:
            monkeypatch.setenv("PGPASSWORD", secret)
        with pytest.raises(BadInput, match="password authentication failed") as caught:
            read(wrong, None)
        assert "wrong-word" not in str(caught.value)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert read(plain, None).table.num_rows == 1
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.setenv("HOLDFAST_TEST_WORD", PASSWORD)
    assert read(plain.replace("ann@", "ann:${HOLDFAST_TEST_WORD}@"), None).table.num_rows == 1
    with hf.Monitor.create(tmp_path / "state", inside) as monitor:
        monitor.apply(snapshot=inside, batch_id="again")
        assert list(monitor.tables) == ["t"]
    kept = b"".join(each.read_bytes() for each in (tmp_path / "state").rglob("*") if each.is_file())
    for secret in (PASSWORD, quote(PASSWORD, safe="")):
        assert secret.encode() not in kept


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"postgres:///shop/t\?host=.*: Failed to connect: .*No such file"):
        read(f"postgres:///shop/t?host={tmp_path}", None)
