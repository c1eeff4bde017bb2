"""The staging job: each task reads its part of a DataFrame and writes staged chunks; only their names come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, functions

from holdfast.changes.operations import INSERT, UPDATE, VERSION_COLUMN, WORDS, parse_operations
from holdfast.errors import BadInput
from holdfast.spark.frames import BLOCK, FILE, collected
from holdfast.table import files
from holdfast.table.bulk import write_staged
from holdfast.table.encode import Caster, stage
from holdfast.table.types import Column

CHUNK_ROWS = 1 << 19
_CHUNK_BYTES = 128 << 20
_ANSWER = pa.schema([("path", pa.string()), ("rows", pa.int64()), ("part", pa.int32()), ("error", pa.string())])


@dataclass(frozen=True)
class StagingPlan:
    """What a task must know: the columns in order, then perhaps operations and a column with bad records."""

    folder: str
    columns: tuple[Column, ...]
    casters: tuple[Caster | None, ...]
    has_operations: bool = False
    constant: int = INSERT
    has_corrupt_column: bool = False


def in_order(frame: DataFrame, operation: int, version: int, several_files: bool, has_corrupt: bool) -> DataFrame:
    """Operations in the order in which they happened: by version where they have one, and within a version old rows
    before new ones; otherwise in the order of their files, by name.
    """
    if version < 0 and not several_files:
        return frame
    columns = frame.columns
    keys = [functions.monotonically_increasing_id()]
    if several_files:  # Spark takes the largest first
        known = (FILE, BLOCK) if FILE in columns else ("_metadata.file_path", "_metadata.file_block_start")
        keys = [*map(functions.col, known), *keys]
    if version >= 0:
        keys = [_checked_version(frame, version, has_corrupt), _turn(functions.col(f"c{operation}")), *keys]
    named = [key.alias(f"_holdfast_key{i}") for i, key in enumerate(keys)]
    return frame.select("*", *named).orderBy(*[f"_holdfast_key{i}" for i in range(len(keys))]).select(*columns)


def _checked_version(frame: DataFrame, version: int, has_corrupt: bool) -> SparkColumn:
    """The versions as numbers: in a file of text they are text, and 10 comes after 9."""
    given = functions.col(f"c{version}")
    number = given.try_cast("bigint")
    wrong = frame.filter(number.isNull())
    if has_corrupt:
        wrong = wrong.filter(functions.col(frame.columns[-1]).isNull())
    first = wrong.select(given).first()
    if first is not None:
        raise BadInput(f"column {VERSION_COLUMN!r}: {first[0]!r} is no version; give every row a whole number")
    return number


def _turn(word: SparkColumn) -> SparkColumn:
    """The order of operations within a version: deletes, inserts, updates, upserts (see parse_operations)."""
    plain = functions.lower(functions.btrim(word, functions.lit(" \t\r\n")))
    turns = (functions.when(plain == word, kind) for word, kind in WORDS.items())
    return functions.coalesce(*turns, functions.lit(UPDATE))


def without_marks(frame: DataFrame, places: Sequence[int]) -> DataFrame:
    """The frame with the texts of some columns unmarked (see `sources.jsonlines`); a place of -1 is skipped."""
    plain = {f"c{place}": functions.substr(f"c{place}", functions.lit(2)) for place in places if place >= 0}
    return frame.withColumns(plain) if plain else frame


def choose(frame: DataFrame, places: Sequence[int], operation: int, has_corrupt: bool) -> DataFrame:
    """The columns at some places (null for -1), then the operations and the bad records, if any."""
    nothing = functions.lit(None)
    chosen = [functions.col(f"c{place}") if place >= 0 else nothing for place in places]
    if operation >= 0:
        chosen.append(functions.col(f"c{operation}"))
    if has_corrupt:
        chosen.append(functions.col(frame.columns[-1]))
    return frame.select(*[column.alias(f"s{i}") for i, column in enumerate(chosen)])


def stage_frame(frame: DataFrame, plan: StagingPlan) -> tuple[list[str], int]:
    """Run the job on a DataFrame of exactly the plan's columns: staged files in the order of the rows, and rows."""
    numbered = frame.withColumn("part", functions.spark_partition_id())
    staged = numbered.mapInArrow(partial(_stage_part, plan), "path string, rows bigint, part int, error string")
    answers = collected(staged).to_pylist()
    for answer in answers:
        if answer["error"] is not None:
            raise BadInput(answer["error"])
    answers.sort(key=lambda answer: answer["part"])  # stable: chunks of a part come in order
    return [answer["path"] for answer in answers], sum(answer["rows"] for answer in answers)


def _stage_part(plan: StagingPlan, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    waiting: list[pa.RecordBatch] = []
    try:
        for batch in batches:
            waiting.append(batch)
            rows, size = sum(len(b) for b in waiting), sum(b.nbytes for b in waiting)
            if rows >= CHUNK_ROWS or size >= _CHUNK_BYTES:
                yield _write(plan, waiting)
                waiting = []
        if sum(len(b) for b in waiting):
            yield _write(plan, waiting)
    except BadInput as error:
        yield _answer({"path": None, "rows": 0, "part": 0, "error": str(error)})


def _write(plan: StagingPlan, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    rows = pa.Table.from_batches(batches)
    width = len(plan.columns)
    extra = rows.columns[width:-1]
    if plan.has_corrupt_column and len(bad := extra[-1].drop_null()):
        raise BadInput(f"malformed record: {bad[0].as_py()[:200]}")
    operations: NDArray[np.int8] | None = None
    if plan.has_operations:
        operations = parse_operations(extra[0])
    elif plan.constant != INSERT:
        operations = np.full(len(rows), plan.constant, np.int8)
    path = files.new_path(plan.folder)
    write_staged(path, stage(rows.columns[:width], plan.columns, plan.casters), operations)
    return _answer(
        {"path": path, "rows": len(rows), "part": rows.column(rows.num_columns - 1)[0].as_py(), "error": None}
    )


def _answer(answer: dict[str, object]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([answer], schema=_ANSWER)
