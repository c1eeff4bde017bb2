"""Help that fits a screen: values as people write them, a line for each command, and what few need after `--help-all`.

Options in a panel of their own (how files are read, settings of rule classes, …) are those that few need.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

_LONGEST_CHOICES = 16  # others stand in the help text
_WORDS_OF_TYPES = {int: "N", float: "NUMBER", Path: "FILE"}
_WORDS = {
    "insert": "FILE", "delete": "FILE", "changes": "FILE", "snapshot": "FILE", "upsert": "FILE", "op": "COLUMN",
    "table": "NAME", "table_column": "COLUMN", "batch_id": "NAME", "change_id": "NAME", "columns": "COLUMNS",
    "sensitive": "COLUMNS", "notify": "TARGET",
    "key": "COLUMNS", "watch": "CLASSES", "fail_on": "WHICH", "schema": "TYPES", "ordered": "COLUMNS", "folder": "DIR",
    "host": "ADDRESS", "where": "VALUES", "pair": "ROW", "rule": "RULE", "how": "WHAT", "port": "N", "sep": "MARK",
    "quote": "MARK",
}  # fmt: skip
_CLAUSE = re.compile(r"[,:;.](\s|\Z)")
_FOLDED = "holdfast.folded"  # the mark of a command whose help is short


def _show_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        ctx.meta[_FOLDED] = False
        ctx.get_help()  # prints it
        raise typer.Exit


HelpAll = Annotated[
    bool, typer.Option("--help-all", callback=_show_all, is_eager=True, help="Show all options, and exit.")
]


def shorten(command: Any) -> Any:
    """The same command, with short help: one clause in the list of commands, and the options that many need."""
    if not command.short_help and command.help:
        command.short_help = _CLAUSE.split(command.help, maxsplit=1)[0]
    for option in (each for each in command.params if each.name == "help_all"):
        option.hidden = not _panels(command)
        if not hasattr(command, _FOLDED):
            command.format_help = partial(_folded, command, command.format_help)
            setattr(command, _FOLDED, True)
    return command


def say_plainly(parameter: Any) -> Any:
    """The same parameter; help shows its values as people write them: `FILE`, `N`, choices, and nothing for a flag."""
    about = getattr(parameter, "type_descriptor", None)
    if about is None:  # another version of typer
        return parameter
    choices = "|".join(map(str, get_args(about.annotation))) if get_origin(about.annotation) is Literal else ""
    word = _WORDS.get(parameter.name) or _WORDS_OF_TYPES.get(about.annotation, "TEXT")
    shown = parameter.metavar or (choices if 0 < len(choices) <= _LONGEST_CHOICES else word)
    is_plain = getattr(parameter, "is_flag", False) or about.annotation is bool or "--" not in "".join(parameter.opts)
    parameter.display_type_rich = lambda ctx: None if is_plain else shown  # noqa: ARG005
    parameter._get_number_range_help_str = lambda: ""
    return parameter


def _folded(command: Any, whole: Callable[[Any, Any], None], ctx: Any, formatter: Any) -> None:
    """Print the help of a command, without the options in panels unless all are wanted."""
    if not ctx.meta.get(_FOLDED, True):
        whole(ctx, formatter)
        return
    panels = _panels(command)
    with _without(command, panels):
        about = "; ".join(dict.fromkeys(panel[0].lower() + panel[1:] for panel in panels.values()))
        command.epilog = f"More with --help-all: {about}." if panels else None
        whole(ctx, formatter)


def _panels(command: Any) -> dict[str, str]:
    """The panels of the options that few need, by their names."""
    return {each.name: panel for each in command.params if (panel := getattr(each, "rich_help_panel", None))}


@contextmanager
def _without(command: Any, names: Any) -> Iterator[None]:
    """The command while some of its options are hidden."""
    hidden = [each for each in command.params if each.name in names]
    try:
        for each in hidden:
            each.hidden = True
        yield
    finally:
        for each in hidden:
            each.hidden = False
