"""The commands that show: a demo, and the contents of a state. None of them needs a lock."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import Output, State, TableName, Top
from holdfast.cli.printing import print_as, print_findings, print_result, print_violations_json, viewed
from holdfast.cli.tables import split, table_line
from holdfast.engines.contract import is_given
from holdfast.engines.registry import rule_class
from holdfast.engines.thresholds import SHOWN
from holdfast.errors import BadInput
from holdfast.extras import needs
from holdfast.report.terminal import TerminalProgress, say, say_json
from holdfast.visible import counted, visible

if TYPE_CHECKING:
    from holdfast.api.view import View
    from holdfast.changes.diff import Result
    from holdfast.results.rows import Row

_PAGE = "holdfast-demo.html"
_SHOWN_ROWS = 20


@app.command()
def demo(
    html: Annotated[Path | None, typer.Option(metavar="FILE", help=f"The report to write (default: {_PAGE}).")] = None,
) -> None:
    """A tour in two minutes: a small table, four batches, their effects, and a report. Needs no input."""
    from holdfast.demo.tour import run
    from holdfast.results.outputs import PAGE, refuse_unwritable

    if html is None:
        html = Path(_PAGE) if os.access(Path(), os.W_OK) else Path(tempfile.gettempdir()) / _PAGE
    refuse_unwritable(html, PAGE)
    run(html)


@app.command()
def status(
    state: State,
    rules: Annotated[str | None, typer.Option(help="Only these rule classes, separated by commas.")] = None,
    top: Top = SHOWN,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also show facts of columns, and how tables were read.")
    ] = False,
    form: Output = "text",
) -> None:
    """Show the rules that hold now and those that don't, also while a batch is being applied."""
    from holdfast.intake.readers import READERS
    from holdfast.results.standing import broken_first, standing
    from holdfast.store.store import Store

    classes = split(rules) if rules else ()
    with closing(Store(state)) as store:
        named = [(name, f) for name, f in _in_schema_order(store) if not classes or {name, f["kind"]} & set(classes)]
        findings = [finding for _, finding in named]
        if form == "text":
            findings = broken_first(findings, store.memory)
        last, last_batch = store.history(1), store.last_batch()
        tables = store.tables()
        ways = json.loads(store.meta("ways") or "{}")
        unusual = store.expectations.unusual(last_batch.seq - 1) if last_batch and not classes else []
        many = [name for name in store.watched if rule_class(name).many and (not classes or name in classes)]
    results: list[Result] = []
    kept: dict[tuple[str, str], str] = {}
    if many:
        with viewed(state) as view:
            results = [result for name in many for result in view.ranked(name)]
            kept = {at: how for at, how in view.ways().items() if at[0] in many}
    if form == "json":
        say_json(table_line(each.schema, each.rows, each.left_out, results) for each in tables)
        say_json(batch.to_json() for batch in last)
        say_json({"event": "unusual", **each} for _, each in unusual)
    given = [finding for finding in findings if is_given(finding)]
    if form == "text":
        if given:
            say(standing(given))
        for _, each in unusual:
            say(visible(f"Last batch: {each['sentence']}"))
        if given and not verbose and not classes:
            findings = [finding for finding in findings if not rule_class(finding["kind"]).facts]
    missing = set(classes) - {name for name, _ in named}
    print_findings(findings, form, top, [name for name in classes if name in missing], results)
    if form == "text":
        if muted := [finding["name"] for finding in findings if finding.get("origin") == "muted"]:
            them = "it" if len(muted) == 1 else "them"
            say(f"muted, as chance breaks {them}: {', '.join(muted)} (rules {state} unmute RULE)", err=True)
        say(
            f"last batch: {last_batch.number} at {last_batch.when}" if last_batch else "no batch was applied yet",
            err=True,
        )
        for way in sorted(set(ways.values())) if verbose else ():
            say(f"read {READERS[way]}: {', '.join(table for table in ways if ways[table] == way)}", err=True)
        for (name, table), how in kept.items():
            say(f"{rule_class(name).title} of {table}: kept {how}", err=True)


def _in_schema_order(store: Any) -> list[tuple[str, dict[str, Any]]]:
    """The findings of the classes that are stored one by one, each with its class, columns in the order of their
    tables.
    """
    places = {
        (record.schema.name, column): (number, place)
        for number, record in enumerate(store.tables())
        for place, column in enumerate([None, *record.schema.names])
    }
    own = [
        (name, finding) for name in store.watched if not rule_class(name).many for finding in store.rules.results(name)
    ]
    return sorted(
        own, key=lambda each: (each[1]["kind"], places.get((each[1].get("table"), each[1].get("column")), (0, 0)))
    )


@app.command()
def violations(
    state: State,
    rule: Annotated[str | None, typer.Argument(metavar="[RULE]", help="The name or text of a rule.")] = None,
    rows: Annotated[bool, typer.Option("--rows", help="Show the two rows side by side.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=0, help="At most N violations of a rule (text: 10 by default).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write all of them to a file: .csv, .parquet, .arrow or .jsonl.")
    ] = None,
    form: Output = "text",
) -> None:
    """List the rows that violate rules, with their keys and values.

    Example: [b]holdfast violations state/ fair --rows[/b]
    """
    from holdfast.report.export import VIOLATIONS, write_listings
    from holdfast.report.printing import print_listings
    from holdfast.results.outputs import refuse_unwritable

    if output is not None:
        refuse_unwritable(output, VIOLATIONS)
    with viewed(state) as view:
        found = view.violations(rule)
        if output is not None:
            written = write_listings(found, output)
            say(f"{counted(written, 'violation')} written to {output}", err=True)
        elif form == "json":
            print_violations_json(found, limit)
        else:
            print_listings(found, 10 if limit is None else limit, rows)


@app.command()
def rows(
    state: State,
    numbers: Annotated[list[int] | None, typer.Argument(metavar="[NUMBER]…", help="The numbers of rows.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="Rows with these values: [b]Id=17[/b], or [b]Id=17, Day=2024-01-01[/b] (repeatable)."),
    ] = None,
    table: TableName = None,
    limit: Annotated[int | None, typer.Option(min=1, help=f"At most N rows (text: {_SHOWN_ROWS} by default).")] = None,
    form: Output = "text",
) -> None:
    """Show rows, also deleted ones if they are still stored, and the batches that inserted and deleted them.

    Examples: [b]holdfast rows state/ 17 20017[/b], [b]holdfast rows state/ --where Id=17[/b]
    """
    from holdfast.report.printing import print_rows

    if not numbers and not where:
        raise BadInput("give the numbers of rows, or values such as --where Id=17")
    with viewed(state) as view:
        found = [
            *view.rows(numbers or [], table=table),
            *(row for one in where or [] for row in _rows_where(view, one, table)),
        ]
    print_as(form, (row.to_json() for row in found[:limit]), lambda: print_rows(found, limit or _SHOWN_ROWS))


def _rows_where(view: View, where: str, table: str | None) -> list[Row]:
    """The rows that a condition names; BadInput if there are none."""
    from holdfast.text.row_names import conditions

    found = view.rows(where=conditions(where), table=table)
    if not found:
        raise BadInput(f"no row has {where}, and no stored deleted row had it")
    return found


@app.command()
def explain(
    state: State,
    rule: Annotated[str, typer.Argument(metavar="RULE", help="The name of a rule, or its text.")],
    pair: Annotated[
        list[str] | None,
        typer.Option("--row", help="A row, by its key such as [b]Id=17[/b] or its number (twice for a pair)."),
    ] = None,
    table: TableName = None,
    form: Output = "text",
) -> None:
    """Explain why a rule doesn't hold, and which rows to look at first.

    Examples: [b]holdfast explain state/ fair --row Id=17 --row Id=42[/b],
    [b]holdfast explain state/ "Zip -> State"[/b], [b]holdfast explain state/ "orders.cust in customers.id"[/b]
    """
    from holdfast.report.printing import print_explanation

    if pair is not None and len(pair) > 2:
        raise BadInput("--row: give at most two rows")
    with viewed(state) as view:
        given = view.given(rule, table=table)
        about = given["table"] if given else table
        why = view.explanation(rule, table=table, rows=[_number_of(view, row, about) for row in pair or []])
        print_as(form, [why.to_json()], lambda: print_explanation(why))


def _number_of(view: View, row: str, table: str | None) -> int:
    """The number of the living row that a number or a condition names."""
    if row.strip().isdecimal():
        return int(row)
    living = [each.number for each in _rows_where(view, row, table) if each.alive]
    if len(living) != 1:
        many = f"{len(living):,} rows have that" if living else "it was deleted"
        raise BadInput(f"--row {row}: {many}; name one living row, by its key or its number")
    return living[0]


@app.command()
def advise(
    state: State,
    clause: Annotated[str, typer.Argument(metavar="CLAUSE", help="ORDER BY, GROUP BY or DISTINCT, with columns.")],
    have: Annotated[
        list[str] | None,
        typer.Option(help="An existing order, such as that of an index: [b]Year, Salary desc[/b] (repeatable)."),
    ] = None,
    table: TableName = None,
    form: Output = "text",
) -> None:
    """Show which columns of a clause are redundant, and which other orders serve it, by the rules that hold.

    Examples: [b]holdfast advise state/ "ORDER BY Year, Salary, Bin"[/b],
    [b]holdfast advise state/ "ORDER BY Year, Bin" --have "Year, Salary"[/b]
    """
    with viewed(state) as view:
        advice = view.advise(clause, table=table, have=have or ())
    print_result(advice, form)


@app.command()
def history(
    state: State,
    last: Annotated[int | None, typer.Option(min=0, help="Only the last N batches.")] = None,
    rules: Annotated[
        bool, typer.Option("--rules", help="Show for each rule since when it holds, and how often it broke.")
    ] = False,
    form: Output = "text",
) -> None:
    """List the batches that were applied; or, with --rules, the history of the rules."""
    from holdfast.report.printing import print_history, print_rule_history
    from holdfast.results.changed import summary
    from holdfast.store.store import Store

    if rules:
        with viewed(state) as view:
            found = view.rule_history()
        print_as(form, found, lambda: print_rule_history(found))
        return
    with closing(Store(state)) as store:
        batches, changes, unusual = store.history(last), store.changes(), store.expectations.by_batch()
    more: dict[int, dict[str, Any]] = {seq: {"about": about} for seq, about in changes.items()}
    more |= {seq: {"unusual": own} for seq, own in unusual.items()}
    objects = ({**batch.to_json(), **more.get(batch.seq, {})} for batch in batches)
    in_words = {seq: summary(about) for seq, about in changes.items()}
    in_words |= {seq: f"{len(own):,} far outside" for seq, own in unusual.items()}
    print_as(form, objects, lambda: print_history(batches, in_words))


@app.command()
def report(
    state: State,
    html: Annotated[Path, typer.Option("--html", metavar="FILE", help="The page to write.")],
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace values by hashes, so that the page may leave the team.")
    ] = False,
) -> None:
    """Write a page that shows which rules hold, which broke, since when and because of which rows.

    The page is one file and needs no network. Example: [b]holdfast report state/ --html report.html[/b]
    """
    from holdfast.api.view import View
    from holdfast.results.outputs import PAGE, refuse_unwritable

    refuse_unwritable(html, PAGE)
    with TerminalProgress() as progress, View.open(state, progress=progress) as view:
        progress.step("Writing the page")
        size = view.report(html, redact=redact)
    say(f"{html}: {size / 1e6:,.1f} MB; open it in a browser")


@app.command()
def serve(
    state: State,
    host: Annotated[
        str, typer.Option(help="The address to listen on; visitors from other machines need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0: any free one.")] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="HOLDFAST_TOKEN", show_envvar=True, help="The token for visitors (default: made if needed)."
        ),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Show a state in a browser, live: which rules hold, which broke and because of which rows, as batches arrive.

    Example: [b]holdfast serve state/ --open[/b]
    """
    with needs("serve", "The live page"):
        from holdfast.serve.server import serve as run
    try:
        run(state, host, port, token, open_browser=open_browser)
    except KeyboardInterrupt:
        say("Stopped.", err=True)
