"""What a state remembers: how many bytes a thousand batches add to it, and what remembering costs a batch.

Fifty rules are given for a small table, and batches break and mend some of them. The rival is the same state
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
from holdfast.api import apply_batch
from holdfast.api.monitor import Monitor
from holdfast.store import rule_events
from holdfast.store.layout import DATABASE
from holdfast.store.records import WitnessRows

RULES, ROWS, BATCH, COLUMNS = 50, 500, 10, 8
MENDED = 10  # batches after which the rows of a batch are deleted again
MOST_BYTES = 5_000_000


def rows_of(random: np.random.Generator, first: int, count: int) -> pa.Table:
    """Rows whose columns determine each other, but for a few wrong cells."""
    groups = random.integers(0, 40, count)
    columns = {"id": np.arange(first, first + count)}
    for number in range(COLUMNS):
        wrong = random.random(count) < 0.005
        columns[f"c{number}"] = np.where(wrong, random.integers(0, 40, count), (groups * (number + 3)) % 41)
    return pa.table(columns)


def rules() -> list[str]:
    """Dependencies between the columns."""
    return [f"c{a} -> c{b}" for a, b in permutations(range(COLUMNS), 2)][:RULES]


class Watched:
    """A state in a folder, with how long its batches took."""

    def __init__(self, folder: Path) -> None:
        self._random, self._file = np.random.default_rng(7), folder / DATABASE
        first = rows_of(self._random, 0, ROWS)
        Monitor.create(folder, {"t": first}, rules=rules(), key="id").close()
        self._before = self._file.stat().st_size
        self.monitor = Monitor.open(folder)
        self.spent: list[float] = []

    def apply(self, number: int) -> None:
        """One batch; some take away what the ones before brought."""
        first = ROWS + number * BATCH
        came = rows_of(self._random, first, BATCH)
        gone = pa.table({"id": np.arange(first - MENDED * BATCH, first)}) if number % MENDED == MENDED - 1 else None
        started = perf_counter()
        self.monitor.apply(inserts=came, deletes=gone)
        self.spent.append(perf_counter() - started)

    def closed(self) -> tuple[float, int]:
        """The median seconds of a batch, and the bytes that all of them added to the database."""
        self.monitor.close()
        return statistics.median(self.spent), self._file.stat().st_size - self._before


@contextmanager
def _forgetful() -> Iterator[None]:
    """States remember no figures, and no rows that broke a rule."""
    with (
        patch.object(apply_batch, "given_witnesses", lambda *_: {}),
        patch.object(apply_batch, "witness_rows", lambda *_: WitnessRows()),
        patch.object(rule_events, "put_figures", lambda *_: None),
    ):
        yield


@benchmark("memory", "what 1,000 batches with 50 given rules add to a state, and what remembering costs a batch")
def memory() -> Iterator[Case]:
    batches = 200 if quick() else 1000
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder, Rss() as weight:
        ours, theirs = Watched(Path(folder) / "ours"), Watched(Path(folder) / "theirs")
        for number in range(batches):  # by turns, so that what slows the machine slows both
            ours.apply(number)
            with _forgetful():
                theirs.apply(number)
        (found, added), (without, plain) = ours.closed(), theirs.closed()
    most = MOST_BYTES * batches // 1000
    yield Case(
        f"{batches:,} batches, {RULES} rules", found, without, "without the memory", weight.own_mb, None,
        f"{most:,} bytes", added < most,
        f"{added:,} bytes added, {plain:,} without; {1000 * found:.1f} ms a batch, {1000 * without:.1f} without",
        ROWS,
    )  # fmt: skip
