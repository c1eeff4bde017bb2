"""A CSV file is read at once, in pieces or by Spark, and the table is the same."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.errors import BadInput
from holdfast.intake.source import ReadOptions
from holdfast.sources import local, pieces
from holdfast.sources.dialect import CsvOptions, Dialect
from holdfast.sources.records import records
from tests.intake.building import Notes, csv_options, file_of, read, small_pieces, through_spark, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMA, TAB = Dialect(",", '"', True, ("a", "b")), Dialect("\t", '"', True, ("a", "b"))
BARE, HEADLESS = Dialect(",", "", True, ("a", "b")), Dialect(",", '"', False, ("a", "b"))
APOSTROPHE = Dialect(";", "'", True, ("a", "b"))

# Each has two columns, and stands for a cause why two readers may differ.
NASTY = {
    "CRLF": b"a,b\r\n1,x\r\n2,y\r\n",
    "CR": b"a,b\r1,x\r2,y\r",
    "byte order mark": b"\xef\xbb\xbfa,b\n1,x\n",
    "byte order mark before a quote": b'\xef\xbb\xbf"a",b\n1,x\n',
    "line breaks in values": b'a,b\n1,"x\ny"\n2,"p\r\nq"\n3,"r\rs"\n',
    "line breaks in values of a CRLF file": b'a,b\r\n1,"x\ny"\r\n2,"p\r\nq"\r\n',
    "mixed line ends": b'a,b\n1,"x\ny"\r\n2,z\r\n3,w\n',
    "a line break in the header": b'"a\nz",b\r\n1,x\r\n2,y\r\n',
    "quotes in quotes": b'a,b\n1,"x ""q"" y"\n2,""""\n3,""\n4,"a,b"\n5,""""""\n6,""","""\n',
    "quotes in the middle": b'a,b\n1,5" pipe\n2,x"y"z\n3,5"\n4,5""\n',
    "quotes in the middle, even on each line": b'a,b\n5" p,"x\ny"\n"x\ny",5" p\n',
    "text behind a quote": b'a,b\n1,"x"y\n2,"x" \n3,"x"y"z\n4,"x"""y\n',
    "text behind an empty quote": b'a,b\n"" ,x\n""y,""""z\n',
    "blanks": b"a,b\n 1, x \n2,  \n  ,  \n",
    "unicode": "a,b\n1,日本\n2,\U0001f600\u2028x\n3,\x85y\n4,\u00a0\n\u3000,\ufeff\n".encode(),
    "control characters": b"a,b\n1,x\x00y\n2,\x0b\n\x1c,\x1d\n\x00,\x00\n",
    "no comments here": b"a,b\n#1,x\n//2,y\n",
    "backslashes": b'a,b\n1,"x\\"\n2,\\N\n3,\\"\n',
    "no line end at the end": b"a,b\n1,x\n2,y",
    "an empty value at the very end": b"a,b\n1,x\n2,",
    "empty lines": b"\n\na,b\n\n1,x\n\r\n2,y\n\n",
    "empty values": b'a,b\n,\n"",""\n1,\n,x\n',
    "a header and nothing else": b"a,b\n",
    "the header again": b"a,b\n1,x\na,b\n2,y\n",
    "long values": b"a,b\n1," + b"x" * 300_000 + b'\n2,"' + b"x\n" * 50_000 + b'"\n',
}
NASTY_TSV = {
    "tabs only": b"a\tb\n1\tx\n\t\n2\ty\n \t \n",
    "quoted tabs": b'a\tb\n1\t"x\ty"\n',
    "one blank": b"a\tb\nx\ty\n",
}
NASTY_BARE = {"quotes mean nothing": b'a,b\n"1,x"\n2,"\n3,\x00\n', "plain": b"a,b\n1,x\n"}
NASTY_HEADLESS = {"no header": b"1,x\n2,y\n", "no header, quoted": b'1,"x,y"\n"2\n3",y\n'}
NASTY_APOSTROPHES = {"apostrophes": b"a;b\n'1';'it''s'\n2;x'y\n", "regular ones": b"a;b\n'1';'x;y'\n"}


def random_file(numbers: random.Random) -> bytes:
    """Two columns of very little text, quoted as one should, or as one shouldn't."""
    line_end = numbers.choice(["\n", "\r\n", "\r"])
    pieces = ["", "a", "é", " ", ",", '"', '""', "\n", "\r\n", "\t", "0"]
    lines = ["a,b"]
    tidy = numbers.random() < 0.5
    for _ in range(numbers.randrange(5)):
        cells = []
        for _ in range(2):
            text = "".join(numbers.choices(pieces, k=numbers.randrange(4)))
            if tidy or numbers.random() < 0.5:
                quote = any(mark in text for mark in ',"\n\r') or numbers.random() < 0.3
                cells.append('"' + text.replace('"', '""') + '"' if quote else text)
            else:
                cells.append(text.replace("\n", "").replace("\r", ""))
        lines.append(",".join(cells))
    return line_end.join(lines).encode() + line_end.encode() * numbers.randrange(2)


def rows_of(table: pa.Table) -> list[tuple[str, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def whole(path: str, dialect: Dialect) -> list[tuple[str, ...]] | str:
    try:
        return rows_of(local.read_csv(path, dialect))
    except BadInput as error:
        return str(error)


def in_pieces(path: str, dialect: Dialect) -> tuple[list[tuple[str, ...]] | str, int]:
    """The rows of all pieces, or what is wrong with the file; and how many pieces there are."""
    try:
        parts = pieces.split_csv(path, dialect)
        return [row for part in parts for row in rows_of(part.read())], len(parts)
    except BadInput as error:
        return str(error), 0


def check(folder: Path, contents: dict[str, bytes], dialect: Dialect) -> int:
    """Read each file whole and in pieces; gives how many pieces there were at most."""
    most = 0
    for number, (name, content) in enumerate(contents.items()):
        path = file_of(folder, f"{number:03}.csv", content)
        found, parts = in_pieces(path, dialect)
        assert found == whole(path, dialect), name
        most = max(most, parts)
    return most


@pytest.mark.parametrize("size", [1, 7, 64])
def test_nasty_files_read_the_same_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    small_pieces(monkeypatch, size)
    for name, contents, dialect in (
        ("comma", NASTY, COMMA),
        ("tab", NASTY_TSV, TAB),
        ("bare", NASTY_BARE, BARE),
        ("headless", NASTY_HEADLESS, HEADLESS),
        ("apostrophe", NASTY_APOSTROPHES, APOSTROPHE),
    ):
        most = check(tmp_path / name, contents, dialect)
        assert most > 1 or size > 1


def test_random_files_read_the_same_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_pieces(monkeypatch)
    numbers = random.Random(20240229)
    assert check(tmp_path, {f"file {n}": random_file(numbers) for n in range(400)}, COMMA) > 3


@pytest.mark.parametrize("header", [True, False])
def test_records_end_where_the_pattern_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: bool) -> None:
    """Pieces of one byte or more end at the ends of records."""
    small_pieces(monkeypatch)
    numbers = random.Random(header)
    for _ in range(200):
        content = random_file(numbers)
        found = list(records(content, ",", '"'))
        if not all(record.closed for record in found):
            continue
        dialect = Dialect(",", '"', header, ("a", "b"))
        parts = pieces.split_csv(file_of(tmp_path, "t.csv", content), dialect)
        ends = {len(content), *(record.end for record in found), *blank_line_ends(content)}
        assert {part.end for part in parts} <= ends, content


def blank_line_ends(content: bytes) -> set[int]:
    """The ends of empty lines, and the middle of CRLF, after which an empty line follows."""
    return {at + 1 for at in range(len(content)) if content[at : at + 1] in (b"\n", b"\r")}


@pytest.mark.spark
def test_types_nulls_and_refusals_are_the_same(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From end to end, on one file that reads by line, one that doesn't, and some that are refused."""
    cases: list[tuple[str | bytes, CsvOptions]] = [
        ('n,t,d,e\n1,NA,2020-01-01,""\nNA,x,,\n3,,2020-01-02,\n', CsvOptions()),
        ('n,t\n1,"x\r\ny"\n"",""\n', CsvOptions(nulls=("x",))),
        ("n,t\n1,x\n2\n", CsvOptions()),
        ('n,t\n1,"x\n2,y\n', CsvOptions(separator=",", quote='"', header=True)),
        (b"n,t\n1,\xe4\n", CsvOptions()),
    ]
    for number, (content, csv) in enumerate(cases):
        path = file_of(tmp_path, f"{number}.csv", content)
        here = outcome(tmp_path, path, ReadOptions(csv), None)
        with monkeypatch.context() as patched:
            small_pieces(patched)
            assert outcome(tmp_path, path, ReadOptions(csv), None) == here, content
        assert outcome(tmp_path, path, ReadOptions(csv, reader="spark"), spark) == here, content


def outcome(folder: Path, path: str, options: ReadOptions, spark: SparkSession | None) -> object:
    notes = Notes()
    try:
        found = read(folder, path, options, spark=spark, progress=notes)
    except BadInput as error:
        return str(error)
    return found, sorted(notes.lines)


@pytest.mark.parametrize("reader", ["at once", "in pieces", pytest.param("spark", marks=pytest.mark.spark)])
def test_batches_read_as_the_table_was_read(
    tmp_path: Path, reader: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """The null markers of the first file hold for the files that follow."""
    spark = request.getfixturevalue("spark") if reader == "spark" else None
    if reader == "in pieces":
        small_pieces(monkeypatch)
    rows = 'n,t,zip\n1,NA,00501\nNA,x,00502\n3,"",00503\n'
    choices = [None, csv_options(nulls=()), csv_options(nulls=("", "NA")), csv_options(types="text")]
    for options in choices[:2] if reader == "spark" else choices:
        text = rows.replace("NA,x", "2,x") if options is not None and options.csv.nulls == () else rows
        path = file_of(tmp_path, "rows.csv", text)
        with watched(tmp_path, path, options, spark=spark) as monitor:
            gone = monitor.apply(deletes=path)
            assert (gone.batch.deleted, gone.batch.inserted) == (3, 0)
            back = monitor.apply(snapshot=path)
            assert (back.batch.deleted, back.batch.inserted) == (0, 3)
            assert monitor.apply(snapshot=path).batch.inserted == 0


@pytest.mark.spark
def test_paths_that_look_like_patterns_or_are_not_whole(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    through_spark(monkeypatch)
    folder = tmp_path / "a [1] {x,y}*? é%20#"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("t[1].csv", "all *.csv"):
        path = file_of(folder, name, 'a,b\n1,"x\ny"\n' if "all" in name else "a,b\n1,x\n")
        assert read(tmp_path, path, spark=spark)[1] == read(tmp_path, name, spark=spark)[1]
    pq.write_table(pa.table({"a": [1]}), folder / "t[1].parquet")
    assert read(tmp_path, "t[1].parquet", spark=spark)[1] == [(1,)]


@pytest.mark.spark
def test_compressed_files(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"a,b\n" + b"".join(b"%d,x\n" % n for n in range(1000))
    paths = [file_of(tmp_path, "t.csv.gz", gzip.compress(content))]
    for codec, suffix in (("bz2", "bz2"), ("zstd", "zst")):
        path = str(tmp_path / f"t.csv.{suffix}")
        with pa.CompressedOutputStream(path, codec) as out:
            out.write(content)
        paths.append(path)
    wanted = ({"a": "int64", "b": "string"}, [(n, "x") for n in range(1000)])
    for path in paths:
        assert read(tmp_path, path) == wanted
    through_spark(monkeypatch)
    for path in paths:
        assert read(tmp_path, path, spark=spark) == wanted
