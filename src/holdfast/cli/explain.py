"""The command that says why a rule doesn't hold. Needs no lock."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Output, State, TableName
from holdfast.cli.printing import print_json, terminal_progress
from holdfast.cli.rows import number_of
from holdfast.errors import BadInput


@app.command()
def explain(
    state: State,
    rule: Annotated[str, typer.Argument(metavar="RULE", help="The name of a rule, or its text.")],
    pair: Annotated[
        list[str] | None,
        typer.Option("--row", help="A row of a pair (give it twice): its key, as [b]Id=17[/b], or its number."),
    ] = None,
    table: TableName = None,
    form: Output = "text",
) -> None:
    """Say why a rule doesn't hold, and which rows to look at first.

    Examples: [b]holdfast explain state/ fair --row Id=17 --row Id=42[/b],
    [b]holdfast explain state/ "Zip -> State"[/b], [b]holdfast explain state/ "orders.cust in customers.id"[/b]
    """
    from holdfast.api.view import View
    from holdfast.report.violations import print_explanation

    if pair is not None and len(pair) > 2:
        raise BadInput("--row: give one row, or two")
    with terminal_progress() as progress, View.open(state, progress=progress) as view:
        given = view.given(rule, table=table)
        about = given["table"] if given else table
        why = view.explanation(rule, table=table, rows=[number_of(view, row, about) for row in pair or []])
        if form == "json":
            print_json([why.to_json()])
        else:
            print_explanation(why)
