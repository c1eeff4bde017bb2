"""Approximate keys and FDs by g1 from pairs that are counted in groups of rows (papers: dynast, section 6).

The same rules as in `approximate`, for tables with too many rows to count all pairs. The pairs that break
`X -> A` are those that agree on X, without those that agree on X and A; those that break a key agree on it. Fewer pairs
agree on more columns, so `at(S)`, the pairs that agree on S, is at most `at` of each part of S; and fewer break a
target with more columns on the left.

Left sides are looked at level by level, from no columns on, as long as some target is open: none of the left side's
parts holds for it.
- If at most `limit` pairs agree on X, X holds for all open targets, and no larger left side is needed.
- If X exceeds what is known of `X + A`, the least `at` of its parts, by more than `limit`, then `X -> A` fails, and
  `X + A` is not counted.
- Else both are counted, and decide.

No number is estimated: what holds has its exact error, and the answer is that of counting all pairs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import numpy as np

from holdfast.borders.cover import Cover, Parts
from holdfast.engines.found.strategies import CoverStrategy, Followed, Spec
from holdfast.engines.functional.agree_sets import saying
from holdfast.engines.functional.agreeing_pairs import NO_COLUMNS, AgreeingPairs, ColumnSet, Pairs
from holdfast.engines.thresholds import limit_of
from holdfast.engines.watched import Arrays, Facts, WatchedTable
from holdfast.pairs import bitsets
from holdfast.progress import Progress
from holdfast.rules.error_measures import pairs_of
from holdfast.table.change import Change
from holdfast.table.runner import Runner

Level = dict[ColumnSet, int]  # left sides, with their open targets as a set


class GroupStrategy(CoverStrategy):
    """Counting groups: the rules that follow from how many pairs agree on sets of columns, which the table keeps."""

    name = "groups"

    def __init__(self, pairs: AgreeingPairs, spec: Spec) -> None:
        self.pairs, self._spec = pairs, spec

    @classmethod
    def begin(cls, subject: WatchedTable, spec: Spec, runner: Runner, progress: Progress) -> tuple[Self, Parts]:
        """Search level by level."""
        strategy = cls(subject.part(AgreeingPairs, runner, progress), spec)
        return strategy, strategy._found(subject.table.rows, progress)

    def follow(self, covers: Parts, change: Change, runner: Runner, progress: Progress) -> Followed:  # noqa: ARG002
        """Search again: what was counted before is known, and true."""
        return Followed(self._found(change.after.rows, progress))

    def _found(self, rows: int, progress: Progress) -> dict[int, Cover]:
        search = LevelSearch(self.pairs, self._spec, limit_of(self._spec.error, pairs_of(rows)), progress)
        return search.covers()

    @classmethod
    def load(cls, subject: WatchedTable, spec: Spec, arrays: Arrays, facts: Facts) -> Self:  # noqa: ARG003
        """What `dump` described."""
        return cls(subject.part(AgreeingPairs), spec)


class LevelSearch:
    """A search for all minimal left sides of some targets that at most `limit` pairs break."""

    def __init__(self, pairs: AgreeingPairs, spec: Spec, limit: int, progress: Progress) -> None:
        self._pairs, self._limit, self._columns = pairs, limit, spec.targets.columns
        self._most = self._columns if spec.max_size is None else min(spec.max_size, self._columns)
        self._words = spec.targets.context_words
        self._said = saying(spec, "levels of left sides", 1 + self._most, progress)
        self._at: Pairs = {}
        self._bounds: Pairs = {}  # of sets that are not counted
        self._holding: dict[int, Pairs] = {target: {} for target in spec.targets.wanted()}

    def covers(self) -> dict[int, Cover]:
        """The left sides of each target, with how many pairs break each rule."""
        level = {NO_COLUMNS: sum(1 << target for target in self._holding)}
        for size in range(1 + self._most):
            level = self._larger(level) if size else level
            level = self._still_open(level, size)
        return {target: self._cover(found) for target, found in self._holding.items()}

    def _still_open(self, level: Level, size: int) -> Level:
        """Decide which left sides of a level hold for their open targets; gives those that may be a part of others."""
        self._count(level, size)
        candidates = [(lhs, target) for lhs, open_ in level.items() for target in _bits(open_)]
        near = [(lhs, target) for lhs, target in candidates if self._may_hold(lhs, target)]
        self._count([lhs | 1 << target for lhs, target in near if target < self._columns], size)
        for lhs, target in near:
            broken = self._at[lhs] - (self._at[lhs | 1 << target] if target < self._columns else 0)
            if broken <= self._limit:
                self._holding[target][lhs] = broken
                level[lhs] ^= 1 << target
        return {lhs: open_ for lhs, open_ in level.items() if open_ and self._at[lhs] > self._limit}

    def _may_hold(self, lhs: ColumnSet, target: int) -> bool:
        at = self._at[lhs]
        return at <= self._limit or (target < self._columns and at - self._bound(lhs | 1 << target) <= self._limit)

    def _bound(self, columns: ColumnSet) -> int:
        """The most pairs that may agree on some columns: as many as on any part of these."""
        if columns in self._at:
            return self._at[columns]
        if columns not in self._bounds:
            self._bounds[columns] = min(self._bound(columns ^ 1 << column) for column in _bits(columns))
        return self._bounds[columns]

    def _larger(self, level: Level) -> Level:
        """The left sides with one column more, with the targets that none of their parts holds for."""
        larger = {}
        for lhs in level:
            for column in range(lhs.bit_length(), self._columns):
                more = lhs | 1 << column
                open_ = ~more
                for each in _bits(more):
                    open_ &= level.get(more ^ 1 << each, 0)
                if open_:
                    larger[more] = open_
        return larger

    def _count(self, sets: Iterable[ColumnSet], size: int) -> None:
        found = sum(map(len, self._holding.values()))
        self._at |= self._pairs.count(sets, lambda _done, _more: self._said(size, found))

    def _cover(self, found: Pairs) -> Cover:
        sets = sorted(found)
        broken = np.array([found[lhs] for lhs in sets], np.int64)
        return Cover(bitsets.of_integers(sets, self._words), broken)


def _bits(columns: ColumnSet) -> list[int]:
    """The elements of a set, ascending."""
    found = []
    while columns:
        low = columns & -columns
        found.append(low.bit_length() - 1)
        columns ^= low
    return found
