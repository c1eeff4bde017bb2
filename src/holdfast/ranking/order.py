"""The one place that ranks: likely rules of all classes and tables, the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress

from holdfast.engines.scored import Scored
from holdfast.engines.thresholds import BESIDE, NEARLY, least
from holdfast.ranking.once import Once, said_once
from holdfast.ranking.suggestion import Same, Suggestion
from holdfast.rules.dependency import FD, Key
from holdfast.table.table import Schema

Shapes = Mapping[str, tuple[Schema, int]]


def ranked(found: Sequence[Scored], shapes: Shapes) -> tuple[tuple[Suggestion, ...], tuple[Same, ...]]:
    """All rules in one order, each with what it follows from; and the columns that are the same."""
    order = sorted(found, key=_place)
    keys = {each.table: each.score for each in reversed(order) if isinstance(each.rule, Key)}  # the best of each table
    likely = [_is_likely(each, keys.get(each.table, 0.0)) for each in order]
    by_table: dict[str, list[Scored]] = {table: [] for table in shapes}
    for each in compress(order, likely):
        by_table[each.table].append(each)
    once = {table: said_once(by_table[table], rows, schema.names) for table, (schema, rows) in shapes.items()}
    suggestions = [
        Suggestion(each, rank, _group(each, once[each.table]), told, _implied_by(each, once[each.table]))
        for rank, (each, told) in enumerate(zip(order, likely, strict=True), 1)
    ]
    same = [Same(table, columns) for table, each in once.items() for columns in each.same]
    return tuple(suggestions), tuple(same)


def _is_likely(scored: Scored, best_key: float) -> bool:
    """Whether a rule is told: it has a high score, and not too many rows are in its way."""
    needed = least(len(scored.columns))
    if isinstance(scored.rule, Key):
        needed = max(needed, BESIDE * best_key)
    return scored.score >= needed and scored.g3 <= NEARLY


def _place(scored: Scored) -> tuple[float, int, int]:
    """The best first; of equally good ones the short ones, and those with more rows that could have broken them."""
    return -round(scored.score, 9), len(scored.columns), -scored.support


def _group(scored: Scored, once: Once) -> str:
    """What a rule is told with: FDs with others of their left side, other rules with those of their class."""
    if not isinstance(scored.rule, FD):
        return scored.rule.kind
    return ", ".join(dict.fromkeys(map(once.standing_for, scored.columns)))


def _implied_by(scored: Scored, once: Once) -> tuple[str, ...]:
    """What an FD or a key follows from; texts of other classes look like theirs and are none."""
    return once.implied_by.get(scored.text, ()) if isinstance(scored.rule, FD | Key) else ()
