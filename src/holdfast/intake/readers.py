"""Who reads a source, this process or Spark, and who runs the tasks on its rows.

Spark reads whatever is large, at addresses such as `hdfs:`, in very many files, or not small where a session is given.
This process reads what one machine reads faster: no JVM is started, and no row passes between processes. It reads as
long as that takes no more than a share of the free memory, by an estimate from bytes and format. Both give the same
rows (tests/intake/test_readers.py).

Tasks on rows that Spark has read run where the rows are: in threads, if Spark runs on this machine, else in Spark.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from holdfast.errors import BadInput
from holdfast.extras import has, install
from holdfast.intake.paths import base_of
from holdfast.sources.file_errors import COMPRESSED
from holdfast.spark.session import is_here
from holdfast.table.runner import Runner, Threads

if TYPE_CHECKING:
    from holdfast.spark import SparkSession

Reader = Literal["local", "spark"]
READERS: dict[Reader, str] = {"local": "in this process", "spark": "with Spark"}

SHARE = 0.5  # of the memory that is free
MANY_FILES = 1000
ONE_MACHINE = 20_000_000  # rows up to which engines look at a table in threads
# Bytes of memory that a byte of a file takes at most while its table is built: measured on tables of unique texts.
_NEED = {"csv": 6.0, "json": 12.0, "parquet": 10.0, "orc": 12.0}
_COMPRESSION = 6.0
# One core parses some 10 MB of JSON lines in a second here; of more, the tasks of Spark do each a part.
_MOST_JSON = 64 << 20
SMALL = 16 << 20  # bytes of text that this process reads sooner than a job of a session starts, which takes seconds


def choose_reader(
    path: str, kind: str, files: Sequence[str] | None, wanted: Reader | None, session: Any, declared: bool = False
) -> Reader:
    """Who reads a path: as wanted, or what fits best. `files` is None where the path is not local; `declared` says
    that a schema is given.
    """
    if wanted is not None and wanted not in READERS:
        raise BadInput(f"unknown reader {wanted!r}; use {' or '.join(READERS)}")
    only = _only_reader(path, kind, files, declared)
    if only is not None:
        reader, why = only
        refuse_other_reader(wanted, reader, f"{path}: {why}")
        return reader
    assert files is not None
    if wanted is not None:
        return wanted
    has_spark = session is not None or has("spark")
    if not fits(kind, files):
        if not has_spark:
            advice = f"for Spark: {install('spark')}; to try it in this process: --with local"
            raise BadInput(f"{path}: it may take more than half of the free memory; {advice}")
        return "spark"
    here = len(files) <= MANY_FILES and (kind != "json" or text_bytes(files) <= _MOST_JSON)
    here = here and (session is None or text_bytes(files) <= SMALL)
    return "local" if here or not has_spark else "spark"


def refuse_other_reader(wanted: Reader | None, only: Reader, why: str, or_else: str = "") -> None:
    """Refuse another reader than the only one that can read a source."""
    if wanted not in (None, only):
        raise BadInput(f"{why}; leave out --with {wanted}{or_else}")


def _only_reader(path: str, kind: str, files: Sequence[str] | None, declared: bool) -> tuple[Reader, str] | None:
    if kind == "arrow":
        return "local", "Arrow files are not for Spark"
    if kind == "jdbc":
        return "spark", "Spark reads databases"
    if files is None:
        return "spark", "it is not a local file, so Spark reads it"
    if kind in ("parquet", "orc") and declared:
        return "spark", "with a --schema, Spark reads it"
    if kind in ("parquet", "orc") and partitioned(path, files):
        return "spark", "the names of its folders hold values (as in year=2020/), which Spark reads"
    return None


def piece_runner(session: SparkSession | None) -> Runner:
    """Where the pieces of a source are read: in tasks of its Spark session, or in threads here."""
    if session is None:
        return Threads()
    from holdfast.spark.runner import SparkRunner

    return SparkRunner(session)


def runner_for(session: SparkSession | None) -> Runner:
    """Where tasks on staged files run: in Spark where its tasks run on other machines, else in threads here."""
    if session is None:
        return Threads()
    return piece_runner(None if is_here(session) else session)


def discovery_runner(rows: int, came_from: Runner) -> Runner:
    """Where engines search a new table: in threads here, or past a size as tasks where its rows were read."""
    return came_from if rows > ONE_MACHINE else Threads()


def partitioned(path: str, files: Sequence[str]) -> bool:
    """Whether the names of folders below a path hold values of columns, as in year=2020/."""
    here = base_of(path)
    return any("=" in part for file in files for part in Path(file).relative_to(here).parts[:-1])


def fits(kind: str, files: Sequence[str]) -> bool:
    """Whether reading files here takes no more than a share of the free memory."""
    return needed_memory(kind, files) <= SHARE * free_memory()


def needed_memory(kind: str, files: Sequence[str]) -> float:
    """The most memory that reading files takes, in bytes, roughly."""
    return _NEED[kind] * text_bytes(files)


def text_bytes(files: Sequence[str]) -> float:
    """The bytes of files once they are decompressed, roughly."""
    return sum(Path(file).stat().st_size * (_COMPRESSION if file.endswith(COMPRESSED) else 1.0) for file in files)


def free_memory() -> float:
    """The bytes that this process may still take: of the machine, or of the container that it runs in."""
    machine = _fields("/proc/meminfo").get("MemAvailable:", 0) * 1024
    if not machine:  # not Linux: all memory
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) / 2
    limit, used = (_number(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))
    if limit is None or used is None:
        return machine
    cached = _fields("/sys/fs/cgroup/memory.stat").get("inactive_file", 0)
    return min(machine, max(0.0, limit - used + cached))


def _fields(path: str) -> dict[str, float]:
    try:
        lines = [line.split() for line in Path(path).read_text().splitlines()]
    except OSError:
        return {}
    return {words[0]: float(words[1]) for words in lines if len(words) > 1}


def _number(path: str) -> float | None:
    try:
        return float(Path(path).read_text())
    except (OSError, ValueError):  # no such limit, or "max"
        return None
