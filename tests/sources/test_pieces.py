"""Parquet and ORC files as tables, whole and in pieces, and records that are too long."""

from __future__ import annotations

import datetime as dt
import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from holdfast.errors import BadInput
from holdfast.sources import file_errors, pieces
from holdfast.sources.dialect import CsvOptions, Dialect
from holdfast.sources.file_errors import refuse_long_lines
from holdfast.sources.local import read_orc, sniff_file
from holdfast.sources.pieces import parquet_schema, split_csv, split_parquet

TABLE = pa.table({"a": [1, None], "b": ["x", "y"]})


def read_parquet(path: Path) -> pa.Table:
    return pa.concat_tables([piece.read() for piece in split_parquet(str(path))[0]])


def test_parquet(tmp_path: Path) -> None:
    folder = tmp_path / "day=1"
    folder.mkdir()
    pq.write_table(TABLE, folder / "t.parquet")
    table = read_parquet(folder / "t.parquet")
    assert table.cast(TABLE.schema).equals(TABLE)
    assert table.schema == parquet_schema(str(folder / "t.parquet"))
    assert pa.types.is_dictionary(table.schema.field("b").type)  # as the file has it


def test_a_parquet_file_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_MOST_ROWS", 5)
    path = str(tmp_path / "t.parquet")
    table = pa.table({"n": range(22), "t": [f"t{n % 3}" for n in range(22)]})
    pq.write_table(table, path, row_group_size=2)
    parts, rows = split_parquet(path)
    assert rows == 22
    assert [piece.groups for piece in parts] == [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10,)]
    assert pa.concat_tables([piece.read() for piece in parts]).cast(table.schema).equals(table)


def test_old_timestamps_of_parquet_are_moments(tmp_path: Path) -> None:
    moments = [dt.datetime(1, 1, 1), dt.datetime(2024, 2, 29, 1, 2, 3, 456789), dt.datetime(9999, 12, 31)]
    table = pa.table({"at": pa.array(moments, pa.timestamp("us"))})
    pq.write_table(table, tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
    wanted = table.cast(pa.schema([("at", pa.timestamp("us", tz="UTC"))]))
    assert read_parquet(tmp_path / "t.parquet").equals(wanted)


def test_orc(tmp_path: Path) -> None:
    """Times are moments in UTC; those that don't fit in nanoseconds are not for Arrow."""
    at = pa.array([dt.datetime(2024, 2, 29, 1, 2, 3, 456789), None], pa.timestamp("us"))
    orc.write_table(TABLE.append_column("at", at), str(tmp_path / "t.orc"))
    table = read_orc(tmp_path / "t.orc")
    assert table is not None
    assert table.schema.field("at").type == pa.timestamp("ns", tz="UTC")
    assert table["at"].cast(pa.timestamp("us", tz="UTC")).combine_chunks().cast(pa.int64()) == at.cast(pa.int64())
    assert table.select(["a", "b"]).equals(TABLE)
    late = pa.table({"at": pa.array([dt.datetime(9999, 12, 31)], pa.timestamp("us"))})
    orc.write_table(late, str(tmp_path / "late.orc"))
    assert read_orc(tmp_path / "late.orc") is None


@pytest.mark.parametrize("reader", [parquet_schema, split_parquet, read_orc])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"ORC", b"a,b\n1,2\n" * 20])
def test_broken_binary_files(tmp_path: Path, reader: type, content: bytes) -> None:
    path = tmp_path / "broken.bin"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"broken\.bin: not readable as (Parquet|ORC) \(.+\); check"):
        reader(str(path))


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_a_cut_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"t.{kind}"
    pq.write_table(TABLE, path) if kind == "parquet" else orc.write_table(TABLE, str(path))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="not readable as"):
        read_parquet(path) if kind == "parquet" else read_orc(path)


# ---- records that are too long --------------------------------------------------------------------------------------


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> int:
    """A limit that is quickly passed: 100 bytes."""
    for module in (file_errors, pieces):
        monkeypatch.setattr(module, "LONGEST_RECORD", 100)
        monkeypatch.setattr(module, "_AT_ONCE", 50)
    monkeypatch.setattr(pieces, "_LEAST_BYTES", 25)
    return 100


def write(folder: Path, content: bytes, name: str = "t.csv") -> str:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return str(path)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_a_long_line_is_named(tmp_path: Path, short: int, end: bytes, name: str) -> None:
    fine = b"x" * (short - 5)
    lines = [b"a,b", b"1," + fine, b"2,x", b"3,y"]
    refuse_long_lines(write(tmp_path, end.join([*lines, *lines]) + end, name))
    for place in range(1, 5):
        long = [*lines[:place], b"9," + b"y" * 3 * short, *lines[place:]]
        path = write(tmp_path, end.join(long), name)
        with pytest.raises(BadInput, match=rf"t\.csv.*, line {place + 1}: a record of more than 0 MB"):
            refuse_long_lines(path)
        with pytest.raises(BadInput, match=rf"t\.csv.*, line {place + 1}: a record of more than 0 MB"):
            split_csv(path, Dialect(",", '"', True, ("a", "b")))


def test_a_long_record_of_short_lines_is_named(tmp_path: Path, short: int) -> None:
    long = b'"' + b"x\n" * short + b'"'
    path = write(tmp_path, b"a,b\n1,2\n3," + long + b"\n5,6\n")
    refuse_long_lines(path)
    with pytest.raises(BadInput, match=r"line 3: a record of more than"):
        split_csv(path, Dialect(",", '"', True, ("a", "b")))


def test_a_header_without_end(tmp_path: Path) -> None:
    path = write(tmp_path, b"a," * (12 << 20))
    with pytest.raises(BadInput, match=r"t\.csv, line 1: a record of more than 16 MB"):
        sniff_file(path, CsvOptions())
