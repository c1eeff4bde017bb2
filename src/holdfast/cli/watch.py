"""The command that applies files as they arrive in a folder."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.alerts import Alerts, alerting
from holdfast.cli.app import app
from holdfast.cli.arguments import How, State, TableName
from holdfast.cli.judging import Judging, judging
from holdfast.cli.options import applying, reading_files, taking
from holdfast.errors import BadInput, ExitCode
from holdfast.progress import Progress
from holdfast.report.log import LogFormat, LogProgress
from holdfast.report.terminal import TerminalProgress, say_json, somebody_reads
from holdfast.text.durations import duration
from holdfast.visible import first_of

if TYPE_CHECKING:
    from holdfast.intake.source import ReadOptions
    from holdfast.results.outcome import Outcome

_NAMED, _MOST_LOGGED = 3, 50  # rules that failed, in the text of a log's line and among its facts
_watching = partial(typer.Option, rich_help_panel="How folders are watched")


@app.command()
@taking(how_to_apply=applying, alerts=alerting, options=reading_files, judged=judging)
def watch(
    state: State,
    *,
    folder: Annotated[
        str, typer.Option("--from", help="The folder that files arrive in; move complete files into it.")
    ],
    how: Annotated[
        How, typer.Option("--as", help="What the files hold: insert, delete, changes, snapshot or upsert.")
    ] = "insert",
    files: Annotated[
        str | None,
        _watching(
            metavar="REGEX",
            help="The names of the files: those with the same group (?P<batch>…) are one batch, and (?P<table>…) is "
            "the table of a file; others are left.",
        ),
    ] = None,
    settle: Annotated[
        str,
        _watching(
            metavar="TIME", help="Apply a batch of --files that has no file of some table once its newest is this old."
        ),
    ] = "5s",
    every: Annotated[str, _watching(metavar="TIME", help="Look at the folder this often: 500ms, 10s, 5m, 1h.")] = "1s",
    once: Annotated[bool, typer.Option("--once", help="Stop when all present files are applied.")] = False,
    op: Annotated[str | None, typer.Option(help="The column with the operation, for --as changes.")] = None,
    table: TableName = None,
    log_format: Annotated[
        LogFormat | None,
        _watching(help="Write standard error as a log, a line for each event: as text, or as a JSON object."),
    ] = None,
    on_alarm: Annotated[
        str | None,
        typer.Option(
            metavar="CMD",
            help="Run a command on alarms; it reads the verdict as JSON, and $HOLDFAST_VERDICT is its line.",
            rich_help_panel="Alerts",
        ),
    ] = None,
    how_to_apply: dict[str, Any],
    alerts: Alerts,
    options: ReadOptions,
    judged: Judging,
) -> None:
    """Apply every file that arrives in a folder, each exactly once, until Ctrl-C or SIGTERM.

    Example: [b]holdfast watch state/ --from incoming/[/b]
    """
    from holdfast.api.monitor import Monitor

    seconds, patience = (duration(text).total_seconds() for text in (every, settle))
    codes = {ExitCode.ALL_WELL}

    def applied(paths: Sequence[str], outcome: Outcome) -> None:
        send.applied(outcome, judged.fail_on, judged.max_bad)
        codes.add(code := judged.print(outcome, paths, err=log_format is None))
        if log_format is not None:
            _log_batch(progress, outcome, paths, judged, code)
        for trouble in send.troubles():
            progress.event("warning", "notify", trouble)
        if not somebody_reads():
            raise KeyboardInterrupt  # nobody would notice that it goes on

    def refused(path: str, reason: str, moved: str | None) -> None:
        codes.add(ExitCode.BAD_INPUT)
        send.refused(reason, path)
        where = "the file is passed over" if moved is None else f"moved to {moved}"
        progress.event("error", "refused", f"{reason}; {where}", file=path, moved_to=moved)
        if judged.form == "json":
            say_json([{"kind": "refused", "file": path, "reason": reason, "moved_to": moved}])

    with (
        _softly() as stop,
        _progress(log_format) as progress,
        alerts.on_alarm(on_alarm).sending(state, [folder], warn=partial(progress.event, "warning", "notify")) as send,
        Monitor.open(state, progress=progress) as monitor,
        send.following(monitor),
    ):
        progress.event("info", "started", f"Watching {folder}; stop with Ctrl-C.", state=str(state), folder=folder)
        why = ""
        try:
            monitor.watch_folder(
                folder, how=how, files=files, settle=patience, every=seconds, once=once, stop=stop, table=table,
                operation_column=op, options=options, applied=applied, refused=refused, fail_on=judged.fail_on,
                **how_to_apply,
            )  # fmt: skip
        except KeyboardInterrupt:
            why = "Stopped" if somebody_reads() else "Stopped, as nobody reads the output"
        if why or stop():
            progress.event("info", "stopped", f"{why or 'Stopped'}. The batches shown so far are applied.")
    raise typer.Exit(max(codes))


@contextmanager
def _progress(log_format: LogFormat | None) -> Iterator[Progress]:
    """What listens to the watch; a log also has the error that ends it."""
    if log_format is None:
        with TerminalProgress() as progress:
            yield progress
        return
    log = LogProgress(log_format)
    try:
        yield log
    except BadInput as error:
        log.event("error", "failed", str(error), exit_code=int(error.exit_code))
        raise typer.Exit(error.exit_code) from None


@contextmanager
def _softly() -> Iterator[Callable[[], bool]]:
    """Have SIGTERM end the watch after the batch that has begun, and a second one at once; gives whether it came."""
    asked: list[int] = []

    def ask(number: int, _: object) -> None:
        asked.append(number)
        if len(asked) > 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, ask)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGTERM, before)


def _log_batch(progress: Progress, outcome: Outcome, paths: Sequence[str], judged: Judging, code: ExitCode) -> None:
    """A line of the log about a batch."""
    batch, bad, fail_on = outcome.batch, outcome.quarantined, judged.fail_on
    failed = [rule.text for rule in outcome.alarms(fail_on)]
    nothing = outcome.already_applied or outcome.is_nothing
    names = ", ".join(Path(path).name for path in paths)
    said = outcome.lines()[0] if nothing else outcome.verdict(fail_on).line(names)
    rules = f": {first_of(failed, _NAMED)}" if failed else ""
    reasons = ["" if failed else outcome.why(fail_on), outcome.why_bad(judged.most_bad)]
    progress.event(
        "warning" if code else "info", "batch", ". ".join(filter(None, [said.rstrip(".") + rules, *reasons])),
        batch=batch.number, batch_id=batch.batch_id, files=list(paths), tables=list(batch.tables),
        inserted=batch.inserted, deleted=batch.deleted, ignored=batch.ignored, quarantined=bad.rows if bad else 0,
        seconds=round(batch.seconds, 3), verdict="alarm" if code else "ok", failed=failed[:_MOST_LOGGED],
        already_applied=outcome.already_applied,
    )  # fmt: skip
