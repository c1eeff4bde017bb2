"""The application that commands register with."""

from __future__ import annotations

import typer

app = typer.Typer(
    name="holdfast",
    help="Which rules hold in your data, which just broke, and because of which rows.",
    epilog="Try it: holdfast demo. Exit codes: 0 all is well, 1 a rule broke, 2 wrong usage or bad input, 3 our error.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
