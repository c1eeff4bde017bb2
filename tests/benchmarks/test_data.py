"""Benchmark data is made once, kept whole, and the same in every format."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from benchmarks import data
from holdfast.demo.tax import make_tax
from holdfast.errors import BadInput


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(data, "CACHE", tmp_path / "data")
    return tmp_path / "data"


def test_tax_files_hold_the_table_in_both_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "PIECE", 400)
    options = pa.csv.ConvertOptions(column_types={"Zip": pa.string()})
    from_csv = pa.csv.read_csv(data.tax_csv(1_000), convert_options=options)
    assert from_csv.equals(make_tax(1_000))
    assert pa.parquet.read_table(data.tax_parquet(1_000)).equals(make_tax(1_000))


def test_a_file_is_made_once_and_errors_make_another(cache: Path) -> None:
    first = data.tax_parquet(100)
    stamp = first.stat().st_mtime_ns
    assert data.tax_parquet(100) == first
    assert first.stat().st_mtime_ns == stamp
    assert data.tax_parquet(100, errors=0.1) != first
    assert len(list(cache.iterdir())) == 2


def test_a_stopped_making_leaves_nothing_behind(cache: Path) -> None:
    def stop(file: Path) -> None:
        file.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        data._kept("half.csv", stop)
    assert list(cache.iterdir()) == []


def test_tpch_gives_one_file_for_each_table() -> None:
    folder = data.tpch(0.001)
    tables = {file.stem: pa.parquet.read_metadata(file).num_rows for file in folder.glob("*.parquet")}
    assert set(tables) == {"region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"}
    assert tables["region"] == 5
    assert tables["orders"] == 1_500
    assert data.tpch(0.001) == folder


def test_flights_are_whole_numbers_with_missing_values() -> None:
    flights = data.flights()
    assert flights.shape == (336_776, 19)
    assert flights.schema.field("dep_time").type == pa.int64()
    assert flights["dep_time"].null_count == 8_255
    assert flights["tailnum"].null_count == 2_512


def test_shared_data_is_found_or_its_absence_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SHARED", tmp_path)
    (tmp_path / "iris.csv").write_text("a\n1\n")
    assert data.shared("iris") == tmp_path / "iris.csv"
    with pytest.raises(BadInput, match=r"roses is not there .* choose one that is there: iris"):
        data.shared("roses")
