"""Rows that look wrong: they have a value that contradicts likely rules which nearly all other rows keep.

One rule may have real exceptions. So it takes two rules with different left sides (columns that determine each other
count as one), or one that hardly any row breaks; and nearly all rows with the same left side must agree. A column that
a likely rule determines without exception is trusted. Values that contradict more rules come first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.registry import given_class, make_engine
from holdfast.engines.thresholds import ALONE, SURE, UNSURE
from holdfast.engines.watched import WatchedTable
from holdfast.ranking.suggestion import Doubt, Suggestion
from holdfast.rules.dependency import FD
from holdfast.rules.given import GivenRule, TableRules
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.row_names import names_of, some_values
from holdfast.table.runner import Runner
from holdfast.table.table import Table

_RULES = 40  # the best rules are checked, at most this many,
_ROWS = 3_000_000  # and fewer in large tables, so that at most this many rows are grouped

Ids = NDArray[np.int64]
_Cell = tuple[int, str]  # a row and a column
_Contradicted = tuple[Suggestion, int]  # a rule, and a row that has the usual value


def doubts(
    suggestions: Iterable[Suggestion], tables: Mapping[str, WatchedTable], runner: Runner, most: int = 5
) -> tuple[Doubt, ...]:
    """The values that look wrong, at most `most` in each table."""
    # With several columns on the left, one too many leaves a row alone in its group.
    fds = [each for each in suggestions if each.is_likely and isinstance(each.scored.rule, FD)]
    simple = [each for each in fds if len(each.scored.columns) == 1]
    trusted = {(each.table, each.right) for each in simple if not each.scored.to_remove}
    broken = [each for each in simple if 0 < each.scored.g3 <= UNSURE]
    near = [each for each in broken if (each.table, each.right) not in trusted]
    found: list[Doubt] = []
    for name, watched in tables.items():
        budget = min(_RULES, _ROWS // max(watched.table.rows, 1))
        rules = list(islice((each for each in near if each.table == name), budget))
        cells = _contradicted(rules, watched, runner) if rules else {}
        weights = {cell: _weight(against) for cell, against in cells.items()}
        first = sorted((cell for cell in cells if weights[cell] >= 1.0), key=lambda cell: (-weights[cell], cell))
        found += [_doubt(watched.table, *cell, cells[cell]) for cell in first[:most]]
    return tuple(found)


def _contradicted(
    rules: Sequence[Suggestion], watched: WatchedTable, runner: Runner
) -> dict[_Cell, list[_Contradicted]]:
    """The values that break rules."""
    by_name = {f"rule {each.rank}": each for each in rules}
    declared = given_class(rules[0].scored.as_given)
    assert declared is not None, "an FD can be given"
    table = watched.table.schema.name
    given = TableRules(tuple(GivenRule(name, table, each.scored.as_given) for name, each in by_name.items()))
    engine = make_engine(declared.name, {}, {table: given})
    cells = defaultdict(list)
    for listing in engine.listings(engine.discover(watched, runner), watched):
        rule = by_name[listing.rule.name]
        pairs = listing.listed
        alone = _are_alone(watched.table, rule.scored.columns[0], rule.right, pairs[:, 0])
        for row, other in pairs[alone].tolist():
            cells[row, rule.right].append((rule, other))
    return cells


def _are_alone(table: Table, left: str, right: str, rows: Ids) -> NDArray[np.bool_]:
    """Which of some rows have a value on the right that few rows with the same left side have."""
    own, values = (table.column_codes(table.schema.names.index(name)).astype(np.int64) for name in (left, right))
    places = np.searchsorted(table.living_ids(), rows)
    cells = own * (int(values.max()) + 1) + values
    found, counts = np.unique(cells[np.isin(own, own[places])], return_counts=True)
    same: Ids = counts[np.searchsorted(found, cells[places])]
    alone: NDArray[np.bool_] = (same <= ALONE * np.bincount(own)[own[places]]) & (own[places] != NULL_CODE)
    return alone


def _weight(against: Sequence[_Contradicted]) -> float:
    """How strongly rules contradict a value: of rules with equivalent left sides only the surest counts."""
    groups: dict[str, float] = defaultdict(float)
    for rule, _ in against:
        groups[rule.group] = max(groups[rule.group], 1.0 if rule.scored.g3 <= SURE else 0.5)
    return sum(groups.values())


def _doubt(table: Table, row: int, column: str, against: Sequence[_Contradicted]) -> Doubt:
    best, other = min(against, key=lambda each: each[0].rank)
    mine, usual = (values[column] for values in some_values(table, np.array([row, other]), [column]))
    named = names_of(table, np.array([row]), [column, *best.scored.columns])[0]
    rules = sorted((rule for rule, _ in against), key=lambda rule: rule.rank)
    return Doubt(table.schema.name, row, named, column, mine, usual, tuple(rule.text for rule in rules))
