"""Order dependencies from scratch: exact, beside Desbordante's Fastod; growth with rows; approximate."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

import holdfast as hf
from benchmarks.data import flights, shared, tax_csv
from benchmarks.frame import Case, Rss, benchmark, quick
from benchmarks.rivals import Rule, rules_by
from holdfast.progress import Progress


class SearchClock(Progress):
    """Notes when reading ended and the search began."""

    def __init__(self) -> None:
        self.begun = 0.0

    def step(self, text: str) -> None:
        """Reading ends where the first class is looked for."""
        if text.startswith("Finding") and not self.begun:
            self.begun = time.perf_counter()


@dataclass(frozen=True)
class Timed:
    """What ours found in a file: seconds with reading and without, and the most memory that was in use."""

    found: hf.Found
    seconds: float
    search: float
    peak_mb: float


def discovered(file: Path, rules: str, repeat: int, **settings: Any) -> Timed:
    """The quickest of some runs of what the command line calls; text has an order, as it has for the rivals."""
    runs, settings = [], {**settings, **({"ordered": "*"} if rules == "od" else {})}
    for _ in range(repeat):
        clock = SearchClock()
        with Rss() as weight:
            started = time.perf_counter()
            found = hf.discover(file, rules, progress=clock, **settings)
            ended = time.perf_counter()
        runs.append(Timed(found, ended - started, ended - clock.begun, weight.own_mb))
    return min(runs, key=lambda run: run.seconds)


def order_rules(found: hf.Found) -> set[Rule]:
    """The order dependencies by column numbers."""
    return {
        _by_number(rule, [c.name for c in schema.columns])
        for schema, _ in found.shapes.values()
        for rule in found.to_json()
    }


def _by_number(rule: dict[str, Any], names: list[str]) -> Rule:
    place = {name: number for number, name in enumerate(names)}
    context = tuple(sorted(place[name] for name in rule["context"]))
    if "constant" in rule:
        return context, place[rule["constant"]]
    a, b = sorted(place[name] for name in rule["pair"])
    return context, (a, b, rule["direction"] == "desc")


def first_flights(folder: str, columns: int, rows: int) -> Path:
    """The first columns and rows of the flights as a CSV file."""
    file = Path(folder, f"flights_{columns}_{rows}.csv")
    pa.csv.write_csv(flights().select(range(columns)).slice(0, rows), file)
    return file


FLIGHTS = 336_776


@dataclass(frozen=True)
class Plan:
    """A table, how long we may take and how much memory, and how long the rival may take.

    Both sort alike, except where a column of numbers has missing values: `comparable` is False then.
    """

    name: str
    file: Path
    goal: float | None  # seconds; None: no slower than the rival
    limit: float = 120.0
    most_mb: float = 700.0
    comparable: bool = True
    search_alone: bool = False


def _plans(folder: str) -> list[Plan]:
    small = [
        Plan("abalone", shared("abalone"), None),
        Plan("ncvoter_1k", shared("ncvoter_1k"), 0.4),
        Plan("hepatitis", shared("hepatitis"), 0.5, 300.0, comparable=False),
    ]
    if quick():
        return small[:2]
    return [
        *small,
        Plan("adult", shared("adult"), 1.0, 300.0),
        Plan("letter", shared("letter"), 3.0, 600.0),
        Plan("flights, 10 columns", first_flights(folder, 10, FLIGHTS), 2.5, 600.0, comparable=False),
        Plan("tax 1,000,000", tax_csv(1_000_000), 3.0, search_alone=True),
        Plan("flights, 19 columns", first_flights(folder, 19, FLIGHTS), 35.0, most_mb=1500.0, comparable=False),
    ]


@benchmark("order", "order dependencies of a file, both directions, beside Desbordante's Fastod, reading included")
def order() -> Iterator[Case]:
    hf.discover(shared("iris"), "od")  # loads the kernels
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        for plan in _plans(folder):
            yield _raced(plan)


def _raced(plan: Plan) -> Case:
    ours = discovered(plan.file, "od", 3 if plan.goal is None or plan.goal < 3 else 1)
    theirs = rules_by("Fastod", plan.file, plan.limit)
    mine = order_rules(ours.found)
    counts = [sum(isinstance(of, int) for _, of in mine)]
    counts += [sum(isinstance(of, tuple) and of[2] == down for _, of in mine) for down in (False, True)]
    seconds = ours.search if plan.search_alone else ours.seconds
    wanted = theirs.seconds if plan.goal is None else plan.goal
    return Case(
        f"{plan.name}: {counts[0]:,} constants, {counts[1]:,} asc, {counts[2]:,} desc", seconds, theirs.seconds,
        f"Fastod{theirs.stopped}", ours.peak_mb, _equal(mine, theirs.rules, plan.comparable),
        f"{'Fastod' if plan.goal is None else f'{plan.goal:g} s'}, {plan.most_mb:,.0f} MB",
        seconds <= wanted and ours.peak_mb <= plan.most_mb,
        f"search {ours.search:.2f} s of {ours.seconds:.2f} s; Fastod loads for {theirs.load:.1f} s"
        + _apart(mine, theirs.rules, plan.comparable),
    )  # fmt: skip


def _equal(mine: set[Rule], theirs: frozenset[Rule] | None, comparable: bool) -> bool | None:
    if theirs is None:
        return None
    return mine == theirs if comparable or mine == theirs else None


def _apart(mine: set[Rule], theirs: frozenset[Rule] | None, comparable: bool) -> str:
    """Why the answers may differ: Fastod sorts a missing number, or `?`, elsewhere than first."""
    if theirs is None or comparable or mine == theirs:
        return ""
    return f"; {len(mine ^ theirs):,} rules differ, as Fastod doesn't sort missing numbers first"


@benchmark("order-growth", "order dependencies of the flights' first 10 columns: how time grows with rows")
def growth() -> Iterator[Case]:
    sizes = [5_000, 20_000] if quick() else [50_000, 100_000, 200_000, FLIGHTS]
    first: float | None = None
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        discovered(first_flights(folder, 10, 1_000), "od", 1)
        for rows in sizes:
            ours = discovered(first_flights(folder, 10, rows), "od", 3)
            each = ours.seconds / rows
            first = first or each
            yield Case(
                f"{rows:,} rows", ours.seconds, peak_rss_mb=ours.peak_mb, goal="1.5 times as long a row as the first",
                met=each <= 1.5 * first, note=f"{1e6 * each:.2f} µs a row; search {ours.search:.2f} s", rows=rows,
            )  # fmt: skip


@benchmark("order-approximate", "order dependencies that hold but for 1 % of the rows")
def approximate() -> Iterator[Case]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        files = {"abalone": shared("abalone")}
        if not quick():
            files |= {"adult": shared("adult"), "flights, 10 columns": first_flights(folder, 10, FLIGHTS)}
        hf.discover(shared("iris"), "od", error=0.01)  # loads the kernels
        for name, file in files.items():
            exact = discovered(file, "od", 1)
            ours = discovered(file, "od", 2, error=0.01)
            yield Case(
                f"{name}: {len(ours.found):,} at 1 %", ours.seconds, exact.seconds, "ourselves, exact", ours.peak_mb,
                _covers(order_rules(ours.found), order_rules(exact.found)), "8 s", ours.seconds <= 8.0,
                f"{len(exact.found):,} hold exactly; search {ours.search:.2f} s",
            )  # fmt: skip


def _covers(approximate: set[Rule], exact: set[Rule]) -> bool:
    """Whether each rule that holds exactly follows from one that holds approximately: of the same target or, for a
    pair, of one of its columns as a constant, with no more columns in its context.
    """
    contexts: dict[Any, list[set[int]]] = {}
    for context, of in approximate:
        contexts.setdefault(of, []).append(set(context))

    def follows(context: tuple[int, ...], of: int | tuple[int, int, bool]) -> bool:
        sources = (of,) if isinstance(of, int) else (of, of[0], of[1])
        return any(some <= set(context) for source in sources for some in contexts.get(source, ()))

    return all(follows(*rule) for rule in exact)
