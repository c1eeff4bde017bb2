"""The command line: parses, calls, prints. Heavy libraries are imported when a command runs, so help comes at once."""

from __future__ import annotations

import json
import logging
import signal
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from holdfast.arguments import (
    Compare,
    CompareAs,
    CountOnly,
    Error,
    Format,
    Header,
    Holds,
    InputFormat,
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
    Types,
    TypesFrom,
    asked_settings,
    read_options,
)
from holdfast.errors import BadInput, HoldfastError
from holdfast.registry import NAMES

if TYPE_CHECKING:
    from holdfast.report.progress import ConsoleVoice

app = typer.Typer(
    name="holdfast",
    help="Which rules hold in your data, which just broke, and because of which rows.",
    epilog="Try it: holdfast demo. Exit codes: 0 all is well, 1 a rule broke, 2 wrong usage or bad input, 3 our error.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


_INTERRUPTED = 130  # what typer makes of Ctrl-C
_CLASSES = ", ".join(name for name in NAMES if name != "dc")
_STOPPED = "stopped; the state is as it was before the batch, or as it is after it"


@app.command()
def discover(
    sources: SourceList,
    rules: Annotated[str, typer.Option(help=f"Rule classes to look for: {_CLASSES}.")] = "column",
    error: Error = 0.0,
    max_lhs: MaxLhs = None,
    compare: CompareAs = Compare.typed,
    max_arity: MaxArity = 1,
    top: Annotated[int, typer.Option(help="Show at most so many rules of a class as text.")] = 20,
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
) -> None:
    """Tell what holds in a table, once.

    Example: [b]holdfast discover tax.csv --rules column[/b]
    """
    from holdfast.discovery import discover as find

    options = read_options(separator, quote, header, null, types, schema, input_format, jdbc_table)
    with _voice() as voice:
        settings = asked_settings(error=error, max_lhs=max_lhs, compare=compare, max_arity=max_arity)
        found = find(
            _named(sources, jdbc_table),
            _split(rules),
            nulls=nulls.value,
            settings=settings,
            options=options,
            voice=voice,
        )
        for table, columns in found.left_out.items():
            _note_left_out(voice, table, columns)
    _print_findings(found.to_json(), form, top, _split(rules))
    if picture:
        found.picture(picture)
    if html:
        from holdfast.report.pages import findings_html, page

        html.write_text(page("Holdfast: what holds here", findings_html(found.to_json())), encoding="utf-8")


@app.command()
def check(
    sources: SourceList,
    rules: Annotated[Path, typer.Option(help="A YAML file of denial constraints.")],
    rows: Annotated[bool, typer.Option("--rows", help="Show the violating rows side by side.")] = False,
    limit: Annotated[int, typer.Option(help="Show at most so many violations of a rule.")] = 3,
    pair_limit: PairLimit = None,
    count_only: CountOnly = False,
    form: Output = Format.text,
    separator: Separator = None,
    quote: Quote = None,
    header: Header = None,
    null: NullMarkers = None,
    types: TypesFrom = Types.infer,
    schema: SchemaText = None,
    input_format: InputFormat = None,
    jdbc_table: JdbcTable = None,
) -> None:
    """Tell whether rules hold in a table, and which rows break them. Exit code 1 where one of severity error doesn't.

    Example: [b]holdfast check tax.csv --rules rules.yaml --rows[/b]
    """
    from holdfast.checking import check as look

    options = read_options(separator, quote, header, null, types, schema, input_format, jdbc_table)
    with _voice() as voice:
        settings = asked_settings(pair_limit, count_only)
        checked = look(_named(sources, jdbc_table), rules, settings=settings, options=options, voice=voice)
        _warn_unlisted(voice, checked.to_json())
    _print_findings(checked.to_json(), form)
    if form is Format.text:
        _print_listings([listing for listing in checked.listings if listing.pairs is not None], limit, rows)
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
) -> None:
    """Start watching tables: read them whole, find what holds, keep it in a state folder.

    Example: [b]holdfast init state/ tax.csv --key Id[/b]
    """
    from holdfast.monitor import Monitor

    options = read_options(separator, quote, header, null, types, schema, input_format, jdbc_table)
    tables = _named(sources, jdbc_table)
    with _voice() as voice, Monitor.create(
        state, tables, watch=_split(watch), rules=rules,
        settings=asked_settings(pair_limit, count_only, error, max_lhs, compare, max_arity),
        key=_keys(key or [], tables), nulls=nulls.value,
        options=options, segments=segments, voice=voice,
    ) as monitor:  # fmt: skip
        for table, columns in monitor.left_out.items():
            _note_left_out(voice, table, columns)
        findings = [finding.to_json() for finding in monitor.results()]
        _warn_unlisted(voice, findings)
    _print_findings(findings, form)


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
) -> None:
    """Apply one batch of changes, and tell what changed.

    Example: [b]holdfast apply state/ --insert new.csv --delete old.csv[/b]
    """
    from holdfast.monitor import Monitor
    from holdfast.report.outcome import print_outcome

    options = read_options(separator, quote, header, null, types, schema, input_format, jdbc_table)
    with _voice() as voice, Monitor.open(state, voice=voice) as monitor:
        voice.step("Applying the batch")
        outcome = monitor.apply(
            insert, delete, changes, snapshot, table=table, batch_id=batch_id, on_missing=on_missing.value,
            operation_column=op, options=options,
        )  # fmt: skip
    if form is Format.json:
        _print_json(outcome.to_json())
    else:
        print_outcome(outcome)
    raise typer.Exit(1 if outcome.broken else 0)


@app.command()
def watch(
    state: State,
    folder: Annotated[Path, typer.Option("--from", help="The folder that files arrive in; move them in whole.")],
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
) -> None:
    """Apply every file that arrives in a folder, each exactly once, until stopped with Ctrl-C.

    Example: [b]holdfast watch state/ --from incoming/[/b]
    """
    from holdfast.monitor import Monitor
    from holdfast.outcome import Outcome
    from holdfast.report.outcome import print_outcome

    options = read_options(separator, quote, header, null, types, schema, input_format, None)
    broken: list[bool] = []

    def told(path: str, outcome: Outcome) -> None:
        broken.append(outcome.broken)
        if form is Format.json:
            _print_json([{**line, "file": path} for line in outcome.to_json()])
        else:
            print_outcome(outcome, Path(path).name)

    with _voice() as voice, Monitor.open(state, voice=voice) as monitor:
        voice.note(f"Watching {folder}; stop with Ctrl-C.")
        try:
            monitor.watch_folder(
                folder, how=holds.value, table=table, on_missing=on_missing.value, operation_column=op,
                options=options, once=once, told=told,
            )  # fmt: skip
        except KeyboardInterrupt:
            voice.note("Stopped. Batches that were told are kept.")
    raise typer.Exit(1 if any(broken) else 0)


@app.command()
def status(
    state: State,
    rules: Annotated[str | None, typer.Option(help="Only these rule classes, comma separated.")] = None,
    top: Annotated[int, typer.Option(help="Show at most so many rules of a class as text.")] = 20,
    form: Output = Format.text,
) -> None:
    """Show what holds now. Needs no lock: look while a batch is being applied."""
    from holdfast.store.store import Store

    store = Store(state)
    try:
        findings = [f for f in _in_schema_order(store) if rules is None or f["kind"] in _split(rules)]
        last = store.history(1)
    finally:
        store.close()
    _print_findings(findings, form, top)
    if form is Format.text:
        told = f"last batch: {last[0].seq} at {last[0].at}" if last else "no batch was applied yet"
        typer.echo(told, err=True)


@app.command()
def violations(
    state: State,
    rule: Annotated[str | None, typer.Argument(metavar="[RULE]", help="The name or text of a rule.")] = None,
    rows: Annotated[bool, typer.Option("--rows", help="Show the two rows side by side.")] = False,
    limit: Annotated[int | None, typer.Option(help="At most so many of each rule (text: 10 unless told).")] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write all of them to a file: .csv, .parquet, .arrow or .jsonl.")
    ] = None,
    form: Output = Format.text,
) -> None:
    """List the pairs of rows that violate rules, with their keys and the offending values.

    Example: [b]holdfast violations state/ fair --rows[/b]
    """
    from holdfast.monitor import Monitor

    with _voice() as voice, Monitor.open(state, write=False, voice=voice) as monitor:
        found = monitor.violations(rule)
        if output is not None:
            from holdfast.report.export import write_listings

            told = write_listings([listing for listing in found if listing.count], output)
            voice.note(f"{told:,} violations written to {output}")
        elif form is Format.json:
            for listing in found:
                _print_json(listing.violations(limit))
        else:
            _print_listings(found, 10 if limit is None else limit, rows)


@app.command()
def explain(
    state: State,
    rule: Annotated[str, typer.Argument(metavar="RULE", help="The name of a rule, or its text.")],
    pair: Annotated[list[int] | None, typer.Option("--row", help="The row ids of a pair (give it twice).")] = None,
    table: Annotated[str | None, typer.Option(help="The table, where several are watched.")] = None,
) -> None:
    """Say why a rule doesn't hold, and which rows to look at first.

    Examples: [b]holdfast explain state/ fair --row 17 --row 42[/b], [b]holdfast explain state/ "Zip -> State"[/b],
    [b]holdfast explain state/ "orders.cust in customers.id"[/b]
    """
    from holdfast.monitor import Monitor
    from holdfast.report.violations import print_explanation

    if pair is not None and len(pair) > 2:
        raise BadInput("--row: give one row id, or two")
    with _voice() as voice, Monitor.open(state, write=False, voice=voice) as monitor:
        if monitor.is_given(rule):
            for listing in monitor.violations(rule):
                print_explanation(listing, pair or [])
        else:
            for line in monitor.explain(rule, table=table):
                typer.echo(line)


@app.command()
def history(
    state: State,
    last: Annotated[int | None, typer.Option(help="Only the last so many batches.")] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Each rule: since when it holds, how often it broke.")] = False,
    form: Output = Format.text,
) -> None:
    """List the batches that were applied; or, with --rules, how the rules have fared."""
    from holdfast.report.outcome import print_history, print_rule_history
    from holdfast.store.store import Store

    store = Store(state)
    try:
        batches = store.history(last)
        fared = store.rule_history() if rules else []
    finally:
        store.close()
    if rules:
        if form is Format.json:
            _print_json(fared)
        else:
            print_rule_history(fared)
    elif form is Format.json:
        _print_json(batch.to_json() for batch in batches)
    else:
        print_history(batches)


@app.command()
def demo() -> None:
    """See the whole of it in two minutes: a small table, three batches, what changed. Needs no input."""
    from holdfast.demo.tour import run

    run()


def main() -> NoReturn:
    """Run the command line; every error ends as one sentence and an exit code."""
    logging.getLogger().addHandler(logging.NullHandler())  # Spark's gateway would tell of Ctrl-C in its own words
    signal.signal(signal.SIGINT, _interrupt)
    try:
        code = app(prog_name="holdfast", standalone_mode=False) or 0
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code)
    except (KeyboardInterrupt, typer.Abort):
        _fail(_STOPPED, 2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        if _follows_interrupt(error):
            _fail(_STOPPED, 2)
        if isinstance(error, HoldfastError):
            _fail(str(error), error.exit_code)
        if hasattr(error, "format_message"):  # wrong usage, as typer and click tell it
            if not (sentence := error.format_message()):  # nothing was asked, and help was shown
                sys.exit(2)
            context = getattr(error, "ctx", None)
            hint = f"; see: {context.command_path} --help" if context else ""
            _fail(f"{sentence}{hint}", 2)
        import traceback

        traceback.print_exc()
        _fail(f"{type(error).__name__}: {error}. This is an error of ours; please report it with the lines above", 3)


_interrupts: list[int] = []


def _interrupt(number: int, _: object) -> NoReturn:
    _interrupts.append(number)
    raise KeyboardInterrupt


def _follows_interrupt(error: BaseException | None) -> bool:
    """Whether an error comes from Ctrl-C: a cancelled Spark job and a half imported library fail in their own way."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None or bool(_interrupts)


def _fail(sentence: str, code: int) -> NoReturn:
    typer.echo(f"holdfast: {' '.join(sentence.splitlines())}", err=True)  # values in it may hold line breaks
    sys.exit(code)


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _named(sources: list[str], jdbc_table: str | None) -> dict[str, str]:
    """Tables by name: `name=path`, or named after the file."""
    tables: dict[str, str] = {}
    for source in sources:
        name, equals, path = source.partition("=")
        if source.startswith("jdbc:") or not equals or "/" in name:
            path = source
            name = jdbc_table or "table" if source.startswith("jdbc:") else Path(source).name.split(".")[0]
        if name in tables:
            raise BadInput(f"two sources are both called {name!r}; name one of them: other={path}")
        tables[name] = path
    return tables


def _keys(given: list[str], tables: Mapping[str, str]) -> dict[str, list[str]]:
    keys: dict[str, list[str]] = {}
    for one in given:
        table, colon, columns = one.partition(":")
        if not colon and len(tables) > 1:
            raise BadInput(f"--key {one}: say whose key it is, as table:{one}")
        keys[table if colon else next(iter(tables))] = _split(columns if colon else one)
    return keys


def _voice() -> ConsoleVoice:
    from holdfast.report.progress import ConsoleVoice

    return ConsoleVoice()


def _note_left_out(voice: ConsoleVoice, table: str, columns: Iterable[str]) -> None:
    if names := ", ".join(columns):
        voice.note(f"table {table}: left out, as their types can't be compared: {names}")


def _in_schema_order(store: Any) -> list[dict[str, Any]]:
    places = {
        (record.schema.name, column): (number, place)
        for number, record in enumerate(store.tables())
        for place, column in enumerate([None, *record.schema.names])
    }
    return sorted(store.results(), key=lambda f: (f["kind"], places.get((f.get("table"), f.get("column")), (0, 0))))


def _print_findings(findings: list[dict[str, Any]], form: Format, top: int = 20, asked: Iterable[str] = ()) -> None:
    if form is Format.json:
        _print_json(findings)
        return
    from rich.console import Console

    from holdfast.report.tables import FOUND, findings_tables

    console = Console()
    for table in findings_tables(findings, top):
        console.print(table)
    for kind in [kind for kind in asked if not any(finding["kind"] == kind for finding in findings)]:
        console.print(f"no {FOUND[kind][0] if kind in FOUND else kind} found")


def _print_listings(listings: Iterable[Any], limit: int, rows: bool) -> None:
    from holdfast.report.violations import print_listing

    for listing in listings:
        print_listing(listing, limit, rows)


def _warn_unlisted(voice: ConsoleVoice, findings: Iterable[Mapping[str, Any]]) -> None:
    for finding in findings:
        if finding["kind"] == "dc" and not finding["listed"]:
            voice.note(
                f"rule {finding['name']}: {finding['violations']:,} violations are more than are kept as pairs; "
                "only their number is kept (--pair-limit raises the limit)"
            )


def _print_json(lines: Iterable[Mapping[str, Any]]) -> None:
    for line in lines:
        typer.echo(json.dumps(line, ensure_ascii=False))


if __name__ == "__main__":
    main()
