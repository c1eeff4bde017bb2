"""The staging job: each task reads its part of a DataFrame and writes staged chunks; only their names come back."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, functions

from holdfast.changes.operations import INSERT, parse_operations
from holdfast.errors import BadInput
from holdfast.table.bulk import write_staged
from holdfast.table.encode import Caster, stage
from holdfast.table.types import Column

CHUNK_ROWS = 1 << 19
_CHUNK_BYTES = 128 << 20
_ANSWER = pa.schema([("path", pa.string()), ("rows", pa.int64()), ("part", pa.int32()), ("error", pa.string())])


@dataclass(frozen=True)
class StagingPlan:
    """What a task must know: the columns in order, and then perhaps operations, and perhaps a mark of bad records."""

    folder: str
    columns: tuple[Column, ...]
    casters: tuple[Caster | None, ...]
    has_operations: bool = False
    constant: int = INSERT
    has_corrupt_column: bool = False


def choose(frame: DataFrame, places: Sequence[int], operation: int, version: int, has_corrupt: bool) -> DataFrame:
    """The columns at some places (null for -1), then the operations and the marks of bad records where there are any.

    A feed with versions comes in their order, and within one with the old rows before the new ones.
    """
    if version >= 0:
        word = functions.lower(functions.col(f"c{operation}"))
        frame = frame.orderBy(f"c{version}", word.isin("insert", "c", "update_postimage").cast("int"))
    nothing = functions.lit(None).cast("string")
    chosen = [functions.col(f"c{place}") if place >= 0 else nothing for place in places]
    if operation >= 0:
        chosen.append(functions.col(f"c{operation}"))
    if has_corrupt:
        chosen.append(functions.col(frame.columns[-1]))
    return frame.select(*[column.alias(f"s{i}") for i, column in enumerate(chosen)])


def stage_frame(frame: DataFrame, plan: StagingPlan) -> tuple[list[str], int]:
    """Run the job on a DataFrame of exactly the plan's columns: staged files in the order of the rows, and rows."""
    answers = (
        frame.withColumn("part", functions.spark_partition_id())
        .mapInArrow(partial(_stage_part, plan), "path string, rows bigint, part int, error string")
        .toArrow()
        .to_pylist()
    )
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
        yield _told({"path": None, "rows": 0, "part": 0, "error": str(error)})


def _write(plan: StagingPlan, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    rows = pa.Table.from_batches(batches)
    width = len(plan.columns)
    extra = rows.columns[width:-1]
    if plan.has_corrupt_column:
        _refuse_corrupt(extra[-1])
    operations: NDArray[np.int8] | None = None
    if plan.has_operations:
        operations = parse_operations(extra[0])
    elif plan.constant != INSERT:
        operations = np.full(len(rows), plan.constant, np.int8)
    path = f"{plan.folder}/{uuid.uuid4().hex}.arrow"
    write_staged(path, stage(rows.columns[:width], plan.columns, plan.casters), operations)
    return _told({"path": path, "rows": len(rows), "part": rows.column(rows.num_columns - 1)[0].as_py(), "error": None})


def _refuse_corrupt(marks: pa.ChunkedArray) -> None:
    bad = marks.drop_null()
    if len(bad):
        raise BadInput(f"malformed record: {bad[0].as_py()[:200]}")


def _told(answer: dict[str, object]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([answer], schema=_ANSWER)
