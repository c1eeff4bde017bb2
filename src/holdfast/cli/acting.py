"""The commands that read data: discover, check, init, apply, watch, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import (
    Columns,
    Compare,
    CompareAs,
    CountOnly,
    Error,
    Format,
    Header,
    Holds,
    InputFormat,
    JdbcProperties,
    JdbcTable,
    MaxArity,
    MaxLhs,
    NullMarkers,
    NullMode,
    OnMissingRow,
    Output,
    PairLimit,
    Quote,
    RuleFile,
    SchemaText,
    Separator,
    SourceList,
    State,
    Top,
    Types,
    TypesFrom,
    With,
    asked_settings,
    read_options,
)
from holdfast.cli.printing import (
    by_table,
    named,
    note_left_out,
    print_findings,
    print_json,
    print_listings,
    print_violations_json,
    split,
    table_line,
    terminal_progress,
    warn_unlisted,
)
from holdfast.engines.registry import FOUND
from holdfast.report.terminal import somebody_reads

_CLASSES = ", ".join(FOUND)


@app.command()
def discover(
    sources: SourceList,
    rules: Annotated[str, typer.Option(help=f"Rule classes to look for: {_CLASSES}.")] = "column",
    columns: Columns = None,
    error: Error = 0.0,
    max_lhs: MaxLhs = None,
    compare: CompareAs = Compare.typed,
    max_arity: MaxArity = 1,
    top: Top = 20,
    nulls: Annotated[NullMode, typer.Option(help="Whether null equals null.")] = NullMode.equal,
    form: Output = Format.text,
    html: Annotated[Path | None, typer.Option(help="Write a page, too.")] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw tables and proposed foreign keys (ind): .dot, .mmd or .svg.")
    ] = None,
    separator: Separator = None,
    quote: Quote = None,
    header: Header = None,
    null: NullMarkers = None,
    types: TypesFrom = Types.infer,
    schema: SchemaText = None,
    input_format: InputFormat = None,
    jdbc_table: JdbcTable = None,
    jdbc_properties: JdbcProperties = None,
    reader: With = None,
) -> None:
    """Tell what holds in a table, once.

    Example: [b]holdfast discover tax.csv --rules column[/b]
    """
    from holdfast.api.discovery import discover as find
    from holdfast.report.export import write_page

    _refuse_outputs(html, picture)
    options = read_options(
        separator, quote, header, null, types, schema, input_format, jdbc_table, jdbc_properties, reader
    )
    tables = named(sources, jdbc_table)
    chosen = by_table("--columns", columns or [], tables)
    with terminal_progress() as progress:
        settings = asked_settings(error=error, max_lhs=max_lhs, compare=compare, max_arity=max_arity)
        found = find(
            tables,
            split(rules),
            columns=chosen,
            nulls=nulls.value,
            settings=settings,
            options=options,
            progress=progress,
        )
        for table, left_out in found.left_out.items():
            note_left_out(progress, table, left_out, table in chosen)
    if form is Format.json:
        print_json(table_line(*shape, found.left_out[name]) for name, shape in found.shapes.items())
    print_findings([], form, top, split(rules), found.results, found.told)
    if picture:
        found.picture(picture)
    if html:
        from holdfast.report.pages import page

        write_page(html, page("Holdfast: what holds here", found._repr_html_()))


def _refuse_outputs(html: Path | None, picture: Path | None) -> None:
    """Say before the work what would stand in the way of its results."""
    from holdfast.report.export import refuse_unwritable

    if picture:
        from holdfast.engines.inclusion.picture import refuse_undrawable

        refuse_undrawable(picture)
    for path in (html, picture):
        if path:
            refuse_unwritable(path)


@app.command()
def check(
    sources: SourceList,
    rules: Annotated[Path, typer.Option(help="A YAML file of rules.")],
    rows: Annotated[
        bool, typer.Option("--rows", help="Show the violating rows side by side; with JSON, list them.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=0, help="At most so many violations of a rule (text: 3 unless told).")
    ] = None,
    pair_limit: PairLimit = None,
    count_only: CountOnly = False,
    nulls: Annotated[
        NullMode, typer.Option(help="Whether null equals null, in dependencies and keys.")
    ] = NullMode.equal,
    form: Output = Format.text,
    separator: Separator = None,
    quote: Quote = None,
    header: Header = None,
    null: NullMarkers = None,
    types: TypesFrom = Types.infer,
    schema: SchemaText = None,
    input_format: InputFormat = None,
    jdbc_table: JdbcTable = None,
    jdbc_properties: JdbcProperties = None,
    reader: With = None,
) -> None:
    """Tell whether rules hold in a table, and which rows break them. Exit code 1 where one of severity error doesn't.

    Example: [b]holdfast check tax.csv --rules rules.yaml --rows[/b]
    """
    from holdfast.api.checking import check as look

    options = read_options(
        separator, quote, header, null, types, schema, input_format, jdbc_table, jdbc_properties, reader
    )
    with terminal_progress() as progress:
        settings = asked_settings(pair_limit, count_only)
        tables = named(sources, jdbc_table)
        checked = look(tables, rules, nulls=nulls.value, settings=settings, options=options, progress=progress)
        warn_unlisted(progress, checked.to_json())
    print_findings(checked.to_json(), form)
    if form is Format.text:
        listed = [listing for listing in checked.listings if listing.pairs is not None]
        print_listings(listed, 3 if limit is None else limit, rows)
    elif rows:
        print_violations_json(checked.listings, limit)
    raise typer.Exit(1 if checked.violated else 0)


@app.command()
def init(
    state: State,
    sources: SourceList,
    watch: Annotated[str, typer.Option(help=f"Rule classes to discover and watch: {_CLASSES}.")] = "column",
    rules: RuleFile = None,
    pair_limit: PairLimit = None,
    count_only: CountOnly = False,
    error: Error = 0.0,
    max_lhs: MaxLhs = None,
    compare: CompareAs = Compare.typed,
    max_arity: MaxArity = 1,
    key: Annotated[
        list[str] | None,
        typer.Option(help="Key columns, comma separated: [b]id[/b], or [b]table:id,day[/b] with several tables."),
    ] = None,
    columns: Columns = None,
    nulls: Annotated[NullMode, typer.Option(help="Whether null equals null.")] = NullMode.equal,
    segments: Annotated[
        str | None, typer.Option(help="Keep the bulk files elsewhere: a path or URI that Spark sees.")
    ] = None,
    form: Output = Format.text,
    separator: Separator = None,
    quote: Quote = None,
    header: Header = None,
    null: NullMarkers = None,
    types: TypesFrom = Types.infer,
    schema: SchemaText = None,
    input_format: InputFormat = None,
    jdbc_table: JdbcTable = None,
    jdbc_properties: JdbcProperties = None,
    reader: With = None,
) -> None:
    """Start watching tables: read them whole, find what holds, keep it in a state folder.

    Example: [b]holdfast init state/ tax.csv --key Id[/b]
    """
    from holdfast.api.monitor import Monitor

    options = read_options(
        separator, quote, header, null, types, schema, input_format, jdbc_table, jdbc_properties, reader
    )
    tables = named(sources, jdbc_table)
    chosen = by_table("--columns", columns or [], tables)
    with terminal_progress() as progress, Monitor.create(
        state, tables, watch=split(watch), rules=rules,
        settings=asked_settings(pair_limit, count_only, error, max_lhs, compare, max_arity),
        key=by_table("--key", key or [], tables), columns=chosen, nulls=nulls.value,
        options=options, segments=segments, progress=progress,
    ) as monitor:  # fmt: skip
        left_out = monitor.left_out
        for table, columns_out in left_out.items():
            note_left_out(progress, table, columns_out, table in chosen)
        results = monitor.found()
        warn_unlisted(progress, [finding.to_json() for finding in monitor.results("dc")])
        made = monitor.tables
    if form is Format.json:
        print_json(table_line(table.schema, table.rows, left_out[name]) for name, table in made.items())
    print_findings([], form, results=results)


@app.command()
def apply(
    state: State,
    insert: Annotated[str | None, typer.Option(help="A file of new rows.")] = None,
    delete: Annotated[
        str | None, typer.Option(help="A file of rows to delete; with a key, its columns are enough.")
    ] = None,
    changes: Annotated[str | None, typer.Option(help="A file whose rows say insert, delete or update.")] = None,
    snapshot: Annotated[
        str | None, typer.Option(help="The whole table as it is now; the difference is applied.")
    ] = None,
    op: Annotated[str | None, typer.Option(help="The column of --changes that says the operation.")] = None,
    table: Annotated[str | None, typer.Option(help="The table, where several are watched.")] = None,
    batch_id: Annotated[
        str | None, typer.Option(help="A name for this batch; the same one is never applied twice.")
    ] = None,
    on_missing: Annotated[
        OnMissingRow, typer.Option(help="What to do about rows that aren't there.")
    ] = OnMissingRow.error,
    form: Output = Format.text,
    separator: Separator = None,
    quote: Quote = None,
    header: Header = None,
    null: NullMarkers = None,
    types: TypesFrom = Types.infer,
    schema: SchemaText = None,
    input_format: InputFormat = None,
    jdbc_table: JdbcTable = None,
    jdbc_properties: JdbcProperties = None,
    reader: With = None,
) -> None:
    """Apply one batch of changes, and tell what changed.

    Example: [b]holdfast apply state/ --insert new.csv --delete old.csv[/b]
    """
    from holdfast.api.monitor import Monitor
    from holdfast.report.outcome import print_outcome

    options = read_options(
        separator, quote, header, null, types, schema, input_format, jdbc_table, jdbc_properties, reader
    )
    with terminal_progress() as progress, Monitor.open(state, progress=progress) as monitor:
        progress.step("Applying the batch")
        outcome = monitor.apply(
            insert, delete, changes, snapshot, table=table, batch_id=batch_id, on_missing=on_missing.value,
            operation_column=op, options=options,
        )  # fmt: skip
    if form is Format.json:
        print_json(outcome.to_json())
    else:
        print_outcome(outcome)
    raise typer.Exit(1 if outcome.broken else 0)


@app.command()
def watch(
    state: State,
    folder: Annotated[str, typer.Option("--from", help="The folder that files arrive in; move them in whole.")],
    holds: Annotated[Holds, typer.Option("--as", help="What the files hold.")] = Holds.insert,
    once: Annotated[bool, typer.Option("--once", help="Stop when all files that are there are applied.")] = False,
    op: Annotated[str | None, typer.Option(help="The column that says the operation, with --as changes.")] = None,
    table: Annotated[str | None, typer.Option(help="The table, where several are watched.")] = None,
    on_missing: Annotated[
        OnMissingRow, typer.Option(help="What to do about rows that aren't there.")
    ] = OnMissingRow.error,
    form: Output = Format.text,
    separator: Separator = None,
    quote: Quote = None,
    header: Header = None,
    null: NullMarkers = None,
    types: TypesFrom = Types.infer,
    schema: SchemaText = None,
    input_format: InputFormat = None,
    reader: With = None,
) -> None:
    """Apply every file that arrives in a folder, each exactly once, until stopped with Ctrl-C.

    Example: [b]holdfast watch state/ --from incoming/[/b]
    """
    from holdfast.api.monitor import Monitor
    from holdfast.api.outcome import Outcome
    from holdfast.report.outcome import print_outcome

    options = read_options(separator, quote, header, null, types, schema, input_format, reader=reader)
    broken: list[bool] = []

    def told(path: str, outcome: Outcome) -> None:
        broken.append(outcome.broken)
        if form is Format.json:
            print_json([{**line, "file": path} for line in outcome.to_json()])
        else:
            print_outcome(outcome, Path(path).name)
        if not somebody_reads():
            raise _NobodyReads

    with terminal_progress() as progress, Monitor.open(state, progress=progress) as monitor:
        progress.note(f"Watching {folder}; stop with Ctrl-C.")
        try:
            monitor.watch_folder(
                folder, how=holds.value, table=table, on_missing=on_missing.value, operation_column=op,
                options=options, once=once, told=told,
            )  # fmt: skip
        except KeyboardInterrupt:
            progress.note("Stopped. Batches that were told are kept.")
        except _NobodyReads:
            progress.note("Stopped, as nobody reads what is told. Batches that were told are kept.")
    raise typer.Exit(1 if any(broken) else 0)


class _NobodyReads(Exception):
    """Ends a watch whose output goes nowhere: it would go on for ever, unseen."""


@app.command()
def demo() -> None:
    """See the whole of it in two minutes: a small table, three batches, what changed. Needs no input."""
    from holdfast.demo.tour import run

    run()
