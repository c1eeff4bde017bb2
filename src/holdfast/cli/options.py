"""Options that many commands share, declared once: a command takes each group as one argument.

    @app.command()
    @taking(options=READING, settings=settings_of(found_classes()))
    def discover(sources: SourceList, *, options: ReadOptions, settings: dict[str, Any]) -> None: ...

On the command line the options of a group stand one by one; the command gets what the group makes of them. Settings of
rule classes come from what the classes declare: an option for each name, which several classes may share.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

import typer

from holdfast.engines.contract import Option, RuleClass

if TYPE_CHECKING:
    from holdfast.intake.reading import ReadOptions


@dataclass(frozen=True)
class Group:
    """Some options, and what a command gets for them."""

    options: tuple[inspect.Parameter, ...]
    made: Callable[..., Any]


def taking(**groups: Group) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command take groups of options, each as the argument of that name."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        for name in groups:  # their types are heavy, and not imported yet
            del command.__annotations__[name]
        hints = get_type_hints(command, include_extras=True)
        own = [
            parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            for name, parameter in inspect.signature(command).parameters.items()
            if name not in groups
        ]
        shared = [option for group in groups.values() for option in group.options]

        @wraps(command)
        def called(**given: Any) -> None:
            for name, group in groups.items():
                given[name] = group.made(**{option.name: given.pop(option.name) for option in group.options})
            command(**given)

        called.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]  # read by typer
        called.__annotations__ = {each.name: each.annotation for each in (*own, *shared)}
        return called

    return decorated


def option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """An option of a group."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


# ---- how files are read ---------------------------------------------------------------------------------------------

_READING = "How files are read"


Types = Literal["infer", "text"]
Reader = Literal["spark", "local"]


def _reading(name: str, kind: Any, *names: str, default: Any = None, **about: Any) -> inspect.Parameter:
    return option(name, Annotated[kind, typer.Option(*names, rich_help_panel=_READING, **about)], default)


def _read_options(
    separator: str | None,
    quote: str | None,
    header: bool | None,
    null: list[str] | None,
    types: Types,
    schema: str | None,
    input_format: str | None,
    jdbc_table: str | None = None,
    jdbc_properties: Path | None = None,
    reader: Reader | None = None,
) -> ReadOptions:
    from holdfast.intake.reading import ReadOptions
    from holdfast.sources.dialect import CsvOptions
    from holdfast.sources.secrets import read_properties

    separator = {"tab": "\t", "\\t": "\t"}.get(separator or "", separator)
    csv = CsvOptions(separator, quote, header, tuple(null) if null else None, types)
    properties = read_properties(jdbc_properties) if jdbc_properties else {}
    return ReadOptions(csv, schema, input_format, jdbc_table, properties, reader)


_READING_ALL = (
    _reading("separator", str | None, "--sep", help="CSV separator; sniffed if not given."),
    _reading("quote", str | None, help="CSV quote; sniffed if not given."),
    _reading(
        "header",
        bool | None,
        "--header/--no-header",
        help="First CSV line names the columns; sniffed if not given.",
    ),
    _reading(
        "null",
        list[str] | None,
        "--null",
        help="A text that stands for null, e.g. NA (repeatable); sniffed if not given.",
    ),
    _reading("types", Types, "--types", default="infer", help="Infer types from the whole file, or read all as text."),
    _reading("schema", str | None, "--schema", help="Types as a Spark DDL string: 'id INT, zip STRING'."),
    _reading("input_format", str | None, help="csv, json, parquet, orc or arrow, where the name doesn't tell."),
    _reading("jdbc_table", str | None, help="The table to read from a jdbc: address."),
    _reading(
        "jdbc_properties",
        Path | None,
        help="A file of properties (user=…, password=…) for a jdbc: address; or set HOLDFAST_JDBC_USER and "
        "HOLDFAST_JDBC_PASSWORD.",
    ),
    _reading(
        "reader", Reader | None, "--with", help="Read with Spark, or in this process; what fits best if not given."
    ),
)
READING = Group(_READING_ALL, _read_options)
_OF_FILES = tuple(each for each in _READING_ALL if not each.name.startswith("jdbc"))
READING_FILES = Group(_OF_FILES, _read_options)  # that arrive in a folder


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
    return option(first.name, Annotated[first.kind | None, about], None)


def _help(settings: list[_Setting]) -> str:
    """What an option says, with the classes that it concerns, and its default."""
    said: dict[str, list[str]] = {}
    for each in settings:
        said.setdefault(each.option.help, []).append(each.rules)
    text = " ".join(f"{', '.join(rules)}: {words}" for words, rules in said.items())
    default = settings[0].default
    return text if default in (None, False) else f"{text} ({default} if not given)"
