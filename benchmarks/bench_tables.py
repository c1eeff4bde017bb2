"""Batches across tables: orders with their new customers as one batch, beside two batches and DuckDB's check.

Ours is the whole batch, with its commit: it is read, kept true for the given reference and for all inclusion
dependencies, and made durable. DuckDB has both tables in memory, takes in the same rows, and looks for orphans again.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.bench_inclusion import scratch
from benchmarks.frame import Case, benchmark, quick
from holdfast.api.monitor import Monitor
from holdfast.results.outcome import Outcome

RULE = "orders.cust in customers.id"
BATCH, NEW = 1_000, 100  # orders of a batch, and customers that come with them
Batch = dict[str, pa.Table]


def rows(first_order: int, orders: int, first_customer: int, customers: int, seed: int) -> Batch:
    """Orders of some customers, who come with them."""
    draw = np.random.default_rng(seed)
    who = draw.integers(first_customer, first_customer + customers, orders)
    return {
        "orders": pa.table(
            {
                "id": np.arange(first_order, first_order + orders),
                "cust": who,
                "amount": draw.integers(1, 10_000, orders) / 4,
            }
        ),
        "customers": pa.table(
            {
                "id": np.arange(first_customer, first_customer + customers),
                "name": [f"customer {number}" for number in range(first_customer, first_customer + customers)],
            }
        ),
    }


def together(monitor: Monitor, batch: Batch) -> list[Outcome]:
    return [monitor.apply(inserts=batch)]


def customers_first(monitor: Monitor, batch: Batch) -> list[Outcome]:
    return [monitor.apply(inserts=batch[name], table=name) for name in ("customers", "orders")]


def orders_first(monitor: Monitor, batch: Batch) -> list[Outcome]:
    return [monitor.apply(inserts=batch[name], table=name) for name in ("orders", "customers")]


def ours(folder: Path, first: Batch, batches: list[Batch], how: Callable[[Monitor, Batch], list[Outcome]]) -> tuple[
    float, int, int
]:  # fmt: skip
    """The seconds of a batch in the middle, how many batches were an alarm, and the orphans in the end."""
    keys = {"orders": "id", "customers": "id"}
    with Monitor.create(folder / how.__name__, first, watch=["column", "ind"], rules=RULE, key=keys) as monitor:
        seconds, alarms = [], 0
        for batch in batches:
            started = perf_counter()
            done = how(monitor, batch)
            seconds.append(perf_counter() - started)
            alarms += sum(outcome.broken for outcome in done)
        return statistics.median(seconds[1:]), alarms, monitor.violations()[0].count


def theirs(first: Batch, batches: list[Batch]) -> tuple[float, int]:
    """The same by DuckDB: the seconds of a batch in the middle, and the orphans in the end."""
    seconds, orphans = [], 0
    with duckdb.connect() as connection:
        for name, table in first.items():
            connection.register("arrow", table)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM arrow")
        for batch in batches:
            started = perf_counter()
            for name, table in batch.items():
                connection.register("arrow", table)
                connection.execute(f"INSERT INTO {name} SELECT * FROM arrow")
            query = "SELECT count(*) FROM orders WHERE cust NOT IN (SELECT id FROM customers)"
            orphans = connection.execute(query).fetchall()[0][0]
            seconds.append(perf_counter() - started)
    return statistics.median(seconds[1:]), orphans


@benchmark("tables", "1,000 orders with 100 new customers: one batch of both tables, beside two batches and DuckDB")
def tables() -> Iterator[Case]:
    orders, customers = (20_000, 2_000) if quick() else (1_000_000, 100_000)
    count = 4 if quick() else 12
    first = rows(0, orders, 0, customers, 0)
    batches = [
        rows(orders + number * BATCH, BATCH, customers + number * NEW, NEW, number + 1) for number in range(count)
    ]
    with scratch() as folder:
        one, alarms, orphans = ours(folder, first, batches, together)
        rival, expected = theirs(first, batches)
        yield Case(
            f"one batch, {orders:,} orders", one, rival, "DuckDB, orphans again", None, orphans == expected,
            note=f"{alarms} alarms", rows=orders,
        )  # fmt: skip
        for how in (customers_first, orders_first):
            two, wrong, left = ours(folder, first, batches, how)
            yield Case(
                "… beside two", one, two, how.__name__.replace("_", " "), None, left == orphans,
                note=f"two: {wrong} alarms", rows=orders,
            )  # fmt: skip
