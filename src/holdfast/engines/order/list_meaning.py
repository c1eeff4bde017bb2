"""What list order dependencies say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.engines.meaning import Breach, Comparison, Meaning, alike, compared
from holdfast.engines.order.list_model import SortList, sort_text
from holdfast.engines.order.list_parse import parse


def meaning(text: str) -> Meaning:
    """Two rows break it that the second list puts in the opposite order (a swap), or in one where the first has none (a
    split).
    """
    rule = parse(text)
    same = alike([column.name for column in rule.by])
    splits = [_breach(same, after, faults) for after, faults in _ordered(rule.then, ">")]
    swaps = [
        _breach(before, after, (*some, *faults))
        for before, some in _ordered(rule.by, "<")
        for after, faults in _ordered(rule.then, ">")
    ]
    by = f"sorted by {sort_text(rule.by)}" if rule.by else "in any order"
    return Meaning(
        f"Rows {by} are sorted by {sort_text(rule.then)}, too.",
        tuple(rule.columns),
        tuple(each for each in (*splits, *swaps) if _is_possible(each)),
    )


def _breach(one: Sequence[Comparison], other: Sequence[Comparison], faults: Sequence[str]) -> Breach:
    return Breach(tuple(dict.fromkeys([*one, *other])), tuple(dict.fromkeys(faults)))


def _is_possible(breach: Breach) -> bool:
    """Whether no column, which may stand in both lists, would have to compare in two ways."""
    return len({each.left.column for each in breach.comparisons}) == len(breach.comparisons)


def _ordered(columns: SortList, sign: str) -> Iterator[tuple[tuple[Comparison, ...], tuple[str, ...]]]:
    """The ways in which one row comes before (<) or after (>) another: equal up to a column that decides."""
    for place, column in enumerate(columns):
        up = (sign == "<") != column.descending
        same = alike([each.name for each in columns[:place]])
        yield (*same, compared(column.name, "<" if up else ">")), (column.name,)
