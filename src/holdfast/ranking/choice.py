"""The best suggestions of each table: what is left out must follow from what is taken.

A list leaves out rules that follow from better known ones. Cut such a list, and it may lose the rules that others were
left out for: `customer -> currency` follows from `customer -> country` and `country -> currency`; if the last is cut,
nothing speaks of the currency any more. So a rule that ranks above the first one cut, and does not follow from those
taken, is taken as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.engines.thresholds import ROW_RULES
from holdfast.ranking.order import AS_GOOD, LikelyFD, derivation
from holdfast.ranking.suggestion import Suggestion
from holdfast.rules.dependency import FD, Key


def best_of_each(suggestions: Sequence[Suggestion], top: int) -> tuple[Suggestion, ...]:
    """The best `top` listed rules of each table, with those that only follow from rules behind them; and those about
    one row, which count by themselves; by rank.
    """
    chosen: list[Suggestion] = []
    for table in dict.fromkeys(each.table for each in suggestions):
        own = [each for each in suggestions if each.table == table]
        chosen += _best([each for each in own if not each.is_of_rows], top)
        of_rows = [each for each in own if each.is_of_rows and each.is_listed]
        chosen += sorted(of_rows, key=lambda each: each.severity != "error")[: ROW_RULES * top]
    return tuple(sorted(chosen, key=lambda each: each.rank))


def _best(suggestions: Sequence[Suggestion], top: int) -> list[Suggestion]:
    """The best of one table; these come with the best first."""
    listed = [each for each in suggestions if each.is_listed]
    taken, cut = listed[:top], listed[top:]
    if not cut:
        return taken
    left_out = [each for each in suggestions if each.is_likely and each.implied_by and each.rank < cut[0].rank]
    for each in left_out:
        if not _follows(each, taken):
            taken.append(each)
    return taken


def _follows(each: Suggestion, taken: Sequence[Suggestion]) -> bool:
    """Whether a dependency or a key follows from others that are as good."""
    as_good = [other for other in taken if other.scored.to_remove <= AS_GOOD * each.scored.to_remove]
    keys = [frozenset(other.scored.columns) for other in as_good if isinstance(other.scored.rule, Key)]
    rules = [
        LikelyFD(other.scored, frozenset(other.scored.columns), other.right)
        for other in as_good
        if isinstance(other.scored.rule, FD)
    ]
    lhs = frozenset(each.scored.columns)
    determines_key = any(all(derivation(lhs, column, rules) is not None for column in key) for key in keys)
    return determines_key or (isinstance(each.scored.rule, FD) and derivation(lhs, each.right, rules) is not None)
