"""Inclusion dependencies on TPC-H, beside Desbordante's Spider and Faida, and beside ourselves from scratch."""

from __future__ import annotations

import gc
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.data import TPCH_FOREIGN_KEYS, TPCH_TABLES, tpch
from benchmarks.frame import Case, Rss, benchmark, quick, timed
from holdfast.api.monitor import Monitor
from holdfast.engines.inclusion import derive
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.table.runner import Threads
from holdfast.table.table import Table

# What numbers say and texts don't: the only ship priority, 0, is a tax and a discount of 0.00, and at larger scales
# every small whole number is also a supply cost.
ONLY_TYPED = {f"orders.o_shippriority in lineitem.l_{name}" for name in ("tax", "discount")} | {
    f"{name} in partsupp.ps_supplycost" for name in ("lineitem.l_linenumber", "lineitem.l_quantity", "part.p_size")
}


@contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def sources(scale: float) -> dict[str, str]:
    return {name: str(tpch(scale) / f"{name}.parquet") for name in TPCH_TABLES}


@contextmanager
def csv_files(scale: float) -> Iterator[list[str]]:
    """The same tables as the text that Desbordante reads; it leaves files where it runs, so it runs beside them."""
    maker = Path(sys.executable).parent / "tpchgen-cli"
    with scratch() as folder, chdir(folder):
        subprocess.run([maker, "csv", f"--scale-factor={scale:g}", f"--output-dir={folder}", "--quiet"], check=True)
        yield [str(folder / f"{name}.csv") for name in TPCH_TABLES]


def desbordante(algorithm: str, files: list[str]) -> set[str]:
    """The unary dependencies that a peer finds."""
    import desbordante

    peer = getattr(desbordante.ind.algorithms, algorithm)()
    peer.load_data(tables=[(file, ",", True) for file in files])
    peer.execute(**({"max_arity": 1} if algorithm == "Faida" else {}))
    headers = [pa.csv.open_csv(file).schema.names for file in files]
    found = set()
    for ind in peer.get_inds():
        sides = [(side.table_index, side.column_indices) for side in (ind.get_lhs(), ind.get_rhs())]
        if len(sides[0][1]) == 1:
            found.add(" in ".join(f"{TPCH_TABLES[table]}.{headers[table][columns[0]]}" for table, columns in sides))
    return found


def state_of(monitor: Monitor) -> Any:
    return monitor._state.workspace.states["ind", "*"]


def clocked(run: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    started = time.perf_counter()
    answer = run()
    return time.perf_counter() - started, answer


@benchmark("ind-static", "all unary inclusion dependencies of TPC-H, from Parquet")
def static() -> Iterator[Case]:
    scale = 0.01 if quick() else 1.0
    given = sources(scale)
    with scratch() as folder:
        with Rss() as weight:
            ours, monitor = clocked(lambda: Monitor.create(folder / "state", given, watch=["ind"]))
        with monitor:
            found = {ind.text for ind in monitor.results("ind")}
            best = {ind.text for ind in monitor.results("ind")[:9]}
            tables, engine = monitor.tables, make_engine("ind")
            again, _ = timed(lambda: engine.discover(watched(tables), Threads()), 3)
            deriving, _ = timed(lambda: derive.unary(state_of(monitor)), 20)
            cluster_count = len(state_of(monitor).clusters.counts)
        with csv_files(scale) as files:
            spider, theirs = clocked(lambda: desbordante("Spider", files))
            faida, probable = clocked(lambda: desbordante("Faida", files))
    equal = found - ONLY_TYPED == theirs
    yield Case(
        f"discover SF {scale:g}, {len(found)} found, state kept", ours, spider, "Spider from CSV, keeps nothing",
        weight.peak_mb, equal, "28 s, 4,000 MB", ours < 28 and weight.peak_mb < 4000,
        f"driver {weight.own_mb:,.0f} MB; the nine foreign keys first: {best == TPCH_FOREIGN_KEYS}",
    )  # fmt: skip
    yield Case("… beside the probable ones", ours, faida, "Faida from CSV", equal=found - ONLY_TYPED == probable)
    yield Case("… clusters of tables that are encoded", again, spider, "Spider with loading")
    yield Case(
        "derive from clusters", deriving, again, "discover again", goal="50 ms", met=deriving < 0.05,
        note=f"{cluster_count} clusters",
    )  # fmt: skip


def watched(tables: Mapping[str, Table]) -> dict[str, WatchedTable]:
    """Tables of which nothing is kept yet."""
    return {name: WatchedTable(table) for name, table in tables.items()}


def fresh_rows(part: pa.Table, number: int) -> pa.Table:
    """Rows of lineitem with comments that nobody wrote before, so that values come and go, too."""
    place = part.schema.get_field_index("l_comment")
    comments = pc.binary_join_element_wise(part.column(place).cast(pa.string()), f"{number}", " ")
    return part.set_column(place, "l_comment", comments)


@benchmark("ind-apply", "batches of lineitem rows on the state of TPC-H, with their commit")
def apply() -> Iterator[Case]:
    scale = 0.01 if quick() else 1.0
    for arity in (1, 2):
        with (
            scratch() as folder,
            Monitor.create(folder / "state", sources(scale), watch=["ind"], max_arity=arity) as m,
        ):
            rediscover, _ = clocked(
                partial(make_engine("ind", {"max_arity": arity}).discover, watched(m.tables), Threads())
            )
            yield from _batches(m, arity, 1_000, 12, 0.3, rediscover)
            if arity == 1:
                yield from _batches(m, arity, 10_000 if quick() else 100_000, 2, 10.0, rediscover)


def _batches(monitor: Monitor, arity: int, rows: int, times: int, goal: float, rediscover: float) -> Iterator[Case]:
    """Insert batches one by one, then delete them, and see that all is as it was."""
    source = pq.ParquetFile(sources(0.01 if quick() else 1.0)["lineitem"]).iter_batches(rows)
    parts = [fresh_rows(pa.Table.from_batches([next(source)]), number) for number in range(times)]
    before = {ind.text: ind for ind in monitor.results("ind")}
    for kind in ("inserts", "deletes"):
        seconds = []
        for part in parts:
            spent, _ = clocked(partial(monitor.apply, **{kind: part}, table="lineitem"))
            seconds.append(spent)
        equal = None if kind == "inserts" else before == {ind.text: ind for ind in monitor.results("ind")}
        middle = statistics.median(seconds[1:])  # the first one loads kernels
        yield Case(
            f"{rows:,} {kind}, up to {arity} column{'s' * (arity > 1)}", middle, rediscover, "discover again",
            None, equal, f"{goal:g} s", middle < goal, f"max {max(seconds[1:]):.3f} s of {times - 1}", rows,
        )  # fmt: skip


@benchmark("ind-tall", "TPC-H SF 10, 60 million rows of lineitem: complete within 16 GB")
def tall() -> Iterator[Case]:
    scale = 0.1 if quick() else 10.0
    given = sources(scale)
    with scratch() as folder:
        with Rss() as weight:
            ours, monitor = clocked(lambda: Monitor.create(folder / "state", given, watch=["ind"]))
        with monitor:
            found = monitor.results("ind")
            best = {ind.text for ind in found[:9]}
            part = fresh_rows(pq.ParquetFile(given["lineitem"]).read_row_group(0).slice(0, 1_000), 1)
            monitor.apply(inserts=part, table="lineitem")
            batch, _ = clocked(lambda: monitor.apply(deletes=part, table="lineitem"))
    yield Case(
        f"discover SF {scale:g}, {len(found)} found", ours, None, "", weight.peak_mb, None, "16,000 MB",
        weight.peak_mb < 16_000, f"driver {weight.own_mb:,.0f} MB; the nine first: {best == TPCH_FOREIGN_KEYS}",
    )  # fmt: skip
    yield Case("a batch of 1,000 deletes on it", batch, None, goal="0.3 s", met=batch < 0.3)
