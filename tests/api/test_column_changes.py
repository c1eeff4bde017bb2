"""Columns and tables come, go and change, in a state that goes on."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

import holdfast as hf
from tests.api.orders import CUSTOMERS, KINDS, ORDERS, fresh, with_id
from tests.laws.living import assert_equals_fresh_state


def test_no_column_changes_for_rows_that_are_refused(tmp_path: Path) -> None:
    """A key that is taken, and a type that no wider one holds."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        files = {path.name for path in (tmp_path / "state" / "segments").iterdir()}
        taken = ORDERS.slice(0, 1).append_column("tel", pa.array([5]))
        wrong = with_id(ORDERS, 9).drop_columns(["city"]).set_column(1, "cust", pa.array(["x"]))
        for rows, sentence in (
            (taken, "key that is taken"),
            (wrong, "column 'cust' is text, and integer in the table"),
        ):
            with pytest.raises(hf.BadInput, match=sentence):
                watch.apply(inserts=rows, table="orders", evolve=True)
        assert watch.tables["orders"].schema.names == ORDERS.column_names
        assert watch.history() == []
        assert {path.name for path in (tmp_path / "state" / "segments").iterdir()} == files
        watch.apply(inserts=with_id(taken, 9), table="orders", evolve=True)
        assert_equals_fresh_state(watch)


def test_a_rule_with_a_day_stays_where_dates_become_timestamps(tmp_path: Path) -> None:
    """It is reported as edited, not as gone."""
    rows = pa.table({"id": [1, 2], "day": [date(2026, 1, 1), date(2026, 1, 2)]})
    with hf.Monitor.create(tmp_path / "state", {"t": rows}, watch=["column"], key="id") as watch:
        watch.add_rules(["max(day) <= DATE '2026-01-20'", "t.day < DATE '2026-02-01'", "t.id > 0"])
        changed = watch.retype_column("day", "timestamp")
        assert ("removed" in changed.about, len(changed.about["edited"])) == (False, 2)
        assert "row1: t.day < TIMESTAMP '2026-02-01 00:00:00+00:00': edited; 0 violations" in str(changed)
        assert_equals_fresh_state(watch)


def test_what_is_kept_of_rows_follows_their_columns(tmp_path: Path) -> None:
    """The key that rows are called by, too; and a new column with an old name has no old values."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        watch.add_rules("orders.cust in customers.id")
        watch.add_rules("t.city != 'q'", table="orders")
        wrong = pa.table({"id": [7], "cust": [70], "zip": ["c"], "city": ["q"]})
        watch.apply(inserts={"orders": wrong})
        watch.apply(deletes={"orders": wrong})
        watch.rename_column("id", "no", table="orders")
        watch.rename_column("zip", "post", table="orders")
        watch.add_column("zip", "text", table="orders")
        for name, example in (("row1", "no 7 (city q)"), ("ref1", "no 7 (cust 70)")):
            assert f"because of {example}" in " ".join(watch.explain(name))
        (row,) = watch.rows([4], table="orders")
        assert (row.key, row.values) == ({"no": 7}, {"no": 7, "cust": 70, "post": "c", "city": "q"})
        assert "batches" in watch.document()


def test_a_page_and_vacuum_know_rules_and_tables_that_left(tmp_path: Path) -> None:
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        watch.add_rules("orders.cust in customers.id")
        watch.add_rules("key(name)", table="customers")
        watch.apply(inserts={"orders": pa.table({"id": [7], "cust": [70], "zip": ["c"], "city": ["q"]})})
        watch.apply(inserts={"customers": pa.table({"id": [8], "name": ["one"]})})
        watch.remove_rules("ref1")
        watch.vacuum()
        watch.drop_table("customers")
        watch.vacuum()
        assert "batches" in watch.document()
        watch.add_table("customers", KINDS, key="id")
        watch.apply(inserts={"customers": pa.table({"id": [8], "kind": ["a"]})})
        assert "batches" in watch.document()


def test_a_batch_of_several_tables_changes_the_columns_of_each(tmp_path: Path) -> None:
    """And a second try with another file is as if the first one had not been."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        orders = with_id(ORDERS, 9).append_column("tel", pa.array([5]))
        customers = with_id(CUSTOMERS, 9).append_column("age", pa.array([1.5]))
        watch.apply(inserts={"orders": orders, "customers": customers}, batch_id="both", evolve=True)
        assert [batch.batch_id for batch in watch.history()] == ["both:columns", "both:columns-2", "both"]
        assert watch.tables["orders"].schema.names[-1] == "tel"
        assert watch.tables["customers"].schema.names[-1] == "age"
        again = with_id(orders, 9).append_column("fax", pa.array([1]))
        with pytest.raises(hf.BadInput, match="taken"):
            watch.apply(inserts={"orders": again}, batch_id="again", evolve=True)
        watch.apply(
            inserts={"orders": with_id(again, 10).append_column("more", pa.array([1]))}, batch_id="again", evolve=True
        )
        assert [batch.batch_id for batch in watch.history()][3:] == ["again:columns", "again"]
        assert_equals_fresh_state(watch)


def test_tables_come_and_go(tmp_path: Path) -> None:
    """With the rules that speak of them; and one of the same name may come again."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        watch.watch("ind")
        added = watch.add_table("kinds", KINDS, key="id")
        assert "table 'kinds': watched from now on; 2 rows, 2 columns" in str(added)
        watch.add_rules(["orders.cust in kinds.id", "kinds.id in customers.id"])
        watch.apply(inserts=pa.table({"id": [3], "kind": ["c"]}), table="kinds")
        assert_equals_fresh_state(watch)
        dropped = watch.drop_table("customers")
        assert [line["text"] for line in dropped.about["removed"]] == ["kinds.id in customers.id"]
        assert_equals_fresh_state(watch)
        watch.add_table("customers", CUSTOMERS.slice(0, 1), key="id")
        watch.apply(inserts={"customers": with_id(CUSTOMERS, 7), "orders": with_id(ORDERS, 8)})
        assert_equals_fresh_state(watch)
        assert watch.document()["batches"][-1]["table"] == "customers, orders"
        with pytest.raises(hf.BadInput, match="already"):
            watch.add_table("orders", ORDERS)


def test_a_stream_that_can_be_read_once_evolves_a_table_all_the_same(tmp_path: Path) -> None:
    """A table looks at the columns of a batch before it reads the rows."""
    with hf.Monitor.open(fresh(tmp_path / "state")) as watch:
        rows = with_id(ORDERS, 9).append_column("tel", pa.array([5]))
        stream = pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches())
        outcome = watch.apply(inserts=stream, table="orders", evolve=True)
        assert outcome.batch.inserted == 1
        assert watch.tables["orders"].schema.names[-1] == "tel"
