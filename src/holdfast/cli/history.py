"""The command that lists batches, or how rules have fared. Needs no lock."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Output, State
from holdfast.cli.printing import print_json, terminal_progress


@app.command()
def history(
    state: State,
    last: Annotated[int | None, typer.Option(min=0, help="Only the last N batches.")] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Each rule: since when it holds, how often it broke.")] = False,
    form: Output = "text",
) -> None:
    """List the batches that were applied; or, with --rules, how the rules have fared."""
    from holdfast.api.view import View
    from holdfast.report.outcome import print_history, print_rule_history
    from holdfast.results.changed import summary
    from holdfast.store.store import Store

    if rules:
        with terminal_progress() as progress, View.open(state, progress=progress) as view:
            fared = view.rule_history()
        if form == "json":
            print_json(fared)
        else:
            print_rule_history(fared)
        return
    with closing(Store(state)) as store:
        batches, changes = store.history(last), {each.seq: each.about for each in store.reshaped()}
    if form == "json":
        told = {seq: {"about": about} for seq, about in changes.items()}
        print_json({**batch.to_json(), **told.get(batch.seq, {})} for batch in batches)
    else:
        print_history(batches, {seq: summary(about) for seq, about in changes.items()})
