"""Violations in the terminal: two rows side by side, with the offending cells marked."""

from __future__ import annotations

from typing import Any

from rich.box import ROUNDED
from rich.table import Table

from holdfast.changes.naming import by_key, by_number
from holdfast.engines.contract import Explanation
from holdfast.engines.listing import Listing
from holdfast.report.tables import text_table
from holdfast.report.terminal import Terminal, plain
from holdfast.visible import brief


def print_listing(listing: Listing, first: int, with_rows: bool) -> None:
    """The first violations of a rule, as a table of ids and values or as pairs of rows."""
    console = Terminal()
    rule = listing.rule
    console.print(f"[bold]{plain(rule.name)}[/bold]: {listing.count:,} violations of {plain(rule.text)}")
    if not listing.count:
        return
    if listing.pairs is None:
        console.print("only their number is kept; start the state with a higher --pair-limit to list them")
        return
    if not len(listing.pairs):  # of a rule about a table that no rows stand for
        console.print("the table itself is the violation: there are no rows to list")
        return
    if with_rows:
        for violation in listing.violations(first):
            console.print(_side_by_side(listing, violation))
    else:
        shown = listing.to_arrow(first)
        left_out = ["rule", *(["t_row", "s_row"] if listing.table.schema.key else [])]
        names = [name for name in shown.column_names if name not in left_out]
        rows = [[brief(None if v is None else str(v)) for v in row.values()] for row in shown.select(names).to_pylist()]
        console.print(text_table(names, rows))
    count = max(listing.count, len(listing.pairs))  # of a table that is a violation there are rows to look at
    if count > first:
        console.print(f"… and {count - first:,} more; see --limit and --output")


def _side_by_side(listing: Listing, violation: dict[str, Any]) -> Table:
    looked_at = listing.looked_at
    columns = [name for name in listing.table.schema.names if any(name in shown for shown in looked_at.values())]
    keys = [by_key(key) for key in violation.get("keys", ())]
    names = keys or [by_number(row) for row in violation["rows"]]
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


def print_explanation(explained: Explanation) -> None:
    """Why a rule holds or doesn't: its lines, and the table below them."""
    console = Terminal()
    for line in explained.lines():
        console.print(plain(line), soft_wrap=True)
    if table := explained.table():
        console.print(text_table(table.headings, table.rows, table.numbers, table.title))
