"""Likely rules about one row, exact and nearly exact, each with the breaks to expect by chance.

What is looked at: whether a column has a value in every row (`not null`), one value or few of them, numbers within
limits, texts of one format, columns that compare, and equations. Rules about one column follow from its distinct values
and how often these occur. Rules about several are refuted by some rows, and the others evaluated in all rows, as they
are when they are watched.

Each thing is said once: a constant is a set and has a format; a set of texts has a format; an equation compares its
columns. A set of numbers has limits, too, which are wider: breaking a set is news, breaking limits may be an error.

A score says how much a rule says, less the fewer rows show it: an equation says more than that a column has values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa

from holdfast.borders.rows import CodedColumns
from holdfast.engines import chance
from holdfast.engines.row.evaluate import violators_in
from holdfast.engines.row.likely_equations import LikelyEquation, compared_by, equal_texts, equations
from holdfast.engines.row.likely_formats import formats
from holdfast.engines.row.likely_pairs import LikelyComparison, comparisons, without_followers
from holdfast.engines.row.likely_ranges import Growth, ranges
from holdfast.engines.row.seen import SeenColumn
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import ROWS_TO_REMOVE
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.progress import Progress
from holdfast.rules.check import Checker
from holdfast.rules.conditions import Comparison, Condition, IsNull, OneOf, of_t
from holdfast.rules.constants import Constant
from holdfast.rules.error_measures import g3
from holdfast.rules.row import RowRule
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.frequencies import Frequencies
from holdfast.table.rows import Ids
from holdfast.table.runner import Runner

FEWEST = 20  # rows: fewer show nothing
FEW_VALUES, FEW_NUMBERS = 20, 5  # a set has at most 20 texts, or 5 numbers
_OFTEN = 5  # times that each value of a set occurs at least
_NEARLY_FILLED = 0.01  # nulls that are exceptions
_ROWS = 5.0  # rows that test a rule: with this many, its score is half of what it is worth
# What kinds of rules are worth
_EQUATION, _COMPARISON, _FORMAT, _RANGE, _FILLED, _SET, _CONSTANT = 1.0, 0.95, 0.9, 0.75, 0.7, 0.68, 0.66
Seen = TypeVar("Seen", LikelyEquation, LikelyComparison)


@dataclass(frozen=True)
class _Proposal:
    """A condition with what speaks for it. `rows` break it; None: nobody has looked yet."""

    condition: Condition
    worth: float
    support: int
    chance: float
    sentence: str
    broken: int = 0
    alarms: bool = True  # breaking it may be an error


def likely(subject: WatchedTable, wanted: Wanted, runner: Runner, progress: Progress) -> list[Scored]:
    """The rules with the highest scores."""
    table = subject.table
    if table.rows < FEWEST:
        return []
    search = _Search(subject, runner, progress)
    scored = [search.scored(each) for each in search.proposals()]
    return sorted(scored, key=lambda each: (-each.score, each.text))[: wanted.top]


class _Search:
    """The rules about one row of a table."""

    def __init__(self, subject: WatchedTable, runner: Runner, progress: Progress) -> None:
        self._table, self._runner = subject.table, runner
        counts = subject.part(Frequencies, runner, progress).columns
        cells = subject.part(CodedColumns).cells  # which likely keys and dependencies look at, too
        self._columns = [
            SeenColumn(self._table, place, own.array[: len(dictionary)].astype(np.int64), cells[place])
            for place, (own, dictionary) in enumerate(zip(counts, self._table.dictionaries, strict=True))
        ]
        self._checker = Checker.of(self._table.schema)
        self._broken: dict[Condition, Ids] = {}

    def proposals(self) -> Iterator[_Proposal]:
        """All that is likely."""
        growth = Growth(self._columns, self._table.rows)
        for column in self._columns:
            yield from self._of_column(column, growth)
        yield from self._of_several()

    def scored(self, each: _Proposal) -> Scored:
        """A proposal as a rule, with the first rows that break it."""
        table = self._table.schema.name
        rule = RowRule(self._checker.condition(each.condition), table=table)
        gone = self._violators([each.condition])[0] if each.broken else np.empty(0, np.int64)
        score = each.worth * each.support / (each.support + _ROWS)
        return Scored(
            rule, table, score, each.support, each.sentence, len(gone), g3(len(gone), self._table.rows),
            tuple(gone[:ROWS_TO_REMOVE].tolist()), sure=each.alarms, chance=each.chance,
        )  # fmt: skip

    # ---- one column -------------------------------------------------------------------------------------------------

    def _of_column(self, column: SeenColumn, growth: Growth) -> Iterator[_Proposal]:
        rows = self._table.rows
        if column.nulls <= _NEARLY_FILLED * rows and column.place not in self._table.schema.key:  # which takes no nulls
            yield self._filled(column)
        if column.filled < FEWEST:
            return
        if column.distinct == 1 and _has_constants(column):
            yield self._constant(column)
        elif _is_set(column):
            yield self._set(column)
        else:
            for shape in formats(column):
                yield _Proposal(shape.condition, _FORMAT, column.distinct, shape.chance, shape.sentence, shape.broken)
        if (column.is_number or column.is_time) and column.distinct > 2:
            for each in ranges(column, growth):
                yield _Proposal(each.condition, _RANGE, column.filled, each.chance, each.sentence)

    def _filled(self, column: SeenColumn) -> _Proposal:
        rows, nulls = self._table.rows, column.nulls
        if nulls:
            estimate, sentence = chance.of_exceptions(nulls, rows, 1.0), f"{nulls:,} of {rows:,} rows have no value"
        else:
            estimate = chance.of_filled([each.nulls for each in self._columns], rows)
            sentence = f"all {rows:,} rows have a value"
        return _Proposal(IsNull(of_t(column.name), negated=True), _FILLED, rows, estimate, sentence, nulls)

    def _constant(self, column: SeenColumn) -> _Proposal:
        value = Constant(column.values[0].as_py())
        sentence = f"all {column.filled:,} values are equal"
        return _Proposal(
            Comparison(of_t(column.name), "=", value),
            _CONSTANT,
            column.filled,
            self._news(column),
            sentence,
            alarms=False,
        )

    def _set(self, column: SeenColumn) -> _Proposal:
        values = tuple(Constant(value) for value in sorted(column.values.to_pylist()))
        least = int(column.counts[column.occurring].min())
        sentence = f"{column.filled:,} rows have {column.distinct:,} values, each at least {least:,} times"
        return _Proposal(
            OneOf(of_t(column.name), values=values), _SET, column.filled, self._news(column), sentence, alarms=False
        )

    def _news(self, column: SeenColumn) -> float:
        """The new values to expect in a row."""
        return chance.of_new_values(column.distinct, column.single, column.filled) * column.filled / self._table.rows

    # ---- several columns --------------------------------------------------------------------------------------------

    def _of_several(self) -> Iterator[_Proposal]:
        rows = self._table.rows
        equal = self._kept([*equations(self._columns, rows), *equal_texts(self._columns, rows)])
        for equation in equal:
            yield self._equation(equation)
        said = compared_by([each for each in equal if not len(self._broken[each.condition])])
        found = [
            each
            for each in comparisons(self._columns, rows)
            if frozenset([each.low.place, each.high.place]) not in said
        ]
        compared = self._kept(found)
        exact = np.array([not len(self._broken[each.condition]) for each in compared], np.bool_)
        for place in without_followers(compared, exact):
            yield self._comparison(compared[place])

    def _kept(self, found: Sequence[Seen]) -> list[Seen]:
        """Those that all rows keep, or nearly all, and that rules can say."""
        said = [each for each in found if self._can_be_said(each.condition)]
        broken = self._violators([each.condition for each in said])
        self._broken |= {each.condition: own for each, own in zip(said, broken, strict=True)}
        return [each for each, own in zip(said, broken, strict=True) if len(own) <= _NEARLY_FILLED * self._table.rows]

    def _can_be_said(self, condition: Condition) -> bool:
        try:
            self._checker.condition(condition)
        except BadInput:  # numbers of too many digits
            return False
        return True

    def _violators(self, conditions: Sequence[Condition]) -> list[Ids]:
        missing = [each for each in dict.fromkeys(conditions) if each not in self._broken]
        checked = [self._checker.condition(each) for each in missing]
        self._broken |= zip(missing, violators_in(checked, self._table, self._runner), strict=True)
        return [self._broken[each] for each in conditions]

    def _equation(self, each: LikelyEquation) -> _Proposal:
        return self._of_pair(each.condition, _EQUATION, [each.left, *each.parts], None, "the sides are equal")

    def _comparison(self, each: LikelyComparison) -> _Proposal:
        said = f"by chance {each.by_chance:.0%} of them would break it"
        columns = [each.low, each.high]
        if len(self._broken[each.condition]):
            return self._of_pair(each.condition, _COMPARISON, columns, None, said)
        margin = each.margin(self._table.rows)
        return self._of_pair(each.condition, _COMPARISON, columns, margin.chance, said, alarms=margin.is_firm)

    def _of_pair(
        self,
        condition: Condition,
        worth: float,
        columns: Sequence[SeenColumn],
        margin: float | None,
        said: str,
        *,
        alarms: bool = True,
    ) -> _Proposal:
        rows, broken = self._table.rows, len(self._broken[condition])
        null = np.logical_or.reduce([column.codes == NULL_CODE for column in columns])
        tests = rows - int(np.count_nonzero(null))
        if broken:
            estimate, kept = (
                chance.of_exceptions(broken, tests, tests / rows),
                f"{tests - broken:,} of {tests:,} rows keep it",
            )
        else:
            estimate, kept = (
                chance.of_law(tests, tests / rows, chance.OF_ROWS),
                f"all {tests:,} rows with values keep it",
            )
        expected = estimate if margin is None else margin
        return _Proposal(condition, worth, tests, expected, f"{kept}; {said}", broken, alarms)


def _has_constants(column: SeenColumn) -> bool:
    """Whether rules can name its values."""
    return column.is_finite if column.is_number or column.is_time else not pa.types.is_duration(column.type)


def _is_set(column: SeenColumn) -> bool:
    """Whether the values of a column are few, and each occurs often."""
    if not (column.is_text or column.is_number) or not _has_constants(column):
        return False
    most = FEW_VALUES if column.is_text else FEW_NUMBERS
    return column.distinct <= most and bool(column.counts[column.occurring].min() >= _OFTEN)
