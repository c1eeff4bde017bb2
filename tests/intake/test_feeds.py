"""Lists of operations: in the order in which things happened, with every reader, and keys alone where they suffice."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.api.monitor import Monitor
from holdfast.changes import operations
from holdfast.errors import BadInput
from holdfast.spark.stage import _turn
from tests.intake.building import changed, file_of, rows_in, through_spark, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EMPTY = pa.table({"k": pa.array([], pa.int64()), "v": pa.array([], pa.string())})
# Delta's feed in no order at all: key 1 lives through versions 2, 9, 10 and 11; key 2 dies in version 10.
FEED = pa.table(
    {
        "v": ["d", "b", "b", "a", "x", "c", "c", "x"],
        "_change_type": [
            "update_postimage",
            "update_preimage",
            "update_postimage",
            "insert",
            "delete",
            "update_preimage",
            "update_postimage",
            "insert",
        ],
        "k": [1, 1, 1, 1, 2, 1, 1, 2],
        "_commit_version": [11, 10, 9, 2, 10, 11, 10, 3],
        "_commit_timestamp": pa.array([dt.datetime(2024, 1, 1)] * 8, pa.timestamp("us", tz="UTC")),
    }
)
PREIMAGE = pa.table({"v": ["a"], "_change_type": ["update_preimage"], "k": [1], "_commit_version": [9]}).append_column(
    "_commit_timestamp", FEED["_commit_timestamp"].slice(0, 1)
)
FEED = pa.concat_tables([FEED, PREIMAGE])


def as_csv(table: pa.Table) -> str:
    rows = [table.column_names, *zip(*(column.to_pylist() for column in table.columns), strict=True)]
    return "".join(",".join(str(value) for value in row) + "\n" for row in rows)


def check_feed(monitor: Monitor, feed: Any) -> None:
    assert changed(monitor.apply(changes=feed)) == (1, 0, 0)
    assert rows_in(monitor) == [(1, "d")]


@pytest.mark.parametrize("key", [[], ["k"]], ids=["no key", "key"])
def test_versions_put_a_feed_in_order(tmp_path: Path, key: list[str]) -> None:
    pq.write_table(FEED, tmp_path / "feed.parquet")
    views = FEED.set_column(0, "v", FEED["v"].cast(pa.string_view()))
    for feed in (FEED, views, str(tmp_path / "feed.parquet"), file_of(tmp_path, "feed.csv", as_csv(FEED))):
        with watched(tmp_path, EMPTY, key=key) as monitor:
            check_feed(monitor, feed)


@pytest.mark.spark
def test_versions_put_a_feed_in_order_in_spark(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    through_spark(monkeypatch)
    scattered = spark.createDataFrame(FEED).repartition(4)
    for feed in (scattered, file_of(tmp_path, "feed.csv", as_csv(FEED))):
        with watched(tmp_path, EMPTY, key=["k"], spark=spark) as monitor:
            check_feed(monitor, feed)


@pytest.mark.parametrize("in_spark", [False, pytest.param(True, marks=pytest.mark.spark)])
def test_versions_that_are_none(
    tmp_path: Path, in_spark: bool, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    spark = request.getfixturevalue("spark") if in_spark else None
    if in_spark:
        through_spark(monkeypatch)
    feeds = [
        file_of(tmp_path, f"{n}.csv", f"k,v,op,_commit_version\n1,a,c,1\n1,b,u,{v}\n") for n, v in enumerate(["x", ""])
    ]
    with watched(tmp_path, EMPTY, key=["k"], spark=spark) as monitor:
        for feed in feeds:
            with pytest.raises(BadInput, match=r"\d\.csv: column '_commit_version'"):
                monitor.apply(changes=feed)
        assert rows_in(monitor) == []


@pytest.mark.spark
def test_spark_knows_the_same_words(spark: SparkSession) -> None:
    words = [form for word in operations.WORDS for form in (word, word.upper(), f" {word}\t")]
    frame = spark.createDataFrame(pa.table({"c0": words}))
    turns = [row[0] for row in frame.select(_turn(frame["c0"])).collect()]
    assert turns == operations.parse_operations(pa.chunked_array([words])).tolist()


# Files whose order matters: their names give it, and their sizes would give another.
STEPS = {
    "1-born.csv": "k,v,op\n1,a,insert\n",
    "2-grown.csv": "k,v,op\n" + "1,b,update\n" * 10 + "2,z,insert\n",
    "3-more.csv": "k,v,op\n1,c,u\n2,z,d\n",
    "4-last.csv": "k,v,op\n" + "".join(f"{n},new,c\n" for n in range(10, 400)) + "1,d,u\n",
}


@pytest.mark.spark
@pytest.mark.parametrize("line_break", ["", '5,"x\ny",c\n5,"x\ny",d\n'], ids=["by line", "whole"])
def test_a_folder_of_operations_goes_by_name(tmp_path: Path, spark: SparkSession, line_break: str) -> None:
    for name, content in STEPS.items():
        file_of(tmp_path / "feed", name, content + line_break)
    (tmp_path / "feed" / "_SUCCESS").write_text("")
    with watched(tmp_path, EMPTY, key=["k"], spark=spark) as monitor:
        monitor.apply(changes=str(tmp_path / "feed"))
        rows = rows_in(monitor)
        assert (len(rows), sorted(rows)[0]) == (391, (1, "d"))


@pytest.mark.spark
def test_folders_of_one_table_and_of_two(tmp_path: Path, spark: SparkSession) -> None:
    equal, other = tmp_path / "equal", tmp_path / "other"
    for name, content in {
        "a.csv": 'k,v\n1,a\n2,"x,y"\n',
        "b.csv": '\ufeff"k",v\r\n3,c\r\n',
        "c.csv": "k,v\n",
        "d.csv": "",
    }.items():
        file_of(equal, name, content)
    with watched(tmp_path, str(equal), spark=spark) as monitor:
        assert sorted(rows_in(monitor)) == [(1, "a"), (2, "x,y"), (3, "c")]
        assert monitor.apply(snapshot=str(equal)).batch.inserted == 0
    for header in ("k,w", "v,k", "k", "k,v,w"):
        file_of(other, "a.csv", "k,v\n1,a\n")
        file_of(other, "b.csv", f"{header}\n" + ",".join("1" for _ in header.split(",")) + "\n")
        with pytest.raises(
            BadInput, match=r"b\.csv: its columns differ from those of .*a\.csv; name the file of each table, or"
        ):
            watched(tmp_path, str(other), spark=spark)
    file_of(other, "b.csv", "k,v\n1,a\n2\n")
    with pytest.raises(BadInput, match=r"b\.csv, line 3: 1 field where 2 are expected"):
        watched(tmp_path, str(other), spark=spark)


KEYED = pa.table(
    {
        "k": [1, 2, 3],
        "i": [1, 2, None],
        "f": [0.5, None, 1.5],
        "s": ["x", None, "y"],
        "b": [True, None, False],
        "d": pa.array([Decimal("1.50"), None, Decimal("2.50")], pa.decimal128(15, 2)),
        "day": pa.array([1, None, 2], pa.date32()),
        "ts": pa.array([1, None, 2], pa.timestamp("us")),
        "tz": pa.array([1, None, 2], pa.timestamp("us", tz="UTC")),
        "t": pa.array([1, None, 2], pa.time64("us")),
        "dur": pa.array([1, None, 2], pa.duration("us")),
    }
)


@pytest.mark.spark
def test_a_delete_needs_no_more_than_the_key(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watched(tmp_path, KEYED, key=["k"], spark=spark) as monitor:
        for keys in (pa.table({"k": [1]}), file_of(tmp_path, "k.csv", "k\n1\n"), spark.sql("SELECT 1 k")):
            assert changed(monitor.apply(deletes=keys)) == (0, 1, 0)
            assert changed(monitor.apply(inserts=KEYED.slice(0, 1))) == (1, 0, 0)
        through_spark(monkeypatch)
        assert changed(monitor.apply(deletes=file_of(tmp_path, "k.csv", "k\n1\n"))) == (0, 1, 0)
        assert changed(monitor.apply(inserts=KEYED.slice(0, 1))) == (1, 0, 0)
        both = monitor.apply(inserts=KEYED.slice(0, 1), deletes=file_of(tmp_path, "k.csv", "k\n1\n2\n"))
        assert changed(both) == (0, 1, 0)  # the row with key 1 comes back as it was
        assert [row[0] for row in rows_in(monitor)] == [3, 1]
        with pytest.raises(BadInput, match="lacks 'i'"):
            monitor.apply(inserts=pa.table({"k": [7]}))
        with pytest.raises(BadInput, match=r"not there: \(k=7\)"):
            monitor.apply(deletes=pa.table({"k": [7]}))
    with watched(tmp_path, KEYED) as monitor, pytest.raises(BadInput, match="lacks 'i'"):
        monitor.apply(deletes=pa.table({"k": [1]}))
