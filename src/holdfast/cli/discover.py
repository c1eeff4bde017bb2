"""The command that tells what holds in a table, once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from holdfast.changes.names import command
from holdfast.cli.app import app
from holdfast.cli.arguments import Columns, Output, SourceList, Top
from holdfast.cli.options import READING, settings_of, taking
from holdfast.cli.printing import class_names, drawn_names, print_denials, print_findings, print_json, terminal_progress
from holdfast.cli.tables import by_table, named, note_left_out, split, table_line
from holdfast.engines.registry import drawable, found_classes
from holdfast.engines.thresholds import SHOWN
from holdfast.errors import BadInput
from holdfast.report.terminal import say
from holdfast.table.nulls import NullMode

if TYPE_CHECKING:
    from holdfast.intake.reading import ReadOptions

_AS_DENIALS = [each for each in found_classes() if each.denials]
_AS_DENIALS_TITLES = " and ".join(each.title for each in _AS_DENIALS)


@app.command()
@taking(settings=settings_of(found_classes()), options=READING)
def discover(
    sources: SourceList,
    *,
    rules: Annotated[
        str | None, typer.Option(help=f"Rule classes to look for: {class_names()}; an overview if not given.")
    ] = None,
    columns: Columns = None,
    top: Top = SHOWN,
    nulls: Annotated[NullMode, typer.Option(help="Whether null equals null.")] = "equal",
    form: Output = "text",
    as_: Annotated[
        Literal["dc"] | None,
        typer.Option("--as", help=f"Print {_AS_DENIALS_TITLES} as denial constraints, one for all readings."),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page, too.")] = None,
    redact: Annotated[bool, typer.Option("--redact", help="Show hashes in place of values in the page.")] = False,
    picture: Annotated[
        Path | None,
        typer.Option(help=f"Draw tables and what ties them ({drawn_names()}): .dot, .mmd or .svg."),
    ] = None,
    options: ReadOptions,
    settings: dict[str, Any],
) -> None:
    """Tell what holds in a table, once.

    Without --rules an overview: likely keys, what determines what, rows that look wrong, and the columns.
    Example: [b]holdfast discover tax.csv[/b], or [b]holdfast discover tax.csv --rules fd,ucc[/b]
    """
    from holdfast.api.discovery import discover as find

    _refuse_outputs(html, picture)
    asked = split(rules or "")
    if as_ and not any(each.name in asked for each in _AS_DENIALS):
        names = ",".join(each.name for each in _AS_DENIALS)
        raise BadInput(f"--as dc writes {_AS_DENIALS_TITLES} as denial constraints; ask for them: --rules {names}")
    tables = named(sources, options.jdbc_table)
    chosen = by_table("--columns", columns or [], tables)
    suggestions = None
    with terminal_progress() as progress:
        if rules is None and not settings and picture is None:
            from holdfast.api.suggesting import overview

            suggestions, found = overview(tables, chosen, nulls, options, progress, html, redact)
        else:
            found = find(
                tables,
                asked or ["column"],
                columns=chosen,
                nulls=nulls,
                options=options,
                html=html,
                redact=redact,
                progress=progress,
                **settings,
            )
        note_left_out(progress, found.left_out, chosen)
    if form == "json":
        print_json(table_line(*shape, found.left_out[name], found.ranked) for name, shape in found.shapes.items())
        print_json(suggestions.to_json() if suggestions is not None else ())
    elif suggestions is not None:
        from holdfast.report.suggestions import print_suggestions

        print_suggestions(suggestions, min(top, 12))
        say(_next(tables, suggestions.seconds))
    if as_:
        print_denials(found.denials(), form, top)
    else:
        print_findings([], form, top, asked, found.ranked)
    if picture:
        found.picture(picture)


def _next(tables: dict[str, str], seconds: float) -> str:
    """How long it took, and what to type next."""
    files = tables.values()
    return (
        f"took {seconds:,.1f} s. Next: {command('suggest', *files, '--to', 'rules.yaml')}   "
        "(rules to read, edit and check)\n"
        f"              {command('init', 'state/', *files, '--suggest', SHOWN)}   (watch them)\n"
        f"              {command('discover', *files, '--rules', 'fd,ucc')}   (all that hold exactly)"
    )


def _refuse_outputs(html: Path | None, picture: Path | None) -> None:
    """Say before the work what would stand in the way of its results."""
    from holdfast.results.outputs import PAGE, PICTURE, refuse_unwritable

    for each in drawable():
        if picture:
            each.pictures().refuse_undrawable(picture)
    for path, kind in ((html, PAGE), (picture, PICTURE)):
        if path:
            refuse_unwritable(path, kind)
