"""The commands that change which tables a state watches, while its history goes on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.arguments import Format
from holdfast.cli.changing import CHANGE, Change, commands_of_state, tables_of
from holdfast.cli.options import READING, taking
from holdfast.cli.printing import print_json
from holdfast.cli.tables import named, split

if TYPE_CHECKING:
    from holdfast.intake.reading import ReadOptions


def _show(state: Path, form: Format) -> None:
    """List the tables with their rows, columns and keys."""
    from holdfast.report.tables import text_table
    from holdfast.report.terminal import Terminal

    records = tables_of(state)
    lines = [(each.schema, each.rows, [each.schema.names[place] for place in each.schema.key]) for each in records]
    if form == "json":
        print_json(
            {"kind": "table", "table": schema.name, "rows": rows, "columns": len(schema.names), "key": key}
            for schema, rows, key in lines
        )
    else:
        shown = [(s.name, f"{rows:,}", f"{len(s.names):,}", ", ".join(key)) for s, rows, key in lines]
        Terminal().print(text_table(("table", "rows", "columns", "key"), shown, ("rows", "columns")))


tables = commands_of_state(
    "tables",
    "Show and change the tables of a state, while its history goes on.\n\n"
    "Example: [b]holdfast tables state/ add customers.csv --key id[/b]",
    _show,
)


@tables.command()
@taking(change=CHANGE, options=READING)
def add(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A file, a folder or a jdbc: address, or [b]name=path[/b].")
    ],
    *,
    key: Annotated[str | None, typer.Option(help="The columns of its key, comma separated.")] = None,
    columns: Annotated[str | None, typer.Option(help="Only these columns, comma separated.")] = None,
    options: ReadOptions,
    change: Change,
) -> None:
    """Watch one more table: it is read whole, and the rules of all watched classes are found in it."""
    ((name, path),) = named([source], options.jdbc_table).items()
    change.make(
        lambda monitor: monitor.add_table(
            name, path, key=split(key or ""), columns=split(columns or ""), options=options, change_id=change.id
        ),
    )


@tables.command()
@taking(change=CHANGE)
def drop(
    name: Annotated[str, typer.Argument(metavar="TABLE", help="The name of the table.")], *, change: Change
) -> None:
    """Watch a table no longer; rules that speak of it go with it. What the history tells of it stays."""
    change.make(lambda monitor: monitor.drop_table(name, change_id=change.id))
