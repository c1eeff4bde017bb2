"""The commands about what batches are expected to look like."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.arguments import Format, History, TableName
from holdfast.cli.changing import StateChange, changing, commands_of_state
from holdfast.cli.options import taking
from holdfast.cli.printing import print_as, viewed
from holdfast.cli.tables import history_of
from holdfast.report.terminal import say

FigureName = Annotated[str, typer.Argument(metavar="FIGURE", help="A figure, such as [b]'orders: rows_in_batch'[/b].")]


def _show(state: Path, form: Format) -> None:
    """Show the figures of batches that are watched, and what is usual now."""
    with viewed(state) as view:
        found = view.expectations()
    print_as(form, found.to_json(), lambda: say(str(found)))


expect = commands_of_state(
    "expect",
    "Show and change what batches are expected to look like.\n\n"
    "Example: [b]holdfast expect state/[/b], [b]holdfast expect state/ accept 'orders: rows_in_batch'[/b]",
    _show,
)


@expect.command()
@taking(change=changing)
def accept(figure: FigureName, table: TableName = None, *, change: StateChange) -> None:
    """Take what was far outside of the last batch for what is usual from now on."""
    change.make(lambda monitor: monitor.accept_figure(figure, table=table, change_id=change.id))


@expect.command()
@taking(change=changing)
def mute(
    figure: FigureName,
    table: TableName = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take it back.")] = False,
    *,
    change: StateChange,
) -> None:
    """Say nothing of a figure from now on."""
    change.make(lambda monitor: monitor.mute_figure(figure, table=table, undo=undo, change_id=change.id))


@expect.command()
@taking(change=changing)
def on(history: History = None, *, change: StateChange) -> None:
    """Compare each batch with those before it from now on."""
    change.make(lambda monitor: monitor.expect(history=history_of(history or [], monitor.tables), change_id=change.id))


@expect.command()
@taking(change=changing)
def off(*, change: StateChange) -> None:
    """No longer compare batches. What is known of them stays."""
    change.make(lambda monitor: monitor.expect(False, change_id=change.id))
