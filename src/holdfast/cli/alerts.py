"""The options by which commands that apply batches send their verdicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from holdfast.cli.options import group
from holdfast.errors import BadInput, ExitCode, HoldfastError
from holdfast.report.terminal import say

if TYPE_CHECKING:
    from holdfast.alerts.notifier import Notifier
    from holdfast.api.monitor import Monitor
    from holdfast.results.outcome import Outcome

_WARN = partial(say, err=True)
_LOOKED_AT = 100  # batches: as many verdicts of a killed process are made up for


@dataclass(frozen=True)
class Alerts:
    """Who is to hear of which batches, with values or without."""

    targets: Sequence[str] = ()
    on: Literal["alarm", "batch"] = "alarm"
    values: bool = False
    alarms: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.targets or self.alarms)

    def on_alarm(self, command: str | None) -> Alerts:
        """The same, and a command that hears of alarms."""
        return self if command is None else replace(self, alarms=[*self.alarms, f"command:{command}"])

    @contextmanager
    def sending(self, state: Path, files: Sequence[str] = (), warn: Callable[[str], None] = _WARN) -> Iterator[Sending]:
        """What sends while a command runs; where that fails, it says so. `files` are those that are to be applied, and
        `warn` is called with what was not delivered.
        """
        if not self:
            yield Sending(None)
            return
        from holdfast.alerts.notifier import Notifier

        notifier = Notifier(state, self.targets, on=self.on, values=self.values, alarms=self.alarms)
        try:
            yield Sending(notifier)
        except Exception as error:
            if not isinstance(error, typer.Exit):
                known = isinstance(error, HoldfastError)
                code = error.exit_code if isinstance(error, HoldfastError) else ExitCode.OUR_ERROR
                notifier.refused(str(error) if known else "an error of ours", files, code)
            raise
        finally:
            for trouble in notifier.close():
                warn(trouble)


@dataclass(frozen=True)
class Sending:
    """A notifier, or none: then nothing is made or sent."""

    notifier: Notifier | None

    @contextmanager
    def following(self, monitor: Monitor) -> Iterator[None]:
        """Batches are to come; the state is held for writing."""
        if self.notifier is None:
            yield
            return
        with self.notifier.following(monitor.history(_LOOKED_AT)):
            yield

    def applied(self, outcome: Outcome, fail_on: str, max_bad: str) -> None:
        """Send the verdict on a batch."""
        if self.notifier is not None:
            self.notifier.applied(outcome, fail_on, max_bad)

    def refused(self, reason: str, file: str) -> None:
        """Send that a file was refused, while the command goes on."""
        if self.notifier is not None:
            self.notifier.refused(reason, [file])

    def troubles(self) -> list[str]:
        """Targets that don't take messages now, and were not named before."""
        return [] if self.notifier is None else self.notifier.troubles()


def _option(*words: str, help_: str) -> Any:
    return typer.Option(*words, help=help_, rich_help_panel="Alerts")


@group
def alerting(
    notify: Annotated[
        list[str] | None,
        _option(
            help_="Send the verdict to a file (path.jsonl), [b]command:CMD[/b], a webhook [b]https://…[/b], or "
            "[b]slack:URL[/b]; [b]${NAME}[/b] is a variable of the environment (repeatable; default: HOLDFAST_NOTIFY)."
        ),
    ] = None,
    notify_on: Annotated[
        Literal["alarm", "batch"],
        _option(help_="On alarms and input that is refused, or on every batch."),
    ] = "alarm",
    notify_values: Annotated[
        bool, _option("--notify-values", help_="Send values, but for those of sensitive columns.")
    ] = False,
) -> Alerts:
    """Who hears of the verdict."""
    targets = list(notify or [])
    if not targets and os.environ.get("HOLDFAST_NOTIFY"):
        from holdfast.alerts.targets import default_targets

        targets = default_targets()
    if not targets and (notify_values or notify_on != "alarm"):
        given = "--notify-values" if notify_values else "--notify-on"
        raise BadInput(f"{given} is about --notify, and there is none; give a target, or leave it out")
    return Alerts(targets, notify_on, notify_values)
