"""How many ordered pairs of rows meet each one, two and three comparisons on different lines: counted, and kept.

Counted are the pairs that are less, equal, and known (both have a value) on each line, and on each two and three lines
together. Every comparison is a sum of these three: `<=` is less and equal, `>` is known without less and equal. So from
the counts follows how many pairs meet any conjunction. Counts add up: a batch subtracts the pairs of the rows that died
and adds those of the rows born.

Cost: for each ordered pair of rows a nanosecond or two a line, and about 0.03 ns for each three lines (32 lines have
4,960 of these); with nulls three times as much. A batch costs that for each pair with one of its rows. The memory
depends on the lines alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Self

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.found.strategies import Strategy
from holdfast.engines.pointwise.comparisons import OPERATORS, Comparisons, Numbers
from holdfast.engines.watched import Arrays, Facts, WatchedTable
from holdfast.errors import BadInput
from holdfast.kernels.comparisons import count_comparisons
from holdfast.progress import Progress
from holdfast.search.operands import Operands, Spaces
from holdfast.table.change import Change
from holdfast.table.images import NULL_KEY
from holdfast.table.rows import Rows
from holdfast.table.runner import Runner
from holdfast.table.table import Table
from holdfast.table.threads import SoFar, each

Keys = NDArray[np.int64]  # [column, row]
MOST_PAIRS = 200_000_000  # ordered ones: some seconds with few lines, a minute or two with as many as there may be
KNOWN = len(OPERATORS)  # stands beside the operators: both rows have a value
_WAYS = 3  # less, equal, known
# Each operator, and KNOWN, as a sum of the three ways.
_SUMS = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, -1, 1], [-1, 0, 1], [-1, -1, 1], [0, 0, 1]])
_AT_ONCE = 1 << 22  # pairs between two looks at whether to go on


@dataclass(frozen=True)
class CrossSpec:
    """What is looked for: which comparisons, and how many of them a rule may have. `is_bounded`: tables with too many
    pairs of rows are refused.
    """

    comparisons: Comparisons
    most: int
    is_bounded: bool = True


@dataclass(frozen=True, eq=False)
class Counts:
    """Of how many `pairs` the counts are; and those of one, two and three lines, `levels[size - 1][set, way, ...]`."""

    pairs: int
    levels: tuple[Numbers, ...]

    def plus(self, other: Counts, times: int = 1) -> Counts:
        """Both together; `times` -1 takes the other ones away."""
        both = zip(self.levels, other.levels, strict=True)
        return Counts(self.pairs + times * other.pairs, tuple(own + times * more for own, more in both))

    @cached_property
    def by_comparison(self) -> list[Numbers]:
        """How many pairs meet comparisons on one, two and three lines: `[set, operator, ...]`, KNOWN among them."""
        found = []
        for counts in self.levels:
            for axis in range(1, counts.ndim):
                counts = np.moveaxis(np.tensordot(counts, _SUMS, (axis, 1)), -1, axis)
            found.append(counts)
        return found


def line_sets(lines: int, size: int) -> Numbers:
    """All sets of some size of lines, in lexicographic order, `[set, place]`."""
    return np.array(list(combinations(range(lines), size)), np.int64).reshape(-1, size)


class ComparisonCounts(Strategy[CrossSpec]):
    """The counts of a table, as of the last batch that was taken in."""

    name = "counts"

    def __init__(self, spec: CrossSpec, table: Table, counts: Counts) -> None:
        self._spec, self.counts = spec, counts
        self.spaces = Spaces(table.schema, [spec.comparisons.query])

    @classmethod
    def begin(cls, subject: WatchedTable, spec: CrossSpec, runner: Runner, progress: Progress) -> Self:  # noqa: ARG003
        """Compare all pairs of rows."""
        table, lines = subject.table, len(spec.comparisons)
        nothing = [np.zeros((comb(lines, size), *[_WAYS] * size), np.int64) for size in range(1, spec.most + 1)]
        made = cls(spec, table, Counts(0, tuple(nothing)))
        if lines:
            pairs = table.rows * (table.rows - 1)
            if spec.is_bounded:
                _refuse_many(pairs, f"{table.schema.name} has {table.rows:,} rows", _SMALLER)
            made.spaces.follow(table)
            rows = made._keys(Rows.all_of(table))
            progress.step(f"Comparing {pairs:,} ordered pairs of rows of {table.schema.name}")
            made.counts = made._counted(rows, rows, np.arange(rows.shape[1]), is_t=True)
        return made

    def refuse_long(self, change: Change) -> None:
        """BadInput where a batch makes too many pairs of rows."""
        born, dead = len(change.born), len(change.dead)
        pairs = 2 * (born * change.after.rows + dead * change.before.rows)
        if self._spec.comparisons.lines:
            _refuse_many(pairs, f"{born:,} rows came and {dead:,} went", _SMALLER_BATCHES)

    def follow(self, change: Change) -> bool:
        """Take in a batch. Gives whether a count changed."""
        if not self._spec.comparisons.lines or not (len(change.born) or len(change.dead)):
            return False
        self.spaces.follow(change.after)
        ids = change.after.living_ids()
        stayed = self._keys(Rows.at(change.after, ids[(ids < change.born.start) | (ids >= change.born.stop)]))
        come, gone = self._keys(change.come), self._keys(change.gone)
        before = self.counts
        self.counts = before.plus(self._with_others(gone, stayed), -1).plus(self._with_others(come, stayed))
        return True

    def _with_others(self, some: Keys, others: Keys) -> Counts:
        """The ordered pairs of which one row at least is among some rows, and none but these and others."""
        both = np.concatenate([some, others], axis=1)
        first = self._counted(some, both, np.arange(some.shape[1]), is_t=True)
        return first.plus(self._counted(some, others, np.full(some.shape[1], -1), is_t=False))

    def _keys(self, rows: Rows) -> Keys:
        """The keys of the columns that are compared, `[column, row]`."""
        operands = Operands(self.spaces, rows)
        return np.array([operands.keys(column) for column in self._spec.comparisons.columns], np.int64)

    def _counted(self, asking: Keys, rows: Keys, own: Numbers, is_t: bool) -> Counts:
        """The pairs of each row that asks with all rows but the one at its own place."""
        comparisons, most = self._spec.comparisons, self._spec.most
        lines = np.searchsorted(comparisons.columns, np.array(comparisons.lines, np.int64))
        is_full = not ((asking == NULL_KEY).any() or (rows == NULL_KEY).any())

        def count(piece: slice, so_far: SoFar) -> list[Numbers]:
            sizes = [comb(len(lines), size) if size <= most else 0 for size in (1, 2, 3)]
            found = [np.zeros((number, *[_WAYS] * (place + 1)), np.int64) for place, number in enumerate(sizes)]
            step = max(1, _AT_ONCE // max(1, rows.shape[1]))
            for begin in range(piece.start, piece.stop, step):
                so_far(begin - piece.start)
                some = slice(begin, min(begin + step, piece.stop))
                ways = _WAYS - 1 if is_full else _WAYS
                asked = np.ascontiguousarray(asking[:, some])
                count_comparisons(asked, rows, np.ascontiguousarray(own[some]), is_t, lines, ways, *found)
            return found

        is_small = asking.shape[1] * rows.shape[1] < _AT_ONCE
        parts = each(_pieces(asking.shape[1]), count, 0 if is_small else None)
        levels = [np.sum([part[place] for part in parts], axis=0) for place in range(most)]
        pairs = asking.shape[1] * rows.shape[1] - int(np.count_nonzero(own >= 0))
        return Counts(pairs, tuple(_with_known(pairs, levels, len(lines)) if is_full else levels))

    def dump(self) -> tuple[Arrays, Facts]:
        """The counts."""
        levels = enumerate(self.counts.levels, 1)
        return {str(size): level.reshape(-1) for size, level in levels}, {"pairs": self.counts.pairs}

    @classmethod
    def load(cls, subject: WatchedTable, spec: CrossSpec, arrays: Arrays, facts: Facts) -> Self:
        """What `dump` described."""
        shapes = [(comb(len(spec.comparisons), size), *[_WAYS] * size) for size in range(1, spec.most + 1)]
        levels = (np.array(arrays[str(size)], np.int64).reshape(shape) for size, shape in enumerate(shapes, 1))
        return cls(spec, subject.table, Counts(facts["pairs"], tuple(levels)))


_PIECES = 64  # of the rows that ask: enough that all threads end at about the same time
_SMALLER = "take a sample of the rows, or leave the class out"
_SMALLER_BATCHES = "apply the rows in smaller batches"


def _refuse_many(pairs: int, because: str, hint: str) -> None:
    if pairs > MOST_PAIRS:
        raise BadInput(
            f"{because}: rules across columns would compare {pairs:,} ordered pairs of rows, and up to {MOST_PAIRS:,} "
            f"are compared at a time; {hint}"
        )


def _pieces(count: int) -> list[slice]:
    """Rows in pieces for threads."""
    step = max(1, -(-count // _PIECES))
    return [slice(begin, min(begin + step, count)) for begin in range(0, count, step)] or [slice(0, 0)]


def _with_known(pairs: int, levels: Sequence[Numbers], lines: int) -> list[Numbers]:
    """The counts with those that are known on some lines, where all pairs are: as many as without these lines."""
    known = _WAYS - 1
    filled = [np.array(level) for level in levels]
    number = np.zeros((lines, lines), np.int64)
    number[tuple(line_sets(lines, 2).T)] = np.arange(comb(lines, 2))
    filled[0][:, known] = pairs
    if len(filled) > 1:
        one, two = line_sets(lines, 2).T
        filled[1][:, known], filled[1][:, :, known] = filled[0][two], filled[0][one]
    if len(filled) > 2:
        one, two, three = line_sets(lines, 3).T
        filled[2][:, known], filled[2][:, :, known] = filled[1][number[two, three]], filled[1][number[one, three]]
        filled[2][:, :, :, known] = filled[1][number[one, two]]
    return filled
