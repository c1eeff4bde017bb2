"""The commands that look at a state: status, violations, explain, history. They need no lock."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import (
    Format,
    Output,
    State,
    Top,
)
from holdfast.cli.printing import (
    in_schema_order,
    print_findings,
    print_json,
    print_listings,
    print_violations_json,
    split,
    table_line,
    terminal_progress,
)
from holdfast.cli.rows import number_of
from holdfast.engines.registry import MANY
from holdfast.errors import BadInput
from holdfast.report.terminal import say
from holdfast.visible import visible

if TYPE_CHECKING:
    from holdfast.changes.diff import Result


@app.command()
def status(
    state: State,
    rules: Annotated[str | None, typer.Option(help="Only these rule classes, comma separated.")] = None,
    top: Top = 20,
    form: Output = Format.text,
) -> None:
    """Show what holds now. Needs no lock: look while a batch is being applied."""
    from holdfast.intake.choosing import SAID
    from holdfast.store.store import Store

    asked = split(rules) if rules else ()
    store = Store(state)
    try:
        findings = [f for f in in_schema_order(store) if not asked or f["kind"] in asked]
        last = store.history(1)
        tables = [table_line(record.schema, record.rows, record.left_out) for record in store.tables()]
        ways = json.loads(store.meta("ways") or "{}")
        many = [name for name in store.watched if name in MANY and (not asked or name in asked)]
    finally:
        store.close()
    results: list[Result] = []
    if many:
        from holdfast.api.monitor import Monitor

        with terminal_progress() as progress, Monitor.open(state, write=False, progress=progress) as monitor:
            results = [result for name in many for result in monitor.found(name)]
    if form is Format.json:
        print_json([*tables, *(batch.to_json() for batch in last)])
    print_findings(findings, form, top, asked, results)
    if form is Format.text:
        say(f"last batch: {last[0].seq} at {last[0].at}" if last else "no batch was applied yet", err=True)
        for way in sorted(set(ways.values())):
            say(f"read {SAID[way]}: {', '.join(table for table in ways if ways[table] == way)}", err=True)


@app.command()
def violations(
    state: State,
    rule: Annotated[str | None, typer.Argument(metavar="[RULE]", help="The name or text of a rule.")] = None,
    rows: Annotated[bool, typer.Option("--rows", help="Show the two rows side by side.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=0, help="At most so many of each rule (text: 10 unless told).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write all of them to a file: .csv, .parquet, .arrow or .jsonl.")
    ] = None,
    form: Output = Format.text,
) -> None:
    """List the pairs of rows that violate rules, with their keys and the offending values.

    Example: [b]holdfast violations state/ fair --rows[/b]
    """
    from holdfast.api.monitor import Monitor
    from holdfast.report.export import ENDINGS, refuse_unwritable, write_listings

    if output is not None:
        refuse_unwritable(output, ENDINGS)
    with terminal_progress() as progress, Monitor.open(state, write=False, progress=progress) as monitor:
        found = monitor.violations(rule)
        if output is not None:
            told = write_listings(found, output)
            progress.note(f"{told:,} violations written to {output}")
        elif form is Format.json:
            print_violations_json(found, limit)
        else:
            print_listings(found, 10 if limit is None else limit, rows)


@app.command()
def explain(
    state: State,
    rule: Annotated[str, typer.Argument(metavar="RULE", help="The name of a rule, or its text.")],
    pair: Annotated[
        list[str] | None,
        typer.Option("--row", help="A row of a pair (give it twice): its key, as [b]Id=17[/b], or its number."),
    ] = None,
    table: Annotated[str | None, typer.Option(help="The table, where several are watched.")] = None,
    form: Output = Format.text,
) -> None:
    """Say why a rule doesn't hold, and which rows to look at first.

    Examples: [b]holdfast explain state/ fair --row Id=17 --row Id=42[/b],
    [b]holdfast explain state/ "Zip -> State"[/b], [b]holdfast explain state/ "orders.cust in customers.id"[/b]
    """
    from holdfast.api.monitor import Monitor
    from holdfast.report.violations import explanation_json, print_explanation

    if pair is not None and len(pair) > 2:
        raise BadInput("--row: give one row, or two")
    with terminal_progress() as progress, Monitor.open(state, write=False, progress=progress) as monitor:
        given = monitor.given(rule)
        if given and given["kind"] == "dc":
            chosen = [number_of(monitor, row, given["table"]) for row in pair or []]
            for listing in monitor.violations(rule):
                if form is Format.json:
                    print_json([explanation_json(listing, chosen)])
                else:
                    print_explanation(listing, chosen)
        elif pair:
            raise BadInput("--row: rows are explained one by one for denial constraints only; leave it out")
        else:
            why = monitor.explanation(rule, table=table)
            if form is Format.json:
                print_json([why.to_json()])
            else:
                say("\n".join(map(visible, why.lines())))


@app.command()
def history(
    state: State,
    last: Annotated[int | None, typer.Option(min=0, help="Only the last so many batches.")] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Each rule: since when it holds, how often it broke.")] = False,
    form: Output = Format.text,
) -> None:
    """List the batches that were applied; or, with --rules, how the rules have fared."""
    from holdfast.api.monitor import Monitor
    from holdfast.report.outcome import print_history, print_rule_history
    from holdfast.store.store import Store

    if rules:
        with terminal_progress() as progress, Monitor.open(state, write=False, progress=progress) as monitor:
            fared = monitor.rule_history()
        if form is Format.json:
            print_json(fared)
        else:
            print_rule_history(fared)
        return
    store = Store(state)
    try:
        batches = store.history(last)
    finally:
        store.close()
    if form is Format.json:
        print_json(batch.to_json() for batch in batches)
    else:
        print_history(batches)
