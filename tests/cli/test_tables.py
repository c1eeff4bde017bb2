"""Batches of several tables at the command line: files by table, and feeds whose rows name their table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Holdfast, names_in, refused, untouched, write


@pytest.fixture
def shop(tmp_path: Path, holdfast: Holdfast) -> Path:
    """A state of orders and their customers, whose reference is a given rule."""
    orders = write(tmp_path / "orders.csv", ["id,cust,paid", "1,1,2.5", "2,2,1.0"])
    customers = write(tmp_path / "customers.csv", ["id,name", "1,Ann", "2,Bob"])
    rules = write(tmp_path / "rules.yaml", ["rules:", "  - {name: payer, rule: orders.cust in customers.id}"])
    keys = ["--key", "orders:id", "--key", "customers:id"]
    assert holdfast("init", tmp_path / "shop", orders, customers, "--rules", rules, *keys).code == 0
    write(tmp_path / "o.csv", ["id,cust,paid", "3,3,1.5"])
    write(tmp_path / "c.csv", ["id,name", "3,Cid"])
    return tmp_path / "shop"


def test_files_of_several_tables_are_one_batch(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    files = ["--table", f"orders={tmp_path / 'o.csv'}", "--table", f"customers={tmp_path / 'c.csv'}"]
    result = holdfast("apply", shop, *files, "--batch-id", "both")
    assert result.code == 0, "an order with its new customer breaks nothing"
    assert result.out == "Batch 1 on orders, customers: 2 rows. The rule holds.\n"
    again = holdfast("apply", shop, *files, "--batch-id", "both")
    assert "batch both was applied before" in again.out
    assert names_in(shop, "customers") == ["Ann", "Bob", "Cid"]
    line = holdfast("apply", shop, *files, "--how", "delete", "--format", "json").objects[0]
    assert (line["table"], line["tables"], line["deleted"]) == ("*", ["orders", "customers"], 2)
    part = {"inserted": 0, "deleted": 1, "ignored": 0}
    assert line["parts"] == [{"table": "orders", **part}, {"table": "customers", **part}]
    for how in ("insert", "snapshot", "upsert"):
        assert holdfast("apply", shop, *files, "--how", how).code == 0
    assert names_in(shop, "customers") == ["Cid"]
    history = holdfast("history", shop)
    assert history.out.count("orders, customers") == 5
    lines = holdfast("history", shop, "--format", "json").objects
    assert [each["how"] for each in lines] == ["inserts", "deletes", "inserts", "snapshot", "upserts"]
    assert {tuple(each["tables"]) for each in lines} == {("orders", "customers")}
    rows = holdfast("rows", shop, "2", "--table", "customers", "--format", "json").objects
    assert [(row["inserted_by"], row["deleted_by"]) for row in rows] == [(1, 2)]
    assert holdfast("verify", shop, "--deep").code == 0


def test_a_batch_shows_what_it_ignored_in_each_table(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    orders = write(tmp_path / "gone.csv", ["id,cust,paid", "1,1,2.5", "8,8,1.5", "9,9,1.5"])
    files = ["--table", f"orders={orders}", "--table", f"customers={tmp_path / 'c.csv'}"]
    assert holdfast("apply", shop, *files, "--how", "delete", "--on-missing", "ignore").code == 0
    (line,) = holdfast("history", shop, "--format", "json").objects
    parts = [(part["table"], part["deleted"], part["ignored"]) for part in line["parts"]]
    assert (line["ignored"], parts) == (3, [("orders", 1, 2), ("customers", 0, 1)])


def test_an_order_without_its_customer_is_an_alarm(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    more = write(tmp_path / "more.csv", ["id,cust,paid", "3,3,1.5", "4,4,1.5"])
    result = holdfast("apply", shop, "--table", f"orders={more}", "--table", f"customers={tmp_path / 'c.csv'}")
    assert result.code == 1
    assert result.err == ""
    assert result.out.splitlines() == [
        "Batch 1 on orders, customers: 3 rows. 1 rule failed.",
        "Failed: payer has 1 new violation (orders, more.csv)",
        "  id 4: cust 4 is no id of customers",
        f"  See: holdfast explain {shop} payer",
    ]
    (orphan,) = holdfast("violations", shop, "--format", "json").of_kind("violation")
    assert (orphan["rows"], orphan["t"]) == ([3], {"id": 4, "cust": 4, "paid": 1.5})


def test_a_feed_names_the_table_of_each_row(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    feed = write(
        tmp_path / "feed.csv",
        ["tbl,op,id,cust,paid,name", "orders,insert,3,3,1.5,", "customers,insert,3,,,Cid", "orders,delete,1,1,2.5,"],
    )
    result = holdfast("apply", shop, "--changes", feed, "--table-column", "tbl")
    assert (result.code, "Batch 1 on orders, customers: 2 rows inserted, 1 deleted. " in result.out) == (0, True)
    folder = tmp_path / "incoming"
    folder.mkdir()
    lines = [{"tbl": "customers", "op": "c", "id": 9, "name": "Zoe"}, {"tbl": "orders", "op": "d", "id": 3}]
    write(folder / "a.jsonl", [json.dumps({"cust": None, "paid": None, **line}) for line in lines])
    seen = holdfast("watch", shop, "--from", folder, "--once", "--as", "changes", "--table-column", "tbl")
    assert (seen.code, "Batch 2 (a.jsonl) on orders, customers: " in seen.out) == (0, True)
    assert names_in(shop, "customers") == ["Ann", "Bob", "Cid", "Zoe"]
    wrong = write(tmp_path / "wrong.csv", ["tbl,op,id,cust,paid,name", "orders,insert,4,3,1.5,", "client,insert,3,,,X"])
    with untouched(shop):
        refused(holdfast("apply", shop, "--changes", wrong, "--table-column", "tbl"), "row 2", "'client'")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--table", "orders=o.csv", "--insert", "c.csv"], "leave out that of inserts"),
        (["--table", "orders", "--insert", "o.csv", "--how", "delete"], "there are none; leave it out"),
        (["--table", "orders", "--table", "customers=c.csv"], "needs a file for each: --table name=path"),
        (["--table", "orders=o.csv", "--table", "orders=c.csv"], "there is already a file for orders"),
        (["--table", "orders=o.csv", "--table-column", "x"], "don't name a table as well"),
        (["--table", "clients=o.csv"], "there is no table 'clients'"),
        (["--insert", "o.csv"], "this state watches several tables"),
        (["--table", "orders", "--insert", "o.csv", "--table-column", "x"], "leave out the table 'orders'"),
        (["--insert", "o.csv", "--table-column", "x", "--evolve"], "leave out evolve"),
        (["--table", "orders=o.csv", "--table", "customers=no.csv"], "no.csv: there is no such file"),
        (["--table", "customers=c.csv", "--table", "orders=c.csv"], "the columns differ from those of table orders"),
    ],
)
def test_what_can_not_be_is_one_sentence_and_nothing_changes(
    holdfast: Holdfast, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with untouched(shop):
        refused(holdfast("apply", shop, *words), said)
