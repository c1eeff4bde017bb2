"""Violations in the terminal: two rows side by side, with the offending cells marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.box import ROUNDED
from rich.table import Table

from holdfast.denial.listing import DenialListing
from holdfast.report.tables import brief, text_table
from holdfast.report.terminal import Terminal, plain

if TYPE_CHECKING:
    from holdfast.listing import Listing


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
    if with_rows:
        for violation in listing.violations(first):
            console.print(_side_by_side(listing, violation))
    else:
        shown = listing.to_arrow(first)
        names = [name for name in shown.column_names if name != "rule"]
        rows = [[brief(None if v is None else str(v)) for v in row.values()] for row in shown.select(names).to_pylist()]
        console.print(text_table(names, rows))
    if listing.count > first:
        console.print(f"… and {listing.count - first:,} more; see --limit and --output")


def _side_by_side(listing: Listing, violation: dict[str, Any]) -> Table:
    looked_at = {side: listing.shown_columns(side) for side in listing.looked_at}
    key = [listing.table.schema.names[c] for c in listing.table.schema.key]
    columns = [name for name in listing.table.schema.names if any(name in shown for shown in looked_at.values())]
    table = Table(box=ROUNDED, header_style="bold")
    for name in ("row", *columns):
        table.add_column(plain(name), overflow="ellipsis", no_wrap=True)
    for side, row in zip(looked_at, violation["rows"], strict=True):
        cells = [_cell(violation[side][name], marked=name in looked_at[side] and name not in key) for name in columns]
        table.add_row(f"{side}: {row}", *cells)
    return table


def _cell(value: Any, marked: bool) -> str:
    text = plain(brief(None if value is None else str(value)))
    return f"[bold red]{text}[/bold red]" if marked else text


def explanation_json(listing: Listing, pair: Sequence[int]) -> dict[str, Any]:
    """The same as `print_explanation`, as an object."""
    assert isinstance(listing, DenialListing)
    chosen, reason = _reason(listing, pair)
    return {
        **listing.to_json(),
        **({"note": listing.rule.note} if listing.rule.note else {}),
        "holds": not listing.count,
        "rows": chosen,
        "reason": reason,
        "most_involved": [{"row": row, "violations": times} for row, times in listing.most_involved()],
    }


def _reason(listing: DenialListing, pair: Sequence[int]) -> tuple[list[int], str]:
    """The rows asked for, or the first that violate the rule, and why they do."""
    chosen = list(pair) or [int(row) for row in listing.listed[:1].ravel() if row >= 0]
    return chosen, listing.explain(*chosen) if chosen else "It holds: no rows violate it"


def print_explanation(listing: Listing, pair: Sequence[int]) -> None:
    """Why a pair violates a denial constraint, and which rows take part in the most violations."""
    assert isinstance(listing, DenialListing)
    console = Terminal()
    rule = listing.rule
    reason = _reason(listing, pair)[1]
    console.print(f"[bold]{plain(rule.name)}[/bold]: {plain(rule.text)}", soft_wrap=True)
    if rule.note:
        console.print("\n".join(map(plain, rule.note.splitlines())), soft_wrap=True)
    console.print(plain(reason) + ".", soft_wrap=True)
    rows = [(str(row), f"{times:,}", f"{times / listing.count:.1%}") for row, times in listing.most_involved()]
    if rows:
        headings = ("row", "violations", "of all")
        console.print(text_table(headings, rows, headings, "What to fix first"))
