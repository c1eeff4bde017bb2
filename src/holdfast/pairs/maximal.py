"""Maximal sets of a family, for every target at once, maintained under change.

A **target** is a column that rules determine, or one more, numbered after the last column, that no set ever holds and
that stands for "the row itself": what determines it is a key. A set S of the family is maximal for a target A that it
lacks iff no strict superset of S in the family lacks A; these sets are all that deriving A's rules needs.

The targets for which S is maximal are one row of words. Together with S they are the **intersection** of S's strict
supersets (everything, where there are none). Sets that are maximal for no target are not stored.

When sets vanish, S gets a target only where a strict superset that vanished was maximal for it; when sets appear, S
loses one only to a superset that is maximal. So `changed` gathers, for sets below the stored ones that vanished, the
targets of these as candidates; leaves those that all supersets hold that stay; lets in the sets that have some left;
and takes from the sets that stay the targets that those let in lack.

Invariant: `sets` are the sets of the family that differ from the intersection of their strict supersets,
`intersections`; both follow from the family alone, so maintaining them gives what computing them again would.
Cost: `of` takes microseconds a set (327 thousand sets of 223 columns: 1.5 s; the 9,555 of adult: 2 ms). `changed`
takes a microsecond, on each core, for each set that appeared or is below a stored one that vanished, or computes
all again where most stored ones vanished.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.hitting_maximal import BLOCK, SetIndex, enter, gather, narrow
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.table.threads import OnProgress, each

_START_AGAIN = 0.5  # the share of stored sets that vanish from which on it is cheaper to compute all again
_AT_ONCE = 4096  # sets that one call of a kernel looks at: between calls one can end it
_RECENT = 256  # sets that are tried first, see the kernel


@dataclass(frozen=True, eq=False)
class Maximal:
    """The sets of a family over `columns` columns that are maximal for some target, and of each the intersection of its
    strict supersets.
    """

    columns: int
    sets: Words
    intersections: Words

    @staticmethod
    def of(sets: Words, columns: int, progress: OnProgress = lambda _, __: None) -> Maximal:
        """From a family of distinct sets; `progress` gets how many were looked at, of how many."""
        sets = bitsets.widened(sets, bitsets.words_for(columns + 1))
        return _kept(columns, *_sifted(columns, sets, _outside(columns, sets), progress))

    @property
    def key(self) -> int:
        """The target that stands for the row itself."""
        return self.columns

    @property
    def targets(self) -> Words:
        """The targets for which each set is maximal."""
        return self.intersections & _outside(self.columns, self.sets)

    def family(self, target: int) -> Words:
        """The maximal sets for a target."""
        return self.sets[bitsets.has(self.intersections, target) & ~bitsets.has(self.sets, target)]

    def changed(self, appeared: Words, vanished: Words, living: Callable[[], Words]) -> tuple[Maximal, Shift]:
        """After some sets appeared in the family and some vanished; `living` gives the family now."""
        columns, words = self.columns, self.sets.shape[1]
        fresh, vanished = bitsets.widened(appeared, words), bitsets.widened(vanished, words)
        went = bitsets.among(self.sets, vanished)
        if np.count_nonzero(went) > _START_AGAIN * len(self.sets):
            after = Maximal.of(living(), columns)
            return after, Shift.between(self, after)
        stay, targets = _largest_first(self.sets[~went], self.targets[~went])
        gone, gone_targets = _largest_first(self.sets[went], self.targets[went])
        index, now, candidates = _indexed(columns, stay), targets, _outside(columns, fresh)
        if len(gone):
            above = _indexed(columns, gone)
            others = bitsets.minus(bitsets.widened(living(), words), np.concatenate([stay, fresh]))
            now = targets | _narrowed(stay, _gathered(stay, above, gone_targets), index)
            candidates = np.concatenate([candidates, _gathered(others, above, gone_targets)])
            fresh = np.concatenate([fresh, others])
        entered, entered_targets = _sifted(columns, fresh, _narrowed(fresh, candidates, index, _RECENT))
        now = _narrowed(stay, now, _indexed(columns, entered))
        sets = np.concatenate([gone, stay, entered])
        old_targets = np.concatenate([gone_targets, targets, np.zeros_like(entered)])
        new_targets = np.concatenate([np.zeros_like(gone), now, entered_targets])
        return _kept(columns, sets, new_targets), _moved(sets, old_targets, new_targets)


@dataclass(frozen=True, eq=False)
class Shift:
    """Sets whose targets changed: those for which each was maximal before, and those for which it is after."""

    sets: Words
    before: Words
    after: Words

    def targets(self) -> list[int]:
        """The targets whose maximal sets changed."""
        changed = self.before ^ self.after
        return bitsets.elements(np.bitwise_or.reduce(changed, axis=0)) if len(changed) else []

    def of(self, target: int) -> tuple[Words, Words]:
        """The sets that are no longer maximal for a target, and those that are now."""
        before, after = bitsets.has(self.before, target), bitsets.has(self.after, target)
        return self.sets[before & ~after], self.sets[after & ~before]

    @staticmethod
    def between(old: Maximal, new: Maximal) -> Shift:
        """The change from one to another."""
        both = np.concatenate([old.sets, new.sets])
        _, at, back = np.unique(bitsets.as_keys(both), return_index=True, return_inverse=True)
        before, after = np.zeros((2, len(at), both.shape[1]), np.uint64)
        before[back[: len(old.sets)]] = old.targets
        after[back[len(old.sets) :]] = new.targets
        return _moved(both[at], before, after)


def _outside(columns: int, sets: Words) -> Words:
    """The targets that each set lacks."""
    return ~sets & bitsets.first(columns + 1, sets.shape[1])


def _kept(columns: int, sets: Words, targets: Words) -> Maximal:
    """The sets that have targets."""
    some = targets.any(axis=1)
    return Maximal(columns, sets[some], sets[some] | targets[some])


def _moved(sets: Words, before: Words, after: Words) -> Shift:
    """The sets whose targets changed."""
    moved = (before != after).any(axis=1)
    return Shift(sets[moved], before[moved], after[moved])


def _largest_first(sets: Words, others: Words) -> tuple[Words, Words]:
    """Sets and what belongs to them in another order."""
    order = np.argsort(-bitsets.sizes(sets), kind="stable")
    return sets[order], others[order]


# ---- from and to the kernels ----------------------------------------------------------------------------------------


def _sifted(
    columns: int, sets: Words, candidates: Words, progress: OnProgress = lambda _, __: None
) -> tuple[Words, Words]:
    """The sets that have targets within their family, the largest first, and these targets."""
    some = candidates.any(axis=1)
    sets, targets = _largest_first(sets[some], candidates[some])
    index = _room(columns, sets, _RECENT)
    for begin in range(0, len(sets), _AT_ONCE):
        if begin:
            progress(begin, len(sets))
        narrow(sets[begin : begin + _AT_ONCE], targets[begin : begin + _AT_ONCE], index, True)
    some = targets.any(axis=1)
    return sets[some], targets[some]


def _narrowed(sets: Words, candidates: Words, index: SetIndex, recent: int = 0) -> Words:
    """Of the candidates of sets, those that all their strict supersets hold."""
    candidates = candidates.copy()

    def work(part: slice) -> None:
        own = index._replace(recent=np.zeros((recent, sets.shape[1]), np.uint64))
        narrow(sets[part], candidates[part], own, False)

    _in_threads(work, len(sets))
    return candidates


def _gathered(sets: Words, index: SetIndex, targets: Words) -> Words:
    """For each set the targets of its strict supersets."""
    candidates = np.zeros_like(sets)
    _in_threads(lambda part: gather(sets[part], candidates[part], index, targets), len(sets))
    return candidates


def _in_threads(work: Callable[[slice], None], count: int) -> None:
    """Do the work on `count` sets, in threads where that pays."""
    parts = [slice(begin, begin + _AT_ONCE) for begin in range(0, count, _AT_ONCE)]
    each(parts, lambda part, _: work(part))


def _indexed(columns: int, sets: Words) -> SetIndex:
    index = _room(columns, sets)
    enter(sets, index)
    return index


def _room(columns: int, sets: Words, recent: int = 0) -> SetIndex:
    """An index without sets, but with room for these."""
    blocks, words = -(-len(sets) // (64 * BLOCK)), sets.shape[1]
    kept, lately = (np.zeros((rows, words), np.uint64) for rows in (64 * BLOCK * blocks, recent))
    bitmaps = np.zeros((blocks, 64 * words, BLOCK), np.uint64)
    return SetIndex(kept, np.zeros(1, np.int64), bitmaps, _rarest(columns, sets), lately)


def _rarest(columns: int, sets: Words) -> NDArray[np.int64]:
    """All columns, those in the fewest sets first; a sample will do."""
    some = sets[:: max(1, len(sets) // 4096)]
    return np.argsort(bitsets.unpacked(some)[:, :columns].sum(axis=0, dtype=np.int64), kind="stable")
