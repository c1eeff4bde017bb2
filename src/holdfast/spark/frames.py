"""Sources that Spark reads, as DataFrames, and the Arrow types of their columns."""

from __future__ import annotations

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
from holdfast.sources.pieces import Piece
from holdfast.sources.secrets import redacted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

CORRUPT = "_holdfast_corrupt"
FILE, BLOCK = "_holdfast_file", "_holdfast_block"  # where a row comes from, once Spark itself no longer knows
_ROWS_AT_ONCE = 1 << 15
_SIMPLE = {**TYPES, "void": pa.null()}


def arrow_type(given: spark_types.DataType) -> pa.DataType:
    """The Arrow type that Spark hands over; binary for whatever can't be compared."""
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


def parse_ddl(ddl: str) -> list[tuple[str, pa.DataType]]:
    """The columns that a Spark DDL string declares."""
    declared = spark_types.DataType.fromDDL(ddl)
    if not isinstance(declared, spark_types.StructType):
        raise BadInput(f"--schema {ddl!r}: names no columns; write a name and a type for each")
    return [(field.name, arrow_type(field.dataType)) for field in declared.fields]


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
    """A path as Spark wants it: whole, for Spark may work in another folder, and not to be taken for a pattern."""
    return path if "://" in path else re.sub(r"([\\\[\]{}*?])", r"\\\1", str(Path(path).absolute()))


def is_there(spark: SparkSession, pattern: str) -> bool:
    """Whether Spark finds a file at a path that may be a pattern. A place that it can't look at has none."""
    try:
        return bool(spark.read.format("binaryFile").load(pattern).inputFiles())
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("pyspark", "py4j"):
            raise
        return False


def read_other(spark: SparkSession, kind: str, path: str, ddl: str | None, nested: bool = False) -> DataFrame:
    """Parquet or ORC. `nested` says that folders lie in the folder whose names tell nothing."""
    reader = spark.read.option("recursiveFileLookup", nested)
    if ddl:
        reader = reader.schema(ddl)
    return reader.format(kind).load(place(path))


@contextmanager
def clear_sentence(name: str, only: str = "", secrets: Iterable[str] = ()) -> Iterator[None]:
    """Turn what Spark says about a source into one sentence; with `only`, no more than what holds that text."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("pyspark", "py4j") or only not in str(error):
            raise
        raise BadInput(redacted(f"{name}: Spark can't read it: {_reason(str(error))}", secrets)) from None


def _reason(said: str) -> str:
    """The first sentence of an error of Spark's, without the names of classes, conditions and SQL states."""
    lines = [line.strip() for line in said.splitlines()]
    line = next(line for line in [*lines, said] if line and not line.startswith("An error occurred while calling"))
    line = re.sub(r"^(?:: )?(?:[\w.$]+(?:Exception|Error): )?(?:\[[\w.]+\] )?", "", line)
    return re.sub(r"\s*SQLSTATE: \w+.*", "", line).rstrip(".")


def read_jdbc(spark: SparkSession, url: str, table: str, properties: dict[str, str]) -> DataFrame:
    """A database table over JDBC; the driver's jar must be on Spark's class path."""
    return spark.read.options(**properties).jdbc(url, table)


# ---- feeds of several tables: which tables their rows are for, and the rows of one ---------------------------------


def names_in(frame: DataFrame, place: int, marked: bool) -> list[str]:
    """The names in a column, each once; none is that of a row which has none."""
    rows = frame.select(_name(place, marked).alias("name")).distinct().orderBy("name").collect()
    return ["" if row[0] is None else str(row[0]) for row in rows]


def rows_of(frame: DataFrame, place: int, name: str, marked: bool) -> DataFrame:
    """The rows that have a name there, in their order."""
    return frame.filter(_name(place, marked) == name)


def _name(place: int, marked: bool) -> Column:
    """A column of names, without the marks of JSON (see `sources.jsonlines`)."""
    name = functions.col(f"c{place}").cast("string")
    return functions.substr(name, functions.lit(2)) if marked else name
