"""Maximal sets of a family, for every target at once, kept under change.

A **target** is a column that rules determine, or one more, numbered after the last column, that no set ever holds and
that stands for "the row itself": what determines it is a key. A set S of the family counts for a target A that it
lacks iff no strict superset of S in the family lacks A; these sets are all that deriving A's rules needs.

The targets for which S counts are its **role**, one row of words. Together with S they make its **meet**, what all its
strict supersets share (everything, where there are none). Sets that count for no target are not kept.

When sets vanish, S gets a target only where a strict superset that vanished counted for it; when sets appear, S loses
one only to a superset that counts. So `changed` gathers what sets may hope for below the kept ones that vanished,
narrows it by those that stay, lets in what is left, and narrows the roles of those that stay by what came in.

Invariant: `sets` are the sets of the family that differ from their meet, `meets` their meets; both follow from the
family alone, so maintained equals made anew.
Cost: `of` takes microseconds a set (327 thousand sets of 223 columns: 1.5 s; the 9,555 of adult: 2 ms). `changed`
takes a microsecond, on each core, for each set that appeared or is below a kept one that vanished, or starts anew
where most kept ones vanished.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.hitting_maximal import BLOCK, Index, enter, gather, narrow, sift
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.table.threads import each

_ANEW = 0.5  # the share of kept sets that vanish from which on it is cheaper to start anew
_WORTH_THREADS = 4096  # sets
_RECENT = 256  # sets that are tried first, see the kernel


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
        return _kept(columns, *_sifted(columns, sets, _outside(columns, sets)))

    @property
    def key(self) -> int:
        """The target that stands for the row itself."""
        return self.columns

    @property
    def roles(self) -> Words:
        """For which targets each set counts."""
        return self.meets & _outside(self.columns, self.sets)

    def family(self, target: int) -> Words:
        """The maximal sets for a target."""
        return self.sets[bitsets.has(self.meets, target) & ~bitsets.has(self.sets, target)]

    def changed(self, appeared: Words, vanished: Words, living: Callable[[], Words]) -> tuple[Maximal, Shift]:
        """After some sets appeared in the family and some vanished; `living` gives the family now."""
        columns, words = self.columns, self.sets.shape[1]
        fresh, vanished = bitsets.widened(appeared, words), bitsets.widened(vanished, words)
        went = bitsets.among(self.sets, vanished)
        if np.count_nonzero(went) > _ANEW * len(self.sets):
            after = Maximal.of(living(), columns)
            return after, Shift.between(self, after)
        stay, roles = _largest_first(self.sets[~went], self.roles[~went])
        gone, gone_roles = _largest_first(self.sets[went], self.roles[went])
        index, now, hopes = _indexed(columns, stay), roles, _outside(columns, fresh)
        if len(gone):
            above = _indexed(columns, gone)
            others = bitsets.minus(bitsets.widened(living(), words), np.concatenate([stay, fresh]))
            now = roles | _narrowed(stay, _gathered(stay, above, gone_roles), index)
            hopes = np.concatenate([hopes, _gathered(others, above, gone_roles)])
            fresh = np.concatenate([fresh, others])
        entered, entered_roles = _sifted(columns, fresh, _narrowed(fresh, hopes, index, _RECENT))
        now = _narrowed(stay, now, _indexed(columns, entered))
        sets = np.concatenate([gone, stay, entered])
        old_roles = np.concatenate([gone_roles, roles, np.zeros_like(entered)])
        new_roles = np.concatenate([np.zeros_like(gone), now, entered_roles])
        return _kept(columns, sets, new_roles), _moved(sets, old_roles, new_roles)


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
        both = np.concatenate([old.sets, new.sets])
        _, at, back = np.unique(bitsets.as_keys(both), return_index=True, return_inverse=True)
        before, after = np.zeros((2, len(at), both.shape[1]), np.uint64)
        before[back[: len(old.sets)]] = old.roles
        after[back[len(old.sets) :]] = new.roles
        return _moved(both[at], before, after)


def _outside(columns: int, sets: Words) -> Words:
    """The targets that each set lacks."""
    return ~sets & bitsets.first(columns + 1, sets.shape[1])


def _kept(columns: int, sets: Words, roles: Words) -> Maximal:
    """The sets that have a role."""
    some = roles.any(axis=1)
    return Maximal(columns, sets[some], sets[some] | roles[some])


def _moved(sets: Words, before: Words, after: Words) -> Shift:
    """The sets whose role changed."""
    moved = (before != after).any(axis=1)
    return Shift(sets[moved], before[moved], after[moved])


def _largest_first(sets: Words, others: Words) -> tuple[Words, Words]:
    """Sets and what belongs to them in another order."""
    order = np.argsort(-bitsets.sizes(sets), kind="stable")
    return sets[order], others[order]


# ---- from and to the kernels ----------------------------------------------------------------------------------------


def _sifted(columns: int, sets: Words, hopes: Words) -> tuple[Words, Words]:
    """The sets that have a role within their family, the largest first, and their roles."""
    some = hopes.any(axis=1)
    sets, roles = _largest_first(sets[some], hopes[some])
    sift(sets, roles, _room(columns, sets, _RECENT))
    some = roles.any(axis=1)
    return sets[some], roles[some]


def _narrowed(sets: Words, hopes: Words, index: Index, recent: int = 0) -> Words:
    """Of what sets hope for, what all their strict supersets have."""
    hopes = hopes.copy()

    def work(part: slice) -> None:
        own = index._replace(recent=np.zeros((recent, sets.shape[1]), np.uint64))
        narrow(sets[part], hopes[part], own)

    _in_threads(work, len(sets))
    return hopes


def _gathered(sets: Words, index: Index, roles: Words) -> Words:
    """For each set what its strict supersets have a role for."""
    hopes = np.zeros_like(sets)
    _in_threads(lambda part: gather(sets[part], hopes[part], index, roles), len(sets))
    return hopes


def _in_threads(work: Callable[[slice], None], count: int) -> None:
    """Do the work on all of so many sets, where that pays in threads."""
    step = max(_WORTH_THREADS, -(-count // (4 * (os.cpu_count() or 1))))
    parts = [slice(begin, begin + step) for begin in range(0, count, step)]
    each(parts, lambda part, _: work(part))


def _indexed(columns: int, sets: Words) -> Index:
    index = _room(columns, sets)
    enter(sets, index)
    return index


def _room(columns: int, sets: Words, recent: int = 0) -> Index:
    """An index without sets, but with room for these."""
    blocks, words = -(-len(sets) // (64 * BLOCK)), sets.shape[1]
    kept, lately = (np.zeros((rows, words), np.uint64) for rows in (64 * BLOCK * blocks, recent))
    bitmaps = np.zeros((blocks, 64 * words, BLOCK), np.uint64)
    return Index(kept, np.zeros(1, np.int64), bitmaps, _rarest(columns, sets), lately)


def _rarest(columns: int, sets: Words) -> NDArray[np.int64]:
    """All columns, those in the fewest sets first; a sample will do."""
    some = sets[:: max(1, len(sets) // 4096)]
    bits = np.unpackbits(np.ascontiguousarray(some).view(np.uint8), axis=1, bitorder="little")
    return np.argsort(bits[:, :columns].sum(axis=0, dtype=np.int64), kind="stable")
