"""The arguments that commands share, and what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Format = Literal["text", "json"]
Top = Annotated[int, typer.Option(min=0, help="Show at most N rules of a class as text.")]
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
How = Literal["insert", "delete", "changes", "snapshot", "upsert"]
TablesOfBatch = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        help="The table, where several are watched; or [b]name=path[/b], as often as there are tables to change in one "
        "batch.",
    ),
]
TableColumn = Annotated[
    str | None, typer.Option(help="The column that names the table of each row, where a file has rows of several.")
]
Evolve = Annotated[
    bool,
    typer.Option(
        "--evolve",
        help="Let the table take over the columns of the file: new ones join, ones that it lacks leave, and types get "
        "wider where no value changes its meaning.",
    ),
]
ChangeId = Annotated[str | None, typer.Option("--id", help="A name for this change; the same one is never made twice.")]
FailOn = Annotated[
    str,
    typer.Option(
        help="Which rules that break make the exit code 1: only [b]given[/b] ones, also [b]likely[/b] ones that were "
        "found, [b]any[/b], [b]never[/b]; or found ones from a score on, such as [b]0.7[/b].",
    ),
]
Quarantine = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="A folder for rows that can't be read or applied, each with the reason; the others are applied.",
    ),
]
OnMissing = Annotated[Literal["error", "ignore"], typer.Option(help="What to do about rows that aren't there.")]
