"""The command that shows what holds now. Needs no lock."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Output, State, Top
from holdfast.cli.printing import in_schema_order, print_findings, print_json, terminal_progress
from holdfast.cli.tables import split, table_line
from holdfast.engines.registry import rule_class
from holdfast.engines.thresholds import SHOWN
from holdfast.report.terminal import say

if TYPE_CHECKING:
    from holdfast.changes.diff import Result


@app.command()
def status(
    state: State,
    rules: Annotated[str | None, typer.Option(help="Only these rule classes, comma separated.")] = None,
    top: Top = SHOWN,
    form: Output = "text",
) -> None:
    """Show what holds now. Needs no lock: look while a batch is being applied."""
    from holdfast.intake.choosing import SAID
    from holdfast.store.store import Store

    asked = split(rules) if rules else ()
    with closing(Store(state)) as store:
        findings = [f for f in in_schema_order(store) if not asked or f["kind"] in asked]
        last = store.history(1)
        tables = store.tables()
        ways = json.loads(store.meta("ways") or "{}")
        many = [name for name in store.watched if rule_class(name).many and (not asked or name in asked)]
    results: list[Result] = []
    kept: dict[tuple[str, str], str] = {}
    if many:
        from holdfast.api.view import View

        with terminal_progress() as progress, View.open(state, progress=progress) as view:
            results = [result for name in many for result in view.ranked(name)]
            kept = {at: how for at, how in view.ways().items() if at[0] in many}
    if form == "json":
        print_json(table_line(each.schema, each.rows, each.left_out, results) for each in tables)
        print_json(batch.to_json() for batch in last)
    print_findings(findings, form, top, asked, results)
    if form == "text":
        say(f"last batch: {last[0].seq} at {last[0].at}" if last else "no batch was applied yet", err=True)
        for way in sorted(set(ways.values())):
            say(f"read {SAID[way]}: {', '.join(table for table in ways if ways[table] == way)}", err=True)
        for (name, table), how in kept.items():
            say(f"{rule_class(name).title} of {table}: kept {how}", err=True)
