"""Every source gives the same table: the same rows, the same types, wherever they come from."""

from __future__ import annotations

import csv
import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions

from holdfast.api.monitor import Monitor
from holdfast.errors import BadInput
from holdfast.intake import source as module
from holdfast.intake.paths import table_name
from holdfast.intake.source import ReadOptions, open_source
from holdfast.sources import dialect
from tests.intake.building import UTC, csv_options, file_of, read, rows_in, through_spark, types_in, watched
from tests.oracle.rows import Row, plain_row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY, MOMENT = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 23, 59, 59, 123456)
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("zip", pa.string()),
        ("share", pa.float64()),
        ("flag", pa.bool_()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us")),
        ("price", pa.decimal128(15, 2)),
    ]
)
ROWS: list[Row] = [
    (1, "plain", "00501", 0.5, True, DAY, MOMENT, Decimal("12.50")),
    (2, 'a "quoted" word', "10001", -2.25, False, dt.date(1900, 1, 1), dt.datetime(1970, 1, 1), Decimal("-0.01")),
    (3, "two\nlines, and a comma", "00501", 1e300, None, None, None, None),
    (4, "", "x", None, True, DAY, MOMENT, Decimal("9999999999999.99")),
    (5, None, None, 3.0, None, dt.date(9999, 12, 31), dt.datetime(9999, 12, 31, 23, 59, 59), Decimal("0.00")),
    (6, "Łódź 日本 \U0001f600", " 7 ", 0.1, False, DAY, dt.datetime(1, 1, 1), Decimal("1.10")),
    (2**63 - 1, "plain", "00501", 0.5, True, DAY, MOMENT, Decimal("12.50")),
    (1, "plain", "00501", 0.5, True, DAY, MOMENT, Decimal("12.50")),
]
LATE = [row for row in ROWS if row[0] != 6]  # the year 1 is another day in another calendar


def table_of(rows: list[Row]) -> pa.Table:
    columns = zip(zip(*rows, strict=True), SCHEMA.types, strict=True)
    return pa.table([pa.array(values, kept) for values, kept in columns], schema=SCHEMA)


TABLE = table_of(ROWS)
TYPES = {field.name: str(field.type) for field in SCHEMA}
DDL = "id bigint, name string, zip string, share double, flag boolean, day date, at timestamp_ntz, price decimal(15,2)"
MARKER = "\\N"


def texts(row: Row) -> list[str]:
    return [MARKER if value is None else str(value).lower() if isinstance(value, bool) else str(value) for value in row]


def csv_file(folder: Path) -> str:
    path = folder / "things.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerows([SCHEMA.names, *(texts(row) for row in ROWS)])
    return str(path)


def json_file(folder: Path) -> str:
    def plain(value: Any) -> Any:
        if isinstance(value, dt.date):
            return value.isoformat()
        return float(value) if isinstance(value, Decimal) else value

    lines = [json.dumps({name: plain(v) for name, v in zip(SCHEMA.names, row, strict=True)}) for row in ROWS]
    return file_of(folder, "things.jsonl", "\n".join(lines) + "\n")


def arrow_file(folder: Path) -> str:
    path = str(folder / "things.arrow")
    with ipc.new_file(path, SCHEMA) as writer:
        writer.write_table(TABLE)
    return path


def parquet_file(folder: Path) -> str:
    pq.write_table(TABLE, folder / "things.parquet")
    return str(folder / "things.parquet")


def orc_file(folder: Path) -> str:
    orc.write_table(TABLE, str(folder / "things.orc"))
    return str(folder / "things.orc")


IN_MEMORY = {
    "arrow": lambda: TABLE,
    "record batch": lambda: TABLE.combine_chunks().to_batches()[0],
    "reader": lambda: TABLE.to_reader(),
    "pandas": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "plain pandas": lambda: TABLE.to_pandas(integer_object_nulls=True, date_as_object=True, timestamp_as_object=True),
    "polars": lambda: pl.from_arrow(TABLE),
    "lazy polars": lambda: pl.from_arrow(TABLE).lazy(),  # type: ignore[union-attr]
    "string views": lambda: TABLE.set_column(1, "name", TABLE["name"].cast(pa.string_view())),
    "dictionaries": lambda: TABLE.set_column(1, "name", TABLE["name"].dictionary_encode()),
}


@pytest.mark.parametrize("make", IN_MEMORY.values(), ids=IN_MEMORY)
def test_tables_in_memory(tmp_path: Path, make: Any) -> None:
    assert read(tmp_path, make()) == (TYPES, ROWS)


@pytest.mark.parametrize("make", [arrow_file, parquet_file])
@pytest.mark.parametrize("few", [0, 1000], ids=["in pieces", "at once"])
def test_files_that_keep_types(tmp_path: Path, make: Any, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEW_ROWS", few)
    assert read(tmp_path, make(tmp_path)) == (TYPES, ROWS)
    assert read(tmp_path, Path(make(tmp_path))) == (TYPES, ROWS)


def test_csv_shows_its_types(tmp_path: Path) -> None:
    """All but decimals, which look like any other number with a point."""
    types, rows = read(tmp_path, csv_file(tmp_path), csv_options(nulls=(MARKER,)))
    assert types == {**TYPES, "price": "double"}
    assert rows == [(*row[:-1], None if row[-1] is None else float(str(row[-1]))) for row in ROWS]


def check_spark(folder: Path, spark: SparkSession, source: Any, options: ReadOptions | None = None) -> None:
    with watched(folder, source, options, spark=spark) as monitor:
        assert types_in(monitor) == TYPES
        assert rows_in(monitor, SCHEMA.names) == ROWS


@pytest.mark.spark
def test_files_through_spark(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    through_spark(monkeypatch)
    check_spark(tmp_path, spark, parquet_file(tmp_path))
    csv_type = ReadOptions(csv_options(nulls=(MARKER,)).csv, schema=DDL)
    check_spark(tmp_path, spark, csv_file(tmp_path), csv_type)
    check_spark(tmp_path, spark, json_file(tmp_path), ReadOptions(schema=DDL))


@pytest.mark.spark
def test_a_data_frame(tmp_path: Path, spark: SparkSession) -> None:
    check_spark(tmp_path, spark, spark.createDataFrame(TABLE, DDL))


@pytest.mark.parametrize("in_spark", [False, pytest.param(True, marks=pytest.mark.spark)])
def test_json_knows_numbers_booleans_and_text(
    tmp_path: Path, in_spark: bool, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """The columns of JSON come by name; dates and times are text there."""
    spark = request.getfixturevalue("spark") if in_spark else None
    if in_spark:
        through_spark(monkeypatch)
    types, rows = read(tmp_path, json_file(tmp_path), spark=spark)
    assert types == {
        **dict.fromkeys(["at", "day", "name", "zip"], "string"),
        **dict.fromkeys(["price", "share"], "double"),
        "flag": "bool",
        "id": "int64",
    }
    assert list(types) == sorted(types)
    assert rows[0] == (MOMENT.isoformat(), "2024-02-29", True, 1, "plain", 12.5, 0.5, "00501")
    types, rows = read(tmp_path, json_file(tmp_path), csv_options(types="text"), spark=spark)
    assert set(types.values()) == {"string"}
    assert rows[3][1:6] == ("2024-02-29", "true", "4", "", "9999999999999.99")


def test_nanoseconds_are_refused_and_never_cut(tmp_path: Path) -> None:
    """Parquet has two forms for them: as such, and in timestamps of the old kind, which reach further than they do."""
    far = [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999), None, dt.datetime(2024, 2, 29)]
    table = pa.table({"at": pa.array(far, pa.timestamp("us"))})
    pq.write_table(table, tmp_path / "old.parquet", use_deprecated_int96_timestamps=True)
    moments = [row[0] for row in read(tmp_path, tmp_path / "old.parquet")[1]]
    assert [each.replace(tzinfo=None) if isinstance(each, dt.datetime) else None for each in moments] == far
    table = pa.table({"at": pa.array([1_000_000_001, None, 1_000_000_002], pa.timestamp("ns"))})
    pq.write_table(table, tmp_path / "old.parquet", use_deprecated_int96_timestamps=True)
    pq.write_table(table, tmp_path / "new.parquet")
    for name in ("old", "new"):
        with pytest.raises(BadInput, match=r"column 'at'.* (has nanoseconds|would lose data)"):
            read(tmp_path, tmp_path / f"{name}.parquet")


def with_zone(rows: list[Row]) -> list[Row]:
    return [(*row[:6], row[6].replace(tzinfo=UTC) if isinstance(row[6], dt.datetime) else None, row[7]) for row in rows]


@pytest.mark.spark
def test_orc(tmp_path: Path, spark: SparkSession) -> None:
    """Spark reads the times of ORC files as moments, in UTC."""
    types, rows = read(tmp_path, orc_file(tmp_path), spark=spark)
    assert types == {**TYPES, "at": "timestamp[us, tz=UTC]"}
    assert [row for row in rows if row[0] != 6] == with_zone(LATE)


@pytest.fixture
def derby() -> Iterator[str]:
    """A database in the memory of Spark's own JVM; its driver comes with Spark."""
    yield "jdbc:derby:memory:things;create=true"
    Path("derby.log").unlink(missing_ok=True)


@pytest.mark.spark
def test_jdbc(tmp_path: Path, spark: SparkSession, derby: str) -> None:
    spark.createDataFrame(table_of(LATE), DDL).write.jdbc(derby, "things", mode="overwrite")
    with watched(tmp_path, derby, ReadOptions(jdbc_table="things"), spark=spark) as monitor:
        assert types_in(monitor) == {**TYPES, "at": "timestamp[us, tz=UTC]"}
        assert sorted(rows_in(monitor), key=repr) == sorted(with_zone(LATE), key=repr)
        batch = monitor.apply(deletes=derby, options=ReadOptions(jdbc_table='(SELECT * FROM things WHERE "id" < 3) t'))
        assert batch.batch.deleted == 3
    with pytest.raises(BadInput, match="say which table to read"):
        read(tmp_path, derby, spark=spark)
    with pytest.raises(BadInput, match=r"jdbc:derby:.*NOWHERE.* does not exist"):
        read(tmp_path, derby, ReadOptions(jdbc_table="nowhere"), spark=spark)


@pytest.mark.spark
@pytest.mark.parametrize("split", ["id", "ID", "id=3..5", "id=1..1", "share", "day", "at", "price"])
def test_jdbc_in_parts(tmp_path: Path, spark: SparkSession, derby: str, split: str) -> None:
    """All rows once: those beyond stated bounds, those without a value, and those of equal values."""
    spark.createDataFrame(table_of(LATE), DDL).write.jdbc(derby, "things", mode="overwrite")
    options = ReadOptions(query='SELECT * FROM things WHERE "id" < 1000;', jdbc_split=split)
    opened = open_source(derby, options, spark)
    parts = opened.as_frame().select(functions.spark_partition_id()).distinct().count()
    assert parts == 1 if split == "id=1..1" else parts > 1
    found = sorted(read(tmp_path, derby, options, spark=spark)[1], key=repr)
    assert found == sorted(with_zone([row for row in LATE if row[0] != 2**63 - 1]), key=repr)


@pytest.mark.spark
def test_jdbc_in_parts_of_what_has_none(tmp_path: Path, spark: SparkSession, derby: str) -> None:
    spark.createDataFrame(table_of(LATE), DDL).write.jdbc(derby, "things", mode="overwrite")
    none = ReadOptions(query='SELECT * FROM things WHERE "share" > 1e301', jdbc_split="share")
    assert read(tmp_path, derby, none, spark=spark)[1] == []
    for split, sentence in (("nam", "no such column; did you mean 'name'"), ("name", "the column is string")):
        with pytest.raises(BadInput, match=f"--jdbc-split {split}: .*{sentence}"):
            read(tmp_path, derby, ReadOptions(jdbc_table="things", jdbc_split=split), spark=spark)


@pytest.mark.spark
def test_a_database_that_cannot_be_reached_keeps_its_secrets(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No driver, a driver that complains with the address, and one that fails when rows are read."""
    monkeypatch.setenv("HOLDFAST_JDBC_PASSWORD", "from-the-environment")
    options = ReadOptions(jdbc_table="things", jdbc_properties={"user": "ann"})
    for url in (
        "jdbc:nosuch://ann:hush-hush@host/db?user=ann&password=hush-hush",
        "jdbc:derby:/nowhere/hush-hush;user=ann;password=hush-hush",
        "jdbc:derby:memory:none;password=hush-hush;user=ann",
    ):
        with pytest.raises(BadInput, match="Spark can't read it") as caught:
            read(tmp_path, url, options, spark=spark)
        sentence = str(caught.value)
        assert "hush" not in sentence, sentence
        assert "from-the-environment" not in sentence
        assert "jdbc:" in sentence
        assert "***" in sentence


@pytest.mark.spark
def test_the_user_of_a_database_from_elsewhere(
    tmp_path: Path, spark: SparkSession, derby: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Derby looks for a table among those of the user who asks."""
    spark.createDataFrame(table_of(LATE), DDL).write.options(user="ann").jdbc(derby, "hers", mode="overwrite")
    options = ReadOptions(jdbc_table="hers")
    with pytest.raises(BadInput, match=r"HERS.* does not exist"):
        read(tmp_path, derby, options, spark=spark)
    assert len(read(tmp_path, derby, replace(options, jdbc_properties={"user": "ann"}), spark=spark)[1]) == len(LATE)
    monkeypatch.setenv("HOLDFAST_JDBC_USER", "ann")
    monkeypatch.setenv("HOLDFAST_JDBC_PASSWORD", "hush-hush")
    assert len(read(tmp_path, derby, options, spark=spark)[1]) == len(LATE)


NAN: list[Row] = [(float("nan"),), (1.5,), (None,), (-0.0,), (float("-inf"),)]


@pytest.mark.spark
def test_nan_is_a_number_and_no_null(tmp_path: Path, spark: SparkSession) -> None:
    table = pa.table({"f": pa.array([row[0] for row in NAN], pa.float64())})
    pq.write_table(table, tmp_path / "f.parquet")
    orc.write_table(table, str(tmp_path / "f.orc"))
    sources = [
        table,
        pl.from_arrow(table),
        table.to_pandas(types_mapper=pd.ArrowDtype),
        spark.createDataFrame(table),
        str(tmp_path / "f.parquet"),
        str(tmp_path / "f.orc"),
        file_of(tmp_path, "f.csv", 'f\nNaN\n1.5\n""\n-0\n-inf\n'),
        file_of(tmp_path, "f.jsonl", '{"f": NaN}\n{"f": 1.5}\n{"f": null}\n{"f": -0.0}\n{"f": -Infinity}\n'),
    ]
    for source in sources:
        types, rows = read(tmp_path, source, spark=spark)
        assert (types, rows) == ({"f": "double"}, [plain_row(row) for row in NAN]), source


def test_frames_without_a_name() -> None:
    """A frame compares with a text cell by cell, and has no truth value."""
    table = pa.table({"id": [1, 2], "zip": ["a", "b"]})
    for frame in (table.to_pandas(), pl.from_arrow(table), table):
        assert table_name(frame) == "table"


def test_a_plain_pandas_frame_means_null_when_it_says_nan(tmp_path: Path) -> None:
    assert read(tmp_path, pd.DataFrame({"f": [1.5, float("nan")]}))[1] == [(1.5,), (None,)]


def test_tables_that_nobody_can_read(tmp_path: Path) -> None:
    for source in ([1, 2], pd.Series([1]), pd.DataFrame({"a": ["x", 1]}), object()):
        with pytest.raises(BadInput, match="can't read"):
            read(tmp_path, source)


def test_equal_names_in_pandas(tmp_path: Path) -> None:
    for names in (["a", "b", "a"], ["a", 1, "1"]):
        frame = pd.DataFrame([[1, 2, 3]], columns=names)
        with pytest.raises(BadInput, match=rf"columns \d and 3 are both named '{names[2]}'; rename one of them"):
            read(tmp_path, frame)


def test_paths_that_nobody_can_read(tmp_path: Path) -> None:
    cases = {
        str(tmp_path / "none.csv"): "no such file",
        file_of(tmp_path, "what.bin", "x"): "the name doesn't show the format",
        str(tmp_path / "empty"): "the folder holds no files",
    }
    (tmp_path / "empty").mkdir()
    for path, sentence in cases.items():
        with pytest.raises(BadInput, match=sentence):
            read(tmp_path, path)


@pytest.mark.spark
def test_broken_files_get_one_sentence(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    through_spark(monkeypatch)
    whole = Path(orc_file(tmp_path)).read_bytes()
    cases = [
        (file_of(tmp_path, "cut.orc", whole[:-30]), ReadOptions()),
        (file_of(tmp_path, "no.parquet", "no Parquet at all"), ReadOptions()),
        (file_of(tmp_path, "a.csv", "a,b\n1,2\n"), ReadOptions(schema="a struct<b nonsense>, b int")),
    ]
    for path, options in cases:
        with pytest.raises(BadInput) as caught:
            read(tmp_path, path, options, spark=spark)
        assert "\n" not in str(caught.value)


# ---- as the first file of the table ---------------------------------------------------------------------------------


def test_later_files_are_read_as_the_first_one_or_as_they_show(tmp_path: Path) -> None:
    first = file_of(tmp_path, "first.csv", "id;note\n1;a\n2;b\n")
    guessed: list[int] = []

    def counted(data: bytes, options: dialect.CsvOptions, complete: bool) -> Any:
        guessed.append(2 - (options.separator is None) - (options.quote is None))
        return choose(data, options, complete)

    choose = dialect._choose
    with Monitor.create(tmp_path / "state", {"things": first}) as monitor:
        assert monitor._state.records["things"].options["separator"] == ";"
    with Monitor.open(tmp_path / "state") as monitor, patch.object(dialect, "_choose", counted):
        monitor.apply(inserts=file_of(tmp_path, "like.csv", "note;id\nc,d,e;3\n"))
        monitor.apply(inserts=file_of(tmp_path, "other.csv", "id,note\n4,'x;y'\n"))
        monitor.apply(changes=file_of(tmp_path, "feed.csv", "op;id;note\ndelete;1;a\n"))
        given = ReadOptions(dialect.CsvOptions(separator="|"))
        monitor.apply(inserts=file_of(tmp_path, "given.csv", "id|note\n5|x;y\n"), options=given)
        assert sorted(rows_in(monitor)) == [(2, "b"), (3, "c,d,e"), (4, "x;y"), (5, "x;y")]
    assert guessed == [2, 0, 2, 2], "how many of separator and quote were known"
