"""Is chance what it is said to be? Rules about one row that are suggested as errors, in the rows that come after.

The trial: of each table of the field the first rows are read, as they stand and shuffled. Each suggestion states how
often chance will break it in 100 usual batches, which have 3.3 times as many rows as were read. That many of the next
rows, or all that there are, show whether it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np
import pyarrow as pa

import holdfast as hf
from benchmarks.bench_alarms import read
from benchmarks.frame import Case, benchmark, quick
from holdfast.engines.chance import ASSUMED, BATCHES

SMALL = ("iris", "bridges", "hepatitis", "abalone", "ncvoter_1k", "hospital")
LARGE = ("tax_10k", "letter", "adult", "claims", "flight_1k", "uniprot_1k")
FIRST = (100, 200)  # rows, and half of each table


@benchmark(
    "row-chance", "rules about one row, suggested from the first rows of a table, break as rarely as is expected"
)
def row_chance() -> Iterator[Case]:
    for name in SMALL if quick() else SMALL + LARGE:
        data = read(name)
        for order in ("as it stands", "shuffled"):
            rows = np.random.default_rng(1).permutation(len(data)) if order == "shuffled" else np.arange(len(data))
            for first in (*FIRST, len(data) // 2):
                if len(data) >= 1.2 * first:
                    yield _later(f"{name}, {order}", data.take(rows[:first]), data.take(rows[first:]))


def _later(name: str, first: pa.Table, rest: pa.Table) -> Case:
    started = perf_counter()
    errors = [each for each in hf.suggest({"t": first}, "row").listed if each.severity == "error"]
    spent = perf_counter() - started
    next_rows = rest.slice(0, BATCHES * len(first) // ASSUMED)
    checked = hf.check({"t": next_rows}, [each.text for each in errors]).listings if errors else ()
    broken = [each.rule.text for each in checked if each.count]
    expected = sum(each.expected_breaks or 0.0 for each in errors)
    note = f"{len(broken)} of {len(errors)} broke, {expected:.4f} breaks expected"
    return Case(
        f"{name}, first {len(first):,}", spent, equal=not broken, goal="none breaks", met=not broken,
        note="; ".join([note, *broken]), rows=len(first),
    )  # fmt: skip
