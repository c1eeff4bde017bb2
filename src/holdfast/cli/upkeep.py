"""The commands that look after a state: verify, backup, vacuum."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Output, State
from holdfast.cli.printing import tell
from holdfast.errors import ExitCode
from holdfast.report.terminal import TerminalProgress


@app.command()
def verify(
    state: State,
    deep: Annotated[
        bool, typer.Option("--deep", help="Find the answers from scratch, too; in large tables for a few columns.")
    ] = False,
    form: Output = "text",
) -> None:
    """Check that a state is whole: all files and their checksums, the database, and that they fit. Needs no lock.

    Exit code 2 where something is wrong. Example: [b]holdfast verify state/ --deep[/b]
    """
    from holdfast.api.verification import verify as look

    with TerminalProgress() as progress:
        verified = look(state, deep=deep, progress=progress)
    tell(verified, form)
    raise typer.Exit(ExitCode.BAD_INPUT if verified.problems else ExitCode.ALL_WELL)


@app.command()
def backup(
    state: State,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the copy.")],
    form: Output = "text",
) -> None:
    """Copy a state to a folder, as of one moment, while it may be written to. The copy is a state of its own.

    Example: [b]holdfast backup state/ backups/monday[/b]
    """
    from holdfast.store.backup import backup as copy

    with TerminalProgress() as progress:
        made = copy(state, folder, say=progress.step)
    tell(made, form)


@app.command()
def vacuum(
    state: State,
    keep_events: Annotated[
        bool, typer.Option("--keep-events", help="Keep the values of dead rows in events that tell what broke a rule.")
    ] = False,
    form: Output = "text",
) -> None:
    """Remove deleted data for good, and make the state as small as it can be.

    Tables are written anew without values that no row uses; so is the database. Results and row numbers stay.
    """
    from holdfast.api.monitor import Monitor

    with TerminalProgress() as progress, Monitor.open(state, progress=progress) as monitor:
        done = monitor.vacuum(keep_events=keep_events)
    tell(done, form, f"{state}: ")
