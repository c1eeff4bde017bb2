"""The staging job: each task reads its part of a DataFrame and writes staged chunks; only their names come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, functions

from holdfast.changes.operations import UPDATE, VERSION_COLUMN, WORDS
from holdfast.errors import BadInput
from holdfast.spark.frames import BLOCK, FILE, collected

Write = Callable[[pa.Table], str]  # writes rows to a file, and gives its path
CHUNK_ROWS = 1 << 19
_CHUNK_BYTES = 128 << 20
_ANSWER = pa.schema([("path", pa.string()), ("rows", pa.int64()), ("part", pa.int32()), ("error", pa.string())])


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
    number = functions.expr(f"try_cast(c{version} AS bigint)")
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


def stage_frame(frame: DataFrame, write: Write, has_corrupt: bool = False) -> tuple[list[str], int]:
    """Have tasks write the rows of a DataFrame, all columns but the bad records in the last one, if it has these. Gives
    the files in the order of the rows, and the number of rows.
    """
    numbered = frame.withColumn("part", functions.spark_partition_id())
    schema = "path string, rows bigint, part int, error string"
    answers = collected(numbered.mapInArrow(partial(_stage_part, write, has_corrupt), schema))
    for answer in answers:
        if answer["error"] is not None:
            raise BadInput(answer["error"])
    answers.sort(key=lambda answer: answer["part"])  # stable: chunks of a part come in order
    return [answer["path"] for answer in answers], sum(answer["rows"] for answer in answers)


def _stage_part(write: Write, has_corrupt: bool, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    waiting: list[pa.RecordBatch] = []
    try:
        for batch in batches:
            waiting.append(batch)
            rows, size = sum(len(b) for b in waiting), sum(b.nbytes for b in waiting)
            if rows >= CHUNK_ROWS or size >= _CHUNK_BYTES:
                yield _stage_chunk(write, has_corrupt, waiting)
                waiting = []
        if sum(len(b) for b in waiting):
            yield _stage_chunk(write, has_corrupt, waiting)
    except BadInput as error:
        yield _answer({"path": None, "rows": 0, "part": 0, "error": str(error)})


def _stage_chunk(write: Write, has_corrupt: bool, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    rows = pa.Table.from_batches(batches)
    *_, last, part = rows.columns
    if has_corrupt and len(bad := last.drop_null()):
        raise BadInput(f"malformed record: {bad[0].as_py()[:200]}")
    return _answer({"path": write(rows), "rows": len(rows), "part": part[0].as_py(), "error": None})


def _answer(answer: dict[str, object]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([answer], schema=_ANSWER)
