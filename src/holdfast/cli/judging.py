"""The options of commands that apply batches: which batches are alarms, and how the verdicts are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.arguments import Format, Output
from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options import group
from holdfast.errors import BadInput, ExitCode
from holdfast.report.terminal import say, say_json

if TYPE_CHECKING:
    from holdfast.report.printing import Loudness
    from holdfast.results.outcome import Outcome


@dataclass(frozen=True)
class Judging:
    """Which batches are alarms, and how much is printed of them."""

    fail_on: str
    max_bad: str
    most_bad: float  # the same as a share
    loud: Loudness
    form: Format

    def print(self, outcome: Outcome, paths: Sequence[str] = (), err: bool = True) -> ExitCode:
        """Print what a batch of some files did, as text or as JSON; returns the exit code. Standard error says why
        broken rules are no alarm, or which are one, unless something else says that.
        """
        from holdfast.report.printing import print_outcome

        why, bad = outcome.why(self.fail_on), outcome.why_bad(self.most_bad)
        if self.form == "json":
            whence = {"file": paths[0]} if len(paths) == 1 else {"files": list(paths)} if paths else {}
            say_json({**line, **whence} for line in outcome.to_json())
        else:
            names = ", ".join(Path(path).name for path in paths)
            print_outcome(outcome, names, fail_on=self.fail_on, loud=self.loud)
        unsaid = self.form == "json" or not outcome.alarms(self.fail_on) or not outcome.worse(self.fail_on)
        if why and unsaid and self.loud != "quiet" and err:
            say(why, err=True)
        if bad and err:
            say(bad, err=True)
        return exit_code_of(outcome, self.fail_on, self.most_bad)


@group
def judging(
    fail_on: Annotated[
        str,
        typer.Option(
            help="Which broken rules make the exit code 1: only [b]given[/b] ones, also [b]likely[/b] found ones, "
            "[b]any[/b], [b]never[/b]; or a score such as [b]0.7[/b], for found ones with at least this score.",
        ),
    ] = "likely",
    max_bad: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="The exit code is 1 if more than this share of the rows of a batch goes to --quarantine.",
        ),
    ] = "1%",
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show all that changed, also facts of columns.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only what failed.")] = False,
    form: Output = "text",
) -> Judging:
    """Which batches are alarms, and how the verdicts are printed."""
    from holdfast.results.alarms import alarming, most_bad

    alarming(fail_on)  # refuses an unknown one
    if verbose and quiet:
        raise BadInput("--verbose and --quiet don't go together; leave one out")
    loud: Loudness = "verbose" if verbose else "quiet" if quiet else "normal"
    return Judging(fail_on, max_bad, most_bad(max_bad), loud, form)
