"""The commands that change the columns and tables of a state and keep its history."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.arguments import Format, TableName
from holdfast.cli.changing import StateChange, changing, commands_of_state
from holdfast.cli.options import reading, taking
from holdfast.cli.printing import print_as
from holdfast.cli.tables import named, split

if TYPE_CHECKING:
    from holdfast.intake.source import ReadOptions
    from holdfast.store.records import TableRecord

Name = Annotated[str, typer.Argument(metavar="COLUMN", help="The name of the column.")]
Type = Annotated[
    str,
    typer.Argument(
        metavar="TYPE", help="Such as integer, float, decimal(10,2), text, boolean, date, timestamp, timestamp_ntz."
    ),
]


def _tables_of(state: Path) -> list[TableRecord]:
    """The tables of a state, without loading them."""
    return _tables_and_sensitive(state)[0]


def _tables_and_sensitive(state: Path) -> tuple[list[TableRecord], dict[str, tuple[str, ...]]]:
    """The tables of a state, without loading them, and their sensitive columns."""
    from holdfast.api.settings import stored_sensitive
    from holdfast.store.store import Store

    with closing(Store(state)) as store:
        return store.tables(), stored_sensitive(store)


def _show_columns(state: Path, form: Format) -> None:
    """List the columns of each table with their types, and the columns that are not watched."""
    from holdfast.report.tables import text_table
    from holdfast.report.terminal import Terminal
    from holdfast.table.types import show_type

    lines = []
    records, sensitive = _tables_and_sensitive(state)
    for record in records:
        schema = record.schema
        key = {schema.names[place] for place in schema.key}
        for column in schema.columns:
            about = ["key"] if column.name in key else []
            about += ["sensitive"] if column.name in sensitive.get(schema.name, ()) else []
            lines.append((schema.name, column.name, show_type(column.type), ", ".join(about)))
        lines += [(schema.name, name, "", "not watched") for name in record.left_out]
    names = ("table", "column", "type", "about")
    objects = ({"kind": "column", **dict(zip(names, line, strict=True))} for line in lines)
    print_as(form, objects, lambda: Terminal().print(text_table((*names[:3], ""), lines, ())))


columns = commands_of_state(
    "columns",
    "Show and change the columns of a watched table; its history stays.\n\n"
    "Example: [b]holdfast columns state/ rename zip postcode[/b]",
    _show_columns,
)


@columns.command()
@taking(change=changing)
def add(name: Name, kind: Type, table: TableName = None, *, change: StateChange) -> None:
    """Add a column; it is null in all existing rows."""
    change.make(lambda monitor: monitor.add_column(name, kind, table=table, change_id=change.id))


@columns.command()
@taking(change=changing)
def drop(name: Name, table: TableName = None, *, change: StateChange) -> None:
    """Drop a column and the rules that name it; files may still have it."""
    change.make(lambda monitor: monitor.drop_column(name, table=table, change_id=change.id))


@columns.command()
@taking(change=changing)
def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The name of the column.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")],
    table: TableName = None,
    *,
    change: StateChange,
) -> None:
    """Rename a column; its rules and their history stay."""
    change.make(lambda monitor: monitor.rename_column(old, new, table=table, change_id=change.id))


@columns.command()
@taking(change=changing)
def retype(name: Name, kind: Type, table: TableName = None, *, change: StateChange) -> None:
    """Give a column a wider type, in which no value changes its meaning, or make it text."""
    change.make(lambda monitor: monitor.retype_column(name, kind, table=table, change_id=change.id))


@columns.command()
@taking(change=changing)
def sensitive(
    names: Annotated[list[str], typer.Argument(metavar="COLUMN…", help="The names of columns.")],
    table: TableName = None,
    undo: Annotated[bool, typer.Option("--undo", help="They are not sensitive any more.")] = False,
    *,
    change: StateChange,
) -> None:
    """Declare columns sensitive: reports show hashes of their values, and notifications none of them."""
    change.make(lambda monitor: monitor.declare_sensitive(names, table=table, undo=undo, change_id=change.id))


def _show_tables(state: Path, form: Format) -> None:
    """List the tables with their rows, columns and keys."""
    from holdfast.report.tables import text_table
    from holdfast.report.terminal import Terminal

    names = ("table", "rows", "columns", "key")
    schemas = [(each.schema, each.rows) for each in _tables_of(state)]
    plain = [(s.name, rows, len(s.names), [s.names[place] for place in s.key]) for s, rows in schemas]
    shown = [(name, f"{rows:,}", f"{columns:,}", ", ".join(key)) for name, rows, columns, key in plain]
    objects = ({"kind": "table", **dict(zip(names, line, strict=True))} for line in plain)
    print_as(form, objects, lambda: Terminal().print(text_table(names, shown, names[1:3])))


tables = commands_of_state(
    "tables",
    "Show and change the tables of a state; its history stays.\n\n"
    "Example: [b]holdfast tables state/ add customers.csv --key id[/b]",
    _show_tables,
)


@tables.command("add")
@taking(change=changing, options=reading)
def add_table(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A file, a folder, a table of a database, or [b]name=path[/b].")
    ],
    *,
    key: Annotated[str | None, typer.Option(help="Its key columns, separated by commas.")] = None,
    columns: Annotated[str | None, typer.Option(help="Only these columns, separated by commas.")] = None,
    options: ReadOptions,
    change: StateChange,
) -> None:
    """Watch one more table: read it, and find the rules of all watched classes in it."""
    ((name, path),) = named([source], options).items()
    change.make(
        lambda monitor: monitor.add_table(
            name, path, key=split(key or ""), columns=split(columns or ""), options=options, change_id=change.id
        ),
    )


@tables.command("drop")
@taking(change=changing)
def drop_table(
    name: Annotated[str, typer.Argument(metavar="TABLE", help="The name of the table.")], *, change: StateChange
) -> None:
    """Stop watching a table, and drop the rules that name it. Its history stays."""
    change.make(lambda monitor: monitor.drop_table(name, change_id=change.id))
