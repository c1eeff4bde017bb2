"""Keys and FDs by name: how far they hold and which rows stand outside, kept under batches, beside DuckDB's GROUP BY.

Ours is the engine alone, from the change of the table to the diff with the rows; DuckDB counts the rows to remove anew.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from time import perf_counter

import duckdb
import pyarrow as pa

from benchmarks.bench_denial import empty, grown, sizes, tax
from benchmarks.coming import BATCH, come_and_go
from benchmarks.frame import Case, Rss, benchmark, quick
from holdfast.engines.declared import GivenRule, NoSettings, TableRules
from holdfast.engines.functional.named import NamedEngine, make
from holdfast.engines.registry import rule_class
from holdfast.engines.watched import WatchedTable
from holdfast.table.runner import Threads

RULES = ("Zip -> City", "State, HasChild -> ChildExemp", "key(AreaCode, Phone)")


def engine_for(rule: str) -> NamedEngine:
    given = {"data": TableRules((GivenRule("r", "data", rule),))}
    return make(rule_class("named"), NoSettings(), given)


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
                f"{rule}, {BATCH:,} {what}", statistics.median(seconds[1:]), rival, "DuckDB, all rows anew",
                weight.own_mb,
                theirs == state.statuses[0].to_remove, "", None,
                f"{theirs:,} rows to remove; grouped at first in {found:.2f} s", rows,
            )  # fmt: skip
