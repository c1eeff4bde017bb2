"""Tables of databases over JDBC, in one part or in several that tasks read at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as spark_types

from holdfast.errors import BadInput, suggest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PARTS = "8"  # each is a connection of its own
_LARGEST = 2**63 - 1
_BOUNDS = re.compile(r"(.+)=(.+)\.\.(.+)")
_SPLITTABLE = (spark_types.NumericType, spark_types.DateType, spark_types.TimestampType)


def read_jdbc(
    spark: SparkSession, url: str, table: str, properties: dict[str, str], split: str | None = None
) -> DataFrame:
    """A table, or a query in parentheses with a name; the driver's jar must be on Spark's class path.

    `split` names a column by whose values the table is read in parts: `id`, where a query finds the smallest and the
    largest value, or `id=1..1000000`. All rows are read in either case, also those beyond and those without a value.
    """
    reader = spark.read.options(**properties).format("jdbc").option("url", url)
    frame = reader.option("dbtable", table).load()
    if split is None:
        return frame
    stated = _BOUNDS.fullmatch(split)
    column = _column(frame, stated[1] if stated else split)
    if stated:
        low, high = stated[2], stated[3]
    else:
        name = _quoted(url, column)
        bounds = f"(SELECT min({name}) lowest, max({name}) highest FROM {table}) holdfast_bounds"
        ends = reader.option("dbtable", bounds).load().first()
        if ends is None or ends[0] is None:  # no rows, or none with a value
            return frame
        low, high = _bound(ends[0], math.floor), _bound(ends[1], math.ceil)
    parts = properties.get("numPartitions", _PARTS)
    return reader.options(
        dbtable=table, partitionColumn=column, lowerBound=low, upperBound=high, numPartitions=parts
    ).load()


def _column(frame: DataFrame, wanted: str) -> str:
    """The column that is meant, as the database writes it: many fold the case of names."""
    same = [name for name in frame.columns if name == wanted] or [
        name for name in frame.columns if name.casefold() == wanted.casefold()
    ]
    if len(same) != 1:
        raise BadInput(f"--jdbc-split {wanted}: the table has no such column; {suggest(wanted, frame.columns)}")
    kind = frame.schema[same[0]].dataType
    if not isinstance(kind, _SPLITTABLE):
        raise BadInput(
            f"--jdbc-split {wanted}: the column is {kind.simpleString()}; name one of numbers, dates or times"
        )
    return same[0]


def _bound(value: Any, whole: Callable[[Any], int]) -> str:
    """A bound as Spark wants it: numbers as 64-bit integers, near enough for parts."""
    if not isinstance(value, float | Decimal):
        return str(value)
    return str(whole(max(-_LARGEST, min(value, _LARGEST))) if value == value else _LARGEST)  # NaN is the largest


def _quoted(url: str, name: str) -> str:
    """A name in the quotes of the database."""
    opening, closing = "``" if re.match(r"jdbc:(mysql|mariadb)", url) else "[]" if "sqlserver" in url else '""'
    return f"{opening}{name.replace(closing, closing * 2)}{closing}"
