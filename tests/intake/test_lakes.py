"""Folders of lake formats are refused, wherever they lie: read as plain files, they would give removed rows, too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.api.checks import check
from holdfast.api.discovery import discover
from holdfast.api.monitor import Monitor
from holdfast.errors import BadInput
from holdfast.intake.source import ReadOptions
from tests.intake.building import file_of, rows_in, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = pa.table({"n": [1, 2, 3]})
# What else lies in the folder of a table, and where its data lie.
LAYOUTS = {
    "delta": ("_delta_log/00000000000000000000.json", "part-0.parquet"),
    "iceberg": ("metadata/00000-8a62.metadata.json", "data/part-0.parquet"),
    "hudi": (".hoodie/hoodie.properties", "year=2020/part-0.parquet"),
}
lakes = pytest.mark.parametrize("lake", LAYOUTS)


def lake_folder(folder: Path, lake: str) -> Path:
    """A folder as a lake format lays it out."""
    log, data = LAYOUTS[lake]
    file_of(folder, log, "{}")
    (folder / data).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(ROWS, folder / data)
    return folder


@lakes
@pytest.mark.parametrize("form", [None, "parquet"])
def test_a_table_of_a_lake_is_refused(tmp_path: Path, lake: str, form: str | None) -> None:
    folder = lake_folder(tmp_path / "things.parquet", lake)
    options = ReadOptions(format=form)
    sentence = rf'things\.parquet: this is a table of {lake}, .*removed.* spark\.read\.format\("{lake}"\)\.load'
    with pytest.raises(BadInput, match=f"(?i){sentence}"):
        discover(folder, options=options)
    with pytest.raises(BadInput, match=f"(?i){sentence}"):
        check(f"file://{folder}", ["n > 0"], options=options)
    with pytest.raises(BadInput, match=f"(?i){sentence}"):
        Monitor.create(tmp_path / "state", folder, options=options)
    with watched(tmp_path, ROWS) as monitor:
        for batch in ({"inserts": folder}, {"snapshot": str(folder)}):
            with pytest.raises(BadInput, match=f"(?i){sentence}"):
                monitor.apply(**batch, options=options)
        with pytest.raises(BadInput, match=f"(?i){sentence}"):
            monitor.watch_folder(folder, once=True)
        assert len(rows_in(monitor)) == 3


@lakes
def test_a_part_of_such_a_table_is_refused(tmp_path: Path, lake: str) -> None:
    """A partition, the folder of Iceberg's data, or a folder of several tables; one file is what it is."""
    data = lake_folder(tmp_path / "warehouse" / "things", lake) / LAYOUTS[lake][1]
    for folder in {data.parent, tmp_path / "warehouse"}:
        with pytest.raises(BadInput, match=f"(?i)table of {lake}"):
            discover(folder, options=ReadOptions(format="parquet"))
    assert discover(data).shapes[data.name.split(".")[0]][1] == 3
    with watched(tmp_path, ROWS) as monitor:
        monitor.watch_folder(tmp_path / "warehouse", once=True)  # which looks at no folders inside


def test_folders_that_look_alike_are_read(tmp_path: Path) -> None:
    """A folder that is named metadata, or a file that begins as Delta's folder does."""
    pq.write_table(ROWS, file_of(tmp_path / "metadata", "a.parquet", ""))
    pq.write_table(ROWS, file_of(tmp_path / "metadata", "_delta_logs.parquet", ""))
    assert discover(tmp_path).shapes[tmp_path.name][1] == 3


@pytest.mark.spark
@lakes
def test_a_table_of_a_lake_elsewhere_is_refused(tmp_path: Path, spark: SparkSession, lake: str) -> None:
    """Hadoop's view of file systems gives local folders an address that is not local."""
    lake_folder(tmp_path / "things", lake)
    pq.write_table(ROWS, file_of(tmp_path / "plain" / "year=2020", "a.parquet", ""))
    spark.conf.set(f"fs.viewfs.mounttable.{lake}.link./all", f"file://{tmp_path}")
    options = ReadOptions(format="parquet")
    assert discover(f"viewfs://{lake}/all/plain", options=options, spark=spark).shapes["plain"][1] == 3
    part = Path(LAYOUTS[lake][1]).parent
    for path in {f"viewfs://{lake}/all/things", f"viewfs://{lake}/all/things/{part}", f"viewfs://{lake}/all/things/*"}:
        with pytest.raises(BadInput, match=f"(?i)table of {lake}"):
            discover(path, options=options, spark=spark)
    with watched(tmp_path, ROWS, spark=spark) as monitor, pytest.raises(BadInput, match=f"(?i)table of {lake}"):
        monitor.watch_folder(f"viewfs://{lake}/all/things", once=True, options=options)
