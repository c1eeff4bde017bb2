"""Types come from the whole file or from the user, and values of a batch come in without loss or not at all."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

from holdfast.errors import BadInput
from holdfast.intake.source import ReadOptions
from tests.intake.building import UTC, csv_options, file_of, read, rows_in, through_spark, types_in, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LATE_TEXT = "n,m\n" + "".join(f"{n},{n}\n" for n in range(100_000)) + "x,100000\n"


def test_types_come_from_the_whole_file(tmp_path: Path) -> None:
    types, rows = read(tmp_path, file_of(tmp_path, "t.csv", LATE_TEXT))
    assert types == {"n": "string", "m": "int64"}
    assert (rows[0], rows[-1]) == (("0", 0), ("x", 100_000))


@pytest.mark.spark
def test_and_so_they_do_in_spark(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    through_spark(monkeypatch)
    types, rows = read(tmp_path, file_of(tmp_path, "t.csv", LATE_TEXT), spark=spark)
    assert types == {"n": "string", "m": "int64"}
    assert (rows[0], rows[-1], len(rows)) == (("0", 0), ("x", 100_000), 100_001)


CELLS = {
    "integer": (["1", "-7", ""], "int64", [1, -7, None]),
    "large": (["9223372036854775808", "1", ""], "decimal128(38, 0)", [Decimal(2**63), Decimal(1), None]),
    "float": (["0.1", "1e3", "NaN"], "double", [0.1, 1000.0, "not a number"]),
    "zip": (["00501", "10001", "0"], "string", ["00501", "10001", "0"]),
    "phone": (["+1", "2", ""], "int64", [1, 2, None]),
    "flag": (["true", "FALSE", ""], "bool", [True, False, None]),
    "day": (["2024-02-29", "0001-01-01", ""], "date32[day]", [dt.date(2024, 2, 29), dt.date(1, 1, 1), None]),
    "no day": (["2024-02-30", "2024-02-29", ""], "string", ["2024-02-30", "2024-02-29", None]),
    "time": (
        ["2024-02-29 01:02", "2024-02-29T01:02:03.5", "2024-02-29"],
        "timestamp[us]",
        [dt.datetime(2024, 2, 29, 1, 2), dt.datetime(2024, 2, 29, 1, 2, 3, 500000), dt.datetime(2024, 2, 29)],
    ),
    "moment": (
        ["2024-02-29T01:02Z", "2024-02-29 01:02:03+05:30", ""],
        "timestamp[us, tz=UTC]",
        [dt.datetime(2024, 2, 29, 1, 2, tzinfo=UTC), dt.datetime(2024, 2, 28, 19, 32, 3, tzinfo=UTC), None],
    ),
    "nothing": (["", "", ""], "string", [None, None, None]),
}


@pytest.fixture
def cells(tmp_path: Path) -> str:
    rows = [",".join(CELLS), *(",".join(row) for row in zip(*(texts for texts, _, _ in CELLS.values()), strict=True))]
    return file_of(tmp_path, "cells.csv", "\n".join(rows) + "\n")


@pytest.mark.parametrize("in_spark", [False, pytest.param(True, marks=pytest.mark.spark)])
def test_what_values_show(
    tmp_path: Path, cells: str, in_spark: bool, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    spark = request.getfixturevalue("spark") if in_spark else None
    if in_spark:
        through_spark(monkeypatch)
    types, rows = read(tmp_path, cells, spark=spark)
    assert types == {name: kept for name, (_, kept, _) in CELLS.items()}
    assert rows == list(zip(*(values for _, _, values in CELLS.values()), strict=True))
    types, rows = read(tmp_path, cells, csv_options(types="text"), spark=spark)
    assert set(types.values()) == {"string"}
    texts = zip(*(texts for texts, _, _ in CELLS.values()), strict=True)
    assert rows == [tuple(text or None for text in row) for row in texts]


@pytest.mark.spark
def test_a_declared_schema(tmp_path: Path, spark: SparkSession) -> None:
    path = file_of(
        tmp_path, "t.csv", "a,b,c,d,e,f\n007,1.50,x,2024-02-29,2024-02-29,\n0,2,,2024-02-29,2024-02-29 10:00,true\n"
    )
    ddl = "a string, b decimal(10,2), c varchar(5), d date, e timestamp_ntz, f boolean"
    types, rows = read(tmp_path, path, ReadOptions(schema=ddl), spark=spark)
    assert list(types.values()) == ["string", "decimal128(10, 2)", "string", "date32[day]", "timestamp[us]", "bool"]
    day, noon = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29)
    assert rows == [
        ("007", Decimal("1.50"), "x", day, noon, None),
        ("0", Decimal("2.00"), None, day, noon.replace(hour=10), True),
    ]
    refused = {
        "a int, b decimal(10,2), c string, d date, e timestamp_ntz, f boolean": "'007' is not a whole number",
        "a string, b decimal(2,1), c string, d date, e timestamp_ntz": "--schema names others",
        "b string": "--schema names others",
        "a string, b": "--schema",
        "int": "--schema",
        "a string, b decimal(3,2), c string, d date, e date, f boolean": "'2024-02-29 10:00' is not a date",
    }
    for other, sentence in refused.items():
        with pytest.raises(BadInput, match=sentence):
            read(tmp_path, path, ReadOptions(schema=other), spark=spark)


# ---- batches --------------------------------------------------------------------------------------------------------

KEPT = {
    "i": pa.array([1, None], pa.int64()),
    "f": pa.array([1.5, None], pa.float64()),
    "d": pa.array([Decimal("1.50"), None], pa.decimal128(15, 2)),
    "s": pa.array(["x", None], pa.string()),
    "b": pa.array([True, None], pa.bool_()),
    "day": pa.array([dt.date(2024, 2, 29), None], pa.date32()),
    "ts": pa.array([dt.datetime(2024, 2, 29), None], pa.timestamp("us")),
    "tz": pa.array([dt.datetime(2024, 2, 29), None], pa.timestamp("us", tz="UTC")),
}
FITS: list[tuple[str, Any, Any]] = [
    ("i", pa.array([5], pa.int8()), 5),
    ("i", pa.array([5], pa.uint64()), 5),
    ("i", pa.array([Decimal("5.00")], pa.decimal128(9, 2)), 5),
    ("i", pa.nulls(1), None),
    ("f", pa.array([5], pa.int32()), 5.0),
    ("f", pa.array([0.5], pa.float32()), 0.5),
    ("f", pa.array([2**53], pa.int64()), float(2**53)),
    ("d", pa.array([5], pa.int64()), Decimal("5.00")),
    ("d", pa.array([Decimal("1.2300")], pa.decimal128(20, 4)), Decimal("1.23")),
    ("d", pa.array([Decimal("1.2")], pa.decimal128(2, 1)), Decimal("1.20")),
    ("s", pa.array(["y"], pa.large_string()), "y"),
    ("s", pa.array(["y"], pa.string_view()), "y"),
    ("s", pa.array(["y"]).dictionary_encode(), "y"),
    ("day", pa.array([dt.date(1, 1, 1)], pa.date64()), dt.date(1, 1, 1)),
    ("ts", pa.array([dt.date(2024, 2, 28)], pa.date32()), dt.datetime(2024, 2, 28)),
    ("ts", pa.array([5], pa.timestamp("s")), dt.datetime(1970, 1, 1, 0, 0, 5)),
    ("ts", pa.array([5000], pa.timestamp("ns")), dt.datetime(1970, 1, 1, 0, 0, 0, 5)),
    ("tz", pa.array([5], pa.timestamp("s", tz="Asia/Tokyo")), dt.datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)),
]
FITS_NOT: list[tuple[str, Any]] = [
    ("i", pa.array([5.0])),
    ("i", pa.array(["5"])),
    ("i", pa.array([True])),
    ("i", pa.array([Decimal("5.50")], pa.decimal128(9, 2))),
    ("i", pa.array([2**64 - 1], pa.uint64())),
    ("i", pa.array([-(2**63)])),
    ("f", pa.array([2**53 + 1])),
    ("f", pa.array([Decimal("1.5")], pa.decimal128(9, 2))),
    ("d", pa.array([Decimal("1.2345")], pa.decimal128(20, 4))),
    ("d", pa.array([10**14])),
    ("d", pa.array([1.5])),
    ("s", pa.array([5])),
    ("s", pa.array([b"x"])),
    ("b", pa.array([1])),
    ("day", pa.array([dt.datetime(2024, 2, 29)], pa.timestamp("us"))),
    ("ts", pa.array([5], pa.timestamp("us", tz="UTC"))),
    ("ts", pa.array([5], pa.timestamp("ns"))),
    ("tz", pa.array([5], pa.timestamp("us"))),
]


def row_with(column: str, value: Any) -> pa.Table:
    """One row of the table with another value, and the columns the other way round."""
    arrays = {name: values[:1] for name, values in KEPT.items()} | {column: value}
    return pa.table({name: arrays[name] for name in reversed(KEPT)})


def test_values_of_narrower_types_come_in_and_others_are_refused(tmp_path: Path) -> None:
    with watched(tmp_path, pa.table(KEPT)) as monitor:
        before = types_in(monitor)
        for column, value, kept in FITS:
            monitor.apply(inserts=row_with(column, value))
            names = list(KEPT)
            assert rows_in(monitor)[-1][names.index(column)] == kept
        rows = rows_in(monitor)
        for column, value in FITS_NOT:
            with pytest.raises(BadInput, match=f"column '{column}'"):
                monitor.apply(inserts=row_with(column, value))
            assert rows_in(monitor) == rows
        assert types_in(monitor) == before


@pytest.mark.spark
def test_and_so_they_are_in_spark(tmp_path: Path, spark: SparkSession) -> None:
    """A few in one batch, and the refusals that come from within a task."""
    with watched(tmp_path, pa.table(KEPT), spark=spark) as monitor:
        good = spark.sql(
            "SELECT timestamp '1970-01-01 00:00:05' tz, date '2024-02-28' ts, date '2024-02-28' day, true b, 'y' s, "
            "CAST(5 AS tinyint) d, CAST(5 AS smallint) f, CAST(5 AS decimal(9,2)) i"
        )
        assert monitor.apply(inserts=good).batch.inserted == 1
        day, night = dt.date(2024, 2, 28), dt.datetime(2024, 2, 28)
        moment = dt.datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)
        assert rows_in(monitor)[-1] == (5, 5.0, Decimal("5.00"), "y", True, day, night, moment)
        assert monitor.apply(deletes=good).batch.deleted == 1
        for change in ("i double", "i decimal(9,1)", "d decimal(20,4)", "s int", "day timestamp", "tz timestamp_ntz"):
            column, kind = change.split()
            value = {"decimal(9,1)": "5.5", "decimal(20,4)": "1.2345", "int": "5", "double": "5"}.get(
                kind, "'2024-02-28'"
            )
            frame = good.selectExpr(*(f"CAST({value} AS {kind}) {column}" if n == column else n for n in KEPT))
            with pytest.raises(BadInput, match=f"column '{column}'"):
                monitor.apply(inserts=frame)
        assert monitor.tables["things"].rows == 2


def test_columns_that_cannot_be_compared_are_left_out_and_named(tmp_path: Path) -> None:
    table = pa.table(
        {
            "list": pa.array([[1], None]),
            "n": [1, 2],
            "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
            "struct": pa.array([{"a": 1}, None]),
            "bytes": pa.array([b"x", None]),
            "huge": pa.array([1, 2], pa.decimal256(50, 0)),
        }
    )
    with watched(tmp_path, table) as monitor:
        assert monitor.left_out == {"things": ("list", "map", "struct", "bytes", "huge")}
        assert types_in(monitor) == {"n": "int64"}
        assert monitor.apply(deletes=table).batch.deleted == 2
        assert monitor.apply(inserts=table.select(["n"])).batch.inserted == 2
        with pytest.raises(BadInput, match="has 'other' in addition"):
            monitor.apply(inserts=table.append_column("other", pa.array([1, 2])))
    with pytest.raises(BadInput, match="no column that can be compared"):
        read(tmp_path, table.drop_columns(["n"]))


@pytest.mark.spark
def test_and_so_they_are_left_out_of_a_data_frame(tmp_path: Path, spark: SparkSession) -> None:
    frame = spark.sql("SELECT array(1) list, 1L n, map('a', 1) map, struct(1) struct, X'00' bytes, parse_json('1') v")
    with watched(tmp_path, frame, spark=spark) as monitor:
        assert monitor.left_out == {"things": ("list", "map", "struct", "bytes", "v")}
        assert monitor.apply(deletes=frame).batch.deleted == 1
        assert monitor.apply(snapshot=frame.select("n")).batch.inserted == 1


def test_a_table_as_tpch_has_them(tmp_path: Path) -> None:
    table = pa.table(
        {
            "l_comment": pa.array(["carefully", "x" * 20, None], pa.string_view()),
            "l_price": pa.array([Decimal("901.00"), Decimal("9999999999999.99"), None], pa.decimal128(15, 2)),
        }
    )
    with watched(tmp_path, table) as monitor:
        assert types_in(monitor) == {"l_comment": "string", "l_price": "decimal128(15, 2)"}
        assert monitor.apply(snapshot=pa.concat_tables([table.slice(1), table.slice(0, 1)])).batch.inserted == 0
        assert rows_in(monitor)[1] == ("x" * 20, Decimal("9999999999999.99"))


@pytest.mark.parametrize("in_spark", [False, pytest.param(True, marks=pytest.mark.spark)])
def test_columns_in_another_order(
    tmp_path: Path, in_spark: bool, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    spark = request.getfixturevalue("spark") if in_spark else None
    if in_spark:
        through_spark(monkeypatch)
    with watched(tmp_path, file_of(tmp_path, "t.csv", "a,b\n1,x\n2,y\n"), spark=spark) as monitor:
        monitor.apply(
            inserts=file_of(tmp_path, "more.csv", "b,a\nz,3\n"), deletes=file_of(tmp_path, "less.csv", "b,a\nx,1\n")
        )
        assert rows_in(monitor) == [(2, "y"), (3, "z")]
        for header, sentence in {
            "b": "lacks 'a'",
            "b,a,c": "has 'c' in addition",
            "b,A": "lacks 'a' and has 'A'",
        }.items():
            path = file_of(tmp_path, "bad.csv", header + "\n" + ",".join("1" for _ in header.split(",")) + "\n")
            with pytest.raises(BadInput, match=sentence):
                monitor.apply(inserts=path)


# ---- text that is not UTF-8 -----------------------------------------------------------------------------------------


def bad_text(values: list[bytes]) -> pa.Array:
    given = pa.array(values, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(given), given.buffers())


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    """From memory, Arrow files and Parquet files; as a value, as an operation, as a version."""
    table = pa.table({"k": [1, 2], "t": bad_text([b"fine", b"\xff"])})
    with ipc.new_file(str(tmp_path / "t.arrow"), table.schema) as writer:
        writer.write_table(table)
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (table, str(tmp_path / "t.arrow"), str(tmp_path / "t.parquet")):
        with pytest.raises(BadInput, match=r"column 't': the text b'\\xff' is not UTF-8"):
            watched(tmp_path, source)
    with watched(tmp_path, pa.table({"k": [1]})) as monitor:
        with pytest.raises(BadInput, match="an operation is not UTF-8"):
            monitor.apply(changes=pa.table({"k": [2], "op": bad_text([b"\xff"])}))
        feed = pa.table({"k": [2], "_change_type": ["insert"], "_commit_version": bad_text([b"\xff"])})
        with pytest.raises(BadInput, match=r"column '_commit_version': the text b'\\xff' is not UTF-8"):
            monitor.apply(changes=feed)
        assert rows_in(monitor) == [(1,)]
