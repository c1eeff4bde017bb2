"""The way of counts: the signatures of order of all pairs of rows, counted. Those that occur are the evidence, which so
decides every box of any length; a batch adds and subtracts.

Where all columns are ordered, what is counted is what order dependencies count, and is kept once for both.
Cost: every pair of rows once, a nanosecond each where there are few columns; then as many as a batch touches.
"""

from __future__ import annotations

from holdfast.engines.pointwise.marks import Space, Values
from holdfast.engines.pointwise.ways import Asked, Tally, Way
from holdfast.engines.watched import Arrays, Facts, WatchedTable, below, inside
from holdfast.pairs.signatures import ordered_but, values_of
from holdfast.pairs.watch import CountedSignatures
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.runner import Runner

_OWN = "signatures/"  # before the names of the arrays of signatures that are kept here


class Counts(Way):
    """The way of counts."""

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
    def begin(cls, subject: WatchedTable, asked: Asked, runner: Runner, progress: Progress) -> Counts:
        """Compare all pairs."""
        alone = [column for column, ordered in enumerate(asked.space.ordered) if not ordered]
        if not alone:
            return cls(subject.part(CountedSignatures, runner, progress), asked.space)
        return cls(CountedSignatures.of(subject.table, runner, progress, ordered_but(alone)), asked.space)

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

    def tallied(self) -> Tally:
        """All pairs."""
        counts = self._pairs.sets.counts
        return Tally(self.seen, counts, int(counts.sum()))

    def dump(self) -> tuple[Arrays, Facts]:
        """The signatures, where nobody else keeps them."""
        if self._is_shared:
            return {}, {}
        arrays, _ = self._pairs.dump()
        return below(_OWN, arrays), {}

    @classmethod
    def load(cls, subject: WatchedTable, asked: Asked, arrays: Arrays, facts: Facts) -> Counts:  # noqa: ARG003
        """What `dump` described."""
        alone = [column for column, ordered in enumerate(asked.space.ordered) if not ordered]
        if not alone:
            return cls(subject.part(CountedSignatures), asked.space)
        return cls(CountedSignatures.load(subject.table, inside(_OWN, arrays), {}, ordered_but(alone)), asked.space)
