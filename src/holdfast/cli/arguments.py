"""The arguments that commands share, and what they mean."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from holdfast.engines.contract import Settings
    from holdfast.intake.reading import ReadOptions


class Format(StrEnum):
    """How results are printed."""

    text = "text"
    json = "json"


class Types(StrEnum):
    """Where the types of text files come from."""

    infer = "infer"
    text = "text"


class NullMode(StrEnum):
    """How nulls compare."""

    equal = "equal"
    distinct = "distinct"


class OnMissingRow(StrEnum):
    """What to do with deletes and updates of rows that aren't there."""

    error = "error"
    ignore = "ignore"


class Compare(StrEnum):
    """How values of different columns compare."""

    typed = "typed"
    text = "text"


class Reader(StrEnum):
    """Who reads files."""

    spark = "spark"
    local = "local"


class Holds(StrEnum):
    """What the files of a watched folder hold."""

    insert = "insert"
    delete = "delete"
    changes = "changes"
    snapshot = "snapshot"


Top = Annotated[int, typer.Option(min=0, help="Show at most so many rules of a class as text.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="Only these columns, comma separated: [b]id,zip[/b], or [b]table:id,zip[/b] with several tables."
    ),
]
_READING = "How files are read"
State = Annotated[Path, typer.Argument(metavar="STATE", help="The state folder that [b]holdfast init[/b] made.")]
SourceList = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE…",
        help="Files or folders (CSV, JSON lines, Parquet, ORC, Arrow) or a jdbc: address; one table each, "
        "named after the file, or [b]name=path[/b].",
    ),
]
Output = Annotated[Format, typer.Option("--format", help="Text for people, or one JSON object a line.")]
Separator = Annotated[
    str | None, typer.Option("--sep", help="CSV separator; sniffed if not given.", rich_help_panel=_READING)
]
Quote = Annotated[str | None, typer.Option(help="CSV quote; sniffed if not given.", rich_help_panel=_READING)]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="First CSV line names the columns; sniffed if not given.", rich_help_panel=_READING
    ),
]
NullMarkers = Annotated[
    list[str] | None,
    typer.Option(
        "--null",
        help="A text that stands for null, e.g. NA (repeatable); sniffed if not given.",
        rich_help_panel=_READING,
    ),
]
TypesFrom = Annotated[
    Types,
    typer.Option("--types", help="Infer types from the whole file, or read all as text.", rich_help_panel=_READING),
]
SchemaText = Annotated[
    str | None,
    typer.Option("--schema", help="Types as a Spark DDL string: 'id INT, zip STRING'.", rich_help_panel=_READING),
]
InputFormat = Annotated[
    str | None,
    typer.Option(help="csv, json, parquet, orc or arrow, where the name doesn't tell.", rich_help_panel=_READING),
]
JdbcTable = Annotated[
    str | None, typer.Option(help="The table to read from a jdbc: address.", rich_help_panel=_READING)
]
JdbcProperties = Annotated[
    Path | None,
    typer.Option(
        help="A file of properties (user=…, password=…) for a jdbc: address; or set HOLDFAST_JDBC_USER and "
        "HOLDFAST_JDBC_PASSWORD.",
        rich_help_panel=_READING,
    ),
]
With = Annotated[
    Reader | None,
    typer.Option(
        "--with", help="Read with Spark, or in this process; what fits best if not given.", rich_help_panel=_READING
    ),
]


_ASKING = "What is asked of rules"
Error = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Also rules that hold but for this share: of pairs of rows (fd, ucc), of distinct values (ind).",
        rich_help_panel=_ASKING,
    ),
]
MaxLhs = Annotated[
    int | None, typer.Option(min=0, help="At most so many columns in a left side or key.", rich_help_panel=_ASKING)
]
CompareAs = Annotated[
    Compare,
    typer.Option("--compare", help="Whether values of ind compare by type, or as text.", rich_help_panel=_ASKING),
]
MaxArity = Annotated[
    int,
    typer.Option(
        min=1,
        help="At most so many columns on each side of an ind. One of several columns is told where it holds in rows "
        "without a null in them, and each of its parts holds, too.",
        rich_help_panel=_ASKING,
    ),
]
RuleFile = Annotated[Path | None, typer.Option("--rules", help="A YAML file of rules, whose violations are kept.")]
PairLimit = Annotated[
    int | None,
    typer.Option(min=0, help="Keep at most so many violations of a rule as pairs; beyond, their number alone."),
]
CountOnly = Annotated[bool, typer.Option("--count-only", help="Keep the number of violations alone.")]


def asked_settings(
    pair_limit: int | None = None,
    count_only: bool = False,
    error: float = 0.0,
    max_lhs: int | None = None,
    compare: Compare = Compare.typed,
    max_arity: int = 1,
) -> Settings:
    """What is asked of engines."""
    from holdfast.engines.contract import Settings

    limit = 0 if count_only else pair_limit
    return Settings(pair_limit=limit, error=error, max_lhs=max_lhs, compare=compare.value, max_arity=max_arity)


def read_options(
    separator: str | None,
    quote: str | None,
    header: bool | None,
    nulls: list[str] | None,
    types: Types,
    schema: str | None,
    input_format: str | None,
    jdbc_table: str | None = None,
    jdbc_properties: Path | None = None,
    reader: Reader | None = None,
) -> ReadOptions:
    """How files are read."""
    from holdfast.intake.reading import ReadOptions
    from holdfast.sources.dialect import CsvOptions
    from holdfast.sources.secrets import read_properties

    separator = {"tab": "\t", "\\t": "\t"}.get(separator or "", separator)
    csv = CsvOptions(separator, quote, header, tuple(nulls) if nulls else None, types.value)
    properties = read_properties(jdbc_properties) if jdbc_properties else {}
    return ReadOptions(csv, schema, input_format, jdbc_table, properties, reader.value if reader else None)
