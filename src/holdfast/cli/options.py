"""Options that many commands share, declared once: a command takes each group as one argument.

    @app.command()
    @taking(options=reading, settings=settings_of(found_classes()))
    def discover(sources: SourceList, *, options: ReadOptions, settings: dict[str, Any]) -> None: ...

On the command line the options of a group stand one by one; the command gets what the group makes of them. Settings of
rule classes come from what the classes declare: an option for each name, which several classes may share.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

import typer

from holdfast.engines.contract import Option, RuleClass

if TYPE_CHECKING:
    from holdfast.intake.source import ReadOptions


@dataclass(frozen=True)
class Group:
    """Some options, and what a command gets for them."""

    options: Sequence[inspect.Parameter]
    made: Callable[..., Any]


def group(function: Callable[..., Any]) -> Group:
    """The parameters of a function as options; a command gets what it makes of them."""
    return Group(_options(function, "return"), function)


def taking(**groups: Group) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command take groups of options, each as the argument of that name."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        options = [*_options(command, *groups), *(each for group in groups.values() for each in group.options)]

        @wraps(command)
        def called(**given: Any) -> None:
            for name, group in groups.items():
                given[name] = group.made(**{option.name: given.pop(option.name) for option in group.options})
            command(**given)

        called.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]  # read by typer
        called.__annotations__ = {each.name: each.annotation for each in options}
        return called

    return decorated


def _options(function: Callable[..., Any], *heavy: str) -> list[inspect.Parameter]:
    """The parameters of a function, but for some, whose types are heavy, and not imported yet."""
    for name in heavy:
        del function.__annotations__[name]
    hints = get_type_hints(function, include_extras=True)
    return [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in heavy
    ]


# ---- how files are read ---------------------------------------------------------------------------------------------

_option = partial(typer.Option, rich_help_panel="How files are read")


@group
def reading(
    separator: Annotated[str | None, _option("--sep", help="CSV separator; sniffed if not given.")] = None,
    quote: Annotated[str | None, _option(help="CSV quote; sniffed if not given.")] = None,
    header: Annotated[
        bool | None,
        _option("--header/--no-header", help="First CSV line names the columns; sniffed if not given."),
    ] = None,
    null: Annotated[
        list[str] | None, _option(help="A text that stands for null, e.g. NA (repeatable); sniffed if not given.")
    ] = None,
    types: Annotated[
        Literal["infer", "text"], _option(help="Infer types from the whole file, or read all as text.")
    ] = "infer",
    schema: Annotated[str | None, _option(help="Types as a Spark DDL string: 'id INT, zip STRING'.")] = None,
    input_format: Annotated[
        str | None, _option(help="csv, json, parquet, orc or arrow, where the name doesn't tell.")
    ] = None,
    jdbc_table: Annotated[str | None, _option(help="The table to read from a jdbc: address.")] = None,
    jdbc_properties: Annotated[
        Path | None,
        _option(
            help="A file of properties (user=…, password=…) for a jdbc: address; or set HOLDFAST_JDBC_USER and "
            "HOLDFAST_JDBC_PASSWORD."
        ),
    ] = None,
    reader: Annotated[
        Literal["spark", "local"] | None,
        _option("--with", help="Read with Spark, or in this process; what fits best if not given."),
    ] = None,
) -> ReadOptions:
    """How files are read, as options say it."""
    from holdfast.intake.source import ReadOptions
    from holdfast.sources.dialect import CsvOptions
    from holdfast.sources.secrets import read_properties

    separator = {"tab": "\t", "\\t": "\t"}.get(separator or "", separator)
    csv = CsvOptions(separator, quote, header, tuple(null) if null else None, types)
    properties = read_properties(jdbc_properties) if jdbc_properties else {}
    return ReadOptions(csv, schema, input_format, jdbc_table, properties, reader)


_of_files = [each for each in reading.options if not each.name.startswith("jdbc")]
reading_files = Group(_of_files, reading.made)  # that arrive in a folder


# ---- what is asked of rules -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Setting:
    """A setting of a class of rules, as it declares it."""

    name: str
    rules: str
    kind: Any
    default: Any
    option: Option


def settings_of(classes: Iterable[RuleClass[Any]]) -> Group:
    """The settings of some classes: an option for each name. Those that are not given are left to the classes."""
    declared: dict[str, list[_Setting]] = {}
    for rules in classes:
        hints = get_type_hints(rules.settings, include_extras=True)
        for each in fields(rules.settings):
            assert each.default is not MISSING, "a setting has a default"
            kind, option = get_args(hints[each.name])
            declared.setdefault(each.name, []).append(_Setting(each.name, rules.name, kind, each.default, option))
    return Group(tuple(_setting(settings) for settings in declared.values()), _given)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _setting(settings: list[_Setting]) -> inspect.Parameter:
    """One option for a setting that several classes may have."""
    first = settings[0]
    name = f"--{first.name.replace('_', '-')}"
    about = typer.Option(
        name,  # and no --no-…
        min=first.option.least,
        max=first.option.most,
        help=_help(settings),
        rich_help_panel="What is asked of rules",
        show_default=False,
    )
    return inspect.Parameter(
        first.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[first.kind | None, about]
    )


def _help(settings: list[_Setting]) -> str:
    """What an option says, with the classes that it concerns, and its default."""
    said: dict[str, list[str]] = {}
    for each in settings:
        said.setdefault(each.option.help, []).append(each.rules)
    text = " ".join(f"{', '.join(rules)}: {words}" for words, rules in said.items())
    default = settings[0].default
    return text if default in (None, False) else f"{text} ({default} if not given)"
