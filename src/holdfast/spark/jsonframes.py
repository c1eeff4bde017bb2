"""JSON lines that Spark hands out line by line; tasks parse them as a small file is parsed (`sources.jsonlines`)."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions

from holdfast.sources.jsonlines import Seen, marked, row_of, seen
from holdfast.spark.frames import BLOCK, CORRUPT, FILE, place
from holdfast.spark.tasks import collected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def lines(spark: SparkSession, paths: list[str]) -> DataFrame:
    """The lines of some files or folders, and where each comes from."""
    file, block = functions.col("_metadata.file_path"), functions.col("_metadata.file_block_start")
    return spark.read.text([place(path) for path in paths]).select("value", file.alias(FILE), block.alias(BLOCK))


def looks(lines: DataFrame) -> dict[str, Seen] | None:
    """What the values of each key look like, by key in order; None where some line is no row."""
    answer = pa.schema([("found", pa.binary())])

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found: dict[str, Seen] = {}
        try:
            for batch in batches:
                rows = [row for line in batch.column(0).to_pylist() if (row := row_of(line)) is not None]
                for name in dict.fromkeys(name for row in rows for name in row):
                    column = seen(marked([row.get(name) for row in rows]).unique())
                    found[name] = column.join(found.get(name, Seen()))
            packed = pickle.dumps(found)
        except ValueError:  # no row, or not even UTF-8
            packed = pickle.dumps(None)
        yield pa.RecordBatch.from_pylist([{"found": packed}], schema=answer)

    merged: dict[str, Seen] = {}
    for part in collected(lines.select("value").mapInArrow(look, "found binary"))["found"].to_pylist():
        found: dict[str, Seen] | None = pickle.loads(part)
        if found is None:
            return None
        merged |= {name: column.join(merged.get(name, Seen())) for name, column in found.items()}
    return dict(sorted(merged.items()))


def rows(lines: DataFrame, names: list[str]) -> DataFrame:
    """The values of some keys as marked text c0, c1, …, where each row comes from, and lines that are no rows."""
    columns = [f"c{i}" for i in range(len(names))]
    texts = pa.schema([(column, pa.string()) for column in columns])
    wanted = pa.schema([*texts, (FILE, pa.string()), (BLOCK, pa.int64()), (CORRUPT, pa.string())])

    def parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            try:
                found = [row_of(line) for line in batch.column(0).to_pylist()]
            except ValueError as error:
                yield pa.RecordBatch.from_pylist([{CORRUPT: str(error)}], schema=wanted)
                continue
            rows = [row for row in found if row is not None]
            places = pa.array([i for i, row in enumerate(found) if row is not None], pa.int64())
            values = [marked([row.get(name) for row in rows]) for name in names]
            where = [batch.column(1).take(places), batch.column(2).take(places)]
            yield pa.RecordBatch.from_arrays([*values, *where, pa.nulls(len(rows), pa.string())], schema=wanted)

    schema = ", ".join(
        [*(f"{column} string" for column in columns), f"{FILE} string, {BLOCK} bigint, {CORRUPT} string"]
    )
    return lines.mapInArrow(parse, schema)
