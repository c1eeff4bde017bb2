"""The two ways to read a file, as commands that people type: in the process, and with Spark, its JVM included."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.bench_ground import Facts, duck_facts
from benchmarks.data import flights_csv, tax_csv
from benchmarks.frame import Case, benchmark, quick, timed

_COMMAND = "import sys; from holdfast.cli import main; sys.argv[0] = 'holdfast'; main()"
_GOALS = {"local": 3.0, "spark": 12.0}


def command(*words: object) -> str:
    """What a command prints."""
    line = [sys.executable, "-c", _COMMAND, *map(str, words)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def printed(path: Path, way: str) -> Facts:
    """The column facts that the command prints."""
    lines: list[dict[str, Any]] = [
        json.loads(line) for line in command("discover", path, "--with", way, "--format", "json").splitlines()
    ]
    columns = [line for line in lines if line["kind"] == "column"]
    return {f["column"]: (f["rows"], f["nulls"], f["distinct"], f["min"], f["max"]) for f in columns}


def duck(path: Path) -> Facts:
    """The same facts by DuckDB."""
    database = duckdb.connect()
    database.execute("SET threads = 2; SET enable_progress_bar = false; SET TimeZone = 'UTC'")
    database.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{path}')")
    return duck_facts(database, "t")


@benchmark("ways", "column facts of the flights from CSV, by the command, in the process and with Spark")
def ways() -> Iterator[Case]:
    path = tax_csv(10_000) if quick() else flights_csv()
    rival, theirs = timed(lambda: duck(path), 3)
    answers = {}
    for way, goal in _GOALS.items():
        ours, answers[way] = timed(lambda way=way: printed(path, way), 3)  # type: ignore[misc]
        note = f"load {os.getloadavg()[0]:.1f}"
        yield Case(
            f"discover {path.name} --with {way}", ours, rival, "DuckDB computes, in a process that runs", None,
            _same_numbers(answers[way], theirs), f"{goal:g} s", ours < goal, note,
        )  # fmt: skip
    yield Case("… both say the same", equal=answers["local"] == answers["spark"])


def _same_numbers(ours: Facts, theirs: Facts) -> bool:
    """Rows, nulls and distinct values; the least and greatest where both write them alike."""
    return {name: facts[:3] for name, facts in ours.items()} == {name: facts[:3] for name, facts in theirs.items()}


@benchmark("watch-once", "looking into a folder for files, by the command: nothing new, and one small file")
def watch_once() -> Iterator[Case]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as place:
        state, inbox = Path(place, "state"), Path(place, "in")
        inbox.mkdir()
        command("init", state, tax_csv(10_000))
        ours, _ = timed(lambda: command("watch", state, "--from", inbox, "--once"), 3)
        rival, _ = timed(lambda: command("status", state), 3)
        yield Case("watch --once, nothing to do", ours, rival, "status", goal="2 s", met=ours < 2)
        (inbox / "one.csv").write_bytes(tax_csv(1_000).read_bytes())
        ours, _ = timed(lambda: command("watch", state, "--from", inbox, "--once"), 1)
        yield Case("watch --once, 1,000 rows", ours, rival, "status", goal="2 s", met=ours < 2)
