"""The ground: starting to watch, opening, and applying a batch, beside DuckDB that computes the facts again."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from benchmarks.data import tax_csv, tax_parquet
from benchmarks.frame import Case, Rss, benchmark, quick
from holdfast.api.monitor import Monitor
from holdfast.demo.tax import make_tax
from holdfast.table.plain import plain_values

Facts = dict[str, tuple[Any, ...]]
_TEN = ["FName", "LName", "AreaCode", "Phone", "City", "State", "Zip", "Salary", "Rate", "ChildExemp"]


def our_facts(monitor: Monitor) -> Facts:
    return {
        facts["column"]: (facts["rows"], facts["nulls"], facts["distinct"], facts["min"], facts["max"])
        for facts in (finding.to_json() for finding in monitor.results("column"))
    }


def duck_facts(database: duckdb.DuckDBPyConnection, relation: str) -> Facts:
    """The same facts by SQL. (The most frequent values are left to us alone.)"""
    names = [row[0] for row in database.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()]
    parts = ", ".join(f'count(*) - count("{n}"), count(DISTINCT "{n}"), min("{n}"), max("{n}")' for n in names)
    row = database.execute(f"SELECT count(*), {parts} FROM {relation}").fetchone()
    assert row is not None
    total, cells = row[0], row[1:]
    return {name: (total, *cells[4 * i : 4 * i + 4]) for i, name in enumerate(names)}


def same(ours: Facts, theirs: Facts) -> bool:
    plain = {name: (*f[:3], *plain_values(pa.array(f[3:]))) for name, f in theirs.items()}
    return ours == plain


@contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        yield folder / "state"
    finally:
        shutil.rmtree(folder)


@benchmark("ground-init", "start watching Tax from CSV, and open the state again")
def init() -> Iterator[Case]:
    rows = 50_000 if quick() else 1_000_000
    path = tax_csv(rows)
    with scratch() as state:
        with Rss() as weight:
            started = time.perf_counter()
            monitor = Monitor.create(state, {"tax": str(path)}, watch=["column"])
            ours = time.perf_counter() - started
        found = our_facts(monitor)
        monitor.close()
        started = time.perf_counter()
        database = duckdb.connect()
        database.execute("SET threads = 2; SET enable_progress_bar = false")
        database.execute(f"CREATE TABLE tax AS SELECT * FROM read_csv('{path}', types={{'Zip': 'VARCHAR'}})")
        theirs = duck_facts(database, "tax")
        rival = time.perf_counter() - started
        yield Case(
            f"init, {rows:,} x 15 from CSV", ours, rival, "DuckDB reads and computes, keeps nothing", weight.peak_mb,
            same(found, theirs), "8 s", ours < 8, f"driver {weight.own_mb:,.0f} MB", rows,
        )  # fmt: skip
        yield Case(
            "… the driver's memory",
            None,
            peak_rss_mb=weight.own_mb,
            goal="1,500 MB",
            met=weight.own_mb < 1500,
            rows=rows,
        )
        opened = []
        for _ in range(5):
            started = time.perf_counter()
            monitor = Monitor.open(state)
            opened.append(time.perf_counter() - started)
            equal = our_facts(monitor) == found
            monitor.close()
        best = statistics.median(opened)
        yield Case("open that state", best, rival, "DuckDB from CSV", None, equal, "1 s", best < 1, rows=rows)


@benchmark("ground-apply", "a batch of 1,000 inserts, and of 500 deletes and 500 inserts, with its commit")
def apply() -> Iterator[Case]:
    sizes = (10_000, 30_000) if quick() else (100_000, 1_000_000)
    medians: dict[tuple[str, int], float] = {}
    for rows in sizes:
        table = make_tax(rows)
        with scratch() as state, Monitor.create(state, {"tax": table}, watch=["column"]) as monitor:
            living = table
            for kind in ("inserts", "inserts and deletes"):
                seconds, living = _apply_batches(monitor, living, kind, rows)
                medians[kind, rows] = statistics.median(seconds)
                database = duckdb.connect()
                database.execute("SET threads = 2; SET enable_progress_bar = false")
                database.register("living", living)
                started = time.perf_counter()
                theirs = duck_facts(database, "living")
                rival = time.perf_counter() - started
                yield Case(
                    f"1,000 {kind} at {rows:,}", medians[kind, rows], rival, "DuckDB computes again", None,
                    same(our_facts(monitor), theirs), "150 ms", medians[kind, rows] < 0.15,
                    f"max {max(seconds) * 1000:.0f} ms of {len(seconds)}", rows,
                )  # fmt: skip
    for kind in ("inserts", "inserts and deletes"):
        growth = medians[kind, sizes[1]] / medians[kind, sizes[0]]
        yield Case(
            f"growth of {kind}, {sizes[0]:,} to {sizes[1]:,}", medians[kind, sizes[1]], medians[kind, sizes[0]],
            "ourselves at the smaller size", None, None, "x 1.5", growth < 1.5, f"x {growth:.2f}",
        )  # fmt: skip


def _apply_batches(monitor: Monitor, living: pa.Table, kind: str, rows: int) -> tuple[list[float], pa.Table]:
    """The seconds that each of some batches took, and the table after them."""
    seconds = []
    offset = rows + (1_000_000 if "deletes" in kind else 0)
    for number in range(26):
        deletes = living.slice(0, 500) if "deletes" in kind else None
        fresh = make_tax(500 if deletes is not None else 1_000, offset=offset + 1_000 * number)
        started = time.perf_counter()
        monitor.apply(inserts=fresh, deletes=deletes)
        seconds.append(time.perf_counter() - started)
        living = pa.concat_tables([living.slice(len(deletes) if deletes is not None else 0), fresh])
    return seconds[1:], living  # the first one compiles or loads kernels


@benchmark("ground-tall", "ten million rows of ten columns: init through Spark and one batch, in 8 GB in all")
def tall() -> Iterator[Case]:
    rows = 200_000 if quick() else 10_000_000
    path = tax_parquet(rows)
    from holdfast.spark.session import session

    with scratch() as state, Rss() as weight:
        started = time.perf_counter()
        frame = session().read.parquet(str(path)).select(*_TEN)
        with Monitor.create(state, {"tax": frame}, watch=["column"]) as monitor:
            ours = time.perf_counter() - started
            made = our_facts(monitor)
            started = time.perf_counter()
            monitor.apply(inserts=make_tax(1_000, offset=rows).select(_TEN))
            first = time.perf_counter() - started
            started = time.perf_counter()
            monitor.apply(inserts=make_tax(1_000, offset=rows + 1_000).select(_TEN))
            batch = time.perf_counter() - started
    started = time.perf_counter()
    database = duckdb.connect()
    database.execute("SET threads = 2; SET enable_progress_bar = false")
    chosen = ", ".join(_TEN)
    theirs = duck_facts(database, f"(SELECT {chosen} FROM read_parquet('{path}'))")
    rival = time.perf_counter() - started
    yield Case(
        f"init, {rows:,} x 10 from Parquet", ours, rival, "DuckDB computes, keeps nothing", weight.peak_mb,
        same(made, theirs), "8,000 MB in all", weight.peak_mb < 8000, f"driver {weight.own_mb:,.0f} MB", rows,
    )  # fmt: skip
    yield Case("a batch of 1,000 on it", batch, rival, "DuckDB computes again", None, None, note=f"first {first:.2f} s")
