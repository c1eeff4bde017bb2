"""Maximal sets of a family, for every target at once, kept under change.

A **target** is a column that rules determine, or one more, numbered after the last column, that no set ever holds and
that stands for "the row itself": what determines it is a key. A set S of the family counts for a target A that it
lacks iff no strict superset of S in the family lacks A; these sets are all that deriving A's rules needs.

S counts for A iff A is in the **meet**, the intersection of S's strict supersets (everything, where there are none):
one row of words for all targets. Sets that count for no target are not kept.

Invariant: `sets` are the sets of the family that differ from their meet, `meets` their meets; both follow from the
family alone, so maintained equals made anew.
Cost: `of` takes microseconds a set (327 thousand sets of 223 columns: 2.5 s; the 9,555 of adult: 2 ms). `changed`
looks at the sets that appeared and at those below kept ones that vanished, or starts anew where that is cheaper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.hitting_maximal import BLOCK, enter_all, lower_all, mark_below, sift
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words

# A set that is sifted into what is kept costs about twice what it costs from scratch, as it also lowers other meets.
_ANEW = 0.4


@dataclass(frozen=True, eq=False)
class Maximal:
    """The sets of a family over `columns` columns that are maximal for some target, with their meets."""

    columns: int
    sets: Words
    meets: Words

    @staticmethod
    def of(sets: Words, columns: int) -> Maximal:
        """From a family of distinct sets."""
        sets = bitsets.widened(sets, bitsets.words_for(columns + 1))
        return _sifted(columns, sets[:0], sets[:0], sets)[0]

    @property
    def key(self) -> int:
        """The target that stands for the row itself."""
        return self.columns

    @property
    def roles(self) -> Words:
        """For which targets each set counts."""
        return _roles(self.columns, self.sets, self.meets)

    def family(self, target: int) -> Words:
        """The maximal sets for a target."""
        return self.sets[bitsets.has(self.roles, target)]

    def changed(self, appeared: Words, vanished: Words, living: Callable[[], Words]) -> tuple[Maximal, Shift]:
        """After some sets appeared in the family and some vanished; `living` gives the family now."""
        words = self.sets.shape[1]
        fresh, vanished = bitsets.widened(appeared, words), bitsets.widened(vanished, words)
        gone = self.sets[bitsets.among(self.sets, vanished)]
        if len(gone):
            family = bitsets.widened(living(), words)
            below = np.zeros(len(family), np.bool_)
            mark_below(family, gone, below)
            fresh = np.concatenate([fresh, bitsets.minus(family[below], fresh)])
        if len(fresh) > _ANEW * len(self.sets) and len(fresh) > _ANEW * len(family := living()):
            after = Maximal.of(family, self.columns)
            return after, Shift.between(self, after)
        leave = bitsets.among(self.sets, np.concatenate([gone, fresh]))
        after, entered, lowered = _sifted(self.columns, self.sets[~leave], self.meets[~leave], fresh)
        return after, Shift.touched(self, leave, lowered, after, entered)


@dataclass(frozen=True, eq=False)
class Shift:
    """Sets whose role changed: the targets for which each counted before, and for which it counts after."""

    sets: Words
    before: Words
    after: Words

    def targets(self) -> list[int]:
        """The targets whose maximal sets changed."""
        changed = self.before ^ self.after
        return bitsets.elements(np.bitwise_or.reduce(changed, axis=0)) if len(changed) else []

    def of(self, target: int) -> tuple[Words, Words]:
        """The sets that no longer count for a target, and those that do now."""
        before, after = bitsets.has(self.before, target), bitsets.has(self.after, target)
        return self.sets[before & ~after], self.sets[after & ~before]

    @staticmethod
    def between(old: Maximal, new: Maximal) -> Shift:
        """The change from one to another."""
        return _merged(old.sets, old.roles, new.sets, new.roles)

    @staticmethod
    def touched(
        old: Maximal, left: NDArray[np.bool_], lowered: NDArray[np.int64], new: Maximal, entered: slice
    ) -> Shift:
        """The same where it is known which sets left, which stayed with a lower meet, and which entered."""
        stayed = np.flatnonzero(~left)[lowered]
        out = np.concatenate([np.flatnonzero(left), stayed])
        old_sets, old_roles = old.sets[out], _roles(old.columns, old.sets[out], old.meets[out])
        come = np.concatenate(
            [np.arange(len(new.sets))[entered], np.flatnonzero(bitsets.among(new.sets, old.sets[stayed]))]
        )
        return _merged(old_sets, old_roles, new.sets[come], _roles(new.columns, new.sets[come], new.meets[come]))


def _merged(old_sets: Words, old_roles: Words, new_sets: Words, new_roles: Words) -> Shift:
    both = np.concatenate([old_sets, new_sets])
    _, at, back = np.unique(bitsets.as_keys(both), return_index=True, return_inverse=True)
    before, after = np.zeros((2, len(at), both.shape[1]), np.uint64)
    before[back[: len(old_sets)]] = old_roles
    after[back[len(old_sets) :]] = new_roles
    moved = (before != after).any(axis=1)
    return Shift(both[at[moved]], before[moved], after[moved])


def _roles(columns: int, sets: Words, meets: Words) -> Words:
    return meets & ~sets & bitsets.first(columns + 1, sets.shape[1])


def _sifted(columns: int, sets: Words, meets: Words, fresh: Words) -> tuple[Maximal, slice, NDArray[np.int64]]:
    """What is kept after fresh sets came; where those that entered stand; and which of `sets` got a lower meet."""
    count, words = sets.shape
    fresh = np.ascontiguousarray(fresh[np.argsort(-bitsets.sizes(fresh), kind="stable")])
    index = np.zeros(((count + len(fresh)) // (64 * BLOCK) + 1, 64 * words, BLOCK), np.uint64)
    kept, kept_meets = (np.concatenate([part, np.empty_like(fresh)]) for part in (sets, meets))
    enter_all(kept[:count], index)
    rarest = _rarest(fresh, columns)
    total = sift(fresh, rarest, kept, kept_meets, index, count)
    lower_all(kept[count:total], rarest[::-1].copy(), kept[:count], kept_meets[:count], index)
    lowered = np.flatnonzero((kept_meets[:count] != meets).any(axis=1))
    counting = (kept_meets[:total] & ~kept[:total]).any(axis=1)
    entered = slice(int(np.count_nonzero(counting[:count])), None)
    return Maximal(columns, kept[:total][counting], kept_meets[:total][counting]), entered, lowered


def _rarest(sets: Words, columns: int) -> NDArray[np.int64]:
    """All columns, those in the fewest sets first; a sample will do."""
    some = sets[:: max(1, len(sets) // 4096)]
    bits = np.unpackbits(np.ascontiguousarray(some).view(np.uint8), axis=1, bitorder="little")
    return np.argsort(bits[:, :columns].sum(axis=0, dtype=np.int64), kind="stable")
