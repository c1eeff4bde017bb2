"""What a batch did, and what batches did, in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from holdfast.changes.asked import one_a_class
from holdfast.changes.diff import Diff
from holdfast.engines.declared import is_given, score_cell
from holdfast.engines.registry import rule_class
from holdfast.report.tables import changes_table, text_table, with_table
from holdfast.report.terminal import Terminal, plain
from holdfast.report.told import OfTable, gained_lines, lost_lines, with_cause
from holdfast.report.values import Outcome, RuleHistory
from holdfast.store.records import BatchRecord

if TYPE_CHECKING:
    from rich.table import Table


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
        _print_lines(console, aside_lines(outcome))
        return
    console.print(
        f"{title}[bold]batch {batch.seq}[/bold] on {plain(', '.join(batch.tables))}: {batch.inserted:,} rows inserted, "
        f"{batch.deleted:,} deleted in {batch.seconds * 1000:,.0f} ms{_ignored(batch)}"
    )
    _print_lines(console, aside_lines(outcome))
    changed = [(old.to_json(), new.to_json()) for old, new in outcome.changed]
    given = _violations_table(outcome, changed)
    if given is not None:
        console.print(given)
    _print_lines(console, rule_lines(outcome))
    several = len(batch.tables) > 1
    found = changes_table(changed, several), _errors_table(changed, several)
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


def aside_lines(outcome: Outcome) -> Iterator[tuple[str, list[str]]]:
    """How many rows were set aside, and where they are: a heading, where there are any, and the first reasons."""
    aside = outcome.quarantined
    if aside is not None and aside.rows:
        more = aside.rows - len(aside.reasons)
        rows = f"{aside.rows:,} row{'s' * (aside.rows > 1)} in {' and '.join(aside.files)}"
        yield f"quarantined: {rows}", [*aside.reasons, *([f"… and {more:,} more"] if more else [])]


def rule_lines(outcome: Outcome, most: int = 10) -> Iterator[tuple[str, list[str]]]:
    """The rules that broke, with the rows that broke them, and those that hold now: headings, and the first lines."""
    diffs = outcome.told.values()
    told, pinned = (_of_tables(outcome, each) for each in (outcome.told, outcome.pinned))
    if broken := sum(len(diff.lost) for diff in outcome.pinned.values()):
        yield f"pinned: {_rules(broken)} that you pinned broke", lost_lines(pinned, most)
    lost, gained = (sum(len(getattr(diff, part)) for diff in diffs) for part in ("witnesses", "gained"))
    if lost:
        yield f"lost: {_rules(lost)}", lost_lines(told, most)
    if gained:
        lines, hidden = gained_lines(told, most)
        yield f"gained: {_rules(gained)}{f'; not shown: {hidden}' if hidden else ''}", lines
    if outcome.ignored:
        yield f"ignored: {_rules(outcome.ignored)} that you ignore broke", []
    if untested := len(outcome.untested):
        yield f"untested: {_rules(untested)} had held for lack of values alone", []
    if implied := sum(len(diff.lost) for diff in diffs) - lost - untested:
        lines = [
            with_cause(each, text)
            for each in told
            if each.diff.causes
            for text in one_a_class(each.diff.lost)
            if text not in each.diff.witnesses and text not in each.diff.untested
        ][:most]
        why = f"follow from others, or too little is left to test them{_below(told)}"
        yield f"implied: {implied:,} rules still hold, but {why}", lines


def _below(told: Iterable[OfTable]) -> str:
    """How many rules left as too few pairs of rows test them: also where people are shown none of these."""
    causes = (each.diff.causes.get(text) for each in told if each.diff.causes for text in each.diff.lost)
    count = sum(cause is not None and cause.kind == "below --min-coverage" for cause in causes)
    return f"; {count:,} are below --min-coverage" if count else ""


def _of_tables(outcome: Outcome, diffs: Mapping[tuple[str, str], Diff]) -> list[OfTable]:
    """Diffs that know their tables, and tell them where the batch has several."""
    return [OfTable(diff, *subject, len(outcome.batch.tables) > 1) for subject, diff in diffs.items()]


def _rules(count: int) -> str:
    return f"{count:,} rule{'s' * (count != 1)}"


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
