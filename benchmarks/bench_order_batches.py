"""Rules of tall tables under batches: kept, beside our own fresh search of the changed table."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks.data import flights, shared, tax_parquet
from benchmarks.frame import Case, Rss, benchmark, quick
from holdfast.demo import tax
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import BatchReader, Sources, build_table
from holdfast.progress import SILENT
from holdfast.table.change import Batch, Change
from holdfast.table.runner import Threads
from holdfast.table.table import Table

BATCHES = 5


@dataclass(frozen=True)
class Plan:
    """A table, rows that come or go in each batch, and what is kept. Times are milliseconds."""

    name: str
    table: pa.Table
    arriving: pa.Table  # BATCHES * size rows that are not in the table
    size: int
    rules: tuple[str, ...]
    goal: float | None
    least: float | None = None  # how many times faster than a fresh search
    error: float = 0.0


def _plans() -> list[Plan]:
    adult = _parted("adult", pa.csv.read_csv(shared("adult")), 1_000, ("od",), 150)
    fifty = _parted("adult", pa.csv.read_csv(shared("adult")), 50, ("od",), 10)
    if quick():
        return [fifty]
    million = pa.parquet.read_table(tax_parquet(1_000_000))
    more = tax.make_tax(BATCHES * 1_000, offset=1_000_000)
    return [
        adult,
        fifty,
        _parted("flights, 10 columns", flights().select(range(10)), 1_000, ("od",), 100, 5),
        Plan("tax 1,000,000", million, more, 1_000, ("od",), 250, 5),
        _parted("flights, 19 columns", flights(), 1_000, ("fd", "ucc"), 300, 5),
        replace(adult, name="adult at 1 %", goal=None, error=0.01),
        replace(fifty, name="adult at 1 %", goal=None, error=0.01),
    ]


def _parted(
    name: str, whole: pa.Table, size: int, rules: tuple[str, ...], goal: float, least: float | None = None
) -> Plan:
    """Some rows of a table, chosen at random, arrive later than the others."""
    order = np.random.default_rng(0).permutation(whole.num_rows)
    late, early = np.sort(order[: BATCHES * size]), np.sort(order[BATCHES * size :])
    return Plan(name, whole.take(early), whole.take(late), size, rules, goal, least)


@benchmark("order-batches", "batches of inserts or deletes: rules of tall tables kept, beside a fresh search")
def batches() -> Iterator[Case]:
    for plan in _plans():
        for deleting in (False, True):
            if plan.size == 1_000 or not deleting:
                with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
                    yield _kept(plan, deleting, folder)


def _kept(plan: Plan, deleting: bool, folder: str) -> Case:
    table = build_table("t", plan.table, ReadOptions(), (), "equal", folder, None, SILENT).admitted.table
    engines = [make_engine(name, {"error": plan.error, "ordered": "*"}) for name in plan.rules]
    watched = WatchedTable(table)
    with Rss() as weight:
        states = [engine.discover(watched, Threads()) for engine in engines]
        spent = []
        for rows in _each_batch(plan, deleting):
            change = _change(table, rows, deleting, folder)
            started = time.perf_counter()
            watched.follow(change, Threads())
            batch = Batch([change])
            diffs = [engine.follow(state, batch, Threads()) for engine, state in zip(engines, states, strict=True)]
            diffs = [
                engine.explained(state, diff, batch) for engine, state, diff in zip(engines, states, diffs, strict=True)
            ]
            moved = sum(len(diff.lost) + len(diff.gained) for diff in diffs)
            spent.append(time.perf_counter() - started)
            table = change.after
    started = time.perf_counter()
    fresh = WatchedTable(table)
    again = [engine.discover(fresh, Threads()) for engine in engines]
    rival = time.perf_counter() - started
    equal = all(
        set(engine.result(kept)) == set(engine.result(found))
        for engine, kept, found in zip(engines, states, again, strict=True)
    )
    ours = statistics.median(spent[1:])
    goals = [] if plan.goal is None else [f"{plan.goal:g} ms"]
    goals += [] if plan.least is None else [f"{plan.least:g}x"]
    met = (plan.goal is None or 1000 * ours <= plan.goal) and (plan.least is None or rival >= plan.least * ours)
    return Case(
        f"{plan.name}, {', '.join(plan.rules)}: {plan.size:,} {'deleted' if deleting else 'inserted'}", ours, rival,
        "ourselves, found again", weight.own_mb, equal,
        ", ".join(goals), met if goals else None,
        f"the last batch moved {moved:,} rules; slowest {1000 * max(spent[1:]):.0f} ms", plan.table.num_rows,
    )  # fmt: skip


def _each_batch(plan: Plan, deleting: bool) -> Iterator[pa.Table]:
    if not deleting:
        for start in range(0, BATCHES * plan.size, plan.size):
            yield plan.arriving.slice(start, plan.size)
        return
    chosen = np.random.default_rng(1).permutation(plan.table.num_rows)
    for start in range(0, BATCHES * plan.size, plan.size):
        yield plan.table.take(chosen[start : start + plan.size])


def _change(table: Table, some: pa.Table, deleting: bool, folder: str) -> Change:
    sources = Sources(deletes=some) if deleting else Sources(inserts=some)
    done = BatchReader(table, (), ReadOptions(), None, "error", folder, None, SILENT).admit(sources)
    return Change(table, done.table, done.born, done.dead)
