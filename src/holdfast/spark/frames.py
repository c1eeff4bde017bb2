"""Sources that Spark reads, as DataFrames, and the Arrow types of their columns."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions
from pyspark.sql import types as spark_types

from holdfast.errors import BadInput
from holdfast.sources.ddl import TYPES
from holdfast.sources.jsonlines import KeyTraits, key_traits, marked, row_of
from holdfast.sources.pieces import Piece
from holdfast.sources.secrets import redacted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession

CORRUPT = "_holdfast_corrupt"
FILE, BLOCK = "_holdfast_file", "_holdfast_block"  # where a row comes from, as Spark loses that
_ROWS_AT_ONCE = 1 << 15
_MISSING = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
_SIMPLE = {**TYPES, "void": pa.null()}


def arrow_type(given: spark_types.DataType) -> pa.DataType:
    """The Arrow type that Spark gives; binary for types that can't be compared."""
    if isinstance(given, spark_types.DecimalType):
        return pa.decimal128(given.precision, given.scale)
    if isinstance(given, spark_types.CharType | spark_types.VarcharType):
        return pa.string()
    if isinstance(given, spark_types.DayTimeIntervalType):
        return pa.duration("us")
    if given.typeName().startswith("time("):
        return pa.time64("us")
    return _SIMPLE.get(given.typeName(), pa.binary())


def columns_of(frame: DataFrame) -> list[tuple[str, pa.DataType]]:
    """The names and types of a DataFrame's columns."""
    return [(field.name, arrow_type(field.dataType)) for field in frame.schema.fields]


def positional(frame: DataFrame) -> DataFrame:
    """The same DataFrame with columns c0, c1, …: names may hold dots or quotes, or differ in case only."""
    return frame.toDF(*[f"c{i}" for i in range(len(frame.columns))])


def parse_ddl(spark: SparkSession, ddl: str) -> list[tuple[str, pa.DataType]]:
    """The columns that a Spark DDL string declares."""
    return columns_of(spark.read.schema(ddl).format("parquet").load([]))  # of no files


def frame_of_pieces(spark: SparkSession, pieces: Sequence[Piece], width: int) -> DataFrame:
    """Pieces of CSV files as rows of text columns c0, c1, …, in their order; tasks read them."""
    columns = [f"c{i}" for i in range(width)]
    wanted = pa.schema([(name, pa.string()) for name in columns])

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in (n for batch in batches for n in batch.column(0).to_pylist()):
            rows = pieces[number].read().rename_columns(columns).cast(wanted)
            yield from rows.to_batches(_ROWS_AT_ONCE)

    schema = ", ".join(f"{name} string" for name in columns)
    return spark.range(0, len(pieces), 1, len(pieces)).mapInArrow(read, schema)


def place(path: str) -> str:
    """A path for Spark: absolute, as Spark may run in another folder, and escaped, so that it is no pattern."""
    return path if "://" in path else re.sub(r"([\\\[\]{}*?])", r"\\\1", str(Path(path).absolute()))


def is_there(spark: SparkSession, pattern: str) -> bool:
    """Whether Spark finds a file at a path, which may be a pattern. False where Spark can't look."""
    try:
        return bool(spark.read.format("binaryFile").load(pattern).inputFiles())
    except Exception as error:
        if not is_of_spark(error):
            raise
        return False


def read_other(
    spark: SparkSession,
    kind: str,
    paths: str | Sequence[str],
    ddl: str | None,
    nested: bool = False,
    base: str | None = None,
) -> DataFrame:
    """Parquet or ORC, a path or several files. `nested` says that there are folders inside whose names hold no values,
    `base` is the folder below which names of folders hold values, where that is not the path.
    """
    reader = spark.read.option("recursiveFileLookup", nested)
    if base is not None:
        reader = reader.option("basePath", str(Path(base).absolute()))
    if ddl:
        reader = reader.schema(ddl)
    return reader.format(kind).load([place(path) for path in ([paths] if isinstance(paths, str) else paths)])


@contextmanager
def clear_sentence(name: str, only: str = "", secrets: Iterable[str] = ()) -> Iterator[None]:
    """Turn an error of Spark's about a source into one sentence; with `only`, just errors with that text."""
    try:
        yield
    except Exception as error:
        if only not in str(error) or not is_of_spark(error):
            raise
        raise BadInput(redacted(f"{name}: Spark can't read it: {reason(str(error))}", secrets)) from None


def is_of_spark(error: Exception) -> bool:
    """Whether Spark raised an error, or the JVM did."""
    return type(error).__module__.split(".")[0] in ("pyspark", "py4j")


def reason(said: str) -> str:
    """The first sentence of a Spark error, without the names of classes, conditions and SQL states."""
    lines = [line.strip() for line in said.splitlines()]
    line = next(line for line in [*lines, said] if line and not line.startswith("An error occurred while calling"))
    line = re.sub(r"^(?:: )?(?:[\w.$]+(?:Exception|Error): )?(?:\[[\w.]+\] )?", "", line)
    return re.sub(r"\s*SQLSTATE: \w+.*", "", line).rstrip(".")


# ---- the answers of tasks -------------------------------------------------------------------------------------------


def collected(answers: DataFrame) -> list[Row]:
    """The few rows that tasks give. Where a worker lacks a module, the error says so in one sentence."""
    try:
        return answers.collect()  # Spark 3.5 has no `toArrow`
    except Exception as error:
        missing = _MISSING.search(str(error))
        if missing is None or not is_of_spark(error):
            raise
        raise BadInput(
            f"the Python of Spark's tasks has no module {missing[1]!r}: install holdfast there, in the Python that "
            "spark.pyspark.python names, or bring it along with spark.submit.pyFiles or spark.executorEnv.PYTHONPATH"
        ) from None


# ---- JSON lines: tasks parse them as a small file is parsed (`sources.jsonlines`) ------------------------------------


def json_lines(spark: SparkSession, paths: list[str]) -> DataFrame:
    """The lines of some files or folders, and where each comes from."""
    file, block = functions.col("_metadata.file_path"), functions.col("_metadata.file_block_start")
    return spark.read.text([place(path) for path in paths]).select("value", file.alias(FILE), block.alias(BLOCK))


def json_looks(lines: DataFrame) -> dict[str, KeyTraits] | None:
    """What the values of each key look like, by key in order; None where a line is no row."""
    answer = pa.schema([("found", pa.binary())])

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found: dict[str, KeyTraits] = {}
        try:
            for batch in batches:
                rows = [row for line in batch.column(0).to_pylist() if (row := row_of(line)) is not None]
                for name in dict.fromkeys(name for row in rows for name in row):
                    column = key_traits(marked([row.get(name) for row in rows]).unique())
                    found[name] = column.join(found.get(name, KeyTraits()))
            packed = pickle.dumps(found)
        except ValueError:  # no row, or not even UTF-8
            packed = pickle.dumps(None)
        yield pa.RecordBatch.from_pylist([{"found": packed}], schema=answer)

    merged: dict[str, KeyTraits] = {}
    for part in collected(lines.select("value").mapInArrow(look, "found binary")):
        found: dict[str, KeyTraits] | None = pickle.loads(part["found"])
        if found is None:
            return None
        merged |= {name: column.join(merged.get(name, KeyTraits())) for name, column in found.items()}
    return dict(sorted(merged.items()))


def json_rows(lines: DataFrame, names: list[str]) -> DataFrame:
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


# ---- feeds of several tables: which tables their rows are for, and the rows of one ---------------------------------


def names_in(frame: DataFrame, place: int, marked: bool) -> list[str]:
    """The distinct names in a column; the name of a row without one is empty."""
    rows = frame.select(_name(place, marked).alias("name")).distinct().orderBy("name").collect()
    return ["" if row[0] is None else str(row[0]) for row in rows]


def rows_of(frame: DataFrame, place: int, name: str, marked: bool) -> DataFrame:
    """The rows with a name in a column, in their order."""
    return frame.filter(_name(place, marked) == name)


def _name(place: int, marked: bool) -> Column:
    """A column of names, without the marks of JSON (see `sources.jsonlines`)."""
    name = functions.col(f"c{place}").cast("string")
    return functions.substr(name, functions.lit(2)) if marked else name
