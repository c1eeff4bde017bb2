"""What a database gives is kept in memory, and much of it in a file without a name."""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

from holdfast.errors import BadInput
from holdfast.intake.source import ReadOptions, open_source
from holdfast.sources.databases import reading
from holdfast.sources.databases.reading import kept


def batches(*columns: list[object]) -> pa.RecordBatchReader:
    made = [pa.record_batch([pa.array(column, pa.string())], names=["x"]) for column in columns]
    return pa.RecordBatchReader.from_batches(pa.schema([("x", pa.string())]), made)


@pytest.mark.parametrize("most", [0, 5, 1 << 20])
def test_all_batches_in_order(most: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(reading, "_IN_MEMORY", most)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    table = kept(batches(["a", None], [], ["b"]))
    assert os.listdir(tmp_path) == []  # noqa: PTH208 (nothing is left, not even a name)
    assert table.to_pydict() == {"x": ["a", None, "b"]}
    assert kept(batches()).schema.names == ["x"]


def test_no_room_for_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_IN_MEMORY", 0)
    monkeypatch.setattr(tempfile, "tempdir", "/dev/full")
    with pytest.raises(BadInput, match="/dev/full"):
        kept(batches(["a"]))


def test_missing_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(BadInput, match=r'A table of DuckDB needs duckdb: pip install "holdfast\[duckdb\]"'):
        reading.read(f"duckdb:{tmp_path}/shop.db/orders", None)
    with pytest.raises(BadInput, match=r'A table of PostgreSQL needs its driver: pip install "holdfast\[postgres\]"'):
        reading.read("postgres://host/shop/orders", None)


def test_options_that_are_for_files(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS n")
    address = f"sqlite:{tmp_path}/shop.db/t"
    for options, sentence in (
        (ReadOptions(schema="n INT"), "leave out --schema"),
        (ReadOptions(format="csv"), "leave out --input-format"),
        (ReadOptions(reader="spark"), "leave out --with spark"),
    ):
        with pytest.raises(BadInput, match=sentence):
            open_source(address, options, None)
    (tmp_path / "t.csv").write_text("n\n1\n")
    with pytest.raises(BadInput, match="--query is for databases"):
        open_source(str(tmp_path / "t.csv"), ReadOptions(query="SELECT 1"), None)
