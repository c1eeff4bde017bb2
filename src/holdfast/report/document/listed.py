"""A page of violations, cut from all of them: only its rows are read from the files of their table."""

from __future__ import annotations

from typing import Any

from holdfast.changes.diff import NOBODY
from holdfast.engines.listing import Listing
from holdfast.engines.watched import WatchedTable
from holdfast.report.document.details import Details
from holdfast.report.document.seen import Rows, Told
from holdfast.report.document.shown import Shown


def violations_page(listing: Listing, first: int, count: int) -> dict[str, Any]:
    """So many violations from the one of a number on, each as rows side by side with the reason in words."""
    about = {"rule": listing.rule.name, "total": listing.count, "from": first, "listed": listing.pairs is not None}
    if listing.pairs is None:
        return {**about, "violations": []}
    table = listing.rule.table
    pairs = [tuple(row for row in pair if row != NOBODY) for pair in listing.pairs[first : first + count].tolist()]
    rows = Rows({table: WatchedTable(listing.table)}, {table: {row for pair in pairs for row in pair}})
    details = Details({table: listing.table.schema}, rows, Shown(), last=0, live=True)
    return {**about, "violations": [details.pair(table, listing.rule.rule, Told(0, pair)) for pair in pairs]}
