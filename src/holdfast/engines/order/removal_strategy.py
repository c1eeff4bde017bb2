"""Approximate orders by counting removals: all minimal rules that hold but for a share of the rows.

The error of a rule is the least share of rows that must go so that it holds (`removals`). A context is reported for a
target iff its error is at most the threshold (decided in whole rows, a threshold of 0.01 being the decimal), that
of no part of it is, and, for a pair, neither column is constant there with an error of at most the threshold: the same
form as exact rules have, which are those of the threshold 0.

Each target has a search of its own (`border_search`). The paper says that only verification changes; that is wrong: its
Lemmas 4 and 5 conclude from rules that hold to others, and errors add up with each conclusion. But a pair never needs
more rows to go than one of its columns as a constant does: so constants come first, and where these hold, the pair is
not counted.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from holdfast.borders.cover import Cover, Parts
from holdfast.borders.rows import RankedColumns
from holdfast.engines.found.strategies import CoverStrategy, Followed, Spec
from holdfast.engines.order.border_search import ApproximateBorder, Judge, Moment
from holdfast.engines.order.changed_groups import ChangedGroups
from holdfast.engines.order.removals import Context, Contexts, Scratch
from holdfast.engines.order.signatures import saying
from holdfast.engines.thresholds import limit_of
from holdfast.engines.watched import Arrays, Facts, WatchedTable
from holdfast.pairs import bitsets
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.table.threads import SoFar, each


class RemovalStrategy(CoverStrategy):
    """Counting removals. What holds is in the covers, so it keeps what fails."""

    name = "removals"

    def __init__(self, rows: RankedColumns, spec: Spec, borders: dict[int, ApproximateBorder]) -> None:
        self._rows, self._spec, self._borders = rows, spec, borders

    @classmethod
    def begin(cls, subject: WatchedTable, spec: Spec, runner: Runner, progress: Progress) -> tuple[Self, Parts]:
        """Count contexts to and fro between both borders."""
        rows = subject.part(RankedColumns, runner, progress)
        strategy = cls(rows, spec, {target: ApproximateBorder() for target in spec.targets.wanted()})
        return strategy, strategy._settled(None, progress)

    def follow(self, covers: Parts, change: Change, runner: Runner, progress: Progress) -> Followed:  # noqa: ARG002
        """Count again what the batch may have changed."""
        for target, part in covers.items():
            if part.broken is not None:
                holding = zip(bitsets.integers(part.sets), part.broken.tolist(), strict=True)
                self._borders[target].holding = dict(holding)
        return Followed(self._settled(change, progress))

    def dump(self) -> tuple[Arrays, Facts]:
        """What fails, and how many rows must go there, at least."""
        failing = [(target, *each) for target, border in self._borders.items() for each in border.failing.items()]
        words = self._spec.targets.context_words
        return {
            "target": np.array([target for target, _, _ in failing], np.int64),
            "contexts": bitsets.of_integers([context for _, context, _ in failing], words).reshape(-1),
            "removed": np.array([removed for _, _, removed in failing], np.int64),
        }, {}

    @classmethod
    def load(cls, subject: WatchedTable, spec: Spec, arrays: Arrays, facts: Facts) -> Self:  # noqa: ARG003
        """What `dump` described."""
        borders = {target: ApproximateBorder() for target in spec.targets.wanted()}
        contexts = bitsets.integers(np.array(arrays["contexts"], np.uint64).reshape(-1, spec.targets.context_words))
        for target, context, removed in zip(arrays["target"], contexts, arrays["removed"], strict=True):
            borders[int(target)].failing[context] = int(removed)
        return cls(subject.part(RankedColumns), spec, borders)

    def _settled(self, change: Change | None, progress: Progress) -> dict[int, Cover]:
        """The covers, after a batch or, without one, from scratch."""
        targets, limit = self._spec.targets, limit_of(self._spec.error, int(np.count_nonzero(self._rows.alive)))
        deleted, touched = (len(change.dead), ChangedGroups.by(self._rows, change)) if change else (0, None)
        now = Moment(Contexts(self._rows), limit, deleted, touched)
        columns, pairs = range(targets.columns), targets.ordered_pairs
        said = saying(len(columns) + len(pairs), self._spec.max_size, progress)
        each(columns, lambda column, so_far: self._settle(column, now, (), Scratch(), so_far), progress=said)
        found = sum(len(self._borders[column].holding) for column in columns)

        def said_of_pairs(done: int, more: int) -> None:
            said(len(columns) + done, found + more)

        each(pairs, lambda pair, so_far: self._pair(pair, now, so_far), progress=said_of_pairs)
        words = targets.context_words
        return {
            target: Cover(bitsets.of_integers(border.holding, words), np.array(list(border.holding.values()), np.int64))
            for target, border in self._borders.items()
        }

    def _pair(self, pair: tuple[int, int], now: Moment, so_far: SoFar) -> None:
        own = sum(1 << column for column in pair)
        constant = {context for column in pair for context in self._borders[column].holding}
        implied = tuple(context for context in constant if not context & own)
        targets, scratch = self._spec.targets, Scratch()
        for target in (targets.ascending(*pair), targets.descending(*pair)):
            if target in self._borders:
                self._settle(target, now, implied, scratch, so_far)

    def _settle(self, target: int, now: Moment, implied: tuple[Context, ...], scratch: Scratch, so_far: SoFar) -> None:
        free = set(bitsets.elements(self._spec.targets.free(target)))
        columns = [column for column in now.contexts.coarse_first if column in free]
        judge = Judge(now, self._spec.targets, target, implied, scratch)
        self._borders[target].settle(columns, self._spec.max_size, judge, so_far)
