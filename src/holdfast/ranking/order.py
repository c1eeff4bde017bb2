"""The one place that ranks: likely rules of all classes and tables, the best first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from holdfast.engines.scored import Scored
from holdfast.ranking.once import Once, said_once
from holdfast.ranking.suggestion import Same, Suggestion
from holdfast.table.table import Schema

Shapes = Mapping[str, tuple[Schema, int]]


def ranked(found: Sequence[Scored], shapes: Shapes) -> tuple[tuple[Suggestion, ...], tuple[Same, ...]]:
    """All rules in one order, each with what it follows from; and the columns that are the same."""
    order = sorted(found, key=_place)
    by_table = defaultdict(list)
    for scored in order:
        by_table[scored.table].append(scored)
    once = {table: said_once(by_table[table], rows, schema.names) for table, (schema, rows) in shapes.items()}
    suggestions = [
        Suggestion(scored, rank, _group(scored, once[scored.table]), _implied_by(scored, once[scored.table]))
        for rank, scored in enumerate(order, 1)
    ]
    same = [Same(table, columns) for table, each in once.items() for columns in each.same]
    return tuple(suggestions), tuple(same)


def _place(scored: Scored) -> tuple[float, int, int]:
    """The best first; of equally good ones the short ones, and those with more rows that could have broken them."""
    return -round(scored.score, 9), len(scored.columns), -scored.support


def _group(scored: Scored, once: Once) -> str:
    """What a rule is told with: FDs with others of their left side, other rules with those of their class."""
    if scored.rule.kind != "fd":
        return scored.rule.kind
    return ", ".join(dict.fromkeys(map(once.standing_for, scored.columns)))


def _implied_by(scored: Scored, once: Once) -> tuple[str, ...]:
    return once.implied_by.get(scored.text, ()) if scored.rule.kind == "fd" else ()
