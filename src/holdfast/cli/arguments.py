"""The arguments that commands share, and what they mean."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How results are printed."""

    text = "text"
    json = "json"


class NullMode(StrEnum):
    """How nulls compare."""

    equal = "equal"
    distinct = "distinct"


class OnMissingRow(StrEnum):
    """What to do with deletes and updates of rows that aren't there."""

    error = "error"
    ignore = "ignore"


Top = Annotated[int, typer.Option(min=0, help="Show at most so many rules of a class as text.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="Only these columns, comma separated: [b]id,zip[/b], or [b]table:id,zip[/b] with several tables."
    ),
]
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
TableName = Annotated[str | None, typer.Option("--table", help="The table, where several are watched.")]
OnMissing = Annotated[OnMissingRow, typer.Option(help="What to do about rows that aren't there.")]
