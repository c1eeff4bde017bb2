"""The command that starts watching tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Columns, Output, SourceList, State
from holdfast.cli.options import READING, settings_of, taking
from holdfast.cli.printing import (
    class_names,
    given_classes,
    print_findings,
    print_json,
    terminal_progress,
    warn_unlisted,
)
from holdfast.cli.tables import by_table, named, note_left_out, split, table_line
from holdfast.engines.registry import rule_classes
from holdfast.table.nulls import NullMode

if TYPE_CHECKING:
    from holdfast.intake.reading import ReadOptions


@app.command()
@taking(settings=settings_of(rule_classes().values()), options=READING)
def init(
    state: State,
    sources: SourceList,
    *,
    watch: Annotated[str, typer.Option(help=f"Rule classes to discover and watch: {class_names()}.")] = "column",
    rules: Annotated[
        Path | None, typer.Option("--rules", help="A YAML file of rules, whose violations are kept.")
    ] = None,
    suggest: Annotated[
        int | None, typer.Option(min=1, help="Also watch the N best rules that the data seem to follow.")
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(help="Key columns, comma separated: [b]id[/b], or [b]table:id,day[/b] with several tables."),
    ] = None,
    columns: Columns = None,
    nulls: Annotated[NullMode, typer.Option(help="Whether null equals null.")] = "equal",
    segments: Annotated[
        str | None, typer.Option(help="Keep the bulk files elsewhere: a path or URI that Spark sees.")
    ] = None,
    form: Output = "text",
    options: ReadOptions,
    settings: dict[str, Any],
) -> None:
    """Start watching tables: read them whole, find what holds, keep it in a state folder.

    Example: [b]holdfast init state/ tax.csv --key Id[/b]
    """
    from holdfast.api.monitor import Monitor

    tables = named(sources, options.jdbc_table)
    chosen = by_table("--columns", columns or [], tables)
    with terminal_progress() as progress, Monitor.create(
        state, tables, watch=split(watch), rules=rules, suggest=suggest,
        key=by_table("--key", key or [], tables), columns=chosen, nulls=nulls,
        options=options, segments=segments, progress=progress, **settings,
    ) as monitor:  # fmt: skip
        left_out = monitor.left_out
        note_left_out(progress, left_out, chosen)
        results = monitor.ranked()
        given = [finding for each in given_classes() for finding in monitor.results(each.name)]
        warn_unlisted(progress, [finding.to_json() for finding in given])
        made = monitor.tables
    if form == "json":
        print_json(table_line(table.schema, table.rows, left_out[name], results) for name, table in made.items())
    print_findings([], form, results=results)
