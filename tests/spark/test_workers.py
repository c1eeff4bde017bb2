"""Python workers that lack Holdfast: one sentence says what to set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow
import pytest

from holdfast.api.discovery import discover
from holdfast.errors import BadInput
from holdfast.intake.source import ReadOptions
from holdfast.spark.runner import SparkRunner
from tests.intake.building import file_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def bare_workers(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    """A session whose workers run in a Python that has all libraries but Holdfast."""
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    for each in Path(pyarrow.__file__).parents[1].iterdir():
        if "holdfast" not in each.name and each.suffix != ".pth":
            (libraries / each.name).symlink_to(each)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{libraries}" exec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
    return spark


@pytest.mark.spark
def test_workers_without_holdfast(tmp_path: Path, bare_workers: SparkSession) -> None:
    sentence = r"no module 'holdfast': install holdfast there.*spark\.submit\.pyFiles"
    with pytest.raises(BadInput, match=sentence) as caught:
        discover(bare_workers.range(3).toDF("n"))
    assert "\n" not in str(caught.value)
    path = file_of(tmp_path, "t.csv", "a,b\n1,x\n")
    with pytest.raises(BadInput, match=sentence):
        discover(path, options=ReadOptions(reader="spark"), spark=bare_workers)
    with pytest.raises(BadInput, match=sentence):
        SparkRunner(bare_workers).map(file_of, [1, 2])  # type: ignore[arg-type]
