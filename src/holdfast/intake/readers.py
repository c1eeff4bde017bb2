"""Here or with Spark: who reads a source, and who runs the tasks on its rows.

Spark reads whatever is large, remote, in very many files, or comes with a session. The way in process is its short cut
for what one machine does faster: it needs no JVM, no text passes through one, and no row between processes. It is taken
as long as it needs no more than a share of the memory that is free, by an estimate from bytes and format. Both give the
same rows (tests/intake/test_readers.py).

Tasks on rows that Spark has read run where these are: in threads, if its tasks run on this machine, else in Spark.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from holdfast.errors import BadInput
from holdfast.sources.file_errors import COMPRESSED
from holdfast.spark.session import is_here
from holdfast.table.runner import Runner, Threads

if TYPE_CHECKING:
    from holdfast.spark import SparkSession

Way = Literal["local", "spark"]
SAID: dict[Way, str] = {"local": "in this process", "spark": "with Spark"}

SHARE = 0.5  # of the memory that is free
MANY_FILES = 1000
ONE_MACHINE = 20_000_000  # rows up to which engines look at a table in threads
# Bytes of memory that a byte of a file takes at most while its table is built: measured on tables of unique texts.
_NEED = {"csv": 6.0, "json": 12.0, "parquet": 10.0, "orc": 12.0}
_COMPRESSION = 6.0
# One core parses some 10 MB of JSON lines in a second here; of more, the tasks of Spark do each a part.
_MOST_JSON = 64 << 20


def choose_way(
    path: str, kind: str, files: Sequence[str] | None, asked: Way | None, session: Any, declared: bool = False
) -> Way:
    """How to read a path: as asked, or what fits best. `files` is None where the path is not local; `declared` says
    that a schema is given.
    """
    if asked is not None and asked not in SAID:
        raise BadInput(f"unknown reader {asked!r}; use {' or '.join(SAID)}")
    only = _only_way(path, kind, files, declared)
    if only is not None:
        way, why = only
        refuse_other_way(asked, way, f"{path}: {why}")
        return way
    assert files is not None
    if asked is not None:
        return asked
    here = len(files) <= MANY_FILES and fits(kind, files)
    here = here and (kind != "json" or text_bytes(files) <= _MOST_JSON)
    return "local" if here and session is None else "spark"


def refuse_other_way(asked: Way | None, way: Way, why: str, or_else: str = "") -> None:
    """Say so where a source can be read in one way alone, and another was asked for."""
    if asked not in (None, way):
        raise BadInput(f"{why}; leave out --with {asked}{or_else}")


def _only_way(path: str, kind: str, files: Sequence[str] | None, declared: bool) -> tuple[Way, str] | None:
    if kind == "arrow":
        return "local", "Arrow files are not for Spark"
    if kind == "jdbc":
        return "spark", "databases are read by Spark"
    if files is None:
        return "spark", "it is not a local file, and read by Spark"
    if kind in ("parquet", "orc") and declared:
        return "spark", "under a --schema it is read by Spark"
    if kind in ("parquet", "orc") and partitioned(path, files):
        return "spark", "the names of its folders tell values (as in year=2020/), and are read by Spark"
    return None


def reader_of(session: SparkSession | None) -> Runner:
    """Where the pieces of a source are read: in tasks of its Spark session, or in threads here."""
    if session is None:
        return Threads()
    from holdfast.spark.runner import SparkRunner

    return SparkRunner(session)


def runner_for(session: SparkSession | None) -> Runner:
    """Where tasks on staged files run: in Spark where its tasks run on other machines, else in threads here."""
    if session is None:
        return Threads()
    return reader_of(None if is_here(session) else session)


def discovery_runner(rows: int, came_from: Runner) -> Runner:
    """Where engines look at a new table: in threads on one machine, past a size as tasks where its rows came from."""
    return came_from if rows > ONE_MACHINE else Threads()


def partitioned(path: str, files: Sequence[str]) -> bool:
    """Whether the names of folders below a path tell values of columns, as in year=2020/."""
    here = Path(path.removeprefix("file://"))
    return any("=" in part for file in files for part in Path(file).relative_to(here).parts[:-1])


def fits(kind: str, files: Sequence[str]) -> bool:
    """Whether reading some files here takes no more than a share of the memory that is free."""
    return needed_memory(kind, files) <= SHARE * free_memory()


def needed_memory(kind: str, files: Sequence[str]) -> float:
    """The bytes that reading some files takes at most, roughly."""
    return _NEED[kind] * text_bytes(files)


def text_bytes(files: Sequence[str]) -> float:
    """The bytes of some files, roughly, once they are decompressed."""
    return sum(Path(file).stat().st_size * (_COMPRESSION if file.endswith(COMPRESSED) else 1.0) for file in files)


def free_memory() -> float:
    """The bytes that this process may still take: of the machine, or of the container that it runs in."""
    machine = _fields("/proc/meminfo").get("MemAvailable:", 0) * 1024
    if not machine:  # not Linux: what there is at all
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
