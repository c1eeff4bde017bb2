"""Sources that Spark reads, as DataFrames, and the Arrow types of their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions
from pyspark.sql import types as spark_types

from holdfast.errors import BadInput
from holdfast.sources.dialect import Dialect
from holdfast.sources.local import complaint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CORRUPT = "_holdfast_corrupt"
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


def parse_ddl(spark: SparkSession, ddl: str) -> list[tuple[str, pa.DataType]]:
    """The columns that a Spark DDL string declares."""
    return columns_of(spark.createDataFrame([], ddl))


def read_csv(spark: SparkSession, paths: list[str], dialect: Dialect) -> DataFrame:
    """CSV files as text columns c0, c1, … and a last column that holds malformed records."""
    width = len(dialect.names)
    schema = ", ".join([*(f"c{i} string" for i in range(width)), f"{CORRUPT} string"])
    reader = spark.read.schema(schema).options(
        sep=dialect.separator,
        quote=dialect.quote,
        escape=dialect.quote,
        header=dialect.header,
        mode="PERMISSIVE",
        columnNameOfCorruptRecord=CORRUPT,
        emptyValue="",
        maxCharsPerColumn=-1,
        multiLine=_has_line_breaks_in_quotes(spark, paths, dialect),
    )
    return reader.csv(paths)


def _has_line_breaks_in_quotes(spark: SparkSession, paths: list[str], dialect: Dialect) -> bool:
    """Whether some line has an odd number of quotes: only then must a file be read whole by one task.

    The same pass refuses files that are not UTF-8, which Spark's CSV reader would garble without a word.
    """
    line = functions.col("value")
    odd = functions.lit(False)
    if dialect.quote:
        mark = functions.lit(dialect.quote)
        quotes = functions.length(line) - functions.length(functions.replace(line, mark, functions.lit("")))
        odd = quotes % 2 == 1
    found = spark.read.text(paths).agg(functions.max(odd), functions.max(~functions.is_valid_utf8(line))).first()
    assert found is not None
    if found[1]:
        told = [complaint(path, dialect) for path in paths]
        raise BadInput(next((each for each in told if each), f"{paths[0]}: not UTF-8; convert it with iconv"))
    return bool(found[0])


def read_other(spark: SparkSession, kind: str, path: str, as_text: bool, ddl: str | None) -> DataFrame:
    """JSON lines, Parquet or ORC; JSON under a given schema has a last column that holds malformed records."""
    reader = spark.read
    if kind == "json":
        reader = reader.options(mode="PERMISSIVE", columnNameOfCorruptRecord=CORRUPT, primitivesAsString=as_text)
        ddl = f"{ddl}, {CORRUPT} string" if ddl else None
    if ddl:
        reader = reader.schema(ddl)
    return reader.format(kind).load(path)


def read_jdbc(spark: SparkSession, url: str, table: str, properties: dict[str, str]) -> DataFrame:
    """A database table over JDBC; the driver's jar must be on Spark's class path."""
    return spark.read.options(**properties).jdbc(url, table)
