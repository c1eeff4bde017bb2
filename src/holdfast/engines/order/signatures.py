"""Counting pairs: the signatures of order of all pairs of rows, counted, and the covers that follow from them.

A signature has of two rows the columns on which they agree, and those on which one is less or more. So it has the
targets that the pair breaks, in every context that is a part of its agree-set, and the agree-sets that are maximal for
a target decide its covers (see `borders.evidence`). A batch adds and subtracts signatures. One that appears can only
bring maximal sets in; one that vanishes matters only if it breaks a target for which its agree-set is maximal: then all
living signatures are looked at again. Targets whose maximal sets stay keep their covers.

Cost: every pair of rows once, some nanoseconds each; then as many as a batch touches. For tables of few rows, however
wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np

from holdfast.borders.cover import Cover, Parts, exact
from holdfast.borders.evidence import Border, maximal
from holdfast.borders.targets import Targets
from holdfast.engines.found.strategies import CoverStrategy, Followed, Spec
from holdfast.engines.watched import Arrays, Facts, WatchedTable
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.watch import CountedSignatures
from holdfast.progress import Progress, search_progress
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.table.threads import OnProgress

_AT_ONCE = 1 << 26  # bytes of broken targets that are looked at together


class MaximalSignatures(Border):
    """The maximal agree-sets of signatures."""

    @staticmethod
    def none(targets: Targets) -> MaximalSignatures:
        """Of no signatures."""
        return MaximalSignatures(
            targets, *(np.empty((0, words), np.uint64) for words in (targets.context_words, targets.words))
        )

    def with_more(self, signatures: Words) -> MaximalSignatures:
        """After some signatures appeared."""
        sets, bits = self.sets, self.bits
        for agree, broken in _evidence(signatures, self.targets):
            both = np.concatenate([sets, agree]), np.concatenate([bits, broken])
            _, sets, bits = maximal(*both, self.targets.columns)
        return MaximalSignatures(self.targets, sets, bits)

    def rests_on(self, signatures: Words) -> bool:
        """Whether one of some signatures breaks a target for which its agree-set is maximal."""
        for agree, broken in _evidence(signatures, self.targets):
            places = bitsets.places_among(agree, self.sets)
            known = places >= 0
            if (self.bits[places[known]] & broken[known]).any():
                return True
        return False


class SignatureStrategy(CoverStrategy):
    """Counting pairs, with the maximal agree-sets of every target."""

    name = "counts"

    def __init__(self, pairs: CountedSignatures, spec: Spec, maximal: MaximalSignatures) -> None:
        self._pairs, self._spec, self._maximal = pairs, spec, maximal

    @classmethod
    def begin(cls, subject: WatchedTable, spec: Spec, runner: Runner, progress: Progress) -> tuple[Self, Parts]:
        """Compare all pairs, and derive."""
        pairs = subject.part(CountedSignatures, runner, progress)
        strategy = cls(pairs, spec, MaximalSignatures.none(spec.targets).with_more(pairs.sets.sets))
        return strategy, strategy._derived(spec.targets.wanted(), progress)

    def follow(self, covers: Parts, change: Change, runner: Runner, progress: Progress) -> Followed:  # noqa: ARG002
        """Derive what a batch changed in the maximal agree-sets."""
        before, delta = self._maximal, self._pairs.delta
        if before.rests_on(delta.vanished):
            self._maximal = MaximalSignatures.none(before.targets).with_more(self._pairs.sets.sets)
        else:
            self._maximal = before.with_more(delta.appeared)
        return Followed(self._derived(self._maximal.changed_since(before), progress))

    def _derived(self, wanted: list[int], progress: Progress) -> dict[int, Cover]:
        said = saying(len(wanted), self._spec.max_size, progress)
        return exact(self._maximal.covers(wanted, self._spec.max_size, said))

    def dump(self) -> tuple[Arrays, Facts]:
        """The maximal agree-sets."""
        return {"sets": self._maximal.sets.reshape(-1), "bits": self._maximal.bits.reshape(-1)}, {}

    @classmethod
    def load(cls, subject: WatchedTable, spec: Spec, arrays: Arrays, facts: Facts) -> Self:  # noqa: ARG003
        """What `dump` described."""
        sets = np.array(arrays["sets"], np.uint64).reshape(-1, spec.targets.context_words)
        bits = np.array(arrays["bits"], np.uint64).reshape(-1, spec.targets.words)
        return cls(subject.part(CountedSignatures), spec, MaximalSignatures(spec.targets, sets, bits))


def saying(targets: int, max_size: int | None, progress: Progress) -> OnProgress:
    """What to say while targets are worked on, given their number."""
    bound = "Where small contexts are enough, stop and bound them: discover or init with --max-level 3."
    shorter = bound if max_size is None else None
    return search_progress(progress, "order dependencies", "columns and pairs", targets, shorter)


def _evidence(signatures: Words, targets: Targets) -> Iterator[tuple[Words, Words]]:
    """The agree-sets of signatures and the targets that their pairs break, some at a time; mirror images count once."""
    half = signatures.shape[1] // 2
    at_most, at_least = signatures[:, :half], signatures[:, half:]
    first = np.argmax(at_most != at_least, axis=1) if half else np.zeros(0, np.int64)  # word that differs
    rows = np.arange(len(first))
    one_way = at_most[rows, first] <= at_least[rows, first]
    at_most, at_least = at_most[one_way], at_least[one_way]
    step = max(1, _AT_ONCE // (8 * targets.words))
    for begin in range(0, len(at_most), step):
        some, other = (side[begin : begin + step] for side in (at_most, at_least))
        agree, less, more = (
            bitsets.widened(each, targets.context_words) for each in (some & other, other & ~some, some & ~other)
        )
        yield agree, targets.broken_by(agree, less, more)
