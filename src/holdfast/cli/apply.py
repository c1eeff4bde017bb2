"""The command that applies one batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import FailOn, OnMissing, Output, Quarantine, State, TableName
from holdfast.cli.options import READING, taking
from holdfast.cli.printing import tell_outcome, terminal_progress

if TYPE_CHECKING:
    from holdfast.intake.reading import ReadOptions


@app.command()
@taking(options=READING)
def apply(
    state: State,
    *,
    insert: Annotated[str | None, typer.Option(help="A file of new rows.")] = None,
    delete: Annotated[
        str | None, typer.Option(help="A file of rows to delete; with a key, its columns are enough.")
    ] = None,
    changes: Annotated[str | None, typer.Option(help="A file whose rows say insert, delete or update.")] = None,
    snapshot: Annotated[
        str | None, typer.Option(help="The whole table as it is now; the difference is applied.")
    ] = None,
    upsert: Annotated[
        str | None, typer.Option(help="A file of rows that replace those with their key, or are new.")
    ] = None,
    op: Annotated[str | None, typer.Option(help="The column of --changes that says the operation.")] = None,
    table: TableName = None,
    batch_id: Annotated[
        str | None, typer.Option(help="A name for this batch; the same one is never applied twice.")
    ] = None,
    on_missing: OnMissing = "error",
    quarantine: Quarantine = None,
    fail_on: FailOn = "likely",
    form: Output = "text",
    options: ReadOptions,
) -> None:
    """Apply one batch of changes, and tell what changed.

    Example: [b]holdfast apply state/ --insert new.csv --delete old.csv[/b]
    """
    from holdfast.api.alarms import alarming
    from holdfast.api.monitor import Monitor

    alarming(fail_on)  # which refuses what it can't mean
    with terminal_progress() as progress, Monitor.open(state, progress=progress) as monitor:
        progress.step("Applying the batch")
        outcome = monitor.apply(
            insert, delete, changes, snapshot, upsert, table=table, batch_id=batch_id, on_missing=on_missing,
            operation_column=op, options=options, quarantine=quarantine,
        )  # fmt: skip
    raise typer.Exit(tell_outcome(outcome, form, fail_on))
