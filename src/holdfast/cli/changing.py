"""What the commands share that change a state while its history goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from holdfast.cli.printing import print_json, terminal_progress
from holdfast.report.terminal import say

if TYPE_CHECKING:
    from holdfast.api.changed import Changed
    from holdfast.api.monitor import Monitor


def tell_change(context: typer.Context, form: str, change: Callable[[Monitor], Changed]) -> None:
    """Make a change of the state that a command is about, and tell what it did."""
    from holdfast.api.monitor import Monitor

    with terminal_progress() as progress, Monitor.open(context.obj, progress=progress) as monitor:
        progress.step("Changing what is watched")
        made = change(monitor)
    if form == "json":
        print_json(made.to_json())
    else:
        say("\n".join(made.lines()))
