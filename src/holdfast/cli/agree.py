"""The command that shows agree-sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Format, Output, TableName
from holdfast.cli.options import reading, taking
from holdfast.cli.printing import viewed
from holdfast.cli.tables import named, note_left_out, split
from holdfast.errors import BadInput
from holdfast.report.terminal import Terminal, TerminalProgress, say, say_json
from holdfast.table.nulls import NullMode

if TYPE_CHECKING:
    from holdfast.intake.source import ReadOptions
    from holdfast.results.agree_sets import AgreeSet, AgreeSetChange, AgreeSets

_SHOWN = {"text": 20, "json": 1000}


@app.command()
@taking(options=reading)
def agree(
    source: Annotated[
        str, typer.Argument(metavar="STATE|SOURCE", help="A state folder, or a table as for [b]discover[/b].")
    ],
    *,
    columns: Annotated[
        str | None, typer.Option(help="Only agree-sets that have these columns, separated by commas.")
    ] = None,
    without: Annotated[
        str | None, typer.Option(help="Only agree-sets that lack these columns, separated by commas.")
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            help="The error (g1) of a key or FD, such as [b]zip -> city[/b], and the agree-sets that break it."
        ),
    ] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Which came and went with batch N of a state.")] = None,
    table: TableName = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Show at most N (text: 20 by default, JSON: 1,000).")] = None,
    offset: Annotated[int, typer.Option(min=0, help="Skip the first N.")] = 0,
    count: Annotated[
        bool, typer.Option("--count", help="Count pairs of rows, also where they are many or a state has no counts.")
    ] = False,
    nulls: Annotated[
        NullMode | None, typer.Option(help="Whether null equals null (default: equal; a state has its own).")
    ] = None,
    form: Output = "text",
    options: ReadOptions,
) -> None:
    """Show agree-sets: on which columns two rows agree, and how many pairs do; the largest first.

    Examples: [b]holdfast agree tax.csv --columns Zip --without State[/b],
    [b]holdfast agree state/ --rule "Zip -> State"[/b], [b]holdfast agree state/ --batch 7[/b]
    """
    from holdfast.api.suggestions import is_state

    most = _SHOWN[form] if limit is None else limit
    if batch is not None:
        _refuse_with_batch(source, is_state(source), {"--columns": columns, "--without": without, "--rule": rule})
        _print_change(_change(source, table, batch), form, offset, most)
        return
    if is_state(source):
        if nulls:
            raise BadInput(f"{source} is a state, where init decided how nulls compare; leave out --nulls")
        with viewed(Path(source)) as view:
            found = view.agree_sets(table=table, count=count)
    else:
        found = _found_in(source, table, options, nulls or "equal", count=count)
    _print(found, split(columns or ""), split(without or ""), rule, form, offset, most)


def _refuse_with_batch(source: str, is_state: bool, others: dict[str, str | None]) -> None:
    if not is_state:
        raise BadInput(f"{source}: --batch needs a state, to which batches are applied")
    for option, given in others.items():
        if given is not None:
            raise BadInput(f"--batch shows what came and went with a batch; leave out {option}")


def _change(state: str, table: str | None, batch: int) -> AgreeSetChange:
    """What a batch did. That is stored, so nothing need be counted."""
    with viewed(Path(state)) as view:
        return view.agree_set_change(batch, table=table)


def _found_in(source: str, table: str | None, options: ReadOptions, nulls: NullMode, *, count: bool) -> AgreeSets:
    from holdfast.api.agree_sets import agree_sets

    tables = named([source], options)
    if table is not None and table not in tables:
        raise BadInput(f"there is no table {table!r}; {source} is called {', '.join(tables)} here; leave out --table")
    with TerminalProgress() as progress:
        found = agree_sets(tables, nulls=nulls, options=options, count=count, progress=progress)
        note_left_out(progress, {found.table: found.left_out}, {})
    return found


# ---- printing --------------------------------------------------------------------------------------------------------


def _print(
    found: AgreeSets, columns: list[str], without: list[str], rule: str | None, form: Format, offset: int, most: int
) -> None:
    """The error of the rule, if one is given; then the agree-sets: those that break it, unless columns are given."""
    shown = found.breaking(rule) if rule is not None and not columns and not without else found
    shown = shown.containing(columns, without)
    page = shown.page(offset, most)
    if form == "json":
        say_json([found.candidate(rule).to_json()] if rule is not None else [])
        say_json([{**shown.summary(), "offset": offset}])
        say_json(each.to_json() for each in page)
        return
    if rule is not None:
        say(found.sentence(rule))
    _print_table(shown.heading, page, shown.all_pairs)
    _say_more(len(shown) - offset - len(page), offset + len(page))


def _print_table(title: str, sets: tuple[AgreeSet, ...], pairs: int) -> None:
    from holdfast.report.tables import text_table

    rows = [(f"{each.pairs:,}", f"{each.pairs / pairs:.4%}", each.in_words) for each in sets]
    headings = ("pairs", "share", "rows agree on")
    if rows:
        Terminal().print(text_table(headings, rows, headings[:2], title))
    else:
        say(title)


def _say_more(more: int, next_offset: int) -> None:
    if more > 0:
        say(f"{more:,} more: --offset {next_offset}", err=True)


def _print_change(change: AgreeSetChange, form: Format, offset: int, most: int) -> None:
    from holdfast.report.tables import text_table

    shown = change.page(offset, most)
    if form == "json":
        say_json([shown.to_json()])
        return
    say(change.heading)
    for heading, sets in shown.sections():
        rows: list[tuple[Any, ...]] = [(f"{each.pairs:,}", each.in_words) for each in sets]
        Terminal().print(text_table(("pairs", "rows agree on"), rows, ("pairs",), heading))
    if not shown.sections():
        say("no agree-set came or went")
    stored = max(len(change.came), len(change.went))
    _say_more(stored - offset - max(len(shown.came), len(shown.went)), offset + most)
