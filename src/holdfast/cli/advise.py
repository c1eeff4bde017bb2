"""The command that says which columns of a clause are redundant. Needs no lock."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Output, State, TableName
from holdfast.cli.printing import tell, terminal_progress


@app.command()
def advise(
    state: State,
    clause: Annotated[str, typer.Argument(metavar="CLAUSE", help="ORDER BY, GROUP BY or DISTINCT, with columns.")],
    have: Annotated[
        list[str] | None,
        typer.Option(help="An order that there is, such as that of an index: [b]Year, Salary desc[/b] (repeatable)."),
    ] = None,
    table: TableName = None,
    form: Output = "text",
) -> None:
    """Say which columns of a clause are redundant, and which orders serve it, by the rules that hold.

    Examples: [b]holdfast advise state/ "ORDER BY Year, Salary, Bin"[/b],
    [b]holdfast advise state/ "ORDER BY Year, Bin" --have "Year, Salary"[/b]
    """
    from holdfast.api.view import View

    with terminal_progress() as progress, View.open(state, progress=progress) as view:
        advice = view.advise(clause, table=table, have=have or ())
    tell(advice, form)
