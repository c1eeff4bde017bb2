"""Plain schemas in Spark's DDL: the same columns that Spark reads from them, and nothing that it reads otherwise."""

from __future__ import annotations

import pyarrow as pa
import pytest

from holdfast.sources.ddl import parse_plain_ddl

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
    "Ünï int, _x1 date",
]
NOT_PLAIN = [
    "", "a", "a int,", "a int b int", "a nonsense", "a array<int>", "a struct<b: int>", "a int(3)", "a decimal(39)",
    "a decimal(5,6)", "a string COMMENT 'x'", "a int, , b int", "a interval day to second", "a char", "a varchar(2,3)",
]  # fmt: skip


@pytest.mark.parametrize("ddl", NOT_PLAIN)
def test_what_is_left_to_spark(ddl: str) -> None:
    assert parse_plain_ddl(ddl) is None


def test_names_and_types() -> None:
    assert parse_plain_ddl("`a``b` INT, z decimal(5,2)") == [("a`b", pa.int64()), ("z", pa.decimal128(5, 2))]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_plain_ones_mean_what_spark_says() -> None:
    from holdfast.spark.frames import parse_ddl

    for ddl in PLAIN:
        assert parse_plain_ddl(ddl) == parse_ddl(ddl), ddl
