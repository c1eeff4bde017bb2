"""The command that applies every file that arrives in a folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Format, OnMissing, OnMissingRow, Output, State, TableName
from holdfast.cli.options import READING_FILES, taking
from holdfast.cli.printing import print_json, terminal_progress
from holdfast.report.terminal import somebody_reads

if TYPE_CHECKING:
    from holdfast.intake.reading import ReadOptions


class Holds(StrEnum):
    """What the files of a watched folder hold."""

    insert = "insert"
    delete = "delete"
    changes = "changes"
    snapshot = "snapshot"


@app.command()
@taking(options=READING_FILES)
def watch(
    state: State,
    *,
    folder: Annotated[str, typer.Option("--from", help="The folder that files arrive in; move them in whole.")],
    holds: Annotated[Holds, typer.Option("--as", help="What the files hold.")] = Holds.insert,
    once: Annotated[bool, typer.Option("--once", help="Stop when all files that are there are applied.")] = False,
    op: Annotated[str | None, typer.Option(help="The column that says the operation, with --as changes.")] = None,
    table: TableName = None,
    on_missing: OnMissing = OnMissingRow.error,
    form: Output = Format.text,
    options: ReadOptions,
) -> None:
    """Apply every file that arrives in a folder, each exactly once, until stopped with Ctrl-C.

    Example: [b]holdfast watch state/ --from incoming/[/b]
    """
    from holdfast.api.monitor import Monitor
    from holdfast.api.outcome import Outcome
    from holdfast.report.outcome import print_outcome

    broken: list[bool] = []

    def applied(path: str, outcome: Outcome) -> None:
        broken.append(outcome.broken)
        if form is Format.json:
            print_json([{**line, "file": path} for line in outcome.to_json()])
        else:
            print_outcome(outcome, Path(path).name)
        if not somebody_reads():
            raise _NobodyReads

    with terminal_progress() as progress, Monitor.open(state, progress=progress) as monitor:
        progress.note(f"Watching {folder}; stop with Ctrl-C.")
        try:
            monitor.watch_folder(
                folder, how=holds.value, table=table, on_missing=on_missing.value, operation_column=op,
                options=options, once=once, applied=applied,
            )  # fmt: skip
        except KeyboardInterrupt:
            progress.note("Stopped. Batches that were told are kept.")
        except _NobodyReads:
            progress.note("Stopped, as nobody reads what is told. Batches that were told are kept.")
    raise typer.Exit(1 if any(broken) else 0)


class _NobodyReads(Exception):
    """Ends a watch whose output goes nowhere: it would go on for ever, unseen."""
