"""The commands that start to watch tables, and that apply a batch of changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.alerts import Alerts, alerting
from holdfast.cli.app import app
from holdfast.cli.arguments import (
    AlarmBudget,
    Columns,
    History,
    How,
    Output,
    SourceList,
    State,
    TablesOfBatch,
)  # fmt: skip
from holdfast.cli.ci import CiOutputs, ci_outputs, write_applied
from holdfast.cli.judging import Judging, judging
from holdfast.cli.options import applying, reading, settings_of, taking
from holdfast.cli.printing import CLASSES, print_findings, warn_unlisted
from holdfast.cli.tables import by_table, history_of, named, note_left_out, split, table_line, table_or_files
from holdfast.engines.registry import given_classes, rule_classes
from holdfast.engines.thresholds import ALARM_BUDGET, ROW_RULES, SUGGESTED
from holdfast.errors import BadInput
from holdfast.report.terminal import TerminalProgress, say_json
from holdfast.table.nulls import NullMode

if TYPE_CHECKING:
    from holdfast.intake.source import ReadOptions


@app.command()
@taking(settings=settings_of(rule_classes().values()), options=reading)
def init(
    state: State,
    sources: SourceList,
    *,
    watch: Annotated[
        str | None,
        typer.Option(help=f"Rule classes to discover and watch: {CLASSES}.", show_default="column"),
    ] = None,
    rules: Annotated[
        Path | None, typer.Option("--rules", help="A YAML file of rules; their violations are stored.")
    ] = None,
    suggest: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Also watch the best N rules of each table that the data seem to follow, and the best "
            f"{ROW_RULES} N about one row ({SUGGESTED} where neither --watch nor --rules is given).",
        ),
    ] = None,
    alarm_budget: AlarmBudget = None,
    key: Annotated[
        list[str] | None,
        typer.Option(help="Key columns, separated by commas: [b]id[/b], or [b]table:id,day[/b] for several tables."),
    ] = None,
    columns: Columns = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns whose values reports hash and notifications leave out: [b]email,phone[/b].",
            rich_help_panel="What is kept and shown",
        ),
    ] = None,
    keep_rows: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="How long values of rows that broke rules are kept: [b]30d[/b] (default: always).",
            rich_help_panel="What is kept and shown",
        ),
    ] = None,
    nulls: Annotated[NullMode, typer.Option(help="Whether null equals null.")] = "equal",
    segments: Annotated[
        str | None, typer.Option(help="Another place for the bulk files: a path, or an address such as s3://….")
    ] = None,
    expect: Annotated[
        bool | None,
        typer.Option(
            "--expect/--no-expect",
            help="Compare each batch with those before it (default: where rules are suggested).",
            show_default=False,
        ),
    ] = None,
    history: History = None,
    form: Output = "text",
    options: ReadOptions,
    settings: dict[str, Any],
) -> None:
    """Start watching tables: read them, find the rules that hold, and store them in a state folder.

    Example: [b]holdfast init state/ tax.csv --key Id[/b]
    """
    from holdfast.api.monitor import Monitor

    tables = named(sources, options)
    chosen, cut = by_table("--columns", columns or [], tables), history_of(history or [], tables)
    with TerminalProgress() as progress, Monitor.create(
        state, tables, watch=None if watch is None else split(watch), rules=rules, suggest=suggest,
        alarm_budget=ALARM_BUDGET if alarm_budget is None else alarm_budget,
        key=by_table("--key", key or [], tables), columns=chosen, nulls=nulls,
        options=options, segments=segments, sensitive=by_table("--sensitive", sensitive or [], tables),
        keep_rows=keep_rows, expect=expect, history=cut,
        progress=progress, **settings,
    ) as monitor:  # fmt: skip
        left_out = monitor.left_out
        note_left_out(progress, left_out, chosen)
        results = monitor.ranked()
        given = [finding for each in given_classes() for finding in monitor.results(each.name)]
        warn_unlisted(progress, [finding.to_json() for finding in given])
        made = monitor.tables
    if form == "json":
        say_json(table_line(table.schema, table.rows, left_out[name], results) for name, table in made.items())
    print_findings([], form, results=results)


_PARTS: dict[How, str] = {
    "insert": "inserts", "delete": "deletes", "changes": "changes", "snapshot": "snapshot", "upsert": "upserts",
}  # fmt: skip


@app.command()
@taking(how_to_apply=applying, alerts=alerting, ci=ci_outputs, options=reading, judged=judging)
def apply(
    state: State,
    *,
    insert: Annotated[str | None, typer.Option(help="A file of new rows.")] = None,
    delete: Annotated[
        str | None, typer.Option(help="A file of rows to delete; if the table has a key, the key columns are enough.")
    ] = None,
    changes: Annotated[
        str | None, typer.Option(help="A file with an operation for each row: insert, delete or update.")
    ] = None,
    snapshot: Annotated[
        str | None, typer.Option(help="A file of the whole table as it is now; the difference is applied.")
    ] = None,
    upsert: Annotated[
        str | None, typer.Option(help="A file of rows that are new, or replace the row with the same key.")
    ] = None,
    op: Annotated[str | None, typer.Option(help="The column of --changes with the operation.")] = None,
    table: TablesOfBatch = None,
    how: Annotated[
        How | None,
        typer.Option(
            "--how",
            "--as",
            help="What the files of --table hold: insert (default), delete, changes, snapshot or upsert.",
        ),
    ] = None,
    batch_id: Annotated[
        str | None, typer.Option(help="A name for this batch; a batch of the same name is not applied again.")
    ] = None,
    how_to_apply: dict[str, Any],
    alerts: Alerts,
    ci: CiOutputs,
    options: ReadOptions,
    judged: Judging,
) -> None:
    """Apply one batch of changes, and show its effects.

    Example: [b]holdfast apply state/ --insert new.csv --delete old.csv[/b]; for several tables at once:
    [b]holdfast apply state/ --table orders=o.csv --table customers=c.csv[/b]
    """
    from holdfast.api.monitor import Monitor
    from holdfast.sources.secrets import refuse_plain_secrets

    fail_on = judged.fail_on
    name, files = table_or_files(table or [])
    sources: dict[str, Any] = {
        "inserts": insert, "deletes": delete, "changes": changes, "snapshot": snapshot, "upserts": upsert,
    }  # fmt: skip
    for each in [*files.values(), *(given for given in sources.values() if given is not None)]:
        refuse_plain_secrets(each)
    if files:
        if given := [part for part, source in sources.items() if source is not None]:
            raise BadInput(f"--table name=path names the files; leave out that of {given[0]}, and use --how instead")
        sources = {_PARTS[how or "insert"]: files}
    elif how is not None:
        raise BadInput(f"--how {how} is about the files of --table name=path, and there are none; leave it out")
    elif not any(sources.values()):
        raise BadInput("nothing to apply: give --insert FILE, or --upsert, --delete, --changes, --snapshot, --table")
    with alerts.sending(state, list(_files_in(sources))) as send:
        with ci.failing(state), TerminalProgress() as progress, Monitor.open(state, progress=progress) as monitor:
            progress.step("Applying the batch")
            with send.following(monitor):
                outcome = monitor.apply(
                    **sources, table=name, batch_id=batch_id, operation_column=op, options=options, fail_on=fail_on,
                    **how_to_apply,
                )  # fmt: skip
                send.applied(outcome, fail_on, judged.max_bad)
            if ci.files is not None:
                # The file is read again for the lines of rows.
                inserted = (sources.get("inserts") if ci.files.sarif else None) or {}
                summary = monitor.ci_summary(
                    outcome, fail_on=fail_on, bad=outcome.why_bad(judged.most_bad), options=options, redact=ci.redact,
                    inserted=inserted if isinstance(inserted, dict) else {name: inserted},
                )  # fmt: skip
        code = judged.print(outcome)
    if ci.files is not None:
        write_applied(ci.files, summary)
    raise typer.Exit(code)


def _files_in(sources: Mapping[str, Any]) -> Iterator[str]:
    """The files that a batch is made of, without addresses, which may have secrets."""
    for source in filter(None, sources.values()):
        yield from (each for each in (source.values() if isinstance(source, dict) else [source]) if ":" not in each)
