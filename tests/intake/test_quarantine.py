"""Rows that can't be read or applied are set aside, and the rest is applied as if the good rows had come alone."""

from __future__ import annotations

import csv
import gzip
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.api.monitor import Monitor
from holdfast.api.outcome import Outcome
from holdfast.errors import BadInput
from holdfast.intake.reading import ReadOptions
from tests.intake.building import changed, csv_options, file_of, rows_in, small_pieces, watched
from tests.oracle import rows as oracle

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = pa.table({"id": [0, 1, 2], "name": ["a", "b", "c"], "n": [1, 2, None]})
Record = dict[str, Any]


@pytest.fixture
def things(tmp_path: Path) -> Iterator[Monitor]:
    with watched(tmp_path, START, key="id") as monitor:
        yield monitor


def aside(outcome: Outcome) -> list[dict[str, str]]:
    """The rows of the files that a batch left, one after the other."""
    assert outcome.quarantined is not None
    found: list[dict[str, str]] = []
    for path in outcome.quarantined.files:
        with Path(path).open(encoding="utf-8", newline="") as file:
            found += map(json.loads, file) if path.endswith(".jsonl") else csv.DictReader(file)
    assert len(found) == outcome.quarantined.rows
    return found


def reasons(outcome: Outcome) -> list[tuple[int, str]]:
    return [(int(row["holdfast_line"]), row["holdfast_reason"]) for row in aside(outcome)]


# ---- the law --------------------------------------------------------------------------------------------------------

good_fields = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["insert", "insert", "delete", "update", "upsert"]),
        "id": st.sampled_from(["0", "1", "2", "3", "4", "5"]),
        "name": st.sampled_from(["a", "ä", "x\ny", 'q"q', "a,b", ""]),
        "n": st.sampled_from(["1", "-7", ""]),
    }
)
spoils = st.sampled_from(
    [{}, {}, {}, {"id": ""}, {"n": "x"}, {"n": "1.5"}, {"id": "?", "n": "?"}, {"op": "zap"}, {"op": ""}, {"raw": True}]
)
records = st.lists(st.builds(lambda fields, spoil: {**fields, **spoil}, good_fields, spoils), max_size=8)


def is_row(record: Record) -> bool:
    return not (record.get("raw") or {"x", "1.5", "?"} & {record["id"], record["n"]} or record["op"] in ("zap", ""))


def written_csv(records: list[Record]) -> bytes:
    """Records as CSV, those that are marked with bytes that are no text, or with a field too many."""
    lines = ["op,id,name,n"]
    for record in records:
        fields = [record[name] for name in ("op", "id", "name", "n")]
        line = ",".join('"' + field.replace('"', '""') + '"' if set(field) & set('",\n') else field for field in fields)
        lines.append(line + ",more" if record.get("raw") and record["n"] else line)
    marked = [
        "\udcff" + line if record.get("raw") and not record["n"] else line
        for record, line in zip(records, lines[1:], strict=True)
    ]
    return "\n".join([lines[0], *marked, ""]).encode(errors="surrogateescape")


def written_json(records: list[Record]) -> bytes:
    lines = []
    for record in records:
        row = {name: record[name] or None for name in ("op", "id", "name", "n")}
        row = {name: int(v) if name in ("id", "n") and v and v.lstrip("-").isdigit() else v for name, v in row.items()}
        lines.append(json.dumps(row, ensure_ascii=False)[: -1 if record.get("raw") else None])
    return "\n".join([*lines, ""]).encode()


@pytest.mark.parametrize("form", ["csv", "csv in pieces", "jsonl"])
@settings(max_examples=20)
@given(records=records)
def test_the_rest_is_applied_as_if_it_had_come_alone(form: str, records: list[Record]) -> None:
    write, name = (written_json, "feed.jsonl") if form == "jsonl" else (written_csv, "feed.csv")
    with tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
        folder = Path(made)
        if form == "csv in pieces":
            small_pieces(patch)
        feed = file_of(folder, name, write(records))
        readable = [place for place, record in enumerate(records) if is_row(record)]
        wrong = [place for place in range(len(records)) if place not in readable]
        keyed = [place for place in readable if records[place]["id"]]
        listed = [(records[place]["op"], (int(records[place]["id"]), "", 0)) for place in keyed]
        outcome = oracle.apply([(0, "", 0), (1, "", 0), (2, "", 0)], listed, (0,))
        wrong += [place for place in readable if place not in keyed]
        wrong += [keyed[place] for place in (*outcome.missing, *outcome.duplicate)]
        good = [record for place, record in enumerate(records) if place not in wrong]
        with watched(folder, START, key="id") as one, watched(folder, START, key="id") as other:
            done = one.apply(changes=feed, quarantine=folder / "aside")
            if good:
                alone = other.apply(changes=file_of(folder, f"good.{name}", write(good)))
                assert changed(done) == changed(alone)
            assert Counter(rows_in(one)) == Counter(rows_in(other))
            assert [f.to_json() for f in one.results()] == [f.to_json() for f in other.results()]
            assert not list((one.path / "segments").glob("staged*"))
        ends = [1 + written_csv(records[: place + 1]).count(b"\n") for place in range(len(records))]
        starts = [2, *ends][: len(records)] if form != "jsonl" else range(1, len(records) + 1)
        assert [int(row["holdfast_line"]) for row in aside(done)] == [starts[place] for place in sorted(wrong)]
        if wrong:
            with watched(folder, START, key="id") as strict, pytest.raises(BadInput):
                strict.apply(changes=feed)


# ---- what the files hold --------------------------------------------------------------------------------------------

BAD = 'id,name,n\r\n5,ok,1\r\n6,no number,x\r\n7,short\r\n,no key,1\r\n1,taken,1\r\n8,"qu""o,te",?\r\n9,fine,3\r\n'


def test_a_file_says_what_is_wrong_with_each_row(things: Monitor, tmp_path: Path) -> None:
    outcome = things.apply(inserts=file_of(tmp_path, "new.csv", BAD), batch_id="monday", quarantine=tmp_path / "aside")
    assert changed(outcome) == (2, 0, 0)
    assert outcome.quarantined is not None
    assert outcome.quarantined.files == (str(tmp_path / "aside" / "monday.things.inserts.csv"),)
    assert (tmp_path / "aside" / "monday.things.inserts.csv").read_text() == (
        "id,name,n,holdfast_line,holdfast_reason,holdfast_text\n"
        "6,no number,x,3,column 'n': 'x' is not a whole number (int64),\n"
        ',,,4,2 fields where 3 are expected,"7,short"\n'
        ",no key,1,5,the declared key is null,\n"
        "1,taken,1,6,the declared key is taken,\n"
        "8,\"qu\"\"o,te\",?,7,column 'n': '?' is not a whole number (int64),\n"
    )
    assert str(outcome).splitlines()[1:3] == [
        f"quarantined: 5 rows in {tmp_path / 'aside' / 'monday.things.inserts.csv'}",
        "  line 3: column 'n': 'x' is not a whole number (int64)",
    ]
    again = things.apply(inserts=file_of(tmp_path, "new.csv", BAD), batch_id="monday", quarantine=tmp_path / "aside")
    assert again.already_applied


def test_a_mended_file_is_applied_as_it_is(things: Monitor, tmp_path: Path) -> None:
    lines = "id;name;n\n5;a;b;c\n6;no number;x\n1;taken;1\n7;fine;3\n"
    outcome = things.apply(inserts=file_of(tmp_path, "new.csv", lines), quarantine=tmp_path / "aside")
    assert outcome.quarantined is not None
    path = Path(outcome.quarantined.files[0])
    mended = path.read_text().replace(";x;", ";2;")
    path.write_text(mended)
    with pytest.raises(BadInput, match="has 'holdfast_text' besides"):
        things.apply(inserts=path)
    header, _, *rest = mended.splitlines()
    assert header == "id;name;n;holdfast_line;holdfast_reason;holdfast_text"
    path.write_text("\n".join(line.rpartition(";")[0] for line in [header, *rest]))
    still = things.apply(inserts=path, quarantine=tmp_path / "aside")
    assert changed(still) == (1, 0, 0)
    assert still.quarantined is not None
    assert Path(still.quarantined.files[0]).read_text() == (
        "id;name;n;holdfast_line;holdfast_reason\n1;taken;1;3;the declared key is taken\n"
    )


def test_an_earlier_try_leaves_nothing(things: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, folder = file_of(tmp_path, "new.csv", BAD), tmp_path / "aside"
    with monkeypatch.context() as patch:
        patch.setattr(Monitor, "_maintain", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            things.apply(inserts=path, batch_id="b", quarantine=folder)
    assert list(folder.iterdir()) == [], "the batch was not applied"
    file_of(folder, "b.things.inserts.csv", "left by a crash")
    done = things.apply(inserts=file_of(tmp_path, "new.csv", "id,name,n\n5,ok,1\n"), batch_id="b", quarantine=folder)
    assert done.quarantined is not None
    assert (done.quarantined.rows, list(folder.iterdir())) == (0, [])


def test_deletes_and_inserts_have_a_file_each(things: Monitor, tmp_path: Path) -> None:
    outcome = things.apply(
        inserts=file_of(tmp_path, "new.csv", "id,name,n\n1,again,1\n2,taken,1\n"),
        deletes=file_of(tmp_path, "old.csv", "id\n1\nx\n9\n"),
        batch_id="a/b",
        quarantine=tmp_path / "aside",
    )
    assert changed(outcome) == (1, 1, 0)
    assert [path.name for path in sorted((tmp_path / "aside").iterdir())] == [
        "b-c14cddc0.things.deletes.csv",
        "b-c14cddc0.things.inserts.csv",
    ]
    expected = ["column 'id': 'x' is not a whole number (int64)", "the row to delete or update is not there"]
    assert reasons(outcome) == [(3, expected[0]), (4, expected[1]), (3, "the declared key is taken")]


def test_missing_rows_that_are_ignored_are_not_set_aside(things: Monitor, tmp_path: Path) -> None:
    old = file_of(tmp_path, "old.csv", "id\n1\nx\n9\n")
    outcome = things.apply(deletes=old, on_missing="ignore", quarantine=tmp_path / "aside")
    assert changed(outcome) == (0, 1, 1)
    assert [line for line, _ in reasons(outcome)] == [3]


# ---- sources of every kind ------------------------------------------------------------------------------------------


def test_a_folder_of_files_some_compressed(things: Monitor, tmp_path: Path) -> None:
    file_of(tmp_path / "in", "1.csv", "id,name,n\n5,ok,1\n6,bad,x\n")
    file_of(tmp_path / "in", "2.csv.gz", gzip.compress(b"id,name,n\n\n7,ok,1\n8\n5,taken,1\n"))
    outcome = things.apply(inserts=tmp_path / "in", quarantine=tmp_path / "aside")
    assert changed(outcome) == (2, 0, 0)
    assert reasons(outcome) == [
        (3, "1.csv: column 'n': 'x' is not a whole number (int64)"),
        (4, "2.csv.gz: 1 field where 3 are expected"),
        (5, "2.csv.gz: the declared key is taken"),
    ]


def test_a_file_without_a_header(tmp_path: Path) -> None:
    options = csv_options(header=False)
    with watched(tmp_path, file_of(tmp_path, "t.csv", "1,a\n2,b\n"), options, key="c1") as monitor:
        new = file_of(tmp_path, "new.csv", b"\xef\xbb\xbfx,c\n3,d\n\n3,e\n")
        outcome = monitor.apply(inserts=new, quarantine=tmp_path / "aside")
        assert reasons(outcome) == [
            (1, "column 'c1': 'x' is not a whole number (int64)"),
            (4, "the declared key is taken"),
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
        '{"holdfast_line": 6, "holdfast_reason": "the declared key is null"}',
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
    told = reasons(outcome)
    assert [number for number, _ in told] == [2, 3, 4]
    assert "column 'n': decimal128" in told[0][1]
    assert [reason for _, reason in told[1:]] == ["the declared key is taken", "the declared key is null"]
    assert [row["name"] for row in aside(outcome)] == ["y", "z", ""]


def test_pieces_without_bad_rows(things: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_pieces(monkeypatch)
    table = pa.table({"id": [*range(10, 20), 1], "name": ["x"] * 11, "n": [1] * 11})
    pq.write_table(table, tmp_path / "new.parquet", row_group_size=2)
    outcome = things.apply(inserts=tmp_path / "new.parquet", quarantine=tmp_path / "aside")
    assert changed(outcome) == (10, 0, 0)
    assert reasons(outcome) == [(11, "the declared key is taken")]


def test_a_value_that_begins_like_a_file(things: Monitor, tmp_path: Path) -> None:
    new = file_of(tmp_path, "new.csv", "name,id,n\n\ufeffa,1,1\n")
    assert [row["name"] for row in aside(things.apply(inserts=new, quarantine=tmp_path / "aside"))] == ["\ufeffa"]


def test_a_feed_with_versions(things: Monitor, tmp_path: Path) -> None:
    """Its rows are put in order, and told by where they stood."""
    feed = "_change_type,id,name,n,_commit_version\ndelete,5,,,3\ninsert,5,a,1,2\ndelete,7,,,x\ndelete,5,,,4\n"
    outcome = things.apply(changes=file_of(tmp_path, "feed.csv", feed), quarantine=tmp_path / "aside")
    assert changed(outcome) == (0, 0, 0)
    assert reasons(outcome) == [
        (4, "column '_commit_version': 'x' is no version"),
        (5, "the row to delete or update is not there"),
    ]


def test_upserts_of_one_key_are_all_set_aside(things: Monitor, tmp_path: Path) -> None:
    new = file_of(tmp_path, "new.csv", "id,name,n\n1,x,1\n5,y,1\n1,z,1\n")
    with pytest.raises(BadInput, match=r"rows 1 and 3 of the upserts have the same key \(id=1\)"):
        things.apply(upserts=new)
    outcome = things.apply(upserts=new, quarantine=tmp_path / "aside")
    assert changed(outcome) == (1, 0, 0)
    assert reasons(outcome) == [(line, "another upsert of the batch has the same key") for line in (2, 4)]


def test_what_stays_refused(things: Monitor, tmp_path: Path) -> None:
    whole = file_of(tmp_path, "whole.csv", "id,name,n\n1,b,2\n")
    with pytest.raises(BadInput, match="a snapshot can't go without its bad rows"):
        things.apply(snapshot=whole, quarantine=tmp_path / "aside")
    for content, sentence in (("id,name\n1,b\n", "lacks 'n'"), ("id,name,n,m\n1,b,2,3\n", "has 'm' besides")):
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
    """Also where Spark was to read it; which line a row was, it does not tell."""
    lines = '{"id": 5, "name": "a", "n": 1}\n\n{"id": 1, "name": "b", "n": 1}\n'
    options = ReadOptions(reader="spark")
    taken = things.apply(inserts=file_of(tmp_path, "1.jsonl", lines), options=options, quarantine=tmp_path / "aside")
    assert [list(row.values()) for row in aside(taken)] == [["1", "b", "1", "", "the declared key is taken"]]
    bad = file_of(tmp_path, "2.jsonl", lines.replace("5", "6") + "nope\n")
    unread = things.apply(inserts=bad, options=options, quarantine=tmp_path / "aside")
    assert reasons(unread) == [(3, "the declared key is taken"), (4, "not a JSON object")]


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
        ("9", "delete", "the row to delete or update is not there"),
        ("1", "insert", "the declared key is taken"),
    ]
    fractions = spark.createDataFrame([(5, "a", Decimal("1.5"))], "id int, name string, n decimal(5,1)")
    with pytest.raises(BadInput, match="does not fit"):
        things.apply(inserts=fractions, quarantine=tmp_path / "aside")


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_table_evolves_beside_bad_rows(things: Monitor, tmp_path: Path, form: str) -> None:
    """What can't be read tells nothing of columns; and what stands beside rows that come again is no column."""
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


# ---- several tables -------------------------------------------------------------------------------------------------

FEED = [
    "table,op,id,name,total",
    "people,insert,5,Eve,",
    "orders,insert,7,,1.5",
    "orders,insert,8,,much",
    "pets,insert,1,Rex,",
    "people,insert,6",
    ",insert,6,Flo,",
    "people,delete,9,,",
    "orders,delete,1,,",
]


@pytest.mark.parametrize("form", ["csv", "jsonl", "arrow"])
def test_a_feed_of_several_tables(tmp_path: Path, form: str) -> None:
    """Each table has its bad rows in a file, and so have the rows of no table."""
    people, orders = pa.table({"id": [1], "name": ["Ann"]}), pa.table({"id": [1], "total": [0.5]})
    feed: Any = file_of(tmp_path, "feed.csv", "\n".join(FEED))
    if form == "jsonl":
        names, *rows = (line.split(",") for line in FEED)
        lines = [json.dumps({n: v or None for n, v in zip(names, row, strict=False)}) for row in rows]
        lines[4] = lines[4][:-1]
        feed = file_of(tmp_path, "feed.jsonl", "\n".join(["", *lines]))
    if form == "arrow":  # it can't be short of fields, nor can its numbers be words
        rows = [line.split(",") for line in FEED if "much" not in line and line.count(",") == 4]
        feed = pa.table({name: [row[c] or None for row in rows[1:]] for c, name in enumerate(rows[0])})
        feed = feed.set_column(2, "id", feed["id"].cast(pa.int64())).set_column(
            4, "total", feed["total"].cast(pa.float64())
        )
    with Monitor.create(tmp_path / "state", {"people": people, "orders": orders}, key="id") as monitor:
        with pytest.raises(BadInput):
            monitor.apply(changes=feed, table_column="table")
        done = monitor.apply(changes=feed, table_column="table", batch_id="b", quarantine=tmp_path / "aside")
        assert changed(done) == (2, 1, 0)
        assert monitor.tables["people"].rows == 2
        assert monitor.tables["orders"].values(monitor.tables["orders"].living_ids())["id"].to_pylist() == [7]
    expected = {"changes": [5, 6, 7], "orders": [4], "people": [8]}
    if form == "arrow":
        expected = {"changes": [3, 4], "people": [5]}
    assert done.quarantined is not None
    assert [Path(path).name.split(".")[1] for path in sorted(done.quarantined.files)] == list(expected)
    found = dict(reasons(done))
    assert sorted(found) == sorted(line for lines in expected.values() for line in lines)
    assert found[expected["changes"][0]] == "is for the table 'pets', which is not watched here"
    assert found[expected["changes"][-1]] == "names no table"
    assert found[expected["people"][0]] == "the row to delete or update is not there"
