"""The command that applies one batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import (
    Evolve,
    FailOn,
    How,
    OnMissing,
    Output,
    Quarantine,
    State,
    TableColumn,
    TablesOfBatch,
)
from holdfast.cli.options import READING, taking
from holdfast.cli.printing import tell_outcome, terminal_progress
from holdfast.cli.tables import table_or_files
from holdfast.errors import BadInput

if TYPE_CHECKING:
    from holdfast.intake.reading import ReadOptions

_PARTS: dict[How, str] = {
    "insert": "inserts", "delete": "deletes", "changes": "changes", "snapshot": "snapshot", "upsert": "upserts",
}  # fmt: skip


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
    table: TablesOfBatch = None,
    how: Annotated[
        How | None, typer.Option("--how", "--as", help="What the files of --table hold; new rows if not given.")
    ] = None,
    table_column: TableColumn = None,
    batch_id: Annotated[
        str | None, typer.Option(help="A name for this batch; the same one is never applied twice.")
    ] = None,
    on_missing: OnMissing = "error",
    quarantine: Quarantine = None,
    evolve: Evolve = False,
    fail_on: FailOn = "likely",
    form: Output = "text",
    options: ReadOptions,
) -> None:
    """Apply one batch of changes, and tell what changed.

    Example: [b]holdfast apply state/ --insert new.csv --delete old.csv[/b]; of several tables at once:
    [b]holdfast apply state/ --table orders=o.csv --table customers=c.csv[/b]
    """
    from holdfast.api.monitor import Monitor
    from holdfast.results.alarms import alarming

    alarming(fail_on)  # which refuses what it can't mean
    name, files = table_or_files(table or [])
    sources: dict[str, Any] = {
        "inserts": insert, "deletes": delete, "changes": changes, "snapshot": snapshot, "upserts": upsert,
    }  # fmt: skip
    if files:
        if given := [part for part, source in sources.items() if source is not None]:
            raise BadInput(f"--table name=path tells the files; leave out that of {given[0]}, and say --how instead")
        sources = {_PARTS[how or "insert"]: files}
    elif how is not None:
        raise BadInput(f"--how {how} says what the files of --table name=path hold, and there are none; leave it out")
    with terminal_progress() as progress, Monitor.open(state, progress=progress) as monitor:
        progress.step("Applying the batch")
        outcome = monitor.apply(
            **sources, table=name, table_column=table_column, batch_id=batch_id, on_missing=on_missing,
            operation_column=op, options=options, quarantine=quarantine, evolve=evolve,
        )  # fmt: skip
    raise typer.Exit(tell_outcome(outcome, form, fail_on))
