"""Evidence: what pairs of rows have shown not to hold, and the contexts that are left.

A pair of rows that agrees on the columns S and breaks a target refutes every rule of that target whose context is a
part of S. So of all pairs those count whose agree-set is maximal for some target that they break (N, the negative
border of the target). A context is left by the evidence iff it is a part of no such set, which is to say that it
meets the complement of each: the minimal ones are minimal hitting sets (P, the positive border).

The pairs that stand for an agree-set are stored with it, a few for each target, so that most deletes leave one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.targets import Targets
from holdfast.kernels import evidence as kernels
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.hitting import all_minimal_hitting_sets
from holdfast.pairs.keys import KeyTable
from holdfast.table.threads import OnProgress, SoFar, each

RowPairs = NDArray[np.int64]  # [pair, 2]: row ids

WORTH_THREADS = 1000  # sets


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Pairs of rows: their ids, the columns on which they agree, and the targets that they break."""

    rows: RowPairs
    agree: Words
    broken: Words

    def __len__(self) -> int:
        return len(self.rows)

    def some(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Witnesses:
        """Some of them."""
        return Witnesses(self.rows[chosen], self.agree[chosen], self.broken[chosen])

    @staticmethod
    def joined(parts: Iterable[Witnesses]) -> Witnesses:
        """All of some parts."""
        rows, agree, broken = zip(*((part.rows, part.agree, part.broken) for part in parts), strict=True)
        return Witnesses(np.concatenate(rows), np.concatenate(agree), np.concatenate(broken))


@dataclass(frozen=True, eq=False)
class Border:
    """Agree-sets, each with the targets for which it is maximal, as `bits`."""

    targets: Targets
    sets: Words
    bits: Words

    def changed_since(self, older: Border) -> list[int]:
        """The targets whose maximal agree-sets are others than before."""
        changed = np.zeros(self.bits.shape[1], np.uint64)
        for one, other in ((self, older), (older, self)):
            places = bitsets.places_among(one.sets, other.sets)
            same = np.zeros_like(one.bits)
            same[places >= 0] = other.bits[places[places >= 0]]
            changed |= np.bitwise_or.reduce(one.bits & ~same, axis=0)
        return bitsets.elements(changed)

    def covers(
        self, wanted: Iterable[int], max_size: int | None = None, progress: OnProgress | None = None
    ) -> dict[int, Words]:
        """The minimal contexts that are left to some targets. A target that no pair breaks holds in the empty context;
        one that is broken does not, which is all there is to know where contexts have no columns: a wide table has a
        hundred thousand targets, so these are not searched one by one.
        """
        sets, bits = self.sets, self.bits

        def edges(target: int) -> Words:
            return ~sets[bitsets.has(bits, target)] & self.targets.free(target)

        chosen, broken = list(wanted), set(bitsets.elements(np.bitwise_or.reduce(bits, axis=0)))
        searched = [target for target in chosen if target in broken] if max_size != 0 else []
        found = minimal_contexts(searched, edges, len(sets), max_size, progress)
        nothing, none = np.zeros((1, sets.shape[1]), np.uint64), sets[:0]
        return {target: found.get(target, none if target in broken else nothing) for target in chosen}


def minimal_contexts(
    targets: Sequence[int],
    edges: Callable[[int], Words],
    sets: int,
    max_size: int | None = None,
    progress: OnProgress | None = None,
) -> dict[int, Words]:
    """The minimal contexts of some targets: each meets all edges of its target, which come from `sets` agree-sets.
    Targets are independent of each other, so they are derived in threads. Ctrl-C ends it within a fraction of a second.
    """

    def one(target: int, found: SoFar) -> Words:
        return all_minimal_hitting_sets(edges(target), max_size=max_size, progress=found)

    return dict(zip(targets, each(targets, one, None if sets > WORTH_THREADS else 0, progress), strict=True))


@dataclass(frozen=True, eq=False)
class Evidence(Border):
    """Witnesses, and what they show. Invariant: each target of a set is broken by a witness with that agree-set."""

    witnesses: Witnesses

    @staticmethod
    def of(targets: Targets, witnesses: Witnesses) -> Evidence:
        """What some pairs show; those that show nothing more than others are dropped."""
        numbers, sets, bits = maximal(witnesses.agree, witnesses.broken, targets.columns)
        first, after = np.full(len(sets), -1), np.empty(len(numbers), np.int64)
        counted = np.zeros((kernels.SPARE, *bits.shape), np.uint64)
        kernels.choose(numbers, witnesses.broken, bits, witnesses.rows, counted, first, after)
        return Evidence(targets, sets, bits, witnesses.some(after > -2))

    def with_more(self, witnesses: Witnesses) -> Evidence:
        """With more pairs."""
        return Evidence.of(self.targets, Witnesses.joined([self.witnesses, witnesses]))


def maximal(agree: Words, broken: Words, columns: int) -> tuple[NDArray[np.int64], Words, Words]:
    """Of agree-sets and the targets that their pairs break: for each pair the number of its set, -1 where that is not
    maximal for any target; each set that is maximal for one, and its targets.
    """
    table = KeyTable(agree.shape[1], len(agree))
    numbers = table.entries(agree)
    bits = np.zeros((table.used, broken.shape[1]), np.uint64)
    kernels.gather(numbers, broken, bits)
    order = np.argsort(-bitsets.sizes(table.keys), kind="stable")
    sets, bits = table.keys[order], bits[order]
    stay = kernels.sift(sets, bits, columns, np.empty((columns + 1, bitsets.words_for(len(sets))), np.uint64))
    sets, bits = sets[:stay].copy(), bits[:stay].copy()
    return bitsets.places_among(table.keys, sets)[numbers], sets, bits
