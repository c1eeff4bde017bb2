"""The application; commands register with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperGroup

from holdfast import __version__
from holdfast.cli.help import say_plainly, shorten
from holdfast.errors import EXIT_CODES, BadInput
from holdfast.report.terminal import say


class Commands(TyperGroup):
    """The commands. Typer checks every argument by pydantic, which takes 0.1 s to load, also arguments that were not
    given. Here pydantic is loaded only if there is something to check.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of the program itself."""
        return [say_plainly(_lightly_checked(parameter)) for parameter in super().get_params(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command with a name, if there is one."""
        command = super().get_command(ctx, cmd_name)
        for parameter in command.get_params(ctx) if command else ():
            say_plainly(_lightly_checked(parameter))
        return shorten(command) if command else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of some words. A refusal of one that is known elsewhere says where."""
        if self.get_command(ctx, args[0]) is None and (elsewhere := _elsewhere(ctx.find_root().command, args[0])):
            raise BadInput(f"there is no command {args[0]!r} here; did you mean {' or '.join(elsewhere)}?")
        return super().resolve_command(ctx, args)


def _elsewhere(program: Any, name: str) -> list[str]:
    """The commands that have a name, of the program itself and of its groups: `holdfast rules STATE pin`."""
    groups = [each for each in program.commands.values() if isinstance(each, Commands)]
    own = [f"holdfast {name}"] if name in program.commands else []
    return own + [f"holdfast {each.name} STATE {name}" for each in groups if name in each.commands]


def _lightly_checked(parameter: Any) -> Any:
    """The parameter, which now loads its check on demand. (Other versions of typer check in other ways.)"""
    if hasattr(parameter, "get_runtime_param") and "get_runtime_param" not in vars(parameter):
        check = _Check(parameter.type_descriptor, parameter.get_runtime_param)
        parameter.get_runtime_param = lambda: check
    return parameter


@dataclass(frozen=True)
class _Check:
    """Turns words of the command line into the value of a parameter."""

    about: Any
    load: Callable[[], Any]

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of some words. No words, a text, a known word and a path need no check."""
        if param.multiple or param.nargs == -1:
            return () if value is None else self.load().coerce(value, param, ctx)
        if value is None:
            return None
        if isinstance(value, str) and self.about.parameter_info.parser is None:
            if self.about.annotation is str or value in get_args(self.about.annotation):
                return value
            if self.about.annotation is Path and not self.about.parameter_info.exists:
                return Path(value)
        return self.load().coerce(value, param, ctx)


app = typer.Typer(
    name="holdfast",
    cls=Commands,
    help="Which rules hold in your data, which just broke, and because of which rows.",
    epilog=f"Try it: holdfast demo. Exit codes: {EXIT_CODES}.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"holdfast {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # its callback prints it
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass
