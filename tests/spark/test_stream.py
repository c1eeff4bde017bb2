"""A folder that files arrive in: each file once, the oldest first, across restarts, crashes and bad files."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from holdfast.errors import BadInput
from holdfast.monitor import Monitor
from holdfast.outcome import Outcome
from holdfast.spark.stream import follow_folder
from tests.intake.building import file_of, rows_in, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = time.time()


def arrives(folder: Path, name: str, content: str = "n\n1\n", age: float = 0) -> str:
    """Move a file in whole."""
    path = Path(file_of(folder.parent, f"arriving-{name}", content))
    os.utime(path, (NOW - age, NOW - age))
    return str(path.rename(folder / name))


class Watched:
    """A state, and what was told of the files that came to its folder."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.spark, self.state, self.inbox = spark, folder / "state0", folder / "in box [1]"
        self.inbox.mkdir()
        watched(folder, pa.table({"n": pa.array([], pa.int64())})).close()

    def run(self) -> list[tuple[str, bool]]:
        """Apply what is there; gives the names of the files, and whether they had been applied before."""
        told: list[tuple[str, bool]] = []

        def tell(path: str, outcome: Outcome) -> None:
            told.append((Path(path).name, outcome.already_applied))

        with Monitor.open(self.state, spark=self.spark) as monitor:
            monitor.watch_folder(self.inbox, once=True, told=tell)
        return told

    def rows(self) -> list[int]:
        with Monitor.open(self.state) as monitor:
            return [row[0] for row in rows_in(monitor)]  # type: ignore[misc]


@pytest.mark.spark
def test_each_file_once_and_the_oldest_first(tmp_path: Path, spark: SparkSession) -> None:
    folder, checkpoint = tmp_path / "plain", str(tmp_path / "checkpoint")
    folder.mkdir()
    wanted = [
        arrives(folder, "c é%20 #:.csv", age=300),
        arrives(folder, "a.csv", age=200),
        arrives(folder, "b [x]*.csv", age=200),
        arrives(folder, "0.csv", age=100),
    ]
    arrives(folder, ".hidden.csv")
    arrives(folder, "_unfinished.csv")
    told: list[str] = []
    follow_folder(spark, str(folder), checkpoint, told.append, once=True)
    assert told == wanted
    follow_folder(spark, str(folder), checkpoint, told.append, once=True)
    assert told == wanted
    late = arrives(folder, "late.csv", age=60 * 86_400)  # moved in, and much older than the others
    follow_folder(spark, str(folder), checkpoint, told.append, once=True)
    assert told == [*wanted, late]


@pytest.mark.spark
def test_a_batch_counts_once_whatever_spark_remembers(tmp_path: Path, spark: SparkSession) -> None:
    place = Watched(tmp_path, spark)
    first = arrives(place.inbox, "1.csv", "n\n1\n2\n", age=20)
    arrives(place.inbox, "2.csv", "n\n3\n", age=10)
    with Monitor.open(place.state) as monitor:  # committed, and then a crash before Spark's own commit
        monitor.apply(inserts=first, batch_id=f"file:{first}")
    assert place.run() == [("1.csv", True), ("2.csv", False)]
    assert place.run() == []
    shutil.rmtree(place.state / "streams")
    assert place.run() == [("1.csv", True), ("2.csv", True)]
    assert place.rows() == [1, 2, 3]


@pytest.mark.spark
def test_a_bad_file_stops_and_a_mended_one_goes_on(
    tmp_path: Path, spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    place = Watched(tmp_path, spark)
    arrives(place.inbox, "1.csv", "n\n1\n", age=40)
    arrives(place.inbox, "2.csv", "n\nx\n", age=30)
    arrives(place.inbox, "3.csv", "n\n3\n", age=20)
    for _ in range(2):
        with pytest.raises(BadInput, match=r"2\.csv.*'x' is not a whole number"):
            place.run()
        assert place.rows() == [1]
    arrives(place.inbox, "2.csv", "n\n2\n", age=30)
    assert place.run() == [("1.csv", True), ("2.csv", False), ("3.csv", False)]
    arrives(place.inbox, "4.csv", "m\n4\n", age=10)
    with pytest.raises(BadInput, match=r"4\.csv"):
        place.run()
    (place.inbox / "4.csv").unlink()
    arrives(place.inbox, "5.csv", "n\n5\n")
    assert place.run() == [("5.csv", False)]
    assert place.rows() == [1, 2, 3, 5]
    assert capfd.readouterr() == ("", "")


class Enough(Exception):
    """Raised to stop watching."""


@pytest.mark.spark
def test_watching_goes_on_until_it_is_stopped(tmp_path: Path, spark: SparkSession) -> None:
    place = Watched(tmp_path, spark)
    arrives(place.inbox, "1.csv", "n\n1\n", age=5)
    told: list[str] = []

    def tell(path: str, _: Outcome) -> None:
        told.append(Path(path).name)
        if len(told) == 1:
            arrives(place.inbox, "2.csv", "n\n2\n")
        else:
            raise Enough

    with Monitor.open(place.state, spark=spark) as monitor, pytest.raises(Enough):
        monitor.watch_folder(place.inbox, told=tell)
    assert told == ["1.csv", "2.csv"]
    assert place.run() == [("2.csv", True)]  # applied before it was told of, and told again after the stop
    assert place.rows() == [1, 2]


def test_there_must_be_a_folder(tmp_path: Path) -> None:
    with watched(tmp_path, pa.table({"n": [1]})) as monitor, pytest.raises(BadInput, match="no such folder to watch"):
        monitor.watch_folder(tmp_path / "nowhere", once=True)
