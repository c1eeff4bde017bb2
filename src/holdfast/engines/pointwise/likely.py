"""Likely pointwise rules: two columns that together decide whether a third rises or falls, such as `{Salary<=,
Exemption>=} -> Rate<=`, and that no two rows break.

What one column alone says of another is an order, within equals of others too, and equality alone is a functional
dependency: those are suggested by their own classes, and left out here. So what is looked at are three columns with an
inequality each, numbers, dates and times. All pairs of a sample of rows show which conjunctions of three inequalities
no pair meets; the best of them are proved on all rows.

**The score** compares with chance. If one of the three were independent of the others, as many pairs would meet all
three as meet the other two, times the share that meet the one; the least of these three numbers counts, so that two
columns that nearly order each other already leave nothing to explain. Few values cost, and so does the second column on
the left. Where nulls are distinct, columns with nulls are not looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise.boxes import EQUAL, FREE, LESS, MIRRORED, MORE, Boxes, Space
from holdfast.engines.pointwise.rule_arrays import RuleArrays
from holdfast.engines.pointwise.rules import PointwiseRules, PointwiseWording
from holdfast.engines.pointwise.sweeps import first_pairs
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import LEAST_OF_SEVERAL, LONGER, tested_weight
from holdfast.engines.watched import WatchedTable
from holdfast.progress import Progress
from holdfast.table.runner import Runner
from holdfast.table.table import Table

MOST_COLUMNS = 20  # that are looked at: there are 1,140 choices of three of them
_SAMPLE = 500
_PROVED = 12  # conjunctions that are looked for in all rows
_MOST = 0.125  # of ordered pairs, what chance would have meet three inequalities of columns without ties
_VALUES = 2.0  # beyond the first that make half the score

_STRICT = (LESS, MORE)
_ANY = LESS | EQUAL | MORE
_ALL, _OTHERS = (0, 1, 2), ((1, 2), (0, 2), (0, 1))  # of three columns; and the others of each
CellCounts = NDArray[np.int64]  # numbers of ordered pairs, [less, equal, more] for each of three columns


@dataclass(frozen=True, eq=False)
class LikelyConjunction:
    """Three columns, the predicate on each, how the pairs of a sample compare on them, and how surprising
    it is that no two rows meet all three marks, or the strict ones of which these are weaker.
    """

    columns: tuple[int, ...]
    marks: tuple[int, ...]
    counts: CellCounts
    score: float = 0.0  # from 0, nothing speaks for the rule, to 1

    def met_on(self, places: Sequence[int]) -> int:
        """How many pairs of the sample meet the marks on some of the three columns."""
        marks = [mark if place in places else _ANY for place, mark in enumerate(self.marks)]
        chosen = [[digit for digit, bit in enumerate((LESS, EQUAL, MORE)) if mark & bit] for mark in marks]
        return int(self.counts[np.ix_(*chosen)].sum())

    def scored(self, values: int) -> LikelyConjunction:
        """With its score, given how many values the column has that has the fewest."""
        by_chance = min(self.met_on((own,)) * self.met_on(_OTHERS[own]) for own in _ALL) / int(self.counts.sum()) ** 2
        share, more = min(1.0, by_chance / _MOST), values - 1
        return replace(self, score=LONGER * tested_weight(share) * more / (more + _VALUES))

    @property
    def right(self) -> int:
        """Which of the three columns is best on the right side: most pairs meet what is on the left then."""
        return max(_ALL, key=lambda own: self.met_on(_OTHERS[own]))

    def weakened(self) -> list[LikelyConjunction]:
        """The same with marks on two or three columns that are met by equals, too, where no pair meets all; the weakest
        first, and then those that leave the right side of the best reading as it is.
        """
        right = self.right
        strict = (None, right, *_OTHERS[right])  # the column whose mark stays
        marks = [tuple(mark | (place != own and EQUAL) for place, mark in enumerate(self.marks)) for own in strict]
        return [weaker for weaker in (replace(self, marks=own) for own in marks) if not weaker.met_on(_ALL)]

    def box(self, columns: int) -> Boxes:
        """As a box of a table."""
        box = np.full(columns, FREE, np.uint8)
        box[list(self.columns)] = self.marks
        return box


def likely(subject: WatchedTable, wanted: Wanted, runner: Runner, progress: Progress) -> Sequence[Scored]:  # noqa: ARG001
    """The rules of two columns on the left that no two rows break and that chance would have broken most."""
    table = subject.table
    columns = _comparable(table)
    if len(columns) > MOST_COLUMNS:
        progress.note(
            f"{table.schema.name}: of {len(columns):,} columns with an order the first {MOST_COLUMNS} were looked at "
            "for pointwise rules; holdfast discover --rules pod looks at all"
        )
        columns = columns[:MOST_COLUMNS]
    if wanted.max_lhs < 2 or len(columns) < 3 or table.rows < 2:
        return []
    progress.step("Finding pointwise rules in a sample of the rows")
    rows = RankedColumns(table, only=columns)
    sample = PairSample(rows, columns)
    found = sorted(sample.never(), key=lambda each: (-each.score, each.columns))
    best = [each for each in found if each.score >= LEAST_OF_SEVERAL][:_PROVED]
    progress.step(f"Looking for rows that break {len(best):,} pointwise rules")
    proved = _proved(rows, Space.of(table.schema), best)
    return [_suggested(table, sample, each) for each in proved[: wanted.top]]


def _comparable(table: Table) -> list[int]:
    """The columns whose order means something; without nulls, where these are distinct."""
    distinct = table.schema.nulls.are_distinct
    return [
        place
        for place, column in enumerate(table.schema.columns)
        if not (pa.types.is_string(column.type) or pa.types.is_boolean(column.type))
        and not (distinct and (table.column_codes(place) == 0).any())
    ]


class PairSample:
    """All pairs of some rows: for each column whether the one is less, equal or more than the other."""

    def __init__(self, rows: RankedColumns, columns: Sequence[int]) -> None:
        living = np.flatnonzero(rows.alive)
        self.columns, self._whole = list(columns), len(living) <= _SAMPLE
        chosen = living if self._whole else np.sort(np.random.default_rng(0).choice(living, _SAMPLE, replace=False))
        one, other = np.triu_indices(len(chosen), 1)
        cells = {column: rows.cells[column][chosen].astype(np.int64) for column in columns}
        self._signs = {c: (1 + np.sign(own[one] - own[other])).astype(np.int8) for c, own in cells.items()}
        self._values = {c: len(np.unique(own)) for c, own in cells.items()}
        self.pairs = 2 * len(one)

    def counts(self, columns: Sequence[int]) -> CellCounts:
        """How many ordered pairs are less, equal or more on each of some columns."""
        place = np.zeros(self.pairs // 2, np.int16)
        for column in columns:
            place = place * np.int16(3) + self._signs[column]
        counts = np.bincount(place, minlength=3 ** len(columns))
        return (counts + counts[::-1]).reshape((3,) * len(columns))

    def error(self, share: float) -> float:
        """Twice the standard error of a share, which is none where the sample is all rows."""
        return 0.0 if self._whole else 2 * float(np.sqrt(max(share, 1 / self.pairs) * (1 - share) / self.pairs))

    def never(self) -> Iterator[LikelyConjunction]:
        """The conjunctions of three strict inequalities that no pair meets. Where two of the three are met by none
        either, nothing is left to expect, and the score is 0.
        """
        for columns in itertools.combinations(self.columns, 3):
            counts = self.counts(columns)
            for marks in itertools.product((LESS,), _STRICT, _STRICT):
                found = LikelyConjunction(columns, marks, counts)
                if not found.met_on(_ALL):
                    yield found.scored(min(self._values[column] for column in columns))


def _proved(rows: RankedColumns, space: Space, best: Sequence[LikelyConjunction]) -> list[LikelyConjunction]:
    """Those that no two rows meet; with marks that are met by equals, too, where none do either."""
    holding = _that_hold(rows, space, best)
    weaker = [each.weakened() for each in holding]
    proved = _that_hold(rows, space, [each for some in weaker for each in some])
    return [
        next((each for each in some if each in proved), strict) for strict, some in zip(holding, weaker, strict=True)
    ]


def _that_hold(rows: RankedColumns, space: Space, some: Sequence[LikelyConjunction]) -> list[LikelyConjunction]:
    if not some:
        return []
    found = first_pairs(rows, space, np.stack([each.box(rows.columns) for each in some]))
    return [each for each, (one, _) in zip(some, found.tolist(), strict=True) if one < 0]


def _suggested(table: Table, sample: PairSample, never: LikelyConjunction) -> Scored:
    """The reading whose left side most pairs meet, its right side turned round."""
    own, schema = never.right, table.schema
    column, mark, left = never.columns[own], _ANY & ~never.marks[own], never.box(len(schema.names))
    left[column] = FREE
    if mark & MORE:
        left, mark = MIRRORED[left], int(MIRRORED[mark])
    wording = PointwiseWording(schema.name, tuple(schema.names), Space.of(schema))
    (rule,) = PointwiseRules(wording, RuleArrays.of(left[None], column, mark)).rules()
    covered, broken = (never.met_on(places) / sample.pairs for places in (_OTHERS[own], (own,)))
    sentence = (
        f"no two of {table.rows:,} rows break it; {covered:.0%} of the pairs of rows meet its left side, and by chance "
        f"{broken:.0%} of these would break it"
    )
    covering = replace(rule, coverage=covered, coverage_error=sample.error(covered))
    return Scored(covering, schema.name, never.score, table.rows, sentence, sure=False)
