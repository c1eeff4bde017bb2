"""A folder elsewhere that files arrive in, followed by Spark: each file once, the oldest first, across restarts."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from holdfast.errors import BadInput
from holdfast.spark.stream import follow_folder
from tests.intake.building import file_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = time.time()


def arrives(folder: Path, name: str, content: str = "n\n1\n", age: float = 0) -> str:
    """Move a file in whole."""
    path = Path(file_of(folder.parent, f"arriving-{name}", content))
    os.utime(path, (NOW - age, NOW - age))
    return str(path.rename(folder / name))


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
    lines: list[str] = []
    follow_folder(spark, str(folder), checkpoint, lines.append, True, 1, lambda: False)
    assert lines == wanted
    follow_folder(spark, str(folder), checkpoint, lines.append, True, 1, lambda: False)
    assert lines == wanted
    late = arrives(folder, "late.csv", age=60 * 86_400)  # moved in, and much older than the others
    follow_folder(spark, str(folder), checkpoint, lines.append, True, 1, lambda: False)
    assert lines == [*wanted, late]


@pytest.mark.spark
def test_asked_to_stop_it_ends_before_the_next_file(tmp_path: Path, spark: SparkSession) -> None:
    """The files that Spark had put into one batch come again, and their batch ids say which were applied."""
    folder, checkpoint = tmp_path / "plain", str(tmp_path / "checkpoint")
    folder.mkdir()
    wanted = [arrives(folder, f"{number}.csv", age=100 - number) for number in range(3)]
    lines: list[str] = []
    follow_folder(spark, str(folder), checkpoint, lines.append, False, 0.01, lambda: len(lines) == 2)
    assert lines == wanted[:2]
    follow_folder(spark, str(folder), checkpoint, lines.append, True, 0.01, lambda: False)
    assert lines[2:] == wanted


@pytest.mark.spark
def test_what_goes_wrong_with_a_file_is_raised(tmp_path: Path, spark: SparkSession) -> None:
    arrives(tmp_path, "a.csv")

    def fails(path: str) -> None:
        raise BadInput(f"{path}: wrong")

    with pytest.raises(BadInput, match=r"a\.csv: wrong"):
        follow_folder(spark, str(tmp_path), str(tmp_path / "_checkpoint"), fails, True, 1, lambda: False)
