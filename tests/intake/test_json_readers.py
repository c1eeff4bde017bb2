"""JSON lines: a small file is read here, a large one by Spark, and the table is the same."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from holdfast.errors import BadInput
from holdfast.intake.source import ReadOptions
from tests.intake.building import Notes, changed, csv_options, file_of, read, rows_in, through_spark, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Columns that stand for causes why two readers may differ; each has four values.
COLUMNS = {
    "long": ["12345678901234567890.12", "12345678901234567890.13", "1e2", "null"],
    "mixed integers": ["1.5", "9007199254740993", "9007199254740992", "-0.0"],
    "beyond int64": ["9223372036854775808", "1", "-1", "null"],
    "beyond decimals": ["1e400", "1.50", "0", "null"],
    "NaN and long": ["12345678901234567890.12", "NaN", "1", "null"],
    "floats": ["0.1", "0.30000000000000004", "1e-7", "-Infinity"],
    "flags": ["true", "false", "null", "true"],
    "texts": ['"12345"', '"true"', '""', '"NA"'],
    "odd texts": ['"\\ud83d\\ude00"', '"\\u0000\\n"', '"\u2028\x85"', '"😀"'],
    "several kinds": ["1.50", '"1.5"', "true", "null"],
    "nested": ['{"a": [1]}', "null", "[]", "null"],
    "nested at times": ["1", '{"a": 1}', '"x"', "null"],
    "nothing": ["null", "null", "null", "null"],
}
ROWS = [dict(zip(COLUMNS, values, strict=True)) for values in zip(*COLUMNS.values(), strict=True)]
LINES = ["{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in row.items()) + "}" for row in ROWS]
NASTY: dict[str, str | bytes] = {
    "values": "\n".join(LINES) + "\n",
    "line ends": '\ufeff{"a": 1, "b": "x"}\r\n\r\n \t\n{"b": "y"}\r{}\n\ufeff{"c.d": 2, "": 3, "A": 4}',
    "cut": '{"a": 1}\n{"a": 1\n',
    "twice": '{"a": 1}\n\n{"a": 1, "b": 2, "a": 3}\n',
    "half a character": '{"a": "\\ud800"}\n',
    "no object": '{"a": 1}\n[1]\n',
    "not UTF-8": b'{"a": "\xe4"}\n',
}


def outcome(folder: Path, path: str, spark: SparkSession, options: ReadOptions | None = None) -> object:
    notes = Notes()
    try:
        with watched(folder, path, options, spark=spark, progress=notes) as monitor:
            kept = {column.name: str(column.type) for column in monitor.tables["things"].schema.columns}
            return kept, rows_in(monitor), monitor.left_out, sorted(notes.lines)
    except BadInput as error:
        return str(error)


@pytest.mark.spark
def test_nasty_files_read_the_same(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [file_of(tmp_path, f"{name}.jsonl", content) for name, content in NASTY.items()]
    paths.append(file_of(tmp_path, "t.jsonl.gz", gzip.compress("\n".join(LINES).encode())))
    here = [outcome(tmp_path, path, spark) for path in paths]
    as_text = outcome(tmp_path, paths[0], spark, csv_options(types="text"))
    through_spark(monkeypatch)
    for path, expected in zip(paths, here, strict=True):
        assert outcome(tmp_path, path, spark) == expected, path
    assert outcome(tmp_path, paths[0], spark, csv_options(types="text")) == as_text


def test_what_values_show(tmp_path: Path) -> None:
    types, rows = read(tmp_path, file_of(tmp_path, "t.jsonl", "\n".join(LINES)))
    assert types == {
        "beyond decimals": "string",
        "beyond int64": "decimal128(38, 0)",
        "NaN and long": "string",
        "flags": "bool",
        "floats": "double",
        "long": "decimal128(38, 2)",
        "mixed integers": "decimal128(38, 1)",
        "nothing": "string",
        "odd texts": "string",
        "several kinds": "string",
        "texts": "string",
    }
    table = dict(zip(types, zip(*rows, strict=True), strict=True))
    assert table["long"] == (Decimal("12345678901234567890.12"), Decimal("12345678901234567890.13"), Decimal(100), None)
    assert table["texts"] == ("12345", "true", "", "NA")
    assert table["several kinds"] == ("1.50", "1.5", "true", None)


@pytest.mark.parametrize("in_spark", [False, pytest.param(True, marks=pytest.mark.spark)])
def test_batches(
    tmp_path: Path, in_spark: bool, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Texts are cast, numbers come in as they are or not at all, and operations by key work as for other sources."""
    spark = request.getfixturevalue("spark") if in_spark else None
    if in_spark:
        through_spark(monkeypatch)
    table = pa.table({"k": [1], "f": [0.5], "day": [dt.date(2024, 2, 29)], "t": ["x"]})
    with watched(tmp_path, table, key={"things": ["k"]}, spark=spark) as monitor:
        feed: list[dict[str, object]] = [
            {"k": 2, "f": 1, "day": "2024-03-01", "t": 5, "_change_type": "insert", "_commit_version": 10},
            {"k": 2, "f": 2.5, "day": None, "t": "00501", "_change_type": "update", "_commit_version": 11},
            {"k": 2, "f": 7, "day": None, "t": "z", "_change_type": "insert", "_commit_version": 2},
            {"k": 2, "f": 7, "day": None, "t": "z", "_change_type": "delete", "_commit_version": 9},
        ]
        for number, part in enumerate((feed[:1], feed[1:])):
            file_of(tmp_path, f"feed/{number}.jsonl", _lines(part))
        monitor.apply(changes=str(tmp_path / "feed") if in_spark else file_of(tmp_path, "feed.jsonl", _lines(feed)))
        assert rows_in(monitor) == [(1, 0.5, dt.date(2024, 2, 29), "x"), (2, 2.5, None, "00501")]
        for value, sentence in {
            '"f": 9007199254740993, "t": null': "column 'f': 9007199254740993 can't be held exactly by a column",
            '"f": true, "t": null': "column 'f': 'true' is not a number",
            '"f": 1, "t": [1]': "column 't' holds an object or a list",
        }.items():
            bad = file_of(tmp_path, "bad.jsonl", f'{{"k": 3, "day": null, {value}}}')
            with pytest.raises(BadInput, match=sentence):
                monitor.apply(inserts=bad)
        with pytest.raises(BadInput, match="lacks 'f'"):
            monitor.apply(inserts=file_of(tmp_path, "bad.jsonl", '{"k": 3, "day": null, "t": "x"}'))
        assert changed(monitor.apply(deletes=file_of(tmp_path, "gone.jsonl", '{"k": 1}\n\n{"k": 2}'))) == (0, 2, 0)


def _lines(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.spark
def test_a_declared_schema(tmp_path: Path, spark: SparkSession) -> None:
    """Nothing is rounded in the cast to the declared type; keys that are not declared are passed over."""
    path = file_of(tmp_path, "t.jsonl", '{"x": 16777217, "y": 0.1, "z": 1}\n{"x": 16777216, "y": "2.50"}\n')
    found = read(tmp_path, path, ReadOptions(schema="x float, y decimal(38,2)"), spark=spark)
    assert found == (
        {"x": "double", "y": "decimal128(38, 2)"},
        [(16777217.0, Decimal("0.10")), (16777216.0, Decimal("2.50"))],
    )
    for content, sentence in {
        '{"x": 9007199254740993}': "9007199254740993 can't be held exactly by a column of type float",
        '{"x": 1}\n{"x": 1, "x": 2}': "line 2: the key 'x' comes twice",
    }.items():
        with pytest.raises(BadInput, match=sentence):
            read(tmp_path, file_of(tmp_path, "bad.jsonl", content), ReadOptions(schema="x double"), spark=spark)
