"""What the commands share that change a state and keep its history: `holdfast rules STATE add …`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from holdfast.cli.app import Commands, app
from holdfast.cli.arguments import ChangeId, Format, Output, State
from holdfast.cli.options import group
from holdfast.cli.printing import print_result
from holdfast.report.terminal import TerminalProgress

if TYPE_CHECKING:
    from holdfast.api.monitor import Monitor
    from holdfast.results.changed import Changed


def commands_of_state(name: str, about: str, show: Callable[[Path, Format], None]) -> typer.Typer:
    """Commands about a state, which is named first. `show` is one of them, and the default."""
    made = typer.Typer(name=name, cls=Commands, help=about, invoke_without_command=True, rich_markup_mode="rich")

    @made.callback()
    def of_state(context: typer.Context, state: State) -> None:
        context.obj = state
        if context.invoked_subcommand is None:
            show(state, "text")

    @made.command("show", help=show.__doc__)
    def shown(context: typer.Context, form: Output = "text") -> None:
        show(context.obj, form)

    app.add_typer(made)
    return made


@dataclass(frozen=True)
class StateChange:
    """A change of a state: the state, the name of the change, and the output format."""

    state: Path
    id: str | None
    form: Format

    def make(self, change: Callable[[Monitor], Changed]) -> None:
        """Make the change, and print its effects."""
        from holdfast.api.monitor import Monitor

        with TerminalProgress() as progress, Monitor.open(self.state, progress=progress) as monitor:
            progress.step("Changing what is watched")
            made = change(monitor)
        print_result(made, self.form)


@group
def changing(context: typer.Context, change_id: ChangeId = None, form: Output = "text") -> StateChange:
    """A change of the state that was named first."""
    return StateChange(context.obj, change_id, form)
