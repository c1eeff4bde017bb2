"""Pointwise order dependencies: from scratch, under batches, and how fast pairs of rows are compared."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

import holdfast as hf
from benchmarks.bench_order import discovered
from benchmarks.bench_pairs import change_of, table_of
from benchmarks.data import flights, shared, tax_parquet
from benchmarks.frame import Case, Rss, benchmark, quick, race, timed
from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise import row_samples
from holdfast.engines.pointwise.boxes import EQUAL, FREE, LESS, MORE, Space, mirrored
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.pairs.counting import Count, all_pairs, merged
from holdfast.pairs.ranked_rows import RankedWeightedRows
from holdfast.pairs.signatures import ORDERED, Signed, values_of
from holdfast.table.change import Batch, Change
from holdfast.table.runner import Threads
from holdfast.table.table import Table

Ints = NDArray[np.int64]

EARLY = 276_776  # flights before the batch of 60,000
_EXEMPTIONS = ("SingleExemp", "MarriedExemp", "ChildExemp")


def numbers_of(table: pa.Table, columns: int | None = None) -> pa.Table:
    """The first columns of a table that are no text."""
    plain = [name for name in table.column_names if not pa.types.is_string(table.schema.field(name).type)]
    return table.select(plain[:columns])


def letter() -> pa.Table:
    """The first 12 numbers of each letter, 20,000 rows."""
    return numbers_of(pa.csv.read_csv(shared("letter")), 12)


def ordered_flights() -> pa.Table:
    """The 14 columns of the flights that have an order and more than one value."""
    return numbers_of(flights().drop_columns("year"))


def stock_prices(rows: int, companies: int = 300) -> pa.Table:
    """Prices of companies on whole days, and what follows from them: 7 columns, as the paper's table of that kind."""
    numbers = np.random.default_rng(7)
    company, day = np.arange(rows) % companies, np.arange(rows) // companies
    steps = np.exp(numbers.normal(0, 0.02, rows)).reshape(-1, companies)
    closing = (numbers.uniform(5, 500, companies) * np.cumprod(steps, axis=0)).round(2).reshape(-1)
    opening = (closing * np.exp(numbers.normal(0, 0.01, rows))).round(2)
    spread = numbers.uniform(0, 0.03, rows)
    split = 2.0 ** numbers.integers(0, 3, companies)  # adjusted prices are those before shares were split
    return pa.table(
        {
            "company": company,
            "day": day,
            "opening": opening,
            "high": (np.maximum(opening, closing) * (1 + spread)).round(2),
            "low": (np.minimum(opening, closing) * (1 - spread)).round(2),
            "closing": closing,
            "adjusted": closing / split[company],
        }
    )


# ---- from scratch ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """A table, how long the search may take and how much memory, and how far left sides go. All columns are ordered."""

    name: str
    table: pa.Table
    goal: float | None = None
    most_mb: float | None = None
    max_lhs: int | None = None
    known: int | None = None  # how many rules there are
    min_coverage: float = 0.0

    @property
    def texts(self) -> str | None:
        """The columns of text."""
        names = [field.name for field in self.table.schema if pa.types.is_string(field.type)]
        return ",".join(names) or None


def _plans() -> Iterator[Plan]:
    """Large ones first: what an earlier one leaves in memory counts in a later one."""
    if not quick():
        yield Plan("flights, 14 columns", ordered_flights(), 8.0, 1_000, 3)
        yield Plan("tax 1,000,000, numbers", numbers_of(pa.parquet.read_table(tax_parquet(1_000_000))), 3.0)
        yield Plan("letter, 12 columns", letter().slice(0, 15_000), 2.0)
        yield Plan("300 letters, 12 columns, coverage 1 %", letter().slice(0, 300), max_lhs=12, min_coverage=0.01)
        tax_10k = pa.csv.read_csv(shared("tax_10k"))
        chosen = [name for name in tax_10k.column_names if name in ("AreaCode", "Zip", "Salary", "Rate", *_EXEMPTIONS)]
        yield Plan("tax_10k, 7 columns", tax_10k.select(chosen), max_lhs=7, known=20)
        yield Plan("bridges, A to I", pa.csv.read_csv(shared("bridges")).select(range(9)), max_lhs=9, known=9_340)
    yield Plan("abalone", pa.csv.read_csv(shared("abalone")), max_lhs=9, known=14_570)


@benchmark("pod", "pointwise order dependencies of a file: the search, after reading")
def scratch() -> Iterator[Case]:
    hf.discover(shared("iris"), "pod")  # loads the kernels
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        for plan in _plans():
            file = Path(folder, "table.csv")
            pa.csv.write_csv(plan.table, file)
            limits = {"max_lhs": plan.max_lhs, "ordered": plan.texts, "min_coverage": plan.min_coverage}
            ours = discovered(file, "pod", 2, **limits)
            goals = [] if plan.goal is None else [f"{plan.goal:g} s"]
            goals += [] if plan.most_mb is None else [f"{plan.most_mb:,.0f} MB"]
            met = (plan.goal is None or ours.search <= plan.goal) and ours.peak_mb <= (plan.most_mb or ours.peak_mb)
            never = sum(1 for _ in ours.found.denials())
            yield Case(
                f"{plan.name}{'' if plan.max_lhs is None else f', left sides up to {plan.max_lhs}'}", ours.search,
                peak_rss_mb=ours.peak_mb, equal=None if plan.known is None else len(ours.found) == plan.known,
                goal=", ".join(goals), met=met if goals else None,
                note=f"{len(ours.found):,} rules, {never:,} never-sets; {ours.seconds:.2f} s with reading",
                rows=plan.table.num_rows,
            )  # fmt: skip


# ---- under batches --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stream:
    """A table, and batches of rows that come, or go, one after the other."""

    name: str
    table: pa.Table
    batches: tuple[pa.Table, ...]
    deleting: bool
    goal: float  # seconds a batch
    least: float | None = None  # how many times faster than a fresh search
    max_lhs: int | None = None


def _streams() -> Iterator[Stream]:
    if quick():
        snails = pa.csv.read_csv(shared("abalone"))
        yield Stream("abalone", snails.slice(0, 4_000), (snails.slice(4_000),), False, 1.0)
        return
    whole = letter()
    yield Stream("letter, 12 columns", whole.slice(0, 15_000), (whole.slice(15_000, 4_500),), False, 1.0)
    prices = stock_prices(117_000)
    yield Stream("stock prices, 7 columns", prices.slice(0, 90_000), (prices.slice(90_000),), False, 0.9)
    travel = ordered_flights()
    yield Stream("flights, 14 columns", travel.slice(0, EARLY), (travel.slice(EARLY),), False, 4.0, max_lhs=3)
    last = travel.num_rows - 5_000
    some = tuple(travel.slice(begin, 1_000) for begin in range(last, travel.num_rows, 1_000))
    yield Stream("flights, 14 columns", travel.slice(0, last), some, False, 0.3, max_lhs=3)
    chosen = np.random.default_rng(1).permutation(travel.num_rows)[:5_000].reshape(5, 1_000)
    yield Stream("flights, 14 columns", travel, tuple(map(travel.take, chosen)), True, 0.3, 30, max_lhs=3)


@benchmark("pod-batches", "batches of inserts or deletes: pointwise rules kept, beside a fresh search")
def batches() -> Iterator[Case]:
    iris = pa.csv.read_csv(shared("iris"))
    for stream in (Stream("iris", iris.slice(0, 100), (iris.slice(100),), False, 1.0), *_streams()):
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
            case = _kept(stream, folder)
        if stream.name != "iris":  # which loads the kernels, those that look for witnesses, too
            yield case


def _kept(stream: Stream, folder: str) -> Case:
    table = table_of(stream.table, folder)
    engine = make_engine("pod", {"max_lhs": stream.max_lhs})
    watched, spent, moved = WatchedTable(table), [], 0
    with Rss() as weight:
        state = engine.discover(watched, Threads())
        for batch in stream.batches:
            change = _change(table, batch, stream.deleting, folder)
            started = time.perf_counter()
            watched.follow(change, Threads())
            diff = engine.follow(state, Batch([change]), Threads())
            diff = engine.explained(state, diff, Batch([change]))
            moved = len(diff.lost) + len(diff.gained)
            spent.append(time.perf_counter() - started)
            table = change.after
    rival, again = timed(lambda: engine.discover(WatchedTable(table), Threads()), 1)
    ours = statistics.median(spent[1:] or spent)  # where there are several, the first one loads kernels
    goals = [f"{stream.goal:g} s"] + ([] if stream.least is None else [f"{stream.least:g}x"])
    return Case(
        f"{stream.name}, {stream.table.num_rows:,} rows: {len(stream.batches[-1]):,} "
        f"{'deleted' if stream.deleting else 'inserted'}",
        ours, rival, "ourselves, found again", weight.own_mb, set(engine.result(state)) == set(engine.result(again)),
        ", ".join(goals), ours <= stream.goal and rival >= (stream.least or 0) * ours,
        f"{len(engine.result(state)):,} rules; the last batch moved {moved:,}", stream.table.num_rows,
    )  # fmt: skip


def _change(table: Table, rows: pa.Table, deleting: bool, folder: str) -> Change:
    return change_of(table, folder, deletes=rows) if deleting else change_of(table, folder, inserts=rows)


# ---- evidence -------------------------------------------------------------------------------------------------------


@benchmark("pod-evidence", "comparing pairs of rows by order: counted, or looked at for signatures that are wanted")
def evidence() -> Iterator[Case]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        rows = letter()
        yield _beside_numpy(table_of(rows.slice(0, 200 if quick() else 1_500), folder))
        table = table_of(rows.slice(0, 300 if quick() else 15_000), folder)
        yield from _counted(table)
        yield _looked_at(table_of(ordered_flights().slice(0, 5_000 if quick() else None), folder))


def _beside_numpy(table: Table) -> Case:
    rows, cells = RankedWeightedRows.of_table(table), RankedColumns(table).cells
    run = race(lambda: merged(all_pairs(rows, ORDERED, False)), lambda: numpy_signatures(cells), 3)
    values, counts = values_of(run.ours_answer[0], len(cells)), run.ours_answer[1]
    numbers = np.select([values == LESS, values == EQUAL], [0, 1], 2) @ 3 ** np.arange(len(cells))
    order = np.argsort(numbers)
    same = all(map(np.array_equal, (numbers[order], counts[order]), run.rival_answer))
    return run.case(f"all pairs of {table.rows:,} letters, 12 columns", "NumPy", same, rows=table.rows)


def numpy_signatures(cells: NDArray[np.uint32]) -> tuple[Ints, Ints]:
    """The ordered pairs of different rows by number: a digit a column, 0, 1, 2 where the first is less, equal, more."""
    found = []
    for row in range(cells.shape[1]):
        digits = (cells[:, [row]] >= cells).astype(np.int64) + (cells[:, [row]] > cells)
        found.append(np.delete(3 ** np.arange(len(cells)) @ digits, row))
    numbers, counts = np.unique(np.concatenate(found), return_counts=True)
    return numbers, counts


def _counted(table: Table) -> Iterator[Case]:
    """Each pair of rows once, by one core and by two. Equal rows are compared as one."""
    rows = RankedWeightedRows.of_table(table)
    count = Count(rows, rows, ORDERED, False, within=True)
    pairs = table.rows * (table.rows - 1) // 2
    ways: dict[int, Callable[[], list[Signed]]] = {1: lambda: [count.share(0, 1)], 2: count.whole}
    for cores, run in ways.items():
        run()  # loads kernels
        ours, parts = timed(run, 5)
        each = ours / pairs * 1e9
        yield Case(
            f"{pairs:,} pairs of letters, 12 columns, on {cores} {'core' if cores == 1 else 'cores'}", ours,
            goal=f"{1.3 / cores:g} ns a pair", met=each <= 1.3 / cores, rows=table.rows,
            note=f"{each:.2f} ns a pair; {len(merged(parts)[1]):,} signatures; load {os.getloadavg()[0]:.1f}",
        )  # fmt: skip


def _looked_at(table: Table) -> Case:
    """The last rows against all, as batches are: flights of one number that went farther in less time."""
    rows, space = RankedColumns(table), Space((True,) * len(table.schema.columns))
    box = np.full((1, space.columns), FREE, np.uint8)
    names = list(table.schema.names)
    for name, mark in (("flight", EQUAL), ("distance", MORE), ("air_time", LESS)):
        box[0, names.index(name)] = mark
    new = min(1_000, table.rows // 10)
    samples, boxes = row_samples.against_all(rows, table.rows - new), np.concatenate([box, mirrored(box)])
    row_samples.pairs_in(rows, space, boxes, samples)  # loads kernels
    ours, found = timed(lambda: row_samples.pairs_in(rows, space, boxes, samples), 3)
    pairs = sum(block.count * len(block.rows) for block in samples)
    each = ours / pairs * 1e9 * (os.cpu_count() or 1)
    return Case(
        f"{new:,} flights against {table.rows:,}, 14 columns", ours, equal=_all_in(rows, box[0], found),
        goal="1.8 ns a pair and core", met=each <= 1.8, rows=table.rows,
        note=f"{each:.2f} ns a pair and core; {len(found):,} signatures of that kind",
    )  # fmt: skip


def _all_in(rows: RankedColumns, box: NDArray[np.uint8], pairs: Ints) -> bool:
    """Whether all pairs lie in a box, from one row or from the other."""
    one, other = (rows.cells[:, pairs[:, side]].T for side in range(2))
    values = np.select([one < other, one == other], [LESS, EQUAL], MORE).astype(np.uint8)
    return bool(((values & box).all(axis=1) | (mirrored(values) & box).all(axis=1)).all())
