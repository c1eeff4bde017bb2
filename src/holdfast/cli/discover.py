"""The commands that look at tables and store nothing: they find, suggest and check rules."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import AlarmBudget, Columns, Format, Output, SourceList, Top
from holdfast.cli.ci import CiOutputs, ci_outputs
from holdfast.cli.options import reading, settings_of, taking
from holdfast.cli.printing import CLASSES, names_of, print_findings, print_violations_json, viewed, warn_unlisted
from holdfast.cli.tables import by_table, named, note_left_out, split, table_line
from holdfast.engines.registry import drawable, found_classes, given_classes, suggestible
from holdfast.engines.thresholds import ALARM_BUDGET, MAX_LHS, SHOWN
from holdfast.errors import BadInput, ExitCode
from holdfast.report.terminal import Terminal, TerminalProgress, say, say_json
from holdfast.table.nulls import NullMode
from holdfast.text.quotes import command

if TYPE_CHECKING:
    from holdfast.intake.source import ReadOptions

_AS_DENIALS = [each for each in found_classes() if each.denials]
_AS_DENIALS_TITLES = " and ".join(each.title for each in _AS_DENIALS)


@app.command()
@taking(settings=settings_of(found_classes()), options=reading)
def discover(
    sources: SourceList,
    *,
    rules: Annotated[
        str | None,
        typer.Option(help=f"Rule classes to look for: {CLASSES} (default: an overview)."),
    ] = None,
    columns: Columns = None,
    top: Top = SHOWN,
    nulls: Annotated[NullMode, typer.Option(help="Whether null equals null.")] = "equal",
    form: Output = "text",
    as_: Annotated[
        Literal["dc"] | None,
        typer.Option(
            "--as",
            help=f"Print {_AS_DENIALS_TITLES} as denial constraints, each of which stands for all readings of a rule.",
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a page.")] = None,
    redact: Annotated[bool, typer.Option("--redact", help="Replace values on the page by hashes.")] = False,
    picture: Annotated[
        Path | None,
        typer.Option(help=f"Draw the tables and their references ({names_of(drawable())}): .dot, .mmd or .svg."),
    ] = None,
    options: ReadOptions,
    settings: dict[str, Any],
) -> None:
    """Find the rules that hold in tables.

    Without --rules an overview: likely keys, what determines what, rows that look wrong, and column facts.
    Example: [b]holdfast discover tax.csv[/b], or [b]holdfast discover tax.csv --rules fd,ucc[/b]
    """
    from holdfast.api.discovery import discover as find

    _refuse_outputs(html, picture)
    classes = split(rules or "")
    if as_ and not any(each.name in classes for each in _AS_DENIALS):
        names = ",".join(each.name for each in _AS_DENIALS)
        raise BadInput(f"--as dc prints {_AS_DENIALS_TITLES} as denial constraints; add --rules {names}")
    tables = named(sources, options)
    chosen = by_table("--columns", columns or [], tables)
    suggestions = None
    with TerminalProgress() as progress:
        if rules is None and not settings and picture is None:
            from holdfast.api.suggestions import overview

            suggestions, found = overview(tables, chosen, nulls, options, progress, html, redact)
        else:
            found = find(
                tables,
                classes or ["column"],
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
        say_json(table_line(*shape, found.left_out[name], found.ranked) for name, shape in found.shapes.items())
        say_json(suggestions.to_json() if suggestions is not None else ())
    elif suggestions is not None:
        from holdfast.report.printing import print_suggestions

        print_suggestions(suggestions, min(top, 12))
    if as_:
        _print_denials(found.denials(), form, top)
    else:
        print_findings([], form, top, classes, found.ranked)
    if picture:
        found.picture(picture)
    if form == "text" and suggestions is not None:  # the last lines are those that stay on the screen
        say(_next(tables, options.query, suggestions.seconds))


def _next(tables: dict[str, str], query: str | None, seconds: float) -> str:
    """How long it took, and what to run next."""
    files = [*tables.values(), *(() if query is None else ("--query", query))]
    return (
        f"took {seconds:,.1f} s. Next: {command('suggest', *files, '--to', 'rules.yaml')}   "
        "(rules to read, edit and check)\n"
        f"              {command('init', 'state/', *files, '--suggest', SHOWN)}   (watch them)\n"
        f"              {command('discover', *files, '--rules', 'fd,ucc')}   (all that hold exactly)"
    )


def _refuse_outputs(html: Path | None, picture: Path | None) -> None:
    """Refuse outputs that can't be written, before the work."""
    from holdfast.results.outputs import PAGE, PICTURE, refuse_unwritable

    for each in drawable():
        if picture:
            each.pictures().refuse_undrawable(picture)
    for path, kind in ((html, PAGE), (picture, PICTURE)):
        if path:
            refuse_unwritable(path, kind)


def _print_denials(denials: Iterable[Mapping[str, Any]], form: Format, top: int) -> None:
    """Print found denial constraints: as text the first ones, a line each, as rule files and `check --rule` take them;
    as JSON all.
    """
    if form == "json":
        say_json(denials)
        return
    console = Terminal()
    for denial in islice(denials, top):
        console.print(denial["text"], markup=False, soft_wrap=True)


@app.command()
@taking(options=reading)
def suggest(
    sources: SourceList,
    *,
    rules: Annotated[str | None, typer.Option(help=f"Only these rule classes: {names_of(suggestible())}.")] = None,
    columns: Columns = None,
    top: Annotated[
        int,
        typer.Option(
            min=1,
            help="Show at most N per class; with --to, write N rules of each table, and twice as many about one row.",
        ),
    ] = SHOWN,
    max_lhs: Annotated[int, typer.Option(min=1, help="At most N columns on a left side or in a key.")] = MAX_LHS,
    every: Annotated[
        bool, typer.Option("--all", help="List all ranked rules, also those that follow from others.")
    ] = False,
    alarm_budget: AlarmBudget = None,
    to: Annotated[Path | None, typer.Option(help="Write the shown rules to a rule file (.yaml).")] = None,
    nulls: Annotated[NullMode, typer.Option(help="Whether null equals null.")] = "equal",
    form: Output = "text",
    options: ReadOptions,
) -> None:
    """Suggest rules that the data seem to follow, exactly or nearly, and show rows that look wrong.

    Near rules come with g3, the least share of rows to remove. SOURCE may also be a state folder.
    Example: [b]holdfast suggest hospital.csv[/b], or [b]holdfast suggest hospital.csv --to rules.yaml[/b]
    """
    from holdfast.api.suggestions import is_state
    from holdfast.api.suggestions import suggest as find
    from holdfast.results.outputs import refuse_unwritable, write_text
    from holdfast.results.suggestions import RULES

    if to:
        refuse_unwritable(to, RULES)
    classes = split(rules) if rules else None
    if is_state(sources[0]):
        if len(sources) > 1 or columns:
            raise BadInput(f"{sources[0]} is a state: leave out other sources and --columns")
        with viewed(Path(sources[0])) as view:
            found = view.suggest(classes, max_lhs=max_lhs, alarm_budget=alarm_budget)
    else:
        tables = named(sources, options)
        chosen = by_table("--columns", columns or [], tables)
        with TerminalProgress() as progress:
            found = find(
                tables, classes, max_lhs=max_lhs, columns=chosen, nulls=nulls, options=options, progress=progress,
                alarm_budget=ALARM_BUDGET if alarm_budget is None else alarm_budget,
            )  # fmt: skip
            note_left_out(progress, found.left_out, chosen)
    if form == "json":
        say_json(table_line(*shape, found.left_out.get(name, ())) for name, shape in found.shapes.items())
        say_json(found.to_json())
    else:
        from holdfast.report.printing import print_all, print_suggestions

        (print_all(found) if every else print_suggestions(found, top))
        say(f"took {found.seconds:,.1f} s", err=True)
    if to and not (count := len(found.rules(top).entries)):
        say(f"no likely rules found, so {to} is not written", err=True)
    elif to:
        write_text(to, found.rules_text(top), RULES)
        say(f"wrote {count:,} rules to {to}; delete those that are not meant, then use it with check or init", True)


@app.command()
@taking(settings=settings_of(given_classes()), ci=ci_outputs, options=reading)
def check(
    sources: SourceList,
    *,
    rules: Annotated[Path | None, typer.Option(help="A YAML file of rules.")] = None,
    rule: Annotated[list[str] | None, typer.Option("--rule", help="A rule, instead of a file (repeatable).")] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Show the violating rows side by side; in JSON, list them.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=0, help="At most N violations of a rule (text: 3 by default).")
    ] = None,
    error: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="List orders pass that hold but for this share of rows (g3)."),
    ] = 0.0,
    nulls: Annotated[NullMode, typer.Option(help="Whether null equals null, in dependencies and keys.")] = "equal",
    form: Output = "text",
    ci: CiOutputs,
    options: ReadOptions,
    settings: dict[str, Any],
) -> None:
    """Check whether rules hold, and which rows break them. Exit code 1 if a rule of severity error is violated.

    Examples: [b]holdfast check tax.csv --rules rules.yaml --rows[/b],
    [b]holdfast check tax.csv --rule "\\[Year, Salary desc] orders \\[Year, Bin]"[/b]
    """
    from holdfast.api.checks import check as look
    from holdfast.api.checks import given_rules

    started = time.perf_counter()
    if (rules is None) == (not rule):
        raise BadInput("give either --rules FILE or --rule TEXT")

    with ci.failing(), TerminalProgress() as progress:
        tables = named(sources, options)
        given = given_rules(rules or rule or [])
        checked = look(tables, given, nulls=nulls, error=error, options=options, progress=progress, **settings)
        warn_unlisted(progress, checked.to_json())
    print_findings(checked.to_json(), form)
    if form == "text":
        from holdfast.report.printing import print_listings

        listed = [listing for listing in checked.listings if listing.pairs is not None]
        print_listings(listed, 3 if limit is None else limit, rows, "--limit")
    elif rows:
        print_violations_json(checked.listings, limit)
    if ci.files is not None:
        from holdfast.api.ci import of_check

        took = time.perf_counter() - started
        read_again = tables if ci.files.sarif else {}  # for the lines of rows
        ci.files.write(of_check(checked, given, read_again, options, redact=ci.redact, seconds=took))
    raise typer.Exit(ExitCode.RULE_BROKE if checked.violated else ExitCode.ALL_WELL)
