"""The same data, read by Spark and read by this process: the same findings and batches, for every form of data.

`python -m tests.spark.same_answers FOLDER` runs where HOLDFAST_SPARK says. It needs nothing that one version of Spark
has and another lacks: `test_places.py` runs it at several places, `versions.py` with several versions.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

import holdfast as hf
from holdfast.spark.session import is_here, session

RULES = ["zip -> city", "not(t.zip = s.zip and t.city != s.city)", "key(id)"]


def table(first: int, many: int) -> pa.Table:
    """Rows with nulls, repeated values, and one of each kind of type."""
    numbers = range(first, first + many)
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "zip": [f"0{n % 7}" for n in numbers],
            "city": [None if n % 7 == 3 else f"city {n % 7 // 2}" for n in numbers],
            "price": pa.array([Decimal(n % 5) / 4 for n in numbers], pa.decimal128(6, 2)),
            "share": [n % 3 / 2 for n in numbers],
            "paid": [None if n % 4 == 0 else n % 2 == 0 for n in numbers],
            "day": pa.array([dt.date(2024, 2, 26) + dt.timedelta(n % 9) for n in numbers], pa.date32()),
            "at": pa.array([dt.datetime(2024, 2, 29, 12, n % 6) for n in numbers], pa.timestamp("us", "UTC")),
        }
    )


def lines(rows: pa.Table, **more: Any) -> str:
    """Rows as JSON lines."""
    return "".join(json.dumps(row | more, default=str) + "\n" for row in rows.to_pylist())


def findings(source: Any, reader: Any, **options: Any) -> Any:
    """What a search finds."""
    found = hf.discover(source, rules="column,ucc,fd", options=hf.ReadOptions(reader=reader, **options))
    return found.to_json()


def days(folder: Path, source: str, reader: Any) -> list[Any]:
    """What some batches do, of which the last is the table of the first day."""
    options, said = hf.ReadOptions(reader=reader), []
    with hf.Monitor.create(folder / f"state-{reader}", {"t": source}, rules=RULES, key="id", options=options) as watch:
        feed = folder / "feed.jsonl"
        batches: list[dict[str, Any]] = [
            {"inserts": str(folder / "new.csv")},
            {"changes": str(feed)},
            {"snapshot": source},
        ]
        for batch in batches:
            outcome = watch.apply(**batch, options=options).to_json()
            now = watch.tables["t"]
            rows = now.values(now.living_ids()).to_pylist()
            said.append([[each for each in outcome if each["kind"] != "batch"], rows])
    return said


def main(folder: Path) -> None:
    """Compare all; an error where something differs."""
    rows = table(0, 60)
    csv.write_csv(rows, folder / "t.csv")
    (folder / "t.jsonl").write_text(lines(rows))
    pq.write_table(rows, folder / "t.parquet")
    csv.write_csv(table(60, 9).set_column(2, "city", pa.array(["nowhere"] * 9)), folder / "new.csv")
    (folder / "feed.jsonl").write_text(
        lines(table(3, 2), _change_type="delete", _commit_version=10)
        + lines(table(3, 1), _change_type="insert", _commit_version=11)
        + lines(table(9, 3).set_column(1, "zip", pa.array(["00"] * 3)), _change_type="update", _commit_version=9)
    )
    spark = session()
    print(spark.version, type(spark).__module__, "here" if is_here(spark) else "elsewhere", flush=True)
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        path = str(folder / name)
        assert findings(path, "spark") == findings(path, "local"), name
    for year in (2023, 2024):
        place = folder / "years" / f"year={year}"
        place.mkdir(parents=True)
        pq.write_table(table(year, 20), place / "rows.parquet")
    both = [table(year, 20).append_column("year", pa.array([year] * 20, pa.int32())) for year in (2023, 2024)]
    facts = hf.discover(str(folder / "years"), rules="ucc,fd").to_json()
    assert [each["text"] for each in facts] == [
        each["text"] for each in hf.discover(pa.concat_tables(both), rules="ucc,fd").to_json()
    ]
    frame = spark.read.parquet(str(folder / "t.parquet"))
    given, here = hf.discover(frame, rules="ucc,fd"), hf.discover(rows, rules="ucc,fd")
    assert given.to_spark(spark).count() == len(given.to_json())
    assert [each["text"] for each in given.to_json()] == [each["text"] for each in here.to_json()]
    declared = (
        "id INT COMMENT 'a, b', zip STRING, city STRING, price DECIMAL(6,2), share DOUBLE, paid BOOLEAN, day DATE, "
    )
    assert findings(str(folder / "t.csv"), "spark", schema=f"{declared} at TIMESTAMP")
    assert days(folder, str(folder / "t.csv"), "spark") == days(folder, str(folder / "t.csv"), "local")
    print("the same answers")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
