"""The command that lists violations. Needs no lock."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Output, State
from holdfast.cli.printing import print_listings, print_violations_json, terminal_progress


@app.command()
def violations(
    state: State,
    rule: Annotated[str | None, typer.Argument(metavar="[RULE]", help="The name or text of a rule.")] = None,
    rows: Annotated[bool, typer.Option("--rows", help="Show the two rows side by side.")] = False,
    limit: Annotated[int | None, typer.Option(min=0, help="At most N of each rule (text: 10 by default).")] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write all of them to a file: .csv, .parquet, .arrow or .jsonl.")
    ] = None,
    form: Output = "text",
) -> None:
    """List the pairs of rows that violate rules, with their keys and the offending values.

    Example: [b]holdfast violations state/ fair --rows[/b]
    """
    from holdfast.api.view import View
    from holdfast.report.export import VIOLATIONS, write_listings
    from holdfast.results.outputs import refuse_unwritable

    if output is not None:
        refuse_unwritable(output, VIOLATIONS)
    with terminal_progress() as progress, View.open(state, progress=progress) as view:
        found = view.violations(rule)
        if output is not None:
            written = write_listings(found, output)
            progress.note(f"{written:,} violations written to {output}")
        elif form == "json":
            print_violations_json(found, limit)
        else:
            print_listings(found, 10 if limit is None else limit, rows)
