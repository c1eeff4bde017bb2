"""A watch that lives for weeks: what it keeps in memory, open and on the disk after thousands of batches of two tables.

Each batch is two files that arrive in a folder and are removed once they are applied; every tenth breaks a rule, and
later ones mend it. The rival is the same batch where the state is opened for it and closed again, as a job that runs
now and then does it. In the end the state is compared with a run from scratch.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import pyarrow as pa

from benchmarks.frame import Case, benchmark, quick
from holdfast.api.monitor import Monitor
from holdfast.api.verification import verify
from holdfast.results.outcome import Outcome

FILES = r"(?P<batch>\d+)-(?P<table>\w+)\.csv"
ORDERS, CUSTOMERS = 2_000, 100
LOOKS = (100, 1_000, 5_000)  # batches after which memory is looked at
RIVALS = 20  # batches for which the state is opened
MOST_MB = 10.0  # more than after the first look


def resident_mb() -> float:
    """The memory of this process, as the system counts it."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


class Life:
    """A state, the folder that it watches, and how long its batches took."""

    def __init__(self, root: Path) -> None:
        self.state, self._folder, self.number = root / "state", root / "in", 0
        self._folder.mkdir()
        self.spent: list[float] = []
        ids = range(ORDERS)
        customers = pa.table({"id": range(CUSTOMERS), "name": [f"name {n}" for n in range(CUSTOMERS)]})
        orders = pa.table({"id": ids, "cust": [n % CUSTOMERS for n in ids], "city": [f"city {n % 50}" for n in ids]})
        Monitor.create(
            self.state, {"orders": orders, "customers": customers}, watch=["column", "fd"],
            rules="orders.cust in customers.id", key={"orders": "id", "customers": "id"},
        ).close()  # fmt: skip

    def _arrive(self) -> None:
        n = self.number
        city = "elsewhere" if n % 10 == 3 else f"city {n % 50}"
        places = dict.fromkeys(place % ORDERS for place in (n, 7 * n, 13 * n + 1))
        rows = "".join(f"{place},{n % CUSTOMERS},{city}\n" for place in places)
        (self._folder / f"{n}-orders.csv").write_text(f"id,cust,city\n{rows}")
        (self._folder / f"{n}-customers.csv").write_text(f"id,name\n{n % CUSTOMERS},name {n}\n")

    def live(self, batches: int, monitor: Monitor) -> None:
        """Watch the folder until some batches are applied."""
        until = self.number + batches
        started = perf_counter()

        def applied(paths: Sequence[str], _: Outcome) -> None:
            nonlocal started
            self.spent.append(perf_counter() - started)
            for path in paths:
                Path(path).unlink()
            self.number += 1
            self._arrive()
            started = perf_counter()

        self._arrive()
        monitor.watch_folder(
            self._folder, how="upsert", files=FILES, every=0, stop=lambda: self.number == until, applied=applied
        )


class Look(NamedTuple):
    """What there is after some batches."""

    batches: int
    seconds: float  # of a batch, lately
    resident: float
    handles: int
    files: int
    database: int

    @staticmethod
    def at(life: Life) -> Look:
        """What there is now."""
        database = sum(each.stat().st_size for each in life.state.glob("holdfast.*"))
        handles = len(list(Path("/proc/self/fd").iterdir()))
        segments = len(list((life.state / "segments").iterdir()))
        return Look(life.number, statistics.median(life.spent[-100:]), resident_mb(), handles, segments, database)


@benchmark("weeks", "what a watch keeps in memory, open and on the disk after thousands of batches")
def weeks() -> Iterator[Case]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        life, looks = Life(Path(folder)), list[Look]()
        with Monitor.open(life.state) as monitor:
            for batches in (20, 50) if quick() else LOOKS:
                life.live(batches - life.number, monitor)
                looks.append(Look.at(life))
        opened = []
        for _ in range(RIVALS):
            started = perf_counter()
            with Monitor.open(life.state) as monitor:
                life.live(1, monitor)
            opened.append(perf_counter() - started)
        right = not verify(life.state, deep=True).problems
    for look in looks:
        grown = look.resident - looks[0].resident
        yield Case(
            f"{look.batches:,} batches", look.seconds, statistics.median(opened), "open, apply, close", look.resident,
            right, f"{MOST_MB:g} MB more", grown < MOST_MB,
            f"{look.resident:.0f} MB resident, {grown:+.1f}; {look.handles} files open; {look.files} bulk files, "
            f"{look.database / 1e6:.1f} MB of database", ORDERS,
        )  # fmt: skip
