"""Strategies: how the evidence for pointwise rules is found and kept. Here what all share, and counting; see `borders`.

Evidence is a set of values of pairs of rows (see `boxes`), seen from both rows of each pair, that decides every box of
at most `max_lhs + 1` marks: no two rows of the table meet a box in which no evidence lies, and two living rows meet one
in which some does. So all strategies give the same rules.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.found.strategies import Strategy
from holdfast.engines.pointwise.boxes import Boxes, Space, Values
from holdfast.engines.watched import Arrays, Facts, WatchedTable, below, inside
from holdfast.pairs.signatures import SignatureKind, ordered_but, values_of
from holdfast.pairs.watch import CountedSignatures
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.table.threads import OnProgress

_OWN = "signatures/"  # before the names of the arrays of signatures that are kept here


@dataclass(frozen=True)
class PointwiseSpec:
    """What is looked for: how columns are compared, and how many of them a left side may have (None: all)."""

    space: Space
    max_lhs: int | None = None

    @property
    def kind(self) -> SignatureKind:
        """How signatures compare rows."""
        return ordered_but([column for column, ordered in enumerate(self.space.ordered) if not ordered])

    @property
    def most_marks(self) -> int | None:
        """How many marks a box may have that breaks a rule: those on the left, and one on the right (None: any)."""
        return None if self.max_lhs is None else self.max_lhs + 1


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Values of ordered pairs of rows with how many pairs have them: of all pairs, or of a sample of the `of` pairs
    that there are.
    """

    values: Values
    counts: NDArray[np.int64]
    of: int

    @property
    def pairs(self) -> int:
        """How many ordered pairs were looked at."""
        return int(self.counts.sum())

    @property
    def exact(self) -> bool:
        """Whether these are all."""
        return self.pairs == self.of


class PointwiseStrategy(Strategy[PointwiseSpec]):
    """One strategy, with the evidence of a table."""

    @classmethod
    @abstractmethod
    def begin(cls, subject: WatchedTable, spec: PointwiseSpec, runner: Runner, progress: Progress) -> Self:
        """Find the evidence from scratch."""

    @abstractmethod
    def follow(self, change: Change, runner: Runner, progress: Progress) -> bool:
        """Take in a batch that the subject has followed. Gives whether rules may have changed."""

    @property
    @abstractmethod
    def seen(self) -> Values:
        """The evidence."""

    @property
    def never(self) -> Boxes | None:
        """The minimal boxes in which no evidence lies, both of each two mirror images, where they are known."""
        return None

    def witnesses(self) -> tuple[NDArray[np.int64], Values]:
        """Pairs of rows, by id, that show the evidence, and their values; none where no pairs are kept."""
        return np.empty((0, 2), np.int64), self.seen[:0]

    @abstractmethod
    def pair_counts(self) -> PairCounts:
        """Pairs from which shares are computed."""

    def count_pairs(self, boxes: Boxes, progress: OnProgress | None = None) -> NDArray[np.int64]:
        """How many ordered pairs of rows lie in each left side. Called where `pair_counts` is a sample."""
        raise NotImplementedError


class PointwiseCounting(PointwiseStrategy):
    """Counting: the signatures of all pairs of rows, counted. Those that occur are the evidence, which so decides boxes
    of any length. A batch adds and subtracts.

    Where all columns are ordered, order dependencies count the same signatures, and both share them.
    Cost: every pair of rows once, a nanosecond each where columns are few; then every pair with a row of the batch.
    """

    name = "counts"

    def __init__(self, pairs: CountedSignatures, space: Space) -> None:
        self._pairs, self._space = pairs, space
        self._values = self._values_now()  # not later: what is shared follows a batch before we do

    def _values_now(self) -> Values:
        return values_of(self._pairs.sets.sets, self._space.columns)

    @property
    def _is_shared(self) -> bool:
        return all(self._space.ordered)

    @classmethod
    def begin(cls, subject: WatchedTable, spec: PointwiseSpec, runner: Runner, progress: Progress) -> Self:
        """Compare all pairs."""
        if all(spec.space.ordered):
            return cls(subject.part(CountedSignatures, runner, progress), spec.space)
        return cls(CountedSignatures.of(subject.table, runner, progress, spec.kind), spec.space)

    def follow(self, change: Change, runner: Runner, progress: Progress) -> bool:  # noqa: ARG002
        """Whether a signature appeared or vanished."""
        if not self._is_shared:
            self._pairs.follow(change, runner)
        if self._pairs.delta:
            self._values = self._values_now()
        return bool(self._pairs.delta)

    @property
    def seen(self) -> Values:
        """The values of all signatures."""
        return self._values

    def pair_counts(self) -> PairCounts:
        """All pairs."""
        counts = self._pairs.sets.counts
        return PairCounts(self.seen, counts, int(counts.sum()))

    def dump(self) -> tuple[Arrays, Facts]:
        """The signatures, where they are not shared."""
        return ({} if self._is_shared else below(_OWN, self._pairs.dump()[0])), {}

    @classmethod
    def load(cls, subject: WatchedTable, spec: PointwiseSpec, arrays: Arrays, facts: Facts) -> Self:  # noqa: ARG003
        """What `dump` described."""
        if all(spec.space.ordered):
            return cls(subject.part(CountedSignatures), spec.space)
        own = inside(_OWN, arrays)
        return cls(CountedSignatures.load(subject.table, own, {}, spec.kind), spec.space)
