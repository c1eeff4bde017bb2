"""Rules about one row, ten at once: the rows that violate them, found and kept under batches, beside DuckDB.

Ours is the engine alone, from the change of the table to the diff with the rows; DuckDB lists the row numbers of all
rows in which a rule is false, rule by rule, for the first look, and counts them again after a batch.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import duckdb
import pyarrow as pa

from benchmarks.bench_denial import empty, grown, sizes, tax
from benchmarks.coming import BATCH, come_and_go
from benchmarks.frame import Case, Rss, benchmark, quick
from holdfast.engines.contract import Engine
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.rules.given import GivenRule, TableRules
from holdfast.rules.row import RowRule
from holdfast.rules.sql import condition_sql
from holdfast.table.runner import Threads

RULES = (
    "t.Zip is not null",
    "t.Salary between 1000 and 100000",
    "t.State in ('NY', 'CA', 'TX', 'FL', 'IL', 'PA', 'OH')",
    "t.City like 'A%'",
    "t.Phone matches '[0-9]{3}-[0-9]{4}'",
    "t.ChildExemp <= t.SingleExemp or t.HasChild = 'N'",
    "t.SingleExemp + t.ChildExemp < t.Salary",
    "t.Salary * t.Rate / 100 <= 5000",
    "t.MarriedExemp = 2 * t.SingleExemp",
    "t.FName != t.LName",
)


@benchmark("row-rules", "ten rules about one row on a Tax table: a first look, and 1,000 rows in and out")
def row_rules() -> Iterator[Case]:
    rows = sizes()[1]
    count = 4 if quick() else 11
    data = tax(rows + count * BATCH)
    first = grown(empty(data), data.slice(0, rows))
    given = {"data": TableRules(tuple(GivenRule(f"r{n}", "data", rule) for n, rule in enumerate(RULES)))}
    engine = make_engine("row", given=given)
    looks = []
    with Rss() as weight:
        for _ in range(3):
            started = perf_counter()
            state = engine.discover(WatchedTable(first.after), Threads())
            looks.append(perf_counter() - started)
    rival, theirs = _theirs(data.slice(0, rows))
    yield Case(
        "first look", min(looks), rival, "DuckDB", weight.own_mb, _counts(engine, state) == theirs, "", None,
        f"{sum(theirs):,} violations of {len(RULES)} rules", rows,
    )  # fmt: skip
    spent = come_and_go(engine, state, first, data, count)
    rival, theirs = _theirs(data)
    for what, seconds in spent.items():
        yield Case(
            f"{BATCH:,} {what}", statistics.median(seconds[1:]), rival, "DuckDB, all rows again", 0.0,
            _counts(engine, state) == theirs, "", None, f"{sum(theirs):,} violations of {len(RULES)} rules", rows,
        )  # fmt: skip


def _counts(engine: Engine[Any, Any], state: Any) -> list[int]:
    return [status.to_json()["violations"] for status in engine.result(state).values()]


def _theirs(data: pa.Table) -> tuple[float, list[int]]:
    """The rows in which each rule is false, by DuckDB, and how long that took."""
    with duckdb.connect() as connection:
        connection.register("arrow", data)
        connection.execute("CREATE TABLE data AS SELECT * FROM arrow")
        connection.execute("CREATE MACRO regexp_like(a, b) AS regexp_matches(a, b)")
        queries = [
            f"SELECT rowid FROM data t WHERE NOT ({condition_sql(RowRule.parse(rule).condition)})" for rule in RULES
        ]
        best, found = float("inf"), list[int]()
        for _ in range(3):
            started = perf_counter()
            found = [len(connection.execute(query).fetchnumpy()["rowid"]) for query in queries]
            best = min(best, perf_counter() - started)
        return best, found
