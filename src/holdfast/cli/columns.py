"""The commands that change the columns of a watched table, while its history goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.arguments import Format, TableName
from holdfast.cli.changing import CHANGE, Change, commands_of_state, tables_of
from holdfast.cli.options import taking
from holdfast.cli.printing import print_json

Name = Annotated[str, typer.Argument(metavar="COLUMN", help="The name of the column.")]
Type = Annotated[
    str,
    typer.Argument(
        metavar="TYPE", help="Such as integer, float, decimal(10,2), text, boolean, date, timestamp, timestamp_ntz."
    ),
]


def _show(state: Path, form: Format) -> None:
    """List the columns of each table with their types, and those that are not watched."""
    from holdfast.report.tables import text_table
    from holdfast.report.terminal import Terminal
    from holdfast.table.types import show_type

    lines = []
    for record in tables_of(state):
        schema = record.schema
        key = {schema.names[place] for place in schema.key}
        for column in schema.columns:
            about = "key" if column.name in key else ""
            lines.append((schema.name, column.name, show_type(column.type), about))
        lines += [(schema.name, name, "", "not watched") for name in record.left_out]
    if form == "json":
        names = ("table", "column", "type", "about")
        print_json({"kind": "column", **dict(zip(names, line, strict=True))} for line in lines)
    else:
        Terminal().print(text_table(("table", "column", "type", ""), lines, ()))


columns = commands_of_state(
    "columns",
    "Show and change the columns of a watched table, while its history goes on.\n\n"
    "Example: [b]holdfast columns state/ rename zip postcode[/b]",
    _show,
)


@columns.command()
@taking(change=CHANGE)
def add(name: Name, kind: Type, table: TableName = None, *, change: Change) -> None:
    """A new column, null in all rows that are there."""
    change.make(lambda monitor: monitor.add_column(name, kind, table=table, change_id=change.id))


@columns.command()
@taking(change=CHANGE)
def drop(name: Name, table: TableName = None, *, change: Change) -> None:
    """A column leaves, with the rules that speak of it; files may have it still."""
    change.make(lambda monitor: monitor.drop_column(name, table=table, change_id=change.id))


@columns.command()
@taking(change=CHANGE)
def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The name of the column.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its name from now on.")],
    table: TableName = None,
    *,
    change: Change,
) -> None:
    """A column gets another name, and keeps its rules and what is remembered of them."""
    change.make(lambda monitor: monitor.rename_column(old, new, table=table, change_id=change.id))


@columns.command()
@taking(change=CHANGE)
def retype(name: Name, kind: Type, table: TableName = None, *, change: Change) -> None:
    """A column gets a wider type, in which every value means what it meant; or becomes text."""
    change.make(lambda monitor: monitor.retype_column(name, kind, table=table, change_id=change.id))
