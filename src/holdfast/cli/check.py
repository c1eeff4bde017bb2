"""The command that tells whether given rules hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Output, SourceList
from holdfast.cli.options import READING, settings_of, taking
from holdfast.cli.printing import (
    given_classes,
    print_findings,
    print_listings,
    print_violations_json,
    terminal_progress,
    warn_unlisted,
)
from holdfast.cli.tables import named
from holdfast.errors import BadInput, ExitCode
from holdfast.table.nulls import NullMode

if TYPE_CHECKING:
    from holdfast.intake.reading import ReadOptions


@app.command()
@taking(settings=settings_of(given_classes()), options=READING)
def check(
    sources: SourceList,
    *,
    rules: Annotated[Path | None, typer.Option(help="A YAML file of rules.")] = None,
    rule: Annotated[
        list[str] | None, typer.Option("--rule", help="A rule, in place of a file of them (repeatable).")
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Show the violating rows side by side; with JSON, list them.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=0, help="At most N violations of a rule (text: 3 by default).")
    ] = None,
    nulls: Annotated[NullMode, typer.Option(help="Whether null equals null, in dependencies and keys.")] = "equal",
    form: Output = "text",
    options: ReadOptions,
    settings: dict[str, Any],
) -> None:
    """Tell whether rules hold in a table, and which rows break them. Exit code 1 where one of severity error doesn't.

    Examples: [b]holdfast check tax.csv --rules rules.yaml --rows[/b],
    [b]holdfast check tax.csv --rule "\\[Year, Salary desc] orders \\[Year, Bin]"[/b]
    """
    from holdfast.api.checking import check as look

    if (rules is None) == (not rule):
        raise BadInput("give rules to check: --rules FILE, or --rule TEXT; not both")

    with terminal_progress() as progress:
        tables = named(sources, options.jdbc_table)
        checked = look(tables, rules or rule or [], nulls=nulls, options=options, progress=progress, **settings)
        warn_unlisted(progress, checked.to_json())
    print_findings(checked.to_json(), form)
    if form == "text":
        listed = [listing for listing in checked.listings if listing.pairs is not None]
        print_listings(listed, 3 if limit is None else limit, rows)
    elif rows:
        print_violations_json(checked.listings, limit)
    raise typer.Exit(ExitCode.RULE_BROKE if checked.violated else ExitCode.ALL_WELL)
