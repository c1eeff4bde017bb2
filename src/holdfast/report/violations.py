"""Violations in the terminal: two rows side by side, with the offending cells marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.box import ROUNDED
from rich.table import Table

from holdfast.changes.naming import by_key, by_number
from holdfast.engines.denial.listing import DenialListing
from holdfast.report.tables import brief, text_table
from holdfast.report.terminal import Terminal, plain
from holdfast.table.naming import keys_of

if TYPE_CHECKING:
    from holdfast.engines.listing import Listing


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
        left_out = ["rule", *(["t_row", "s_row"] if listing.table.schema.key else [])]
        names = [name for name in shown.column_names if name not in left_out]
        rows = [[brief(None if v is None else str(v)) for v in row.values()] for row in shown.select(names).to_pylist()]
        console.print(text_table(names, rows))
    if listing.count > first:
        console.print(f"… and {listing.count - first:,} more; see --limit and --output")


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


def explanation_json(listing: Listing, pair: Sequence[int]) -> dict[str, Any]:
    """The same as `print_explanation`, as an object."""
    assert isinstance(listing, DenialListing)
    chosen, reason = _reason(listing, pair)
    return {
        **listing.to_json(),
        **({"note": listing.rule.note} if listing.rule.note else {}),
        "holds": not listing.count,
        "rows": chosen,
        **_keys(listing, chosen),
        "reason": reason,
        "most_involved": [
            {"row": row, **_keys(listing, [row]), "violations": times} for row, times in listing.most_involved()
        ],
    }


def _keys(listing: Listing, rows: Sequence[int]) -> dict[str, Any]:
    """The keys of some rows, where one is declared."""
    keys = keys_of(listing.table, np.array(rows, np.int64))
    return {"keys": list(keys)} if keys else {}


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
    involved = listing.most_involved()
    if involved:
        names = listing.names(np.array([row for row, _ in involved]))
        counts = [(f"{times:,}", f"{times / listing.count:.1%}") for _, times in involved]
        rows = [(*count, name) for count, name in zip(counts, names, strict=True)]
        headings = ("violations", "of all", "row")
        console.print(text_table(headings, rows, headings[:2], "What to fix first"))
