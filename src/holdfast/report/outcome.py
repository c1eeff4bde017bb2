"""What a batch did, and what batches did, in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from rich.table import Table

from holdfast.engines.contract import is_given, score_cell
from holdfast.engines.registry import rule_class
from holdfast.report.tables import changes_table, text_table
from holdfast.report.terminal import Terminal, plain
from holdfast.results.history import RuleHistory
from holdfast.results.outcome import Outcome
from holdfast.results.outcome_lines import with_table
from holdfast.store.records import BatchRecord


def print_outcome(outcome: Outcome, name: str | None = None) -> None:
    """A line about the batch, and a table of what changed."""
    console = Terminal()
    batch = outcome.batch
    title = f"{plain(name)}: " if name else ""
    if outcome.already_applied:
        console.print(f"{title}batch {plain(batch.batch_id)} was applied before, at {batch.at}; nothing to do")
        return
    if not batch.inserted and not batch.deleted:
        console.print(f"{title}no change in {plain(', '.join(batch.tables))}{_ignored(batch)}")
        _print_lines(console, outcome.aside_lines())
        return
    milliseconds = 1000 * (batch.seconds + outcome.commit_seconds)
    console.print(
        f"{title}[bold]batch {batch.seq}[/bold] on {plain(', '.join(batch.tables))}: {batch.inserted:,} rows inserted, "
        f"{batch.deleted:,} deleted in {milliseconds:,.0f} ms{_ignored(batch)}"
    )
    _print_lines(console, outcome.aside_lines())
    changed = [(old.to_json(), new.to_json()) for old, new in outcome.changed]
    given = _violations_table(outcome, changed)
    if given is not None:
        console.print(given)
    _print_lines(console, outcome.rule_lines())
    found = changes_table(changed, outcome.of_several), _errors_table(changed, outcome.of_several)
    tables = [table for table in found if table is not None]
    for table in tables:
        console.print(table)
    if given is None and not tables and not any(diff.lost or diff.gained for diff in outcome.diffs.values()):
        console.print("no fact but the number of rows changed")


def _print_lines(console: Terminal, told: Iterable[tuple[str, list[str]]]) -> None:
    for heading, lines in told:
        word, _, rest = heading.partition(":")
        console.print(f"[bold]{word}[/bold]:{plain(rest)}", soft_wrap=True)
        for line in lines:
            console.print(f"  {plain(line)}", soft_wrap=True)


def _violations_table(outcome: Outcome, changed: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> Table | None:
    """How many violations of each rule are new, and how many are gone."""
    lines = []
    for old, new in changed:
        if is_given(new):
            counts = ["–" if count is None else f"{count:,}" for count in outcome.moved(new["text"], new["table"])]
            lines.append([new["name"], new["severity"], *counts, f"{old['violations']:,}", f"{new['violations']:,}"])
    headings = ("rule", "severity", "new", "gone", "before", "after")
    return text_table(headings, lines, headings[2:]) if lines else None


def _errors_table(
    changed: Sequence[tuple[dict[str, Any], dict[str, Any]]], several: bool, most: int = 5
) -> Table | None:
    """The rules that hold to some share, of which this share changed the most."""
    shares = [
        (*(one.get(measure, 0.0) for one in (old, new)), with_table(new, new["text"], several), measure)
        for old, new in changed
        if not is_given(new) and (measure := rule_class(new["kind"]).measure)
    ]
    if not shares:
        return None
    first = sorted(shares, key=lambda share: -abs(share[1] - share[0]))[:most]
    lines = [[f"{before:.4%}", f"{after:.4%}", text] for before, after, text, _ in first]
    measures = " or ".join(dict.fromkeys(share[3].replace("_", " ") for share in shares))
    title = f"{len(shares):,} rules changed their {measures}" + (", the most:" if len(shares) > most else ":")
    return text_table(("before", "after", "rule"), lines, ("before", "after"), title)


def _ignored(batch: BatchRecord) -> str:
    return f"; {batch.ignored:,} operations on rows that aren't there were ignored" if batch.ignored else ""


def print_history(batches: Sequence[BatchRecord], changes: Mapping[int, str] | None = None) -> None:
    """The batches as a table; of changes of rules and columns, what they did in a few words."""
    changed = changes or {}
    rows = [
        (
            str(batch.seq),
            batch.at[5:19].replace("T", " "),
            ", ".join(batch.tables),
            f"{batch.kind}: {changed[batch.seq]}" if changed.get(batch.seq) else batch.kind,
            f"{batch.inserted:,}",
            f"{batch.deleted:,}",
            f"{batch.seconds * 1000:,.0f}",
            str(batch.lost),
            batch.batch_id,
        )
        for batch in batches
    ]
    headings = ("batch", "applied at", "table", "what", "rows in", "rows out", "ms", "lost", "id")
    numbers = ("batch", "rows in", "rows out", "ms", "lost")
    Terminal().print(text_table(headings, rows, numbers) if rows else "no batch was applied yet")


def print_rule_history(fared: RuleHistory, most: int = 40) -> None:
    """How rules have fared: the ones that broke most often first."""
    rows = [
        (
            rule["kind"],
            rule["table"],
            _since(rule["holds_since"]),
            f"{rule['broke']:,}",
            score_cell(rule),
            f"{rule['name']}: {rule['text']}" if "name" in rule else rule["text"],
        )
        for rule in islice(fared, most)
    ]
    headings = ("class", "table", "holds since", "broke", "score", "rule")
    title = f"{len(fared):,} rules" + (f", the first {most}" if len(fared) > most else "")
    Terminal().print(text_table(headings, rows, ("broke", "score"), title) if rows else "no rules are watched")


def _since(batch: int | None) -> str:
    if batch is None:
        return "doesn't"
    return f"batch {batch}" if batch else "start"
