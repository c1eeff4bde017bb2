"""Results in the terminal: what batches did, rows, violations with the cells at fault marked, and suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from rich.box import ROUNDED
from rich.table import Table

from holdfast.engines.contract import CurrentExplanation, is_given, score_cell
from holdfast.engines.listing import Listing
from holdfast.engines.registry import rule_class
from holdfast.engines.thresholds import SHOWN
from holdfast.report.tables import text_table
from holdfast.report.terminal import Terminal, plain
from holdfast.results.alarms import FailOn
from holdfast.results.drawn import shape_lines
from holdfast.results.history import RuleHistory
from holdfast.results.outcome import Outcome
from holdfast.results.outcome_lines import change_lines, with_table
from holdfast.results.rows import Row
from holdfast.rules.names import called, titled
from holdfast.store.records import BatchRecord
from holdfast.table.row_names import names_nothing_new, naming_key
from holdfast.text.row_names import short_names
from holdfast.visible import brief, counted, cut, visible

if TYPE_CHECKING:
    from holdfast.results.suggestions import Suggestions  # heavier than what a batch needs

_LONGEST_VALUE = 1000

Loudness = Literal["quiet", "normal", "verbose"]

Changes = Sequence[tuple[dict[str, Any], dict[str, Any]]]  # findings before and after

# ---- batches ---------------------------------------------------------------------------------------------------------


def print_outcome(outcome: Outcome, name: str = "", *, fail_on: FailOn = "likely", loud: Loudness = "normal") -> None:
    """The verdict, with the name of a file if there is one, and what failed, with the rows. `verbose` adds all that
    changed; `quiet` prints only what failed.
    """
    console = Terminal()
    if outcome.already_applied or outcome.is_nothing:
        if loud != "quiet":
            console.print(plain(outcome.lines()[0]) + _ignored(outcome.batch), soft_wrap=True)
            _print_lines(console, outcome.quarantine_lines())
        return
    verdict = outcome.verdict(fail_on, verbose=loud == "verbose")
    if loud == "quiet":
        for block in verdict.blocks():
            if block.level == "failed":
                _print_block(console, block.heading, ())
        return
    taken = f" Took {1000 * (outcome.batch.seconds + outcome.commit_seconds):,.0f} ms." if loud == "verbose" else ""
    console.print(f"[bold]{plain(verdict.line(name))}[/bold]{_ignored(outcome.batch)}{taken}", soft_wrap=True)
    _print_lines(console, outcome.quarantine_lines())
    for block in verdict.blocks():
        _print_block(console, block.heading, block.rows)
    for last in verdict.last_lines():
        console.print(plain(last), soft_wrap=True)
    _print_lines(console, outcome.rule_lines(said={each.key for each in verdict.worse}))
    _print_lines(console, outcome.given_lines())
    if loud == "verbose":
        changed = [(old.to_json(), new.to_json()) for old, new in outcome.changed]
        _print_violations(console, outcome, changed)
        _print_facts(console, changed, outcome.of_several)
        _print_errors(console, changed, outcome.of_several)


def _print_block(console: Terminal, heading: str, lines: Sequence[str]) -> None:
    """A rule that got worse, with its rows; the command is left whole, also where it is wider than the screen."""
    word, _, rest = heading.partition(":")
    color = "bold red" if word == "Failed" else "bold yellow"
    console.print(f"[{color}]{word}[/{color}]:{plain(rest)}", soft_wrap=True)
    for line in lines:
        console.print(f"  {plain(line)}", soft_wrap=True)


def _print_lines(console: Terminal, sections: Iterable[tuple[str, list[str]]]) -> None:
    for heading, lines in sections:
        word, _, rest = heading.partition(":")
        console.print(f"[bold]{word}[/bold]:{plain(rest)}", soft_wrap=True)
        for line in lines:
            console.print(f"  {plain(line)}", soft_wrap=True)


def _print_table(console: Terminal, table: Table) -> None:
    """Print a table, if it has rows."""
    if table.row_count:
        console.print(table)


def _print_violations(console: Terminal, outcome: Outcome, changed: Changes) -> None:
    """How many violations of each rule are new, and how many are gone; rules whose counts did not move are left out."""
    lines = []
    for old, new in changed:
        if is_given(new) and (moved := outcome.moved(new["text"], new["table"])) != (0, 0):
            counts = ["–" if count is None else f"{count:,}" for count in moved]
            rule, figures = called(new["name"], new["text"]), [f"{each['violations']:,}" for each in (old, new)]
            lines.append([rule, new["severity"], *counts, *figures])
    headings = ("rule", "severity", "new", "gone", "before", "after")
    _print_table(console, text_table(headings, lines, headings[2:]))


def _print_facts(console: Terminal, changed: Changes, several: bool) -> None:
    """Changed facts besides the number of rows, one line each, with their table if there are several."""
    lines = [
        line
        for before, after in changed
        if rule_class(after["kind"]).facts
        for line in change_lines(before, after, several)
    ]
    _print_table(console, text_table(("column", "fact", "before", "after"), lines, ("before", "after")))


def _print_errors(console: Terminal, changed: Changes, several: bool, most: int = 5) -> None:
    """The approximate rules whose error changed the most."""
    shares = [
        (*(one.get(measure, 0.0) for one in (old, new)), with_table(new, new["text"], several), measure)
        for old, new in changed
        if not is_given(new) and (measure := rule_class(new["kind"]).measure)
    ]
    first = sorted(shares, key=lambda share: -abs(share[1] - share[0]))[:most]
    lines = [[f"{before:.4%}", f"{after:.4%}", text] for before, after, text, _ in first]
    measures = " or ".join(dict.fromkeys(share[3].replace("_", " ") for share in shares))
    which = ", these the most" if len(shares) > most else ""
    title = f"{counted(len(shares), 'rule')} changed their {measures}{which}:"
    _print_table(console, text_table(("before", "after", "rule"), lines, ("before", "after"), title))


def _ignored(batch: BatchRecord) -> str:
    one = "operation on a row that isn't there was"
    were = one if batch.ignored == 1 else "operations on rows that aren't there were"
    return f" {batch.ignored:,} {were} ignored." if batch.ignored else ""


def print_history(batches: Sequence[BatchRecord], changes: Mapping[int, str] | None = None) -> None:
    """The batches as a table; `changes` describe those that changed rules, columns or tables."""
    changed = changes or {}
    rows = [
        (
            "–" if batch.is_change else f"{batch.number:,}",
            batch.when[5:],
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


def print_rule_history(history: RuleHistory, most: int = 40) -> None:
    """The history of rules, those that broke most often first."""
    rows = [
        (
            rule["kind"],
            rule["table"],
            _since(rule["holds_since"]),
            f"{rule['broke']:,}",
            score_cell(rule),
            titled(rule.get("name", ""), rule["text"]),
        )
        for rule in islice(history, most)
    ]
    headings = ("class", "table", "holds since", "broke", "score", "rule")
    title = f"{len(history):,} rules" + (f", the first {most}" if len(history) > most else "")
    Terminal().print(text_table(headings, rows, ("broke", "score"), title) if rows else "no rules are watched")


def _since(batch: int | None) -> str:
    if batch is None:
        return "doesn't"
    return f"batch {batch}" if batch else "start"


# ---- rows and violations ---------------------------------------------------------------------------------------------


def print_rows(rows: Sequence[Row], most: int) -> None:
    """What is known about each row, and its values."""
    console = Terminal()
    shown = rows[:most]
    columns = list(dict.fromkeys(name for row in shown for name in row.values or ()))
    lines = [[str(row.number), *(_row_cell(row, name) for name in columns)] for row in shown if row.values is not None]
    headings = ("row", *columns)
    widths = [max(map(len, column)) for column in zip(headings, *lines, strict=True)]
    fits = sum(width + 3 for width in widths) < console.width
    for row in shown:
        console.print(plain(str(row)), soft_wrap=True)
        if row.values is not None and not fits:
            console.print(text_table(("column", "value"), [(name, _row_cell(row, name)) for name in row.values]))
    if lines and fits:
        console.print(text_table(headings, lines))
    if len(rows) > most:
        console.print(f"… and {len(rows) - most:,} more; see --limit")


def _row_cell(row: Row, column: str) -> str:
    """A value as it is; empty if it is not stored."""
    values = row.values or {}
    value = values.get(column)
    return brief(None if value is None else str(value), _LONGEST_VALUE) if column in values else ""


def print_listings(
    listings: Iterable[Listing], first: int, with_rows: bool, more: str = "--limit and --output"
) -> None:
    """The first violations of each rule that has some, as a table of ids and values or as pairs of rows; `more` says
    which options show the others.
    """
    shown = [listing for listing in listings if listing.count]
    for listing in shown:
        _print_listing(Terminal(), listing, first, with_rows, more)
    if not shown:
        Terminal().print("no violations")


def _print_listing(console: Terminal, listing: Listing, first: int, with_rows: bool, more: str) -> None:
    rule = listing.rule
    about = f"[bold]{plain(titled(rule.name, rule.text))}[/bold]"
    console.print(f"{about}: {counted(listing.count, 'violation')}{listing.accepted_words}", soft_wrap=True)
    if listing.pairs is None:
        console.print("only their number is stored; start the state with a higher --pair-limit to list them")
        return
    if not len(listing.pairs):  # a rule about a table, without rows worth a look
        console.print("the table itself is the violation: there are no rows to list")
        return
    if with_rows:
        for violation in listing.violations(first):
            console.print(_side_by_side(listing, violation))
    else:
        shown = listing.to_arrow(first)
        left_out = ["rule", *(["t_row", "s_row"] if _names_rows(listing) else [])]
        names = [name for name in shown.column_names if name not in left_out]
        rows = [[brief(None if v is None else str(v)) for v in row.values()] for row in shown.select(names).to_pylist()]
        console.print(text_table(names, rows))
    count = max(listing.count, len(listing.pairs))  # a table is one violation, with several rows to look at
    if count > first:
        console.print(f"… and {count - first:,} more; see {more}")


def _names_rows(listing: Listing) -> bool:
    """Whether a key names the rows that violate a rule: a suggested one doesn't where the rule is about its columns."""
    schema, said = listing.table.schema, [name for names in listing.looked_at.values() for name in names]
    return bool(naming_key(schema)) and not names_nothing_new(schema, said)


def _side_by_side(listing: Listing, violation: dict[str, Any]) -> Table:
    looked_at = listing.looked_at
    columns = [name for name in listing.table.schema.names if any(name in shown for shown in looked_at.values())]
    key = naming_key(listing.table.schema) if _names_rows(listing) else ()
    names = short_names(violation["rows"], [{name: violation[side][name] for name in key} for side in looked_at if key])
    table = Table(box=ROUNDED, header_style="bold")
    for name in ("row", *columns):
        table.add_column(plain(name), overflow="ellipsis", no_wrap=True)
    for side, row in zip(looked_at, names, strict=True):
        cells = [_cell(violation[side][name], marked=name in looked_at[side]) for name in columns]
        table.add_row(f"{side}: {plain(row)}", *cells)
    return table


def _cell(value: Any, marked: bool) -> str:
    text = plain(brief(None if value is None else str(value)))
    return f"[bold red]{text}[/bold red]" if marked else text


def print_explanation(explained: CurrentExplanation) -> None:
    """Why a rule holds or doesn't: its lines, and the table below them."""
    console = Terminal()
    for line in explained.lines():
        console.print(plain(line), soft_wrap=True)
    if table := explained.table():
        console.print(text_table(table.headings, table.rows, table.numbers, table.title))


# ---- suggestions -----------------------------------------------------------------------------------------------------


def print_suggestions(found: Suggestions, top: int = SHOWN) -> None:
    """The sections of suggestions, on one screen."""
    console = Terminal()
    for shape in shape_lines(found.shapes):
        console.print(f"[bold]{plain(shape)}[/bold]")
    for section in found.sections(top):
        note = "[dim]   score, rows to remove, breaks[/dim]" if section.lines[0].score is not None else ""
        console.print(f"[bold]{plain(section.heading)}[/bold]{note}")
        for line in section.lines:
            console.print(plain(cut(visible(str(line)), console.width)), soft_wrap=True)
        if section.more:
            console.print(f"  … and {section.more:,} more (--top shows more)")
    for last in found.last_lines():
        console.print(last)


def print_all(found: Suggestions) -> None:
    """Every rule that was ranked, with what it follows from."""
    from holdfast.ranking.expectation import said  # heavier than what a batch needs

    console = Terminal()
    rows = [
        (
            str(each.rank),
            f"{each.scored.score:.3f}",
            f"{each.scored.support:,}",
            f"{each.scored.to_remove:,}",
            said(each.expected_breaks),
            each.text,
            ", ".join(each.implied_by),
        )
        for each in found
    ]
    headings = ("rank", "score", "support", "to remove", "breaks", "rule", "follows from")
    console.print(text_table(headings, rows, headings[:5], f"{len(rows):,} rules"))
    for line in found.usual_lines():
        console.print(line)
