"""Tables of databases, by the command, beside what one did before: export the table as CSV, and read that.

The database is real and warm; the command is a process of its own, its start included. So is reading in the process, by
the way that the command takes, beside Polars with the same driver.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from benchmarks.bench_ways import command
from benchmarks.data import tax_parquet
from benchmarks.frame import Case, benchmark, quick, timed
from holdfast.intake.source import ReadOptions, open_source
from tests.sources.databases.server import Server, running

_GOAL = 2.0  # seconds
_DECLARED = {pa.int64(): "INTEGER", pa.float64(): "REAL", pa.string(): "TEXT"}
Facts = dict[str, tuple[int, ...]]
Export = Callable[[Path], None]


def facts(source: object) -> Facts:
    """Rows, nulls and distinct values of each column, as the command prints them."""
    printed = command("discover", f"tax={source}", "--format", "json", "--rules", "column").splitlines()
    columns: list[dict[str, Any]] = [each for line in printed if (each := json.loads(line))["kind"] == "column"]
    return {each["column"]: (each["rows"], each["nulls"], each["distinct"]) for each in columns}


def exported(export: Export, folder: Path) -> Facts:
    path = folder / "export.csv"
    export(path)
    return facts(path)


@benchmark("databases", "column facts of a table of PostgreSQL, DuckDB and SQLite, beside an export as CSV")
def databases() -> Iterator[Case]:
    rows = 10_000 if quick() else 200_000
    table = pq.read_table(tax_parquet(rows))
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as place, running(Path(place)) as server:
        folder = Path(place)
        stored = {
            "PostgreSQL": (server.put("tax", table), partial(_export_postgres, server)),
            "DuckDB": (_put_duckdb(folder, table), partial(_export_duckdb, folder)),
            "SQLite": (_put_sqlite(folder, table), partial(_export_sqlite, folder)),
        }
        for name, (address, export) in stored.items():
            ours, found = timed(partial(facts, address), 3)
            goal = f"{_GOAL:g} s" if name == "PostgreSQL" else ""
            rival, expected = timed(partial(exported, export, folder), 3)
            yield Case(
                f"discover, {rows:,} x {table.num_columns} from {name}", ours, rival, "export as CSV, and read that",
                None, found == expected, goal, ours < _GOAL if goal else None, f"load {os.getloadavg()[0]:.1f}", rows,
            )  # fmt: skip
        address = stored["PostgreSQL"][0]
        ours, read = timed(lambda: open_source(address, ReadOptions(), None).table, 3)
        rival, frame = timed(lambda: pl.read_database_uri("SELECT * FROM tax", server.database(), engine="adbc"), 3)
        yield Case(
            "… PostgreSQL, reading alone", ours, rival, "Polars, by ADBC", None,
            read is not None and pl.DataFrame(read).equals(frame), note=f"load {os.getloadavg()[0]:.1f}", rows=rows,
        )  # fmt: skip


def _export_postgres(server: Server, path: Path) -> None:
    """By a quick client: columns come through ADBC, and Arrow writes the file."""
    with server.cursor() as cursor:
        cursor.execute("SELECT * FROM tax")
        csv.write_csv(cursor.fetch_arrow_table(), path)


def _put_duckdb(folder: Path, table: pa.Table) -> str:
    with duckdb.connect(str(folder / "tax.duckdb")) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE tax AS SELECT * FROM given")
    return f"duckdb:{folder}/tax.duckdb/tax"


def _export_duckdb(folder: Path, path: Path) -> None:
    with duckdb.connect(str(folder / "tax.duckdb"), read_only=True) as connection:
        connection.execute(f"COPY tax TO '{path}' (HEADER)")


def _put_sqlite(folder: Path, table: pa.Table) -> str:
    columns = ", ".join(f'"{field.name}" {_DECLARED[field.type]}' for field in table.schema)
    with closing(sqlite3.connect(folder / "tax.sqlite")) as connection, connection:
        connection.execute(f"CREATE TABLE tax ({columns})")
        marks = ", ".join("?" * table.num_columns)
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        connection.executemany(f"INSERT INTO tax VALUES ({marks})", rows)
    return f"sqlite:{folder}/tax.sqlite/tax"


def _export_sqlite(folder: Path, path: Path) -> None:
    """By the standard library, whose writer of CSV is in C."""
    from csv import writer

    with closing(sqlite3.connect(folder / "tax.sqlite")) as connection, path.open("w", newline="") as file:
        rows = connection.execute("SELECT * FROM tax")
        out = writer(file)
        out.writerow([each[0] for each in rows.description])
        out.writerows(rows)
