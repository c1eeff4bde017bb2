"""Folders of lake formats. Their files also hold rows that were removed or replaced since: which of them count stands
elsewhere in the folder, and only the format's own reader knows. So they are refused, and never read as plain files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import BadInput

if TYPE_CHECKING:
    from holdfast.spark.types import SparkSession


@dataclass(frozen=True)
class Lake:
    """A lake format: its title, what Spark calls its reader, and what lies in the folder of each of its tables."""

    title: str
    reader: str
    mark: str  # a pattern of paths in the folder


LAKES = (
    Lake("Delta", "delta", "_delta_log"),
    Lake("Iceberg", "iceberg", "metadata/*.metadata.json"),
    Lake("Hudi", "hudi", ".hoodie"),
)


def refuse_lake_here(path: str, *, inside: bool = True) -> None:
    """Refuse a local folder that is a table of a lake format or a part of one, or that has one somewhere inside."""
    here = Path(path.removeprefix("file://"))
    if not here.is_dir():
        return
    for lake in LAKES:
        found = [Path(folder).glob(lake.mark) for folder in _tables_of(str(here.absolute()))]
        if inside:
            found.append(here.rglob(lake.mark))
        if next(chain(*found), None):
            raise _refusal(path, lake)


def refuse_lake_elsewhere(spark: SparkSession, path: str) -> None:
    """Refuse a folder that Spark alone can see, if it is a table of a lake format or a part of one."""
    from holdfast.spark.frames import is_there

    for lake in LAKES:
        if any(is_there(spark, f"{folder}/{lake.mark}") for folder in _tables_of(path)):
            raise _refusal(path, lake)


def _tables_of(path: str) -> Iterator[str]:
    """The folders that may be the table's: the path, and those around it as long as it names a part of a table, as
    `year=2020`, `*.parquet` and Iceberg's `data` do.
    """
    folder = path.rstrip("/")
    yield folder
    while re.search(r"/([^/]*[=*?{\[][^/]*|data)$", folder):
        folder = folder.rpartition("/")[0]
        yield folder


def _refusal(path: str, lake: Lake) -> BadInput:
    return BadInput(
        f"{path}: this is a table of {lake.title}, whose files also hold removed rows (see {lake.mark}); read it "
        f'with its own reader, and hand over the DataFrame, in Python: spark.read.format("{lake.reader}").load(…)'
    )
