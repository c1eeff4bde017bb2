"""Batches that come and go, and how long an engine takes for each."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.bench_denial import grown, shrunk
from holdfast.engines.contract import Engine
from holdfast.table.change import Batch, Change
from holdfast.table.runner import Threads

BATCH = 1000


def come_and_go(
    engine: Engine[Any, Any], state: Any, first: Change, data: pa.Table, count: int
) -> dict[str, list[float]]:
    """Batches that come, go and come again, so that all rows are there at the end."""
    spent: dict[str, list[float]] = {"inserted": [], "deleted": []}
    table, rows = first.after, first.after.rows
    for number in range(count):
        batch = data.slice(rows + number * BATCH, BATCH)
        change = grown(table, batch)
        spent["inserted"].append(_timed(engine, state, change))
        gone = shrunk(change.after, np.asarray(change.born, np.int64))
        spent["deleted"].append(_timed(engine, state, gone))
        again = grown(gone.after, batch)
        engine.follow(state, Batch([again]), Threads())
        table = again.after
    return spent


def _timed(engine: Engine[Any, Any], state: Any, change: Change) -> float:
    started = perf_counter()
    engine.follow(state, Batch([change]), Threads())
    return perf_counter() - started
