"""Ways of reading one table: each stores a table somewhere, and gives the source that reads it from there.

What a way can't hold becomes null before: NaN in JSON and SQLite, the empty text in CSV.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from holdfast.intake.source import ReadOptions
from holdfast.sources.dialect import CsvOptions
from tests.sources.databases.server import Server

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("share", pa.float64()),
        ("flag", pa.bool_()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us")),
        ("price", pa.decimal128(10, 2)),
    ]
)
DDL = "id BIGINT, name STRING, share DOUBLE, flag BOOLEAN, day DATE, at TIMESTAMP_NTZ, price DECIMAL(10, 2)"
SQLITE = "id INTEGER, name TEXT, share REAL, flag BOOLEAN, day DATE, at TIMESTAMP, price DECIMAL(10, 2)"
Row = dict[str, Any]
Stored = tuple[Any, ReadOptions]


@dataclass(frozen=True)
class Way:
    """How a table is stored in a folder, what becomes null before, and whether a table may be empty there."""

    store: Callable[[Path, pa.Table], Stored]
    lost: Callable[[Any], bool] = lambda _: False
    empty: bool = True

    def held(self, table: pa.Table) -> pa.Table:
        """The table as this way holds it."""
        rows = [{name: None if self.lost(v) else v for name, v in row.items()} for row in table.to_pylist()]
        return pa.Table.from_pylist(rows, SCHEMA)


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _no_number(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _parquet(folder: Path, table: pa.Table) -> Stored:
    pq.write_table(table, folder / "things.parquet")
    return str(folder / "things.parquet"), ReadOptions()


def _arrow(folder: Path, table: pa.Table) -> Stored:
    feather.write_feather(table, folder / "things.arrow")
    return folder / "things.arrow", ReadOptions()


def _csv(folder: Path, table: pa.Table) -> Stored:
    return _write_csv(folder / "things.csv", table), ReadOptions(CsvOptions(nulls=("",), header=True), DDL)


def _write_csv(path: Path, table: pa.Table) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        writer.writerows([list(map(_text, row.values())) for row in table.to_pylist()])
    return str(path)


def _text(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _json(folder: Path, table: pa.Table) -> Stored:
    lines = [json.dumps(row, default=str) for row in table.to_pylist()]
    (folder / "things.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(folder / "things.jsonl"), ReadOptions(schema=DDL)


def _sqlite(folder: Path, table: pa.Table) -> Stored:
    path = folder / "things.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE things ({SQLITE})")
        rows = [[_stored(value) for value in row.values()] for row in table.to_pylist()]
        connection.executemany("INSERT INTO things VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    return f"sqlite:{path}/things", ReadOptions()


def _stored(value: Any) -> Any:
    return str(value) if isinstance(value, dt.date | Decimal) else value


def _duckdb(folder: Path, table: pa.Table) -> Stored:
    import duckdb

    path = folder / "things.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE things AS SELECT * FROM given")
    return f"duckdb:{path}/things", ReadOptions()


def _pattern(folder: Path, table: pa.Table) -> Stored:
    """Two files as one table."""
    middle = len(table) // 2
    for number, part in enumerate((table.slice(0, middle), table.slice(middle))):
        _write_csv(folder / f"part-{number}.csv", part)
    return f"{folder}/part-*.csv", _csv(folder, table)[1]


def _adbc(folder: Path, table: pa.Table) -> Stored:
    return f"adbc:{_duckdb(folder, table)[0]}", ReadOptions()


def ways(server: Server) -> dict[str, Way]:
    """All of them, by name."""

    def postgres(_: Path, table: pa.Table) -> Stored:
        server.run("DROP TABLE IF EXISTS things", f"CREATE TABLE things ({POSTGRES})")
        with server.cursor() as cursor:
            cursor.adbc_ingest("staged", table, mode="replace")
            cursor.execute("INSERT INTO things SELECT * FROM staged")
        return server.address("things"), ReadOptions()

    return {
        "parquet": Way(_parquet),
        "arrow": Way(_arrow),
        "csv": Way(_csv, lambda value: value == ""),
        "pattern": Way(_pattern, lambda value: value == ""),
        "json": Way(_json, _no_number, empty=False),
        "sqlite": Way(_sqlite, is_nan),
        "duckdb": Way(_duckdb),
        "adbc": Way(_adbc),
        "postgres": Way(postgres),
    }


POSTGRES = "id bigint, name text, share double precision, flag boolean, day date, at timestamp, price numeric(10, 2)"
