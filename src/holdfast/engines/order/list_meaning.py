"""What list order dependencies say."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.engines.meaning import Breach, Comparison, Meaning, alike, compared
from holdfast.engines.order.list_model import SortList, sort_text
from holdfast.engines.order.list_parse import parse


def meaning(text: str) -> Meaning:
    """Two rows break it that the second list puts in the opposite order (a swap), or in one where the first has none (a
    split).
    """
    rule = parse(text)
    splits = [Breach((*alike([c.name for c in rule.by]), *after), faults) for after, faults in _ordered(rule.then, ">")]
    swaps = [
        Breach((*before, *after), (*some, *faults))
        for before, some in _ordered(rule.by, "<")
        for after, faults in _ordered(rule.then, ">")
    ]
    by = f"sorted by {sort_text(rule.by)}" if rule.by else "in any order"
    return Meaning(f"Rows {by} are sorted by {sort_text(rule.then)}, too.", tuple(rule.columns), (*splits, *swaps))


def _ordered(columns: SortList, sign: str) -> Iterator[tuple[tuple[Comparison, ...], tuple[str, ...]]]:
    """The ways in which one row comes before (<) or after (>) another: equal up to a column that decides."""
    for place, column in enumerate(columns):
        up = (sign == "<") != column.descending
        same = alike([each.name for each in columns[:place]])
        yield (*same, compared(column.name, "<" if up else ">")), (column.name,)
