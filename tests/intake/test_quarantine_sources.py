"""Rows are set aside from sources of every kind: files, tables in memory, what Spark reads, also with new columns."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.api.monitor import Monitor
from holdfast.errors import BadInput
from holdfast.intake.source import ReadOptions
from tests.intake.building import changed, csv_options, file_of, rows_in, small_pieces, watched
from tests.intake.set_aside import BAD, START, aside, reasons

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def things(tmp_path: Path) -> Iterator[Monitor]:
    with watched(tmp_path, START, key="id") as monitor:
        yield monitor


def test_a_folder_of_files_some_compressed(things: Monitor, tmp_path: Path) -> None:
    file_of(tmp_path / "in", "1.csv", "id,name,n\n5,ok,1\n6,bad,x\n")
    file_of(tmp_path / "in", "2.csv.gz", gzip.compress(b"id,name,n\n\n7,ok,1\n8\n5,taken,1\n"))
    outcome = things.apply(inserts=tmp_path / "in", quarantine=tmp_path / "aside")
    assert changed(outcome) == (2, 0, 0)
    assert reasons(outcome) == [
        (3, "1.csv: column 'n': 'x' is not a whole number (int64)"),
        (4, "2.csv.gz: 1 field where 3 are expected"),
        (5, "2.csv.gz: the declared key is taken (id=5)"),
    ]


def test_a_file_without_a_header(tmp_path: Path) -> None:
    options = csv_options(header=False)
    with watched(tmp_path, file_of(tmp_path, "t.csv", "1,a\n2,b\n"), options, key="c1") as monitor:
        new = file_of(tmp_path, "new.csv", b"\xef\xbb\xbfx,c\n3,d\n\n3,e\n")
        outcome = monitor.apply(inserts=new, quarantine=tmp_path / "aside")
        assert reasons(outcome) == [
            (1, "column 'c1': 'x' is not a whole number (int64)"),
            (4, "the declared key is taken (c1=3)"),
        ]
        assert rows_in(monitor) == [(1, "a"), (2, "b"), (3, "d")]


def test_bad_bytes_in_the_head_of_a_file(things: Monitor, tmp_path: Path) -> None:
    outcome = things.apply(
        inserts=file_of(tmp_path, "new.csv", b"id,name,n\n5,M\xfcller,1\n6,b,2\n"), quarantine=tmp_path
    )
    assert aside(outcome)[0]["holdfast_text"] == "5,M\\xfcller,1"
    with pytest.raises(BadInput, match="is not UTF-8"):
        things.apply(inserts=file_of(tmp_path, "new.csv", "id,name,n\n7,ä,1\n".encode("utf-16")), quarantine=tmp_path)


def test_json_keeps_its_lines(things: Monitor, tmp_path: Path) -> None:
    lines = ['{"id": 5, "name": "a", "n": 1}', '{"id": 6, "n": 1.50}', "{nope", "", '{"id": 7, "name": [1]}', "{}"]
    outcome = things.apply(inserts=file_of(tmp_path, "new.jsonl", "\n".join(lines)), quarantine=tmp_path / "aside")
    assert changed(outcome) == (1, 0, 0)
    assert outcome.quarantined is not None
    assert Path(outcome.quarantined.files[0]).read_text().splitlines() == [
        '{"id": 6, "n": 1.50, "holdfast_line": 2, '
        "\"holdfast_reason\": \"column 'n': '1.50' is not a whole number (int64)\"}",
        '{"holdfast_line": 3, "holdfast_reason": "not a JSON object", "holdfast_text": "{nope"}',
        '{"id": 7, "name": [1], "holdfast_line": 5, '
        '"holdfast_reason": "column \'name\' holds an object or a list, and its type is text"}',
        '{"holdfast_line": 6, "holdfast_reason": "the declared key is null (id=null)"}',
    ]
    path = Path(outcome.quarantined.files[0])
    first, *_ = path.read_text().splitlines()
    path.write_text(first.replace("1.50", "1").replace('"n"', '"name": "b", "n"'))
    assert changed(things.apply(inserts=path)) == (1, 0, 0), "mended, it is applied as it is"
    nothing = things.apply(inserts=file_of(tmp_path, "bad.jsonl", "nope\n"), quarantine=tmp_path / "aside")
    assert (changed(nothing), len(aside(nothing))) == ((0, 0, 0), 1)


@pytest.mark.parametrize("source", ["arrow", "stream", "pandas", "parquet", "parquet in pieces"])
def test_tables(things: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """Values that are typed already, and don't fit."""
    numbers = pa.array([Decimal("1.0"), Decimal("2.5"), None, Decimal(4)], pa.decimal128(5, 1))
    table = pa.table({"id": [5, 6, 1, None], "name": ["x", "y", "z", ""], "n": numbers})
    pq.write_table(table, tmp_path / "new.parquet", row_group_size=1)
    if source == "parquet in pieces":
        small_pieces(monkeypatch)
    given_as: Any = {
        "arrow": table,
        "stream": pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
        "pandas": pd.DataFrame(
            {"id": pd.array([5, 6, 1, None], "Int64"), "name": table["name"].to_pylist(), "n": table["n"].to_pylist()}
        ),
    }.get(source, tmp_path / "new.parquet")
    outcome = things.apply(inserts=given_as, quarantine=tmp_path / "aside")
    assert changed(outcome) == (1, 0, 0)
    numbered = reasons(outcome)
    assert [number for number, _ in numbered] == [2, 3, 4]
    assert "column 'n': decimal128" in numbered[0][1]
    assert [reason for _, reason in numbered[1:]] == [
        "the declared key is taken (id=1)",
        "the declared key is null (id=null)",
    ]
    assert [row["name"] for row in aside(outcome)] == ["y", "z", ""]


def test_pieces_without_bad_rows(things: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_pieces(monkeypatch)
    table = pa.table({"id": [*range(10, 20), 1], "name": ["x"] * 11, "n": [1] * 11})
    pq.write_table(table, tmp_path / "new.parquet", row_group_size=2)
    outcome = things.apply(inserts=tmp_path / "new.parquet", quarantine=tmp_path / "aside")
    assert changed(outcome) == (10, 0, 0)
    assert reasons(outcome) == [(11, "the declared key is taken (id=1)")]


def test_a_value_that_begins_like_a_file(things: Monitor, tmp_path: Path) -> None:
    new = file_of(tmp_path, "new.csv", "name,id,n\n\ufeffa,1,1\n")
    assert [row["name"] for row in aside(things.apply(inserts=new, quarantine=tmp_path / "aside"))] == ["\ufeffa"]


def test_a_feed_with_versions(things: Monitor, tmp_path: Path) -> None:
    """Its rows are put in order, and reported by their place in the source."""
    feed = "_change_type,id,name,n,_commit_version\ndelete,5,,,3\ninsert,5,a,1,2\ndelete,7,,,x\ndelete,5,,,4\n"
    outcome = things.apply(changes=file_of(tmp_path, "feed.csv", feed), quarantine=tmp_path / "aside")
    assert changed(outcome) == (0, 0, 0)
    assert reasons(outcome) == [
        (4, "column '_commit_version': 'x' is no version"),
        (5, "the row to delete or update is not there (id=5)"),
    ]


def test_upserts_of_one_key_are_all_set_aside(things: Monitor, tmp_path: Path) -> None:
    new = file_of(tmp_path, "new.csv", "id,name,n\n1,x,1\n5,y,1\n1,z,1\n")
    with pytest.raises(BadInput, match=r"rows 1 and 3 of the upserts have the same key \(id=1\)"):
        things.apply(upserts=new)
    outcome = things.apply(upserts=new, quarantine=tmp_path / "aside")
    assert changed(outcome) == (1, 0, 0)
    assert reasons(outcome) == [(line, "another upsert of the batch has the same key (id=1)") for line in (2, 4)]


def test_what_stays_refused(things: Monitor, tmp_path: Path) -> None:
    whole = file_of(tmp_path, "whole.csv", "id,name,n\n1,b,2\n")
    with pytest.raises(BadInput, match="a snapshot can't leave out bad rows"):
        things.apply(snapshot=whole, quarantine=tmp_path / "aside")
    for content, sentence in (("id,name\n1,b\n", "lacks 'n'"), ("id,name,n,m\n1,b,2,3\n", "has 'm' in addition")):
        with pytest.raises(BadInput, match=sentence):
            things.apply(inserts=file_of(tmp_path, "other.csv", content), quarantine=tmp_path / "aside")
    with pytest.raises(BadInput, match="this is no folder"):
        things.apply(inserts=whole, quarantine=whole)
    assert len(rows_in(things)) == 3


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_spark_reads_csv_alike(things: Monitor, tmp_path: Path) -> None:
    options = ReadOptions(reader="spark")
    outcome = things.apply(inserts=file_of(tmp_path, "new.csv", BAD), options=options, quarantine=tmp_path / "aside")
    assert changed(outcome) == (2, 0, 0)
    assert [line for line, _ in reasons(outcome)] == [3, 4, 5, 6, 7]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_json_with_bad_lines_is_read_here(things: Monitor, tmp_path: Path) -> None:
    """Also where Spark was to read it; it does not know the line of a row."""
    lines = '{"id": 5, "name": "a", "n": 1}\n\n{"id": 1, "name": "b", "n": 1}\n'
    options = ReadOptions(reader="spark")
    taken = things.apply(inserts=file_of(tmp_path, "1.jsonl", lines), options=options, quarantine=tmp_path / "aside")
    assert [list(row.values()) for row in aside(taken)] == [["1", "b", "1", "", "the declared key is taken (id=1)"]]
    bad = file_of(tmp_path, "2.jsonl", lines.replace("5", "6") + "nope\n")
    unread = things.apply(inserts=bad, options=options, quarantine=tmp_path / "aside")
    assert reasons(unread) == [(3, "the declared key is taken (id=1)"), (4, "not a JSON object")]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_feed_with_versions_that_spark_puts_in_order(things: Monitor, tmp_path: Path) -> None:
    feed = "_change_type,id,name,n,_commit_version\ndelete,5,,,3\ninsert,5,a,1,2\ndelete,7,,,4\n"
    options = ReadOptions(reader="spark")
    outcome = things.apply(changes=file_of(tmp_path, "feed.csv", feed), options=options, quarantine=tmp_path / "aside")
    assert changed(outcome) == (0, 0, 0)
    assert [(row["id"], row["_change_type"], row["holdfast_line"]) for row in aside(outcome)] == [("7", "delete", "")]
    bad = file_of(tmp_path, "bad.csv", feed.replace(",4", ",x"))
    assert reasons(things.apply(changes=bad, options=options, quarantine=tmp_path / "aside")) == [
        (4, "column '_commit_version': 'x' is no version")
    ]


@pytest.mark.spark
def test_a_data_frame_leaves_what_can_t_be_applied(things: Monitor, tmp_path: Path, spark: SparkSession) -> None:
    frame = spark.createDataFrame(
        [("insert", 5, "a", 1), ("delete", 9, "", 1), ("insert", 1, "t", None)], "op string, id int, name string, n int"
    )
    outcome = things.apply(changes=frame, quarantine=tmp_path / "aside")
    assert changed(outcome) == (1, 0, 0)
    assert [(row["id"], row["op"], row["holdfast_reason"]) for row in aside(outcome)] == [
        ("9", "delete", "the row to delete or update is not there (id=9)"),
        ("1", "insert", "the declared key is taken (id=1)"),
    ]
    fractions = spark.createDataFrame([(5, "a", Decimal("1.5"))], "id int, name string, n decimal(5,1)")
    with pytest.raises(BadInput, match="does not fit"):
        things.apply(inserts=fractions, quarantine=tmp_path / "aside")


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_table_evolves_while_bad_rows_are_set_aside(things: Monitor, tmp_path: Path, form: str) -> None:
    """Unreadable rows declare no columns; what the quarantine adds to its rows is no column when they come again."""
    lines = ["id,name,n,more", "5,a,1,1.5", "6,b,x,2.5", "7", "8,c,2,3.5"]
    if form == "jsonl":
        lines = ['{"id": 5, "name": "a", "n": 1, "more": 1.5}', '{"id": 6, "n": "x"}', "nope", '{"id": 8, "more": 2.5}']
    new = file_of(tmp_path, f"new.{form}", "\n".join(lines))
    outcome = things.apply(inserts=new, quarantine=tmp_path / "aside", evolve=True)
    assert changed(outcome) == (2, 0, 0)
    assert [column.name for column in things.tables["things"].schema.columns] == ["id", "name", "n", "more"]
    assert str(things.tables["things"].schema.columns[3].type) == "double"
    assert outcome.quarantined is not None
    path = Path(outcome.quarantined.files[0])
    whole = '{"name": "", "n": 1, "more": null, ' if form == "jsonl" else "{"
    path.write_text(path.read_text().replace(",x,", ",3,").replace('"n": "x", ', "").replace("{", whole))
    with pytest.raises(BadInput, match="holdfast_text"):
        things.apply(inserts=path, evolve=True)
    assert len(things.tables["things"].schema.columns) == 4
