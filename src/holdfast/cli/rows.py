"""The command that shows rows by number, or by their values. Needs no lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Output, State, TableName
from holdfast.cli.printing import print_json, terminal_progress
from holdfast.errors import BadInput

if TYPE_CHECKING:
    from holdfast.api.view import View
    from holdfast.results.rows import Row

_SHOWN = 20


@app.command()
def rows(
    state: State,
    numbers: Annotated[list[int] | None, typer.Argument(metavar="[NUMBER]…", help="The numbers of rows.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="Rows with these values: [b]Id=17[/b], or [b]Id=17, Day=2024-01-01[/b] (repeatable)."),
    ] = None,
    table: TableName = None,
    limit: Annotated[int | None, typer.Option(help=f"At most N rows (text: {_SHOWN} by default).")] = None,
    form: Output = "text",
) -> None:
    """Show rows, also deleted ones as far as they are kept, and which batches inserted and deleted them.

    Examples: [b]holdfast rows state/ 17 20017[/b], [b]holdfast rows state/ --where Id=17[/b]
    """
    from holdfast.api.view import View
    from holdfast.report.tables import print_rows

    if not numbers and not where:
        raise BadInput("say which rows: give their numbers, or values such as --where Id=17")
    if limit is not None and limit < 1:
        raise BadInput(f"--limit {limit}: give 1 or more")
    with terminal_progress() as progress, View.open(state, progress=progress) as view:
        found = [
            *view.rows(numbers or [], table=table),
            *(row for one in where or [] for row in asked(view, one, table)),
        ]
    if form == "json":
        print_json(row.to_json() for row in found[:limit])
    else:
        print_rows(found, limit or _SHOWN)


def asked(view: View, where: str, table: str | None) -> list[Row]:
    """The rows that a condition names; that there are none is said."""
    from holdfast.changes.naming import conditions

    found = view.rows(where=conditions(where), table=table)
    if not found:
        raise BadInput(f"no row has {where}, and none that is still kept had it")
    return found


def number_of(view: View, row: str, table: str | None) -> int:
    """The number of the one living row that a number or a condition names."""
    if row.strip().isdecimal():
        return int(row)
    living = [each.number for each in asked(view, row, table) if each.alive]
    if len(living) != 1:
        many = f"{len(living):,} rows have that" if living else "it was deleted"
        raise BadInput(f"--row {row}: {many}; name one row that is there, by its key or its number")
    return living[0]
