"""The commands that look after a state: vacuum."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Format, Output, State
from holdfast.cli.printing import console_voice, print_json
from holdfast.report.terminal import say


@app.command()
def vacuum(
    state: State,
    keep_events: Annotated[
        bool, typer.Option("--keep-events", help="Keep the values of dead rows in events that tell what broke a rule.")
    ] = False,
    form: Output = Format.text,
) -> None:
    """Remove deleted data for good, and make the state as small as it can be.

    Tables are written anew without values that no row uses; so is the database. Results and row numbers stay.
    """
    from holdfast.monitor import Monitor

    with console_voice() as voice, Monitor.open(state, voice=voice) as monitor:
        done = monitor.vacuum(keep_events=keep_events)
    if form is Format.json:
        print_json([done.to_json()])
    else:
        say(f"{state}: {done}")
