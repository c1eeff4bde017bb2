"""Tables of databases at the command line: every command takes them, and no password is seen anywhere."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.running import Holdfast, refused, untouched
from tests.sources.databases.server import PASSWORD, Server

ROWS = [(n, f"{10000 + n % 4}", ["Berlin", "Bonn", "Köln", "Ulm"][n % 4]) for n in range(40)]


@pytest.fixture
def shop(tmp_path: Path) -> str:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
        connection.execute("CREATE TABLE orders (id INTEGER, zip TEXT, city TEXT)")
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?)", ROWS)
    return f"sqlite:{tmp_path}/shop.db"


def change(shop: str, *statements: str) -> None:
    with closing(sqlite3.connect(shop.removeprefix("sqlite:"))) as connection, connection:
        for each in statements:
            connection.execute(each)


def test_every_command_takes_a_table(holdfast: Holdfast, shop: str, tmp_path: Path) -> None:
    table, state = f"{shop}/orders", tmp_path / "state"
    found = holdfast("discover", table, "--rules", "fd", "--format", "json")
    assert {"zip -> city", "city -> zip"} <= {each["text"] for each in found.of_kind("fd")}
    assert holdfast("suggest", table, "--format", "json").of_kind("table")[0]["table"] == "orders"
    assert holdfast("check", f"o={table}", "--rule", "zip -> city").code == 0
    assert holdfast("init", state, table, "--watch", "fd", "--key", "id").code == 0
    change(shop, "UPDATE orders SET city = 'Bonn' WHERE id = 4", "DELETE FROM orders WHERE id = 1")
    ran = holdfast("apply", state, "--snapshot", table, "--format", "json")
    assert (ran.of_kind("batch")[0]["inserted"], ran.of_kind("batch")[0]["deleted"]) == (1, 2)
    assert holdfast("apply", state, "--delete", shop, "--query", "SELECT id FROM orders WHERE id > 30").code == 0
    text = holdfast("status", state, "--format", "json").of_kind("table")[0]
    assert text["rows"] == 39 - 9


def test_a_query_is_part_of_what_to_run_next(holdfast: Holdfast, shop: str) -> None:
    ran = holdfast("discover", f"o={shop}", "--query", "SELECT zip FROM orders")
    assert f"holdfast suggest {shop} --query 'SELECT zip FROM orders' --to rules.yaml" in ran.out


def test_refusals(holdfast: Holdfast, shop: str, state: Path) -> None:
    refused(holdfast("discover", f"{shop}/order"), f"{shop}/order", "no table 'order'", "did you mean 'orders'?")
    refused(holdfast("discover", shop), "names no table", "--query")
    refused(holdfast("discover", f"{shop}/orders", "--schema", "id INT"), "leave out --schema")
    with untouched(state):
        refused(holdfast("apply", state, "--snapshot", f"{shop}/orders"), f"{shop}/orders", "the columns differ")
        refused(holdfast("apply", state, "--insert", "postgres://ann:hush@host/db/t"), "${NAME}", "ann:***@")
        refused(holdfast("apply", state, "--table", "people=postgres://ann:hush@host/db/t"), "${NAME}", "ann:***@")


def test_a_password_from_the_environment(
    holdfast: Holdfast, postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.run("DROP TABLE IF EXISTS kept", "CREATE TABLE kept AS SELECT 1 AS n", "GRANT SELECT ON kept TO ann")
    address = f"postgres://ann:${{HOLDFAST_TEST_WORD}}@/postgres/kept?host={postgres.socket}"
    refused(holdfast("init", tmp_path / "state", address), "the environment has no variable HOLDFAST_TEST_WORD")
    monkeypatch.setenv("HOLDFAST_TEST_WORD", "another word")
    ran = holdfast("init", tmp_path / "state", address)
    refused(ran, 'password authentication failed for user "ann"')
    assert "another" not in ran.err
    monkeypatch.setenv("HOLDFAST_TEST_WORD", PASSWORD)
    ran = holdfast("init", tmp_path / "state", address)
    assert ran.code == 0
    kept = b"".join(each.read_bytes() for each in (tmp_path / "state").rglob("*") if each.is_file())
    assert b"hush" not in kept
    assert "hush" not in ran.out + ran.err
