"""The application that commands register with."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast import __version__
from holdfast.report.terminal import say

app = typer.Typer(
    name="holdfast",
    help="Which rules hold in your data, which just broke, and because of which rows.",
    epilog="Try it: holdfast demo. Exit codes: 0 all is well, 1 a rule broke, 2 wrong usage or bad input, 3 our error.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def _tell_version(asked: bool) -> None:
    if asked:
        say(f"holdfast {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # its callback tells it
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass
