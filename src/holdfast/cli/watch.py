"""The command that applies files as they arrive in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import FailOn, How, MaxBad, Output, Quiet, State, TableName, Verbose
from holdfast.cli.options import applying, reading_files, taking
from holdfast.cli.printing import loudness, print_outcome
from holdfast.errors import ExitCode
from holdfast.report.terminal import TerminalProgress, say, say_json, somebody_reads

if TYPE_CHECKING:
    from holdfast.intake.source import ReadOptions


@app.command()
@taking(how_to_apply=applying, options=reading_files)
def watch(
    state: State,
    *,
    folder: Annotated[
        str, typer.Option("--from", help="The folder that files arrive in; move complete files into it.")
    ],
    how: Annotated[
        How, typer.Option("--as", help="What the files hold: insert, delete, changes, snapshot or upsert.")
    ] = "insert",
    once: Annotated[bool, typer.Option("--once", help="Stop when all present files are applied.")] = False,
    op: Annotated[str | None, typer.Option(help="The column with the operation, for --as changes.")] = None,
    table: TableName = None,
    fail_on: FailOn = "likely",
    max_bad: MaxBad = "1%",
    verbose: Verbose = False,
    quiet: Quiet = False,
    form: Output = "text",
    how_to_apply: dict[str, Any],
    options: ReadOptions,
) -> None:
    """Apply every file that arrives in a folder, each exactly once, until Ctrl-C.

    Example: [b]holdfast watch state/ --from incoming/[/b]
    """
    from holdfast.api.monitor import Monitor
    from holdfast.results.alarms import alarming, most_bad
    from holdfast.results.outcome import Outcome

    alarming(fail_on)  # refuses an unknown one
    most, loud = most_bad(max_bad), loudness(verbose, quiet)
    codes = {ExitCode.ALL_WELL}

    def applied(path: str, outcome: Outcome) -> None:
        codes.add(print_outcome(outcome, form, fail_on, most, loud, path))
        if not somebody_reads():
            raise KeyboardInterrupt  # nobody would notice that it goes on

    def refused(path: str, reason: str, moved: str | None) -> None:
        codes.add(ExitCode.BAD_INPUT)
        say(f"{reason}; {'the file is passed over' if moved is None else f'moved to {moved}'}", err=True)
        if form == "json":
            say_json([{"kind": "refused", "file": path, "reason": reason, "moved_to": moved}])

    with TerminalProgress() as progress, Monitor.open(state, progress=progress) as monitor:
        progress.note(f"Watching {folder}; stop with Ctrl-C.")
        try:
            monitor.watch_folder(
                folder, how=how, table=table, operation_column=op, options=options, once=once,
                applied=applied, refused=refused, fail_on=fail_on, **how_to_apply,
            )  # fmt: skip
        except KeyboardInterrupt:
            why = "" if somebody_reads() else ", as nobody reads the output"
            progress.note(f"Stopped{why}. The batches shown so far are applied.")
    raise typer.Exit(max(codes))
