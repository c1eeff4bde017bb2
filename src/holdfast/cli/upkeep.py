"""The commands that maintain a state: verify, backup, vacuum."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Output, State
from holdfast.cli.printing import print_result
from holdfast.errors import ExitCode
from holdfast.report.terminal import TerminalProgress


@app.command()
def verify(
    state: State,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="Also find all rules again and compare; in large tables, those about some columns."
        ),
    ] = False,
    form: Output = "text",
) -> None:
    """Check that a state is intact: its files, their checksums, and the database. Needs no lock.

    Exit code 2 if something is wrong. Example: [b]holdfast verify state/ --deep[/b]
    """
    from holdfast.api.verification import verify as look

    with TerminalProgress() as progress:
        verified = look(state, deep=deep, progress=progress)
    print_result(verified, form)
    raise typer.Exit(ExitCode.BAD_INPUT if verified.problems else ExitCode.ALL_WELL)


@app.command()
def backup(
    state: State,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the copy.")],
    form: Output = "text",
) -> None:
    """Copy a state to a folder, also while batches are applied. The copy is an independent state.

    Example: [b]holdfast backup state/ backups/monday[/b]
    """
    from holdfast.store.backup import backup as copy

    with TerminalProgress() as progress:
        made = copy(state, folder, say=progress.step)
    print_result(made, form)


@app.command()
def vacuum(
    state: State,
    keep_events: Annotated[
        bool, typer.Option("--keep-events", help="Keep the values of deleted rows in the history of broken rules.")
    ] = False,
    keep_rows: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="From now on, keep values of rows that broke rules this long: [b]30d[/b], or [b]always[/b].",
        ),
    ] = None,
    form: Output = "text",
) -> None:
    """Remove deleted data from the disk for good, and make the state as small as possible.

    Rewrites the tables without unused values, and the database. Results and row numbers stay.
    """
    from holdfast.api.monitor import Monitor

    with TerminalProgress() as progress, Monitor.open(state, progress=progress) as monitor:
        if keep_rows is not None:
            monitor.keep_rows(None if keep_rows == "always" else keep_rows)
        done = monitor.vacuum(keep_events=keep_events)
    print_result(done, form, f"{state}: ")
