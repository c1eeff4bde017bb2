"""Groups of options that several commands share: a command takes each group as one argument.

    @app.command()
    @taking(options=reading, settings=settings_of(found_classes()))
    def discover(sources: SourceList, *, options: ReadOptions, settings: dict[str, Any]) -> None: ...

On the command line the options of a group are single options; the command gets what the group makes of them. The
settings of rule classes follow from their declarations: one option for each name, which several classes may share.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

import typer

from holdfast.cli.help import HelpAll
from holdfast.engines.contract import Option, RuleClass

if TYPE_CHECKING:
    from holdfast.intake.source import ReadOptions


@dataclass(frozen=True)
class Group:
    """Some options, and the function that makes one value of them."""

    options: Sequence[inspect.Parameter]
    made: Callable[..., Any]


def group(function: Callable[..., Any]) -> Group:
    """The parameters of a function as options; a command gets the function's result."""
    return Group(_options(function, "return"), function)


def taking(**groups: Group) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command take groups of options, each as one argument."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        options = [*_options(command, *groups), *(each for group in groups.values() for each in group.options), _HELP]

        @wraps(command)
        def called(**given: Any) -> None:
            del given[_HELP.name]
            for name, group in groups.items():
                given[name] = group.made(**{option.name: given.pop(option.name) for option in group.options})
            command(**given)

        called.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]  # read by typer
        called.__annotations__ = {each.name: each.annotation for each in options}
        return called

    return decorated


_HELP = inspect.Parameter("help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll)


def _options(function: Callable[..., Any], *heavy: str) -> list[inspect.Parameter]:
    """The parameters of a function, except some with heavy types that are not imported yet."""
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
    separator: Annotated[str | None, _option("--sep", help="CSV separator (default: detected).")] = None,
    quote: Annotated[str | None, _option(help="CSV quote (default: detected).")] = None,
    header: Annotated[
        bool | None,
        _option("--header/--no-header", help="The first CSV line names the columns (default: detected)."),
    ] = None,
    null: Annotated[
        list[str] | None, _option(help="A text that means null, such as NA (repeatable; default: detected).")
    ] = None,
    types: Annotated[
        Literal["infer", "text"], _option(help="Infer types from the whole file, or read all columns as text.")
    ] = "infer",
    schema: Annotated[str | None, _option(help="Types as a Spark DDL string: 'id INT, zip STRING'.")] = None,
    input_format: Annotated[
        str | None, _option(help="csv, json, parquet, orc or arrow, if the file name doesn't show it.")
    ] = None,
    jdbc_table: Annotated[str | None, _option(help="The table to read from a jdbc: address.")] = None,
    jdbc_split: Annotated[
        str | None,
        _option(
            metavar="COLUMN",
            help="Read from a jdbc: address in parts, by a column of numbers or times: [b]id[/b], or "
            "[b]id=1..1000000[/b] if its smallest and largest value are known.",
        ),
    ] = None,
    jdbc_properties: Annotated[
        Path | None,
        _option(
            help="A file of properties (user=…, password=…) for a jdbc: address; or set HOLDFAST_JDBC_USER and "
            "HOLDFAST_JDBC_PASSWORD."
        ),
    ] = None,
    query: Annotated[
        str | None, _option(help="What to read from a database: 'SELECT …', if its address names no table.")
    ] = None,
    reader: Annotated[
        Literal["spark", "local"] | None,
        _option("--with", help="Read with Spark, or in this process (default: whichever fits best)."),
    ] = None,
    master: Annotated[
        str | None,
        _option(
            metavar="URL",
            help="Where Spark runs, if it is needed: spark://host:7077, yarn, sc://host (Spark Connect), local[4] "
            "(default: as spark-submit says, else HOLDFAST_SPARK, else this machine).",
        ),
    ] = None,
) -> ReadOptions:
    """How files are read."""
    from holdfast.intake.source import ReadOptions
    from holdfast.sources.dialect import CsvOptions
    from holdfast.sources.secrets import read_properties

    separator = {"tab": "\t", "\\t": "\t"}.get(separator or "", separator)
    csv = CsvOptions(separator, quote, header, tuple(null) if null else None, types)
    properties = read_properties(jdbc_properties) if jdbc_properties else {}
    return ReadOptions(csv, schema, input_format, jdbc_table, properties, reader, query, jdbc_split, master)


_of_files = [each for each in reading.options if not each.name.startswith(("jdbc", "query"))]
reading_files = Group(_of_files, reading.made)  # that arrive in a folder


# ---- how batches are applied ----------------------------------------------------------------------------------------


_applied = partial(typer.Option, rich_help_panel="How batches are applied")


@group
def applying(
    table_column: Annotated[
        str | None, _applied(help="The column with the table of each row, if a file has rows of several tables.")
    ] = None,
    on_missing: Annotated[
        Literal["error", "ignore"], _applied(help="Refuse or ignore deletes and updates of rows that aren't there.")
    ] = "error",
    quarantine: Annotated[
        Path | None,
        _applied(
            metavar="DIR",
            help="A folder for rows that can't be read or applied, each with the reason; the others are applied.",
        ),
    ] = None,
    evolve: Annotated[
        bool,
        _applied(
            "--evolve",
            help="Let the table take over the columns of the file: add new ones, drop missing ones, and widen types "
            "where no value changes its meaning.",
        ),
    ] = False,
) -> dict[str, Any]:
    """How batches are applied, one by one or as files arrive."""
    return {"table_column": table_column, "on_missing": on_missing, "quarantine": quarantine, "evolve": evolve}


# ---- settings of rule classes ---------------------------------------------------------------------------------------


def settings_of(classes: Iterable[RuleClass[Any]]) -> Group:
    """The settings of some classes: an option for each name. A class has its default if an option is not given."""
    declared: dict[str, list[tuple[str, Any, Any, Option]]] = {}
    for rules in classes:
        hints = get_type_hints(rules.settings, include_extras=True)
        for each in fields(rules.settings):
            assert each.default is not MISSING, "a setting has a default"
            declared.setdefault(each.name, []).append((rules.name, each.default, *get_args(hints[each.name])))
    options = tuple(_setting(name, settings) for name, settings in declared.items())
    return Group(options, lambda **values: {name: value for name, value in values.items() if value is not None})


def _setting(name: str, settings: list[tuple[str, Any, Any, Option]]) -> inspect.Parameter:
    """One option for a setting that several classes may have: its help names these, and the default."""
    _, default, kind, option = settings[0]
    said: dict[str, list[str]] = {}
    for rules, _, _, each in settings:
        said.setdefault(each.help, []).append(rules)
    text = " ".join(f"{', '.join(rules)}: {words}" for words, rules in said.items())
    about = typer.Option(
        f"--{name.replace('_', '-')}",  # and no --no-…
        min=option.least,
        max=option.most,
        help=text if default in (None, False) else f"{text} (default: {default})",
        rich_help_panel="Settings of rule classes",
        show_default=False,
    )
    parameter = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
    return parameter.replace(annotation=Annotated[kind | None, about])
