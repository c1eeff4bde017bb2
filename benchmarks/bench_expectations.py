"""What expectations cost a batch: two states get the same batches by turns, one of them without expectations.

A table of 20 columns (values that are frequent, numbers, texts, days) with weeks of past batches gets 1,000 rows a day;
then four such tables get a batch together. The rival is the same state without expectations. Answers: the last batch is
as far outside as it was made to be, in the one state, and all of its rows are in both.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.frame import Case, Rss, benchmark, quick
from holdfast.api.monitor import Monitor

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


class Watched:
    """A state of some tables, with how long its batches took."""

    def __init__(self, folder: Path, tables: int, expect: bool) -> None:
        random = np.random.default_rng(1)
        first = pa.concat_tables(rows_of(random, day) for day in range(PAST))
        self.tables = {f"t{number}": first for number in range(tables)}
        self.monitor = Monitor.create(folder, self.tables, watch=[], expect=expect)
        self.spent: list[float] = []
        self.unusual = 0

    def apply(self, rows: pa.Table) -> None:
        """One batch of all tables."""
        inserts = dict.fromkeys(self.tables, rows)
        started = perf_counter()
        outcome = self.monitor.apply(inserts=inserts)
        self.spent.append(perf_counter() - started)
        self.unusual = len(outcome.unusual)


@benchmark("expectations", "what it costs a batch to be measured and compared with those before it")
def expectations() -> Iterator[Case]:
    for tables in (1, 4):
        yield _case(tables, 20 if quick() else 60)


def _case(tables: int, batches: int) -> Case:
    random = np.random.default_rng(2)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder, Rss() as weight:
        ours, theirs = (Watched(Path(folder) / str(expect), tables, expect) for expect in (True, False))
        for number in range(batches):  # by turns, so that what slows the machine slows both
            data = rows_of(random, PAST + number, ROWS // 20 if number == batches - 1 else ROWS)
            for state in (ours, theirs):
                state.apply(data)
        equal = ours.unusual == tables and theirs.unusual == 0
        equal &= all(ours.monitor.tables[name].rows == theirs.monitor.tables[name].rows for name in ours.tables)
        costs = [one - other for one, other in zip(ours.spent, theirs.spent, strict=True)]
        for state in (ours, theirs):
            state.monitor.close()
    found, without = (statistics.median(state.spent) for state in (ours, theirs))
    cost = statistics.median(costs) / tables
    return Case(
        f"{tables} table(s), {ROWS:,} rows of 20 columns each", found, without, "without expectations", weight.own_mb,
        equal, f"{1000 * MOST:g} ms a table", cost < MOST,
        f"{1000 * cost:.2f} ms a table; {1000 * found:.1f} ms a batch, {1000 * without:.1f} without", ROWS,
    )  # fmt: skip
