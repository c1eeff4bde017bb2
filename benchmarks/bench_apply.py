"""Ten rows by the command line: a process that starts, opens a state, applies a batch and ends. Beside it the same
batch in a process that has the state open, and DuckDB, which has the table in memory and computes all answers again.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

import duckdb
import pyarrow as pa

from benchmarks.bench_denial import RULES
from benchmarks.bench_ground import duck_facts, our_facts, same, scratch
from benchmarks.data import tax_parquet
from benchmarks.frame import Case, benchmark, quick, race
from benchmarks.tax_errors import dirty_tax
from holdfast.api import upkeep
from holdfast.api.monitor import Monitor
from holdfast.demo.tax import write_csv

WATCHED = (RULES["φ7"], RULES["φ8"], RULES["φ10"], "Zip -> State")
BATCH, WAITING = 10, 64
# What DuckDB computes, as somebody would who knows how to count pairs by groups: pairs of φ7 and φ8, and whether there
# is one of φ10 and of the dependency.
QUERIES = (
    "SELECT coalesce(sum(n * (n - 1)), 0) / 2 FROM (SELECT count(*) AS n FROM tax GROUP BY AreaCode, Phone)",
    """SELECT sum(n * n - squares) / 2 FROM (
         SELECT Zip, sum(n) AS n, sum(n * n) AS squares
         FROM (SELECT Zip, City, count(*) AS n FROM tax GROUP BY ALL) GROUP BY Zip)""",
    """SELECT count(*) > 0 FROM (
         SELECT min(Rate) AS least, max(max(Rate)) OVER (PARTITION BY State ORDER BY Salary
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM tax GROUP BY State, Salary)
       WHERE least < before""",
    "SELECT count(*) > 0 FROM (SELECT Zip FROM tax GROUP BY Zip HAVING count(DISTINCT State) > 1)",
)


@dataclass(frozen=True)
class Ran:
    """A command that ended: how long it took, and the most memory that it had."""

    seconds: float
    peak_mb: float


def command(*words: object) -> Ran:
    """Run the command line."""
    return _ran(Path(sys.executable).with_name("holdfast"), *words)


def _ran(*words: object) -> Ran:
    """Run a program of Python's as it runs when installed: with bytecode, and with what it prints thrown away."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started, peak = time.perf_counter(), 0.0
    process = subprocess.Popen(
        [sys.executable, *map(str, words)], env=known, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None:
        peak = max(peak, _high_water_mb(process.pid))
        time.sleep(0.002)
    seconds = time.perf_counter() - started
    if process.returncode > 1:
        raise RuntimeError(f"{words[1]} ended with code {process.returncode}")
    return Ran(seconds, peak)


def _high_water_mb(process: int) -> float:
    """The most memory that a process has had so far: a mark that the kernel keeps, so that no peak is missed."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0


class Batches:
    """Batches of rows that follow those of the table; one row of each has a City that isn't its Zip's."""

    def __init__(self, rows: int) -> None:
        self._next = rows
        self.applied: list[pa.Table] = []

    def next(self) -> pa.Table:
        """The next batch."""
        made = dirty_tax(BATCH, 1 / BATCH, offset=self._next)
        self._next += BATCH
        self.applied.append(made)
        return made


@benchmark("apply-cli", "10 rows by the command line, with φ7, φ8, φ10, Zip -> State and column facts")
def apply_cli() -> Iterator[Case]:
    sizes = (2_000, 20_000) if quick() else (100_000, 1_000_000, 10_000_000)
    smallest: float | None = None
    for rows in sizes:
        with scratch() as state:
            _watch(state, rows)
            if smallest is None:
                yield _opening(state, rows)
            cases = _applying(state, rows, smallest)
            smallest = smallest or cases[0].ours
            yield from cases


def _watch(state: Path, rows: int) -> None:
    """Start a state, in a process of its own: this one stays small."""
    rules = state.parent / "rules.yaml"
    rules.write_text("rules:\n" + "".join(f'  - rule: "{rule}"\n' for rule in WATCHED))
    command("init", state, f"tax={tax_parquet(rows)}", "--rules", rules)


def _applying(state: Path, rows: int, smallest: float | None) -> list[Case]:
    batches, file, repeat = Batches(rows), state.parent / "batch.csv", 3 if quick() else 5
    ran = []
    for _ in range(repeat):
        write_csv(batches.next(), file)
        ran.append(command("apply", state, "--insert", file))
    seconds, peak = statistics.median(each.seconds for each in ran), max(each.peak_mb for each in ran)
    live, equal, rival = _live(state, rows, batches, repeat)
    note = f"first {ran[0].seconds:.2f} s" + (f", x {seconds / smallest:.2f} the smallest" if smallest else "")
    goal = "x 1.5 the smallest, 1,000 MB" if smallest else "0.9 s"
    met = seconds < 1.5 * smallest and peak < 1_000 if smallest else seconds < 0.9
    again = "DuckDB computes again"
    return [
        Case(f"holdfast apply, {BATCH} rows at {rows:,}", seconds, rival, again, peak, equal, goal, met, note, rows),
        Case("… the same in a live process", live, rival, again, None, equal, rows=rows),
    ]


def _live(state: Path, rows: int, batches: Batches, repeat: int) -> tuple[float, bool, float]:
    """The seconds of a batch in a process that has the state open; whether DuckDB finds the same, and its seconds."""
    spent = []
    with Monitor.open(state) as monitor:
        for _ in range(repeat + 1):  # the first one loads kernels
            batch = batches.next()
            started = time.perf_counter()
            monitor.apply(inserts=batch)
            spent.append(time.perf_counter() - started)
        found = {each.text: each.to_json()["violations"] for name in ("dc", "named") for each in monitor.results(name)}
        facts = our_facts(monitor)
    database = duckdb.connect()
    database.execute("SET threads = 2; SET enable_progress_bar = false")
    database.execute(f"CREATE TABLE tax AS SELECT * FROM read_parquet('{tax_parquet(rows)}')")
    database.register("more", pa.concat_tables(batches.applied))
    database.execute("INSERT INTO tax SELECT * FROM more")
    started = time.perf_counter()
    theirs = duck_facts(database, "tax")
    answers = [database.execute(query).fetchall()[0][0] for query in QUERIES]
    rival = time.perf_counter() - started
    phones, cities, *rest = (found[rule] for rule in WATCHED)
    equal = same(facts, theirs) and answers == [phones, cities, *(violations > 0 for violations in rest)]
    return statistics.median(spent[1:]), equal, rival


def _opening(state: Path, rows: int) -> Case:
    """A process that opens a state whose batches wait for their replay, beside one that opens it without them."""
    copy, batches = state.with_name("waiting"), Batches(rows)
    shutil.copytree(state, copy)
    never = (patch.object(upkeep, name, 1 << 30) for name in ("_REPLAY_BATCHES", "_REPLAY_SECONDS"))
    with ExitStack() as patches:
        for each in never:  # no checkpoint takes them in
            patches.enter_context(each)
        with Monitor.open(copy) as monitor:
            for _ in range(WAITING):
                monitor.apply(inserts=batches.next())
    code = "import sys, holdfast; holdfast.Monitor.open(sys.argv[1]).close()"
    raced = race(partial(_ran, "-c", code, copy), partial(_ran, "-c", code, state))
    many, none = raced.ours, raced.rival
    return Case(
        f"opening with {WAITING} waiting batches at {rows:,}", many, none, "ourselves, with none", None, None,
        "x 2", many < 2 * none, f"x {many / none:.2f}", rows,
    )  # fmt: skip
