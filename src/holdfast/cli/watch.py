"""The command that applies every file that arrives in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Evolve, FailOn, How, OnMissing, Output, Quarantine, State, TableColumn, TableName
from holdfast.cli.options import READING_FILES, taking
from holdfast.cli.printing import print_json, tell_outcome, terminal_progress
from holdfast.errors import ExitCode
from holdfast.report.terminal import say, somebody_reads

if TYPE_CHECKING:
    from holdfast.intake.reading import ReadOptions


@app.command()
@taking(options=READING_FILES)
def watch(
    state: State,
    *,
    folder: Annotated[str, typer.Option("--from", help="The folder that files arrive in; move them in whole.")],
    holds: Annotated[How, typer.Option("--as", help="What the files hold.")] = "insert",
    once: Annotated[bool, typer.Option("--once", help="Stop when all files that are there are applied.")] = False,
    op: Annotated[str | None, typer.Option(help="The column that says the operation, with --as changes.")] = None,
    table: TableName = None,
    table_column: TableColumn = None,
    on_missing: OnMissing = "error",
    quarantine: Quarantine = None,
    evolve: Evolve = False,
    fail_on: FailOn = "likely",
    form: Output = "text",
    options: ReadOptions,
) -> None:
    """Apply every file that arrives in a folder, each exactly once, until stopped with Ctrl-C.

    Example: [b]holdfast watch state/ --from incoming/[/b]
    """
    from holdfast.api.monitor import Monitor
    from holdfast.results.alarms import alarming
    from holdfast.results.outcome import Outcome

    alarming(fail_on)  # which refuses what it can't mean
    codes = {ExitCode.ALL_WELL}

    def applied(path: str, outcome: Outcome) -> None:
        codes.add(tell_outcome(outcome, form, fail_on, path))
        if not somebody_reads():
            raise _NobodyReads

    def refused(path: str, reason: str, moved: str | None) -> None:
        codes.add(ExitCode.BAD_INPUT)
        say(f"{reason}; {'the file is passed over' if moved is None else f'moved to {moved}'}", err=True)
        if form == "json":
            print_json([{"kind": "refused", "file": path, "reason": reason, "moved_to": moved}])

    with terminal_progress() as progress, Monitor.open(state, progress=progress) as monitor:
        progress.note(f"Watching {folder}; stop with Ctrl-C.")
        try:
            monitor.watch_folder(
                folder, how=holds, table=table, table_column=table_column, on_missing=on_missing, operation_column=op,
                options=options, once=once, applied=applied, quarantine=quarantine, refused=refused, evolve=evolve,
            )  # fmt: skip
        except KeyboardInterrupt:
            progress.note("Stopped. Batches that were told are kept.")
        except _NobodyReads:
            progress.note("Stopped, as nobody reads what is told. Batches that were told are kept.")
    raise typer.Exit(max(codes))


class _NobodyReads(Exception):
    """Ends a watch whose output goes nowhere: it would go on for ever, unseen."""
