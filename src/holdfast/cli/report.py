"""The command that writes what a state knows as one page to open, or to mail. Needs no lock."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import State
from holdfast.cli.printing import terminal_progress
from holdfast.report.terminal import say


@app.command()
def report(
    state: State,
    html: Annotated[Path, typer.Option("--html", metavar="FILE", help="The page to write.")],
    redact: Annotated[
        bool, typer.Option("--redact", help="Show hashes in place of values, so that the page may leave the team.")
    ] = False,
) -> None:
    """Write a page that tells what holds, what broke, since when and because of which rows.

    The page is one file that needs no network. Example: [b]holdfast report state/ --html report.html[/b]
    """
    from holdfast.api.view import View
    from holdfast.results.outputs import PAGE, refuse_unwritable

    refuse_unwritable(html, PAGE)
    with terminal_progress() as progress, View.open(state, progress=progress) as view:
        progress.step("Writing the page")
        size = view.report(html, redact=redact)
    say(f"{html}: {size / 1e6:,.1f} MB; open it in a browser")
