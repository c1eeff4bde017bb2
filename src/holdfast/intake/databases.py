"""Databases as open sources: those that this process reads, and those that Spark reads over JDBC."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from holdfast.errors import BadInput
from holdfast.intake.opened import OpenSource, ReadOptions, from_arrow, from_frame
from holdfast.intake.readers import choose_reader, refuse_other_reader
from holdfast.sources.secrets import redacted, secrets_of, with_environment, with_variables
from holdfast.spark.session import session

if TYPE_CHECKING:
    from holdfast.spark import SparkSession


def open_database(address: str, options: ReadOptions, expected: pa.Schema | None) -> OpenSource:
    """A table or a query of a database that this process reads."""
    from holdfast.sources.databases.reading import read  # what most sources need not load

    shown = redacted(address)
    refuse_other_reader(options.reader, "local", f"{shown}: Spark reads databases by jdbc: addresses only")
    for option, given in (("--schema", options.schema), ("--input-format", options.format)):
        if given is not None:
            raise BadInput(f"{shown}: a database declares its types itself; leave out {option}, and cast in --query")
    answered = read(address, options.query, expected)
    return replace(from_arrow(answered.table, answered.name), notes=answered.notes)


def open_jdbc(address: str, options: ReadOptions, spark: SparkSession | None) -> OpenSource:
    """A table or a query that Spark reads over JDBC."""
    shown = redacted(address)
    choose_reader(shown, "jdbc", None, options.reader, spark)
    if (options.jdbc_table is None) == (options.query is None):
        raise BadInput(f"{shown}: say which table to read, with --jdbc-table, or give a --query")
    table = options.jdbc_table or f"({(options.query or '').strip().rstrip(';')}) holdfast_rows"
    url, variables = with_variables(address)
    properties = with_environment(options.jdbc_properties)
    secrets = frozenset(variables | secrets_of(url, properties))
    running = session(spark, f"Reading {shown}", options.master)
    from holdfast.spark.frames import clear_sentence
    from holdfast.spark.jdbc import read_jdbc

    with clear_sentence(shown, secrets=secrets):
        frame = read_jdbc(running, url, table, properties, options.jdbc_split)
    return from_frame(frame, f"{shown} {options.jdbc_table or '(the query)'}", secrets=secrets)
