"""Feeds of several tables that Spark reads: which tables their rows are for, and the rows of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


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
