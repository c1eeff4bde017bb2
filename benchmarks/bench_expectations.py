"""What expectations cost a batch: the time that a batch spends on measuring, judging and storing its figures.

A table of 20 columns (values that are frequent, numbers, texts, days) with weeks of past batches gets 1,000 rows a day;
then four such tables get a batch together. The batch as a whole takes many times as long, and differs more from one to
the next than expectations cost, so their own calls are timed, within batches that are applied as always. The rival
computes figures of the same rows with Arrow: nulls, counts of values, means and quantiles, without comparing them.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.frame import Case, Rss, benchmark, quick
from holdfast.api.expectations import Expecting
from holdfast.api.monitor import Monitor
from holdfast.store import store
from holdfast.store.expected import put_expected

ROWS, PAST = 1_000, 45
MOST = 0.001  # seconds a table
FIRST = np.datetime64("2024-01-01")


def rows_of(random: np.random.Generator, day: int, count: int = ROWS) -> pa.Table:
    """The rows of a day: 20 columns."""
    columns: dict[str, Any] = {"id": np.arange(day * ROWS, day * ROWS + count), "day": np.full(count, FIRST + day)}
    for number in range(6):
        columns[f"kind{number}"] = random.choice(["a", "b", "c", "d", "e"][: 3 + number % 3], count)
        columns[f"amount{number}"] = np.round(random.lognormal(3, 1, count), 2)
        columns[f"name{number}"] = random.integers(0, 10**9, count).astype(str)
    return pa.table(columns)


def with_arrow(rows: pa.Table) -> dict[str, float]:
    """Figures of the same rows by Arrow; gives the means."""
    means = {}
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        assert column.null_count == 0
        if name.startswith("kind"):
            column.value_counts()
        if name.startswith("amount"):
            means[name] = pc.mean(column).as_py()
            pc.quantile(column, [0.05, 0.5, 0.95])
    pc.max(rows["day"])
    return means


@contextmanager
def timed(spent: list[float]) -> Iterator[None]:
    """Add up the seconds that each batch spends on expectations."""

    def adding(call: Callable[..., Any], begins: bool) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            started = perf_counter()
            found = call(*given)
            seconds = perf_counter() - started
            if begins:
                spent.append(seconds)
            else:
                spent[-1] += seconds
            return found

        return called

    measuring, storing = adding(Expecting.of_batch, True), adding(put_expected, False)
    with patch.object(Expecting, "of_batch", measuring), patch.object(store, "put_expected", storing):
        yield


@benchmark("expectations", "what it costs a batch to be measured and compared with those before it")
def expectations() -> Iterator[Case]:
    for tables in (1, 4):
        yield _case(tables, 20 if quick() else 60)


def _case(tables: int, batches: int) -> Case:
    random, spent, by_arrow = np.random.default_rng(2), list[float](), list[float]()
    first = {f"t{number}": pa.concat_tables(rows_of(random, day) for day in range(PAST)) for number in range(tables)}
    equal, whole = True, 0.0
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder,
        Rss() as weight,
        Monitor.create(Path(folder) / "state", first, watch=["column"], expect=True) as watch,
    ):
        for day in range(PAST, PAST + batches):
            data = rows_of(random, day)
            started = perf_counter()
            with timed(spent):
                outcome = watch.apply(inserts=dict.fromkeys(first, data))
            whole += perf_counter() - started
            started = perf_counter()
            means = with_arrow(data)
            by_arrow.append(perf_counter() - started)
            equal &= not outcome.unusual
        equal &= _means(watch, len(means)) == [round(mean, 9) for mean in means.values()]
        few = watch.apply(inserts=dict.fromkeys(first, rows_of(random, PAST + batches, ROWS // 20)))
        equal &= len(few.unusual) == tables
    found, theirs = statistics.median(spent) / tables, statistics.median(by_arrow)
    return Case(
        f"{tables} table(s), {ROWS:,} rows of 20 columns each", found, theirs, "figures by Arrow", weight.own_mb,
        equal, f"{1000 * MOST:g} ms a table", found < MOST,
        f"{1000 * found:.2f} ms a table, least {1000 * min(spent) / tables:.2f}, of batches of "
        f"{1000 * whole / batches:.0f} ms",
        ROWS,
    )  # fmt: skip


def _means(watch: Monitor, count: int) -> list[float]:
    """The means of the last batch, as they are stored."""
    stored = watch._store.expectations
    layout = stored.layouts()["t0"]
    last = stored.past("t0", "rows", -np.inf, len(layout.figures)).values[-1]
    means = [value for figure, value in zip(layout.figures, last, strict=True) if figure.kind == "mean"]
    return [round(float(value), 9) for value in means[:count]]
