"""Feeds whose rows name their table: each gets its own rows, in their order and of its own types, with every reader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.api.monitor import Monitor
from holdfast.errors import BadInput
from tests.intake.building import Notes, changed, file_of, small_pieces, through_spark
from tests.table.building import rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = "id,cust,paid\n1,A1,2.5\n2,B2,1.0\n"
CUSTOMERS = "id,city\nA1,Rome\nB2,n/a\n"
# Both tables have a column `id`: a number in one, a text in the other.
ROWS: list[dict[str, Any]] = [
    {"tbl": "orders", "op": "insert", "id": "3", "cust": "007", "paid": "4.5"},
    {"tbl": "customers", "op": "insert", "id": "007", "city": "Bonn"},
    {"tbl": "orders", "op": "update", "id": "3", "cust": "007", "paid": "5.5"},
    {"tbl": "orders", "op": "delete", "id": "2", "cust": "B2", "paid": "1.0"},
    {"tbl": "customers", "op": "update", "id": "A1", "city": None},
    {"tbl": "orders", "op": "update", "id": "3", "cust": "007", "paid": "6.5"},
]
NAMES = ["tbl", "op", "id", "cust", "paid", "city"]


def as_csv(rows: list[dict[str, Any]]) -> str:
    return "\n".join([",".join(NAMES), *(",".join(row.get(name) or "" for name in NAMES) for row in rows)]) + "\n"


def as_json(rows: list[dict[str, Any]]) -> str:
    """Numbers are numbers, but for the ids of customers."""

    def value(row: dict[str, Any], name: str) -> Any:
        number = name == "paid" or (name == "id" and row["tbl"] == "orders")
        return json.loads(row[name]) if number else row[name]

    return "".join(json.dumps({name: value(row, name) for name in row}) + "\n" for row in rows)


def as_table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.table({name: pa.array([row.get(name) for row in rows], pa.string()) for name in NAMES})


@pytest.fixture
def monitor(tmp_path: Path) -> Iterator[Monitor]:
    with made(tmp_path) as monitor:
        yield monitor


def made(folder: Path, **more: Any) -> Monitor:
    tables = {"orders": file_of(folder, "orders.csv", ORDERS), "customers": file_of(folder, "customers.csv", CUSTOMERS)}
    state = folder / f"state{len(list(folder.glob('state*')))}"
    return Monitor.create(state, tables, key={"orders": "id", "customers": "id"}, **more)


def check(monitor: Monitor, feed: Any) -> None:
    outcome = monitor.apply(changes=feed, table_column="tbl", batch_id="feed")
    assert outcome.batch.tables == ("orders", "customers")
    assert changed(outcome) == (3, 2, 0)
    assert sorted(rows_of(monitor.tables["orders"])) == [(1, "A1", 2.5), (3, "007", 6.5)]
    assert sorted(rows_of(monitor.tables["customers"]), key=str) == [("007", "Bonn"), ("A1", None), ("B2", "n/a")]


@pytest.mark.parametrize("pieces", [False, True], ids=["whole", "in pieces"])
def test_files_of_text(monitor: Monitor, tmp_path: Path, pieces: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if pieces:
        small_pieces(monkeypatch)
    check(monitor, file_of(tmp_path, "feed.csv", as_csv(ROWS)))
    with made(tmp_path) as other:
        check(other, file_of(tmp_path, "feed.jsonl", as_json(ROWS)))


def test_tables_keep_their_types(tmp_path: Path) -> None:
    """A table in memory has one type a column, which must fit: so both ids are texts here, or the state's are."""
    feed = as_table(ROWS)
    with Monitor.create(
        tmp_path / "s",
        {"orders": pa.table({"id": ["1", "2"], "cust": ["A1", "B2"], "paid": [2.5, 1.0]}),
         "customers": pa.table({"id": ["A1", "B2"], "city": ["Rome", "n/a"]})},
        key={"orders": "id", "customers": "id"},
    ) as monitor:  # fmt: skip
        with pytest.raises(BadInput, match="column 'paid' is text, and float in the table"):
            monitor.apply(changes=feed, table_column="tbl")
        paid = pa.array([None if row.get("paid") is None else float(row["paid"]) for row in ROWS])
        typed = feed.set_column(NAMES.index("paid"), "paid", paid)
        pq.write_table(typed, tmp_path / "feed.parquet")
        kinds = [typed, typed.to_pandas(), tmp_path / "feed.parquet", pd.DataFrame(typed.to_pylist()).convert_dtypes()]
        for number, source in enumerate(kinds):
            first = monitor.apply(changes=source, table_column="tbl", batch_id=str(number))
            assert changed(first) == (3, 2, 0)
            back = {"orders": rows_of(monitor.tables["orders"])[-1:], "customers": [("007", "Bonn")]}
            assert back["orders"] == [("3", "007", 6.5)]
            monitor.apply(
                changes={
                    "orders": pa.table({"op": ["d", "c"], "id": ["3", "2"], "cust": ["", "B2"], "paid": [0.0, 1.0]}),
                    "customers": pa.table({"op": ["d", "u"], "id": ["007", "A1"], "city": ["", "Rome"]}),
                }
            )


@pytest.mark.spark
def test_spark_reads_the_same(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    through_spark(monkeypatch)
    for name, content in (("feed.csv", as_csv(ROWS)), ("feed.jsonl", as_json(ROWS))):
        with made(tmp_path, spark=spark) as monitor:
            check(monitor, file_of(tmp_path, name, content))
            wrong = file_of(tmp_path, f"wrong-{name}", content.replace("customers", "clients"))
            with pytest.raises(BadInput, match="a row is for the table 'clients', which is not watched here"):
                monitor.apply(changes=wrong, table_column="tbl")
    frame = spark.createDataFrame(as_table(ROWS).to_pandas())
    with made(tmp_path, spark=spark) as monitor, pytest.raises(BadInput, match="column 'id' is text"):
        monitor.apply(changes=frame, table_column="tbl")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (as_csv([*ROWS[:2], {"tbl": "clients", "op": "insert", "id": "9"}]), "row 3 is for the table 'clients'"),
        (as_csv([{"op": "insert", "id": "9"}]), "row 1 names no table"),
        (as_csv(ROWS).replace("paid", "price"), "no table here has a column 'price'; the tables are orders, customers"),
        (as_csv(ROWS).replace("tbl", "whose"), "no column 'tbl' names the table of a row; its columns are 'whose'"),
        (as_csv(ROWS[:1]).replace(",cust", "").replace("007,", ""), "those of table orders: it lacks 'cust'"),
        (as_csv(ROWS[:1]).replace("3,", "three,"), "column 'id': 'three' is not a whole number"),
        (as_csv(ROWS[:1]).replace("insert", "put"), "unknown operation 'put'"),
    ],
)  # fmt: skip
def test_what_can_not_be_is_refused_and_changes_nothing(
    monitor: Monitor, tmp_path: Path, content: str, said: str
) -> None:
    with pytest.raises(BadInput, match=rf"feed\.csv: .*{said}"):
        monitor.apply(changes=file_of(tmp_path, "feed.csv", content), table_column="tbl")
    assert (monitor.tables["orders"].rows, monitor.tables["customers"].rows, monitor.history()) == (2, 2, [])


def test_rows_of_one_table_alone_are_a_batch_of_that_table(monitor: Monitor, tmp_path: Path) -> None:
    outcome = monitor.apply(changes=file_of(tmp_path, "one.csv", as_csv(ROWS[:1])), table_column="tbl")
    assert (outcome.batch.table, outcome.batch.parts) == ("orders", ())
    for name, content in (("none.csv", as_csv([])), ("none.jsonl", "")):
        outcome = monitor.apply(changes=file_of(tmp_path, name, content), table_column="tbl")
        assert (outcome.batch.tables, changed(outcome)) == (("orders", "customers"), (0, 0, 0))


def test_inserts_and_deletes_may_name_tables_too(monitor: Monitor, tmp_path: Path) -> None:
    new = file_of(tmp_path, "new.csv", "tbl,id,cust,paid,city\ncustomers,Z9,,,Oslo\norders,9,Z9,1.5,\n")
    old = file_of(tmp_path, "old.csv", "tbl,id\norders,1\ncustomers,A1\n")
    assert changed(monitor.apply(inserts=new, deletes=old, table_column="tbl")) == (2, 2, 0)
    assert [row[0] for row in rows_of(monitor.tables["orders"])] == [2, 9]
    with pytest.raises(BadInput, match="a snapshot holds one table"):
        monitor.apply(snapshot=new, table_column="tbl")
    with pytest.raises(BadInput, match="names the table of each row; leave out the table 'orders'"):
        monitor.apply(inserts=new, table_column="tbl", table="orders")


def test_versions_put_each_table_in_order(tmp_path: Path) -> None:
    feed = pa.table(
        {
            "tbl": ["a", "b", "a", "b"],
            "op": ["u", "u", "c", "c"],
            "k": [1, 1, 1, 1],
            "v": ["new", "new", "old", "old"],
            "_commit_version": [2, 4, 1, 3],
        }
    )
    empty = pa.table({"k": pa.array([], pa.int64()), "v": pa.array([], pa.string())})
    with Monitor.create(tmp_path / "s", {"a": empty, "b": empty}, key="k") as monitor:
        monitor.apply(changes=feed, table_column="tbl")
        assert [rows_of(monitor.tables[name]) for name in "ab"] == [[(1, "new")], [(1, "new")]]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_bad_rows_are_set_aside_with_the_lines_of_the_feed(tmp_path: Path, kind: str) -> None:
    rows = [*ROWS[:2], {"tbl": "orders", "op": "insert", "id": "1", "cust": "A1", "paid": "0.5"}, *ROWS[2:]]
    feed = file_of(tmp_path, f"feed.{kind}", (as_csv if kind == "csv" else as_json)(rows))
    notes = Notes()
    with made(tmp_path, progress=notes) as monitor:
        outcome = monitor.apply(changes=feed, table_column="tbl", quarantine=tmp_path / "aside", batch_id="x")
        assert changed(outcome) == (3, 2, 0)
        assert outcome.quarantined is not None
        assert outcome.quarantined.rows == 1
        (reason,) = outcome.quarantined.reasons
        assert reason.startswith(f"feed.{kind}, line {4 if kind == 'csv' else 3}: ")
        (path,) = outcome.quarantined.files
        again = Path(path).read_text().replace(",1,A1", ",11,A1").replace('"id": 1,', '"id": 11,')
        mended = file_of(tmp_path, f"mended.{kind}", again)
        assert changed(monitor.apply(changes=mended, table_column="tbl")) == (1, 0, 0)
    assert [text for text in notes.lines if "feed.csv" in text] == (
        [f"{feed}: separator ',', header row, quote '\"'"] if kind == "csv" else []
    ), "it is said once"
