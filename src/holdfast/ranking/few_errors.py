"""Rules that only a few wrong cells break: as good as exact, once these are accepted.

Hardly any table is without a wrong cell. If one is in the way of `sku -> vat_rate`, the rule is nearly exact, and the
next wrong cell is as bad as it would be without the first. But a rule may also have exceptions that are right:
customers move, and then their orders have another country. So two things are asked of each exception. It is rare: fewer
than one in 1,000 of the rows that test the rule. And the rows with the same left side say the usual value before it and
after it. Where something has changed for good, one of the two values comes first, and the other one last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from holdfast.engines.given.finder import TableFinder
from holdfast.engines.thresholds import ALARMING, ENOUGH
from holdfast.engines.watched import WatchedTable
from holdfast.ranking.suggestion import Suggestion
from holdfast.rules.dependency import FD, columns_of
from holdfast.table.table import Table


def broken_by_errors(suggestions: Iterable[Suggestion], tables: Mapping[str, WatchedTable]) -> list[Suggestion]:
    """The dependencies that only a few wrong cells break."""
    return [each for each in suggestions if _is_nearly_exact(each) and _are_errors(each, tables[each.table].table)]


def _is_nearly_exact(each: Suggestion) -> bool:
    """Whether its exceptions are rare, all of them are known, and it would be an error without them."""
    scored = each.scored
    if not isinstance(scored.rule, FD) or not scored.columns or not each.is_sure or scored.score < ALARMING:
        return False
    return 0 < scored.to_remove * ENOUGH <= scored.support and len(scored.rows) == scored.to_remove


def _are_errors(each: Suggestion, table: Table) -> bool:
    """Whether rows with the usual value come before and after each exception, among those with the same left side."""
    rule = each.scored.rule
    assert isinstance(rule, FD)
    lhs, rhs = columns_of(rule, table.schema.names)
    assert rhs is not None
    wrong = np.array(each.scored.rows, np.int64)
    tuples, own = np.unique(table.codes(wrong, lhs), axis=1, return_inverse=True)
    parts = list(TableFinder(table).rows_with(lhs, tuples))
    ids, numbers = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    said = table.codes(ids, [rhs])[0]
    for row, number in zip(wrong.tolist(), own.ravel().tolist(), strict=True):
        alike = numbers == number
        values, counts = np.unique(said[alike], return_counts=True)
        usual = ids[alike][said[alike] == values[np.argmax(counts)]]
        if not usual.min() < row < usual.max():
            return False
    return True
