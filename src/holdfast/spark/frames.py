"""Sources that Spark reads, as DataFrames, and the Arrow types of their columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions
from pyspark.sql import types as spark_types

from holdfast.errors import BadInput
from holdfast.sources.dialect import Dialect
from holdfast.sources.local import complaint, read_csv

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

CORRUPT = "_holdfast_corrupt"
FILE, BLOCK = "_holdfast_file", "_holdfast_block"  # where a row comes from, once Spark itself no longer knows
_ROWS_AT_ONCE = 1 << 15
_SIMPLE = {
    "byte": pa.int64(),
    "short": pa.int64(),
    "integer": pa.int64(),
    "long": pa.int64(),
    "float": pa.float64(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}


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


def reads_by_line(spark: SparkSession, paths: list[str], dialect: Dialect) -> bool:
    """Whether Spark may split CSV files at line breaks, and reads each line as our own reader does.

    The same pass refuses files that are not UTF-8, which Spark's CSV reader would garble without a word.
    """
    if any(path.endswith(".zst") for path in paths):  # Spark would need a native library
        return False
    line = functions.col("value")
    lines = spark.read.text([place(path) for path in paths])
    found = lines.agg(functions.max(_irregular(line, dialect)), functions.max(~functions.is_valid_utf8(line))).first()
    assert found is not None
    if found[1]:
        told = [complaint(path, dialect) for path in paths]
        raise BadInput(next((each for each in told if each), f"{paths[0]}: not UTF-8; convert it with iconv"))
    return not found[0]


def _irregular(line: Column, dialect: Dialect) -> Column:
    """Which lines Spark reads otherwise than we do: values that go on over the end of the line, quotes that are no
    quotes, text behind a closing quote, and lines of blanks, which Spark drops even where tabs separate values.
    """
    odd = line.rlike(r"\A[\x00-\x20]+\z") | line.contains("\0")
    if not dialect.quote:
        return odd
    quote, separator = re.escape(dialect.quote), re.escape(dialect.separator)
    # With a sign for each doubled quote, a well-formed quoted field has few shapes; without these no quote is left.
    signed = functions.replace(line, functions.lit(dialect.quote * 2), functions.lit("\0"))
    field = f"(?:\\x00*{quote}[^{quote}]*{quote}|\\x00+)"
    rest = functions.regexp_replace(signed, f"(\\A|{separator}){field}(?={separator}|\\z)", "$1")
    return odd | (line.contains(dialect.quote) & (rest.contains(dialect.quote) | rest.contains("\0")))


def scan_csv(spark: SparkSession, paths: list[str], dialect: Dialect) -> DataFrame:
    """CSV files that read by line, as text columns c0, c1, … and a last column that holds malformed records."""
    columns = [f"c{i}" for i in range(len(dialect.names))]
    reader = spark.read.schema(_csv_schema(dialect)).options(
        sep=dialect.separator,
        quote=dialect.quote,
        escape=dialect.quote,
        header=dialect.header,
        mode="PERMISSIVE",
        columnNameOfCorruptRecord=CORRUPT,
        maxCharsPerColumn=-1,
    )
    # Spark takes an empty value for null; which texts are nulls is not its to say.
    texts = [functions.coalesce(functions.col(name), functions.lit("")).alias(name) for name in columns]
    return reader.csv([place(path) for path in paths]).select(*texts, CORRUPT)


def read_whole_csv(spark: SparkSession, paths: list[str], dialect: Dialect) -> DataFrame:
    """The same for any CSV files: one task reads a file whole, with the reader that reads small ones."""
    names, whole = [f"c{i}" for i in range(len(dialect.names))], [str(Path(path).absolute()) for path in paths]
    wanted = pa.schema([(name, pa.string()) for name in (*names, CORRUPT)])

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in (n for batch in batches for n in batch.column(0).to_pylist()):
            try:
                rows = read_csv(whole[number], dialect)
            except BadInput as error:
                yield pa.RecordBatch.from_pylist([{CORRUPT: str(error)}], schema=wanted)
                continue
            columns = [*rows.columns, pa.nulls(len(rows), pa.string())]
            yield from pa.Table.from_arrays(columns, schema=wanted).to_batches(_ROWS_AT_ONCE)

    tasks = min(len(paths), int(str(spark.conf.get("spark.sql.shuffle.partitions"))))
    return spark.range(0, len(paths), 1, tasks).mapInArrow(read, _csv_schema(dialect))


def _csv_schema(dialect: Dialect) -> str:
    return ", ".join([*(f"c{i} string" for i in range(len(dialect.names))), f"{CORRUPT} string"])


def place(path: str) -> str:
    """A path as Spark wants it: whole, for Spark may work in another folder, and not to be taken for a pattern."""
    return path if "://" in path else re.sub(r"([\\\[\]{}*?])", r"\\\1", str(Path(path).absolute()))


def read_other(spark: SparkSession, kind: str, path: str, ddl: str | None) -> DataFrame:
    """Parquet or ORC."""
    reader = spark.read.schema(ddl) if ddl else spark.read
    return reader.format(kind).load(place(path))


@contextmanager
def clear_sentence(name: str, only: str = "") -> Iterator[None]:
    """Turn what Spark says about a source into one sentence; with `only`, no more than what holds that text."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("pyspark", "py4j") or only not in str(error):
            raise
        raise BadInput(f"{name}: Spark can't read it: {_reason(str(error))}") from None


def _reason(said: str) -> str:
    """The first sentence of an error of Spark's, without the names of classes, conditions and SQL states."""
    lines = [line.strip() for line in said.splitlines()]
    line = next(line for line in [*lines, said] if line and not line.startswith("An error occurred while calling"))
    line = re.sub(r"^(?:: )?(?:[\w.$]+(?:Exception|Error): )?(?:\[[\w.]+\] )?", "", line)
    return re.sub(r"\s*SQLSTATE: \w+.*", "", line).rstrip(".")


def read_jdbc(spark: SparkSession, url: str, table: str, properties: dict[str, str]) -> DataFrame:
    """A database table over JDBC; the driver's jar must be on Spark's class path."""
    return spark.read.options(**properties).jdbc(url, table)
