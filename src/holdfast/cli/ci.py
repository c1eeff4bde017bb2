"""The files that a CI host shows, for the commands that check rules and apply batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.options import group
from holdfast.errors import BadInput, HoldfastError

if TYPE_CHECKING:
    from holdfast.report.ci.output import CiFiles
    from holdfast.report.ci.summary import Summary

_HIDDEN = "The command was refused; its log says why."


@dataclass(frozen=True)
class CiOutputs:
    """The files that were asked for, if any, and whether they leave out values."""

    files: CiFiles | None = None
    redact: bool = False

    @contextmanager
    def failing(self, state: Path | None = None) -> Iterator[None]:
        """Where the work fails, say so in the files: without the reason, which may have values, where they are left
        out or columns of the state are sensitive.
        """
        try:
            yield
        except Exception as error:
            if self.files is not None:
                from holdfast.report.ci.summary import Summary

                shown = isinstance(error, HoldfastError) and not self.redact and not _has_sensitive(state)
                self.files.write(Summary("", refused=str(error) if shown else _HIDDEN))
            raise


def write_applied(files: CiFiles, summary: Summary) -> None:
    """Write the summary of a batch, which is applied by now."""
    try:
        files.write(summary)
    except BadInput as error:
        raise BadInput(f"{error}; the batch is applied, don't apply it again") from None


def _has_sensitive(state: Path | None) -> bool:
    """Whether columns of a state are declared sensitive; of one that can't be opened, no error has values."""
    from holdfast.api.view import View

    if state is None:
        return False
    try:
        with View.open(state) as view:
            return bool(view.sensitive_columns())
    except HoldfastError:
        return False


def _option(help_: str) -> Any:
    return typer.Option(metavar="FILE", help=help_, rich_help_panel="For CI")


@group
def ci_outputs(
    junit: Annotated[Path | None, _option("Write JUnit XML: a test case for each rule.")] = None,
    sarif: Annotated[Path | None, _option("Write SARIF: a result for each violation.")] = None,
    markdown: Annotated[
        Path | None, _option("Add a summary in Markdown, such as to [b]$GITHUB_STEP_SUMMARY[/b].")
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave values out of these files.", rich_help_panel="For CI")
    ] = False,
) -> CiOutputs:
    """The files that a CI host shows. Those of an earlier command go, so that no host takes them for this one's."""
    if not (junit or sarif or markdown):
        if redact:
            raise BadInput("--redact is about --junit, --sarif and --markdown; give one of them, or leave it out")
        return CiOutputs()
    from holdfast.report.ci.output import CiFiles

    files = CiFiles(junit, sarif, markdown)
    files.start()
    return CiOutputs(files, redact)
