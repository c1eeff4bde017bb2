"""The command that tells what holds in a table, once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Columns, NullMode, Output, SourceList, Top
from holdfast.cli.options import READING, settings_of, taking
from holdfast.cli.printing import class_names, drawn_names, print_denials, print_findings, print_json, terminal_progress
from holdfast.cli.tables import by_table, named, note_left_out, split, table_line
from holdfast.engines.registry import found_classes
from holdfast.errors import BadInput

if TYPE_CHECKING:
    from holdfast.intake.reading import ReadOptions


@app.command()
@taking(settings=settings_of(found_classes()), options=READING)
def discover(
    sources: SourceList,
    *,
    rules: Annotated[str, typer.Option(help=f"Rule classes to look for: {class_names()}.")] = "column",
    columns: Columns = None,
    top: Top = 20,
    nulls: Annotated[NullMode, typer.Option(help="Whether null equals null.")] = "equal",
    form: Output = "text",
    as_: Annotated[
        Literal["dc"] | None,
        typer.Option("--as", help="Print pointwise order dependencies as denial constraints, one for all readings."),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page, too.")] = None,
    picture: Annotated[
        Path | None, typer.Option(help=f"Draw tables and what ties them ({drawn_names()}): .dot, .mmd or .svg.")
    ] = None,
    options: ReadOptions,
    settings: dict[str, Any],
) -> None:
    """Tell what holds in a table, once.

    Example: [b]holdfast discover tax.csv --rules column[/b]
    """
    from holdfast.api.discovery import discover as find
    from holdfast.report.export import write_page

    _refuse_outputs(html, picture)
    if as_ and "pod" not in split(rules):
        raise BadInput("--as dc writes pointwise order dependencies as denial constraints; ask for them: --rules pod")
    tables = named(sources, options.jdbc_table)
    chosen = by_table("--columns", columns or [], tables)
    with terminal_progress() as progress:
        found = find(
            tables,
            split(rules),
            columns=chosen,
            nulls=nulls,
            options=options,
            progress=progress,
            **settings,
        )
        for table, left_out in found.left_out.items():
            note_left_out(progress, table, left_out, table in chosen)
    if form == "json":
        print_json(table_line(*shape, found.left_out[name]) for name, shape in found.shapes.items())
    if as_ == "dc":
        print_denials(found.denials(), form, top)
    else:
        print_findings([], form, top, split(rules), found.ranked)
    if picture:
        found.picture(picture)
    if html:
        from holdfast.report.pages import page

        write_page(html, page("Holdfast: what holds here", found._repr_html_()))


def _refuse_outputs(html: Path | None, picture: Path | None) -> None:
    """Say before the work what would stand in the way of its results."""
    from holdfast.report.export import refuse_unwritable

    for pictures in [each.load_pictures() for each in found_classes() if picture]:
        if pictures and picture:
            pictures.refuse_undrawable(picture)
    for path in (html, picture):
        if path:
            refuse_unwritable(path)
