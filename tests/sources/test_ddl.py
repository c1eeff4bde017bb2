"""Plain schemas in Spark's DDL: the same columns that Spark reads from them, and nothing that it reads otherwise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from holdfast.errors import BadInput
from holdfast.intake.source import ReadOptions
from holdfast.sources.ddl import parse_plain_ddl, refuse_wrong_ddl

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAIN = [
    "id INT, zip STRING",
    "a tinyint, b BYTE, c smallint, d short, e integer, f bigint, g long",
    "a float, b real, c double, d boolean, e date",
    "a timestamp, b timestamp_ltz, c timestamp_ntz",
    "a decimal, b decimal(5), c numeric(12, 2), d DEC(38,38)",
    "a char(3), b varchar(10)",
    "`a b` int, `c``d` string, `e,f` date",
    "a: int, b:string",
    "  a   int  ,\n b\tstring NOT NULL ",
    "`Ünï` int, _x1 date",
]
OF_SPARK = [
    "a array<int>", "a struct<b: int, c: string>, d int", "a string COMMENT 'x, y'", "a interval day to second",
    "a map<string, decimal(3,1)>", "a binary, `b` int",
]  # fmt: skip
WRONG = {
    "": "'' is no column", "a": "'a' is no column", "aint": "'aint' is no column",
    "a int,": "'' is no column", "a int b int": "'a int b int' is no",
    "a nonsense": "there is no type 'nonsense'", "a INTT": "did you mean 'int'", "a int(3)": "no type 'int(3)'",
    "a decimal(39)": "no type 'decimal(39)'", "a decimal(5,6)": "no type 'decimal(5,6)'", "a int, , b int": "'' is no",
    "a char": "no type 'char'", "a varchar(2,3)": "no type 'varchar(2,3)'", "a array<int": "a bracket is open",
}  # fmt: skip


@pytest.mark.parametrize("ddl", [*OF_SPARK, "Ünï int", "1a int"])
def test_what_is_left_to_spark(ddl: str) -> None:
    assert parse_plain_ddl(ddl) is None
    refuse_wrong_ddl(ddl)


@pytest.mark.parametrize(("ddl", "said"), WRONG.items())
def test_what_is_wrong_is_refused_without_spark(ddl: str, said: str) -> None:
    assert parse_plain_ddl(ddl) is None
    with pytest.raises(BadInput, match=re.escape(f"--schema {ddl!r}: ") + ".*" + re.escape(said)):
        ReadOptions(schema=ddl)
    for plain in PLAIN:
        refuse_wrong_ddl(plain)


def test_names_and_types() -> None:
    assert parse_plain_ddl("`a``b` INT, z decimal(5,2)") == [("a`b", pa.int64()), ("z", pa.decimal128(5, 2))]


@pytest.mark.spark
def test_plain_ones_mean_what_spark_says(spark: SparkSession) -> None:
    from holdfast.spark.frames import parse_ddl

    for ddl in PLAIN:
        plain = re.sub(r"(var)?char\(\d+\)", "string", ddl).replace(":", " ")  # as Spark takes it for files
        assert parse_plain_ddl(ddl) == parse_ddl(spark, plain), ddl
    for ddl in OF_SPARK:
        assert parse_ddl(spark, ddl), ddl
    for ddl in set(WRONG) - {""}:
        with pytest.raises(Exception, match=r"PARSE|TYPE|DECIMAL|decimal|LENGTH|Syntax"):
            parse_ddl(spark, ddl)
