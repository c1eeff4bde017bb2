"""Addresses of databases: their parts, what is wrong with them, and no secret in any sentence."""

from __future__ import annotations

import pytest

from holdfast.errors import BadInput
from holdfast.intake.paths import file_name, table_name
from holdfast.sources.databases.address import Address, address_of, is_database, table_in
from holdfast.sources.secrets import refuse_plain_secrets


@pytest.mark.parametrize(
    ("text", "kind", "database", "table"),
    [
        ("duckdb:shop.db/orders", "duckdb", "shop.db", "orders"),
        ("sqlite:/data/a b/shop.db/main.orders", "sqlite", "/data/a b/shop.db", "main.orders"),
        ("postgres://ann@host/shop/orders", "postgres", "postgresql://ann@host/shop", "orders"),
        ("postgresql://host:5433/shop/public.orders", "postgres", "postgresql://host:5433/shop", "public.orders"),
        ("postgres:postgresql://host/shop/my%20orders", "postgres", "postgresql://host/shop", "my orders"),
        ("adbc:postgresql://host/shop/orders", "postgres", "postgresql://host/shop", "orders"),
        ("postgres:///shop/orders?host=/tmp&port=1", "postgres", "postgresql:///shop?host=/tmp&port=1", "orders"),
        ("postgres://host//orders", "postgres", "postgresql://host/", "orders"),
        ("adbc:grpc://host:1/orders", "adbc", "grpc://host:1/", "orders"),
        ("adbc:sqlite:shop.db/orders", "adbc", "sqlite:shop.db", "orders"),
    ],
)
def test_the_parts(text: str, kind: str, database: str, table: str) -> None:
    found = address_of(text, None)
    assert (found.kind, found.database, found.table, found.query) == (kind, database, table, None)
    assert is_database(text)
    whole = address_of(text, "SELECT 1;")
    assert whole.table is None
    assert whole.select == "SELECT 1"


def test_a_file_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert address_of("sqlite:~/in/shop.db/orders", None).database == "/home/ann/in/shop.db"
    assert address_of("duckdb:~/shop.db", "SELECT 1").database == "/home/ann/shop.db"


def test_names_of_tables() -> None:
    assert table_in("postgres://ann@host/shop/public.my%20orders?sslmode=require") == "my orders"
    assert table_name("duckdb:in/shop.db/main.orders") == "orders"
    assert table_name("duckdb:in/shop.db", query="SELECT 1") == "shop"
    assert table_name("postgres://host/shop?sslmode=require", query="SELECT 1") == "shop"
    assert file_name("postgres://ann:hush@host/shop/orders?password=hush") == "orders"


def test_a_name_is_quoted() -> None:
    assert address_of('duckdb:shop.db/main.or"ders', None).select == 'SELECT * FROM "main"."or""ders"'


@pytest.mark.parametrize(
    "text", ["duckdb:shop.db", "duckdb:", "sqlite:in/", "postgres://host/shop", "postgres://host", "adbc:grpc://host"]
)
def test_an_address_without_a_table(text: str) -> None:
    with pytest.raises(BadInput, match=r"names no table; add /.*, or give --query"):
        address_of(text, None)


def test_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_WORD", "hush hush/#1")
    monkeypatch.setenv("HOLDFAST_TEST_URL", "postgres://ann:hush@host/shop")
    found = address_of("postgres://ann:${HOLDFAST_TEST_WORD}@host/shop/orders", None)
    assert found.database == "postgresql://ann:hush%20hush%2F%231@host/shop"
    assert "hush" not in found.shown + repr(found)
    assert "hush" not in str(found.refused("no password 'hush hush/#1', not even hush%20hush%2F%231"))
    assert is_database("${HOLDFAST_TEST_URL}/orders")
    for text in ("${HOLDFAST_TEST_URL}/orders", "postgres:${HOLDFAST_TEST_URL}/orders"):
        assert address_of(text, None).database.endswith("://ann:hush@host/shop")
    with pytest.raises(BadInput, match="the environment has no variable NO_SUCH"):
        address_of("postgres://ann:${NO_SUCH}@host/shop/orders", None)


def test_secrets_in_a_command() -> None:
    for plain in (
        "postgres://ann:hush@host/shop/orders",
        "postgres://host/shop/orders?password=hush",
        "s3://a:hush@b/c",
    ):
        with pytest.raises(BadInput, match="all users of this machine see") as caught:
            refuse_plain_secrets(plain)
        assert "hush" not in str(caught.value)
    refuse_plain_secrets("postgres://ann:${WORD}@host/shop/orders?sslpassword=${OTHER}&sslmode=require")
    refuse_plain_secrets("postgres://ann@host/shop/orders")
    refuse_plain_secrets("in/orders.csv")


def test_shown_without_secrets() -> None:
    shown = Address("duckdb", "a.db", None, "SELECT 1", "duckdb:a.db").name
    assert shown == "duckdb:a.db (the query)"
