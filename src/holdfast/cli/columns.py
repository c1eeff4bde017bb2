"""The commands that change the columns of a watched table, while its history goes on."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli.app import Commands, app
from holdfast.cli.arguments import ChangeId, Output, State, TableName
from holdfast.cli.changing import tell_change
from holdfast.cli.printing import print_json

Name = Annotated[str, typer.Argument(metavar="COLUMN", help="The name of the column.")]
Type = Annotated[
    str,
    typer.Argument(
        metavar="TYPE", help="Such as integer, float, decimal(10,2), text, boolean, date, timestamp, timestamp_ntz."
    ),
]

columns = typer.Typer(
    name="columns",
    cls=Commands,
    help="Show and change the columns of a watched table, while its history goes on.\n\n"
    "Example: [b]holdfast columns state/ rename zip postcode[/b]",
    invoke_without_command=True,
    rich_markup_mode="rich",
)
app.add_typer(columns)


@columns.callback()
def _of_state(context: typer.Context, state: State) -> None:
    context.obj = state
    if context.invoked_subcommand is None:
        _show(context, "text")


@columns.command()
def show(context: typer.Context, form: Output = "text") -> None:
    """List the columns of each table with their types, and those that are not watched."""
    _show(context, form)


def _show(context: typer.Context, form: str) -> None:
    from holdfast.report.tables import text_table
    from holdfast.report.terminal import Terminal
    from holdfast.store.store import Store
    from holdfast.table.types import show_type

    store = Store(context.obj)
    try:
        records = store.tables()
    finally:
        store.close()
    lines = []
    for record in records:
        schema = record.schema
        key = {schema.names[place] for place in schema.key}
        for column in schema.columns:
            about = "key" if column.name in key else ""
            lines.append((schema.name, column.name, show_type(column.type), about))
        lines += [(schema.name, name, "", "not watched") for name in record.left_out]
    headings = ("table", "column", "type", "")
    if form == "json":
        print_json(dict(zip(("table", "column", "type", "about"), line, strict=True)) for line in lines)
    else:
        Terminal().print(text_table(headings, lines, ()))


@columns.command()
def add(
    context: typer.Context,
    name: Name,
    kind: Type,
    table: TableName = None,
    change_id: ChangeId = None,
    form: Output = "text",
) -> None:
    """A new column, null in all rows that are there."""
    tell_change(context, form, lambda monitor: monitor.add_column(name, kind, table=table, change_id=change_id))


@columns.command()
def drop(
    context: typer.Context, name: Name, table: TableName = None, change_id: ChangeId = None, form: Output = "text"
) -> None:
    """A column leaves, with the rules that speak of it; files may have it still."""
    tell_change(context, form, lambda monitor: monitor.drop_column(name, table=table, change_id=change_id))


@columns.command()
def rename(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The name of the column.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its name from now on.")],
    table: TableName = None,
    change_id: ChangeId = None,
    form: Output = "text",
) -> None:
    """A column gets another name, and keeps its rules and what is remembered of them."""
    tell_change(context, form, lambda monitor: monitor.rename_column(old, new, table=table, change_id=change_id))


@columns.command()
def retype(
    context: typer.Context,
    name: Name,
    kind: Type,
    table: TableName = None,
    change_id: ChangeId = None,
    form: Output = "text",
) -> None:
    """A column gets a wider type, in which every value means what it meant; or becomes text."""
    tell_change(context, form, lambda monitor: monitor.retype_column(name, kind, table=table, change_id=change_id))
