"""Likely orders of a table: pairs of columns of which one rises, or falls, with the other; exactly, or in all rows but
a few; in the whole table, or where it is not so there, among the rows that agree on one column more.

Numbers, dates and times are looked at. Texts have the order of code points, which is seldom meant. A sample of the rows
shows which pairs and contexts are worth a look at all rows. What is counted and the score: see `swap_counts`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.borders.rows import CodedColumns, RankedColumns
from holdfast.engines.order.swap_counts import MeasuredOrder, OrderCandidate
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import LEAST_OF_SEVERAL, NEARLY_ORDERED, ROWS_TO_REMOVE, least
from holdfast.engines.watched import WatchedTable
from holdfast.progress import Progress
from holdfast.rules.lists import ListOD, SortColumn
from holdfast.rules.order import Compatible
from holdfast.rules.promotion import denial_of
from holdfast.table.nulls import Nulls
from holdfast.table.runner import Runner
from holdfast.table.table import Table

_LEAST = 0.1  # what a rule must score in the sample to be looked at
_SAMPLE = 2000
_SLACK = 0.015  # a sample may be in worse order than the table, by chance
_GROUP = 10  # rows of the sample that agree on a context column, at least, on average
MOST_COLUMNS = 100  # with an order, that are looked at
_MOST_LOOKS = 6_000  # at pairs of columns in contexts: as many contexts are tried
_MOST_KEY = 1 << 62


@dataclass(frozen=True)
class Pair:
    """Columns by number: those of a pair, one of them downwards or not, and that of the context, if there is one."""

    a: int
    b: int
    descending: bool
    context: int | None = None

    @property
    def columns(self) -> list[int]:
        """All of them."""
        return [column for column in (self.a, self.b, self.context) if column is not None]


def likely(subject: WatchedTable, wanted: Wanted, runner: Runner, progress: Progress) -> Sequence[Scored]:  # noqa: ARG001
    """The pairs of columns that look most as if they were meant to be in order."""
    whole = RankedRows.of(subject.table, subject.part(CodedColumns))
    sample = whole
    if whole.count > _SAMPLE:
        sample = whole.some(np.sort(np.random.default_rng(0).choice(whole.count, _SAMPLE, replace=False)))
    found: dict[Pair, MeasuredOrder] = {}
    for number, pair in enumerate(worth := list(_worth_a_look(sample, wanted.max_lhs, progress))):
        progress.step(f"Finding orders: {number:,} of {len(worth):,} looked at in all rows")
        seen = whole.candidate(pair).measured(NEARLY_ORDERED)
        if seen is not None and _score(pair, seen) > (LEAST_OF_SEVERAL if pair.context is not None else 0.0):
            found[pair] = seen
    return [_scored(whole, pair, seen) for pair, seen in _best_of_each(found)[: wanted.top]]


def _score(pair: Pair, seen: MeasuredOrder) -> float:
    return seen.score(int(pair.context is not None))


@dataclass(frozen=True, eq=False)
class RankedRows:
    """All rows of a table, or some: columns as numbers that compare as their values do, where they have an order, and
    all columns as codes.
    """

    table: Table
    ranks: NDArray[np.uint32]
    codes: NDArray[np.uint32]

    @staticmethod
    def of(table: Table, codes: CodedColumns | None = None) -> RankedRows:
        """All rows. Codes may be given that were read before."""
        ranks = RankedColumns(table, _ordered(table)[:MOST_COLUMNS])
        return RankedRows(table, ranks.cells, (codes or CodedColumns(table)).cells)

    def some(self, chosen: NDArray[np.int64]) -> RankedRows:
        """Some of the rows."""
        return RankedRows(self.table, self.ranks[:, chosen], self.codes[:, chosen])

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.codes.shape[1])

    def valued(self, pair: Pair) -> NDArray[np.bool_] | slice:
        """The rows that could swap: where nulls are distinct, those without one."""
        if self.table.schema.nulls.are_equal:
            return slice(None)
        return np.asarray((self.codes[pair.columns] > 0).all(axis=0))

    def candidate(self, pair: Pair) -> OrderCandidate:
        """A pair of columns on these rows."""
        rows = self.valued(pair)
        a_room, b_room = (len(self.table.dictionaries[column]) for column in (pair.a, pair.b))
        a, b = (self.ranks[column][rows].astype(np.int64) for column in (pair.a, pair.b))
        keys = a * b_room + (b_room - 1 - b if pair.descending else b)
        if pair.context is not None:
            keys += self.codes[pair.context][rows].astype(np.int64) * (a_room * b_room)
        return OrderCandidate(keys, a_room, b_room, self.count)

    def rows_out(self, pair: Pair) -> NDArray[np.int64]:
        """The places of the rows that must go, of the fewest that must, ascending."""
        return np.arange(self.count)[self.valued(pair)][self.candidate(pair).rows_out()]


def _ordered(table: Table) -> list[int]:
    """The columns whose order means something."""
    types = (column.type for column in table.schema.columns)
    return [c for c, kept in enumerate(types) if not (pa.types.is_string(kept) or pa.types.is_boolean(kept))]


def _worth_a_look(sample: RankedRows, max_lhs: int, progress: Progress) -> Iterator[Pair]:
    """The pairs, and pairs in contexts, that a sample of the rows speaks for."""
    ordered, contexts = _looked_at(sample, max_lhs, progress)
    for a, b in itertools.combinations(ordered, 2):
        pairs = [Pair(a, b, descending) for descending in (False, True)]
        alone = [pair for pair in pairs if _speaks_for(sample, pair)]
        yield from alone
        for context in contexts if not alone else ():
            within = [Pair(a, b, pair.descending, context) for pair in pairs if context not in (a, b)]
            yield from (pair for pair in within if _fits(sample.table, pair) and _speaks_for(sample, pair))


def _looked_at(sample: RankedRows, max_lhs: int, progress: Progress) -> tuple[list[int], list[int]]:
    """The columns of pairs, and those of contexts; of a wide table the first, and then that is said."""
    ordered = _ordered(sample.table)
    chosen = ordered[:MOST_COLUMNS]
    contexts = [c for c, own in enumerate(sample.codes) if max_lhs > 1 and len(chosen) > 1 and _groups(own)]
    tried = contexts[: _MOST_LOOKS // max(1, len(chosen) * (len(chosen) - 1))]
    if len(chosen) < len(ordered) or len(tried) < len(contexts):
        progress.note(
            f"{sample.table.schema.name}: of {len(ordered):,} columns with an order the first {len(chosen):,} were "
            f"looked at for orders, within equals of {len(tried):,} of {len(contexts):,} others; holdfast discover "
            "--rules od looks at all"
        )
    return chosen, tried


def _fits(table: Table, pair: Pair) -> bool:
    """Whether a row fits into a number, see `swap_counts`."""
    return prod(len(table.dictionaries[column]) for column in pair.columns) < _MOST_KEY


def _groups(codes: NDArray[np.uint32]) -> bool:
    return 1 < len(np.unique(codes)) <= len(codes) / _GROUP


def _speaks_for(sample: RankedRows, pair: Pair) -> bool:
    seen = sample.candidate(pair).measured(NEARLY_ORDERED + _SLACK)
    return seen is not None and _score(pair, seen) >= _LEAST


def _best_of_each(found: dict[Pair, MeasuredOrder]) -> list[tuple[Pair, MeasuredOrder]]:
    """Of each pair of columns the best direction and context, the best pairs first."""
    order = sorted(found.items(), key=lambda each: -_score(*each))
    best: dict[tuple[int, int], tuple[Pair, MeasuredOrder]] = {}
    for pair, seen in order:
        best.setdefault((pair.a, pair.b), (pair, seen))
    return list(best.values())


def _scored(whole: RankedRows, pair: Pair, seen: MeasuredOrder) -> Scored:
    schema, score = whole.table.schema, _score(pair, seen)
    names = schema.names
    context = () if pair.context is None else (names[pair.context],)
    columns = (names[pair.a], names[pair.b])
    rule = Compatible(schema.name, context, columns, "desc" if pair.descending else "asc", error=seen.g3)
    rows: list[int] = []
    if seen.to_remove and score >= least(1 + len(context)):
        rows = whole.table.living_ids()[whole.rows_out(pair)[:ROWS_TO_REMOVE]].tolist()
    given = as_given(rule, seen, schema.nulls)
    return Scored(
        rule, schema.name, score, seen.support, _sentence(rule, seen), seen.to_remove, seen.g3, tuple(rows), given,
        sure=False,  # one row out of place, or one that comes late, makes many others break it
    )  # fmt: skip


def as_given(rule: Compatible, seen: MeasuredOrder, nulls: Nulls) -> str:
    """The rule as a rule file takes it; what violates it there are the pairs of rows that swap."""
    denial = denial_of(rule) if nulls.are_distinct else None  # lists have no place for nulls that equal nothing
    return denial.text if denial else _lists(rule, seen)


def _lists(rule: Compatible, seen: MeasuredOrder) -> str:
    """The rule as lists of columns: sorted by the one is sorted by the other; or, where equals of either would be split
    by the other, sorted by both is sorted by the second.
    """
    context = tuple(SortColumn(name) for name in rule.context)
    (one, other), down = rule.pair, rule.direction == "desc"
    if seen.determines or not seen.determined:
        a, b = SortColumn(one), SortColumn(other, down)
    else:
        a, b = SortColumn(other), SortColumn(one, down)
    by = (a,) if seen.determines or seen.determined else (a, b)
    return ListOD((*context, *by), (*context, b)).text


def _sentence(rule: Compatible, seen: MeasuredOrder) -> str:
    within = f" with the same {rule.context[0]}" if rule.context else ""
    pairs = f"{seen.coverage:.0%} of the pairs of rows{within} could have been, and by chance half of these would"
    out = f"{seen.to_remove:,} of" if seen.to_remove else "none of"
    return f"{out} {seen.support:,} rows {'are' if seen.to_remove > 1 else 'is'} out of order; {pairs}"
