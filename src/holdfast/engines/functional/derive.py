"""Minimal left sides of every target, from the maximal agree-sets (papers: dynast, section 1; DepMiner's second phase).

`X -> A` holds iff X meets the complement of every agree-set that lacks A, and those of the maximal ones are enough.
The key is a target like the columns (see `pairs.maximal`): X is a key iff X meets the complement of every agree-set;
two equal rows agree on all columns, the complement is empty, and nothing meets it.

Targets are independent of each other, so they are derived in threads, and after a batch only those whose maximal
agree-sets changed are mended, or derived again where that is cheaper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.hitting import Mended, all_minimal_hitting_sets, mended
from holdfast.pairs.maximal import Maximal, Shift
from holdfast.table.threads import OnProgress, SoFar, each

Covers = Mapping[int, Words]  # the minimal left sides of each target

_WORTH_THREADS = 1000  # maximal sets


def derive(
    maximal: Maximal, targets: Iterable[int], max_lhs: int | None = None, progress: OnProgress | None = None
) -> dict[int, Words]:
    """The minimal left sides of some targets. Ctrl-C ends it within a fraction of a second."""

    def one(target: int, found: SoFar) -> Words:
        return all_minimal_hitting_sets(edges_of(maximal, target), max_size=max_lhs, progress=found)

    chosen, many = list(targets), len(maximal.sets) > _WORTH_THREADS
    return dict(zip(chosen, each(chosen, one, None if many else 0, progress), strict=True))


def follow(
    covers: Covers, shift: Shift, before: Maximal, max_lhs: int | None = None, progress: OnProgress | None = None
) -> dict[int, Mended]:
    """The left sides of those targets that a batch touched; `before` are the maximal sets before it."""

    def one(target: int, found: SoFar) -> Mended:
        gone, come = (_complements(sets, before.columns, target) for sets in shift.of(target))
        return mended(covers[target], edges_of(before, target), gone, come, max_size=max_lhs, progress=found)

    changed = [target for target in shift.targets() if target in covers]
    many = len(before.sets) > _WORTH_THREADS or sum(len(covers[t]) for t in changed) > 50 * _WORTH_THREADS
    return dict(zip(changed, each(changed, one, None if many else 0, progress), strict=True))


def edges_of(maximal: Maximal, target: int) -> Words:
    """What the left sides of a target must meet: its minimal difference sets."""
    return _complements(maximal.family(target), maximal.columns, target)


def _complements(sets: Words, columns: int, target: int) -> Words:
    """The columns outside each set, all of which lack the target, the target aside."""
    words = sets.shape[1]
    return sets ^ (bitsets.first(columns, words) & ~bitsets.of([target], words))
