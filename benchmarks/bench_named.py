"""Keys and FDs by name: how far they hold and which rows stand outside, kept under batches, beside DuckDB's GROUP BY.

Of `named-batches`, ours is the engine alone, from the change of the table to the diff with the rows; of `named-cli`, a
process that starts, opens a state with a key, applies a batch and ends. DuckDB counts the rows to remove again.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import duckdb
import pyarrow as pa
from pyarrow import parquet

from benchmarks.bench_apply import command
from benchmarks.bench_denial import empty, grown, sizes, tax
from benchmarks.bench_ground import scratch
from benchmarks.coming import BATCH, come_and_go
from benchmarks.data import tax_parquet
from benchmarks.frame import Case, Rss, benchmark, quick
from benchmarks.tax_errors import dirty_tax
from holdfast.api.view import View
from holdfast.demo.tax import write_csv
from holdfast.engines.contract import Engine
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.rules.given import GivenRule, TableRules
from holdfast.table.runner import Threads

RULES = ("Zip -> City", "State, HasChild -> ChildExemp", "key(AreaCode, Phone)")


def engine_for(rule: str) -> Engine[Any, Any]:
    return make_engine("named", given={"data": TableRules((GivenRule("r", "data", rule),))})


def their_count(data: pa.Table, rule: str) -> tuple[float, int]:
    """The rows to remove, by DuckDB, and how long that took."""
    if rule.startswith("key("):
        query = f"SELECT count(*) - count(DISTINCT ({rule[4:-1]})) FROM data"
    else:
        lhs, rhs = rule.split(" -> ")
        cells = f"SELECT {lhs}, {rhs}, count(*) AS c FROM data GROUP BY {lhs}, {rhs}"
        query = f"SELECT sum(n - m) FROM (SELECT sum(c) AS n, max(c) AS m FROM ({cells}) GROUP BY {lhs})"
    with duckdb.connect() as connection:
        connection.register("arrow", data)
        connection.execute("CREATE TABLE data AS SELECT * FROM arrow")
        started = perf_counter()
        found = connection.execute(query).fetchall()
        return perf_counter() - started, int(found[0][0])


@benchmark("named-batches", "1,000 rows into a Tax table and out again, keys and FDs by name kept, beside DuckDB")
def batches() -> Iterator[Case]:
    rows = sizes()[1]
    count = 4 if quick() else 11
    data = tax(rows + count * BATCH)
    first = grown(empty(data), data.slice(0, rows))
    for rule in RULES:
        with Rss() as weight:
            engine = engine_for(rule)
            started = perf_counter()
            state = engine.discover(WatchedTable(first.after), Threads())
            found = perf_counter() - started
            spent = come_and_go(engine, state, first, data, count)
        rival, theirs = their_count(data, rule)
        for what, seconds in spent.items():
            yield Case(
                f"{rule}, {BATCH:,} {what}", statistics.median(seconds[1:]), rival, "DuckDB, all rows again",
                weight.own_mb,
                theirs == engine.result(state)[rule].to_json()["violations"], "", None,
                f"{theirs:,} rows to remove; grouped at first in {found:.2f} s", rows,
            )  # fmt: skip


@benchmark("named-cli", "1,000 rows by the command line, with a key by name, at growing sizes, beside DuckDB")
def by_the_command_line() -> Iterator[Case]:
    key, smallest = RULES[-1], 0.0
    for rows in (2_000, 50_000) if quick() else (1_000_000, 10_000_000):
        with scratch() as state:
            rules, file = state.parent / "rules.yaml", state.parent / "batch.csv"
            rules.write_text(f'rules:\n  - rule: "{key}"\n')
            command("init", state, f"data={tax_parquet(rows)}", "--rules", rules)
            ran, applied = [], []
            for number in range(3 if quick() else 5):
                applied.append(dirty_tax(BATCH, 1 / BATCH, offset=rows + number * BATCH))
                write_csv(applied[-1], file)
                ran.append(command("apply", state, "--insert", file))
            with View.open(state) as view:
                (status,) = view.results("named")
            rival, theirs = their_count(pa.concat_tables([parquet.read_table(tax_parquet(rows)), *applied]), key)
        seconds, peak = statistics.median(each.seconds for each in ran), max(each.peak_mb for each in ran)
        smallest = smallest or seconds
        yield Case(
            f"holdfast apply, {BATCH:,} rows at {rows:,}, {key}", seconds, rival, "DuckDB, all rows again", peak,
            theirs == status.to_json()["violations"], "x 1.5 the smallest, 1,000 MB",
            seconds <= 1.5 * smallest and peak < 1_000, f"x {seconds / smallest:.2f} the smallest", rows,
        )  # fmt: skip
