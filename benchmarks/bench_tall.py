"""Keys and FDs of tall tables from scratch, beside Desbordante's HyFD and HPIValid, reading included."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

import holdfast as hf
from benchmarks.bench_order import FLIGHTS, discovered, first_flights
from benchmarks.data import flights, shared, tax_csv, tax_parquet
from benchmarks.frame import Case, benchmark, quick
from benchmarks.rivals import Rule, rules_by

_LIMIT = 600.0  # seconds


@benchmark("tall", "keys and FDs of tall tables, beside HyFD and HPIValid, reading included")
def tall() -> Iterator[Case]:
    hf.discover(shared("iris"), "fd,ucc")  # loads the kernels
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        if quick():
            yield from _raced("adult", shared("adult"), None)
            return
        for name in ("adult", "letter", "claims"):
            yield from _raced(name, shared(name), None)
        yield from _raced("flights, 19 columns", first_flights(folder, 19, FLIGHTS), 5.0)
        yield from _raced("tax 1,000,000", tax_csv(1_000_000), None)
    yield _ten_million()


def _raced(name: str, file: Path, fd_goal: float | None) -> Iterator[Case]:
    """FDs no slower than HyFD, or within some seconds; keys within three times of HPIValid."""
    for rules, algorithm, share in (("fd", "HyFD", 1), ("ucc", "HPIValid", 3)):
        ours, theirs = discovered(file, rules, 2), rules_by(algorithm, file, _LIMIT)
        mine = _rules(ours.found)
        seconds = fd_goal if rules == "fd" and fd_goal else None
        most = seconds or share * theirs.seconds
        goal = f"{seconds:g} s" if seconds else f"{share:g} times {algorithm}" if share > 1 else algorithm
        yield Case(
            f"{name}: {len(mine):,} {'FDs' if rules == 'fd' else 'keys'}", ours.seconds, theirs.seconds,
            f"{algorithm}{theirs.stopped}", ours.peak_mb, None if theirs.rules is None else mine == theirs.rules, goal,
            ours.seconds <= most, f"search {ours.search:.2f} s; {algorithm}'s {theirs.search:.2f} s",
        )  # fmt: skip


def _rules(found: hf.Found) -> set[Rule]:
    ((schema, _),) = found.shapes.values()
    place = {name: number for number, name in enumerate(schema.names)}

    def numbered(rule: dict[str, Any]) -> Rule:
        left = rule["lhs"] if rule["kind"] == "fd" else rule["columns"]
        return tuple(sorted(place[name] for name in left)), place[rule["rhs"]] if rule["kind"] == "fd" else -1

    return {numbered(rule) for rule in found.to_json()}


def _ten_million() -> Case:
    ours = discovered(tax_parquet(10_000_000), "fd,ucc", 1)
    return Case(
        f"tax 10,000,000: {len(ours.found):,} FDs and keys", ours.seconds, peak_rss_mb=ours.peak_mb,
        goal="complete, 8 GB", met=ours.peak_mb <= 8 * 1024, note=f"search {ours.search:.2f} s", rows=10_000_000,
    )  # fmt: skip


# ---- approximate ----------------------------------------------------------------------------------------------------

_ERROR = 0.01


@benchmark("functional-approximate-tall", "FDs of flights x 10 that 1 % of all pairs may break, beside Pyro")
def approximate_tall() -> Iterator[Case]:
    hf.discover(shared("ncvoter_1k"), "fd", error=_ERROR)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        if quick():
            yield _approximate("flights", _flights_again(folder, 1, 0))
            return
        yield _approximate("flights x 10", _flights_again(folder, 10, 0))
        yield _approximate("flights of ten years, no two rows equal", _flights_again(folder, 10, 1))


def _flights_again(folder: str, copies: int, years: int) -> Path:
    """The flights several times, each time some years later; as CSV."""
    file, year = Path(folder, f"flights_{copies}_{years}.csv"), 365 * 24 * 3600
    every = flights()
    with pa.csv.CSVWriter(file, every.schema) as writer:
        for copy in range(copies):
            hours = pc.add(every["time_hour"].cast(pa.int64()), copy * years * year).cast(every["time_hour"].type)
            some = every.set_column(0, "year", pc.add(every["year"], copy * years))
            writer.write_table(some.set_column(some.num_columns - 1, "time_hour", hours))
    return file


def _approximate(name: str, file: Path) -> Case:
    ours, theirs = discovered(file, "fd", 2, error=_ERROR), rules_by("Pyro", file, _LIMIT, _ERROR)
    mine = _rules(ours.found)
    note = f"search {ours.search:.2f} s; Pyro's {theirs.search:.2f} s, at most {theirs.peak_mb or 0:,.0f} MB"
    if theirs.rules is not None:
        note += f"; {len(mine - theirs.rules)} are ours alone, {len(theirs.rules - mine)} Pyro's"
    return Case(
        f"{name}: {len(mine):,} FDs at 1 %", ours.seconds, theirs.seconds, f"Pyro{theirs.stopped}", ours.peak_mb,
        None if theirs.rules is None else mine == theirs.rules, "Pyro, and its search",
        ours.seconds <= theirs.seconds and ours.search <= theirs.search, note,
    )  # fmt: skip
