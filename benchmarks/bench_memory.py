"""What a state remembers: how many bytes a thousand batches add to it, and what remembering costs a batch.

Fifty rules are given for a small table, and each batch breaks and mends some of them. The rival is the same state
without the memory: no figures, and no rows that broke a rule.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from benchmarks.frame import Case, Rss, benchmark, quick
from holdfast.api import monitor as applying
from holdfast.api.monitor import Monitor
from holdfast.store import events
from holdfast.store.database import DATABASE
from holdfast.store.records import KeptRows

RULES, ROWS, BATCH, COLUMNS = 50, 2000, 20, 8
MOST_BYTES = 5_000_000


def rows_of(random: np.random.Generator, first: int, count: int) -> pa.Table:
    """Rows whose columns determine each other, but for a few wrong cells."""
    groups = random.integers(0, 40, count)
    columns = {"id": np.arange(first, first + count)}
    for number in range(COLUMNS):
        wrong = random.random(count) < 0.002
        columns[f"c{number}"] = np.where(wrong, random.integers(0, 40, count), (groups * (number + 3)) % 41)
    return pa.table(columns)


def rules() -> list[str]:
    """Dependencies between the columns."""
    return [f"c{a} -> c{b}" for a, b in permutations(range(COLUMNS), 2)][:RULES]


def _measured(batches: int) -> tuple[float, int, float]:
    """The median seconds of a batch, the bytes that all of them add to the database, and the peak memory in MB."""
    random = np.random.default_rng(7)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        database = Path(folder) / "state" / DATABASE
        Monitor.create(database.parent, {"t": rows_of(random, 0, ROWS)}, rules=rules(), key="id").close()
        before = database.stat().st_size
        with Rss() as weight, Monitor.open(database.parent) as monitor:
            spent = [_applied(monitor, random, number) for number in range(batches)]
        return statistics.median(spent), database.stat().st_size - before, weight.own_mb


def _applied(monitor: Monitor, random: np.random.Generator, number: int) -> float:
    """How long a batch takes that replaces the oldest rows."""
    came = rows_of(random, ROWS + number * BATCH, BATCH)
    gone = pa.table({"id": np.arange(number * BATCH, (number + 1) * BATCH)})
    started = perf_counter()
    monitor.apply(inserts=came, deletes=gone)
    return perf_counter() - started


@contextmanager
def _forgetful() -> Iterator[None]:
    """States remember no figures, and no rows that broke a rule."""
    with (
        patch.object(applying, "given_witnesses", lambda *_: {}),
        patch.object(applying, "kept_rows", lambda *_: KeptRows()),
        patch.object(events, "put_figures", lambda *_: None),
    ):
        yield


@benchmark("memory", "what 1,000 batches with 50 given rules add to a state, and what remembering costs a batch")
def memory() -> Iterator[Case]:
    batches = 200 if quick() else 1000
    with _forgetful():
        without, plain, _ = _measured(batches)
    found, whole, peak_mb = _measured(batches)
    most = MOST_BYTES * batches // 1000
    yield Case(
        f"{batches:,} batches, {RULES} rules", found, without, "without the memory", peak_mb, None,
        f"{most:,} bytes", whole < most,
        f"{whole:,} bytes added, {plain:,} without; {1000 * found:.1f} ms a batch, {1000 * without:.1f} without",
        ROWS,
    )  # fmt: skip
