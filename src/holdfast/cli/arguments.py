"""The arguments that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from holdfast.engines.thresholds import ALARM_BUDGET

Format = Literal["text", "json"]
Top = Annotated[int, typer.Option(min=0, help="Show at most N rules of a class as text.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="Only these columns, separated by commas: [b]id,zip[/b], or [b]table:id,zip[/b] for several tables."
    ),
]
History = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of times by which the first rows are cut into past batches, or [b]off[/b]; "
        "[b]table:column[/b] for several tables (default: the best of each).",
    ),
]
AlarmBudget = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="How many breaks by chance all suggested rules of severity error together may have in 100 usual batches, "
        f"each at most a hundredth of that; others warn (default: {ALARM_BUDGET:g}, or that of the state).",
        show_default=False,
    ),
]
State = Annotated[Path, typer.Argument(metavar="STATE", help="The state folder that [b]holdfast init[/b] made.")]
SourceList = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE…",
        help="Files, folders or patterns such as [b]'in/*.csv'[/b] (CSV, JSON lines, Parquet, ORC, Arrow), "
        "[b]https:[/b] and [b]s3:[/b] addresses, [b]-[/b] for standard input, or tables of databases "
        "([b]postgres://user@host/db/table[/b], [b]duckdb:FILE/table[/b], [b]sqlite:FILE/table[/b], [b]jdbc:…[/b]); "
        "a table is named after its file, or [b]name=path[/b] names it.",
    ),
]
Output = Annotated[Format, typer.Option("--format", help="Text, or one JSON object a line.")]
TableName = Annotated[str | None, typer.Option("--table", help="The table, if several are watched.")]
How = Literal["insert", "delete", "changes", "snapshot", "upsert"]
TablesOfBatch = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        help="The table, if several are watched; or [b]name=path[/b] for each table that the batch changes "
        "(repeatable).",
    ),
]
ChangeId = Annotated[
    str | None, typer.Option("--id", help="A name for this change; a change of the same name is not made again.")
]
