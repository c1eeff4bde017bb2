"""Minimal left sides of every target, from the maximal agree-sets (papers: dynast, section 1; DepMiner's second phase).

`X -> A` holds iff X meets the complement of every agree-set that lacks A, and those of the maximal ones are enough.
The key is a target like the columns (see `pairs.maximal`): X is a key iff X meets the complement of every agree-set;
two equal rows agree on all columns, the complement is empty, and nothing meets it.

Targets are independent of each other, so they are derived in threads, and after a batch only those whose maximal
agree-sets changed are mended, or derived anew where that is cheaper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.hitting import Mended, Told, all_minimal_hitting_sets, mended
from holdfast.pairs.maximal import Maximal, Shift

Covers = Mapping[int, Words]  # the minimal left sides of each target
Made = TypeVar("Made")
Progress = Callable[[int, int, int], None]  # targets done, targets in all, rules found so far

_WORTH_THREADS = 1000  # maximal sets
_SECONDS_BETWEEN_WORDS = 0.2


def derive(
    maximal: Maximal, targets: Iterable[int], max_lhs: int | None = None, progress: Progress | None = None
) -> dict[int, Words]:
    """The minimal left sides of some targets. Ctrl-C ends it within a fraction of a second."""

    def one(target: int, told: Told) -> Words:
        return all_minimal_hitting_sets(edges_of(maximal, target), max_size=max_lhs, told=told)

    return each_target(list(targets), one, len(maximal.sets) > _WORTH_THREADS, progress)


def follow(
    covers: Covers, shift: Shift, before: Maximal, max_lhs: int | None = None, progress: Progress | None = None
) -> dict[int, Mended]:
    """The left sides of those targets that a batch touched; `before` are the maximal sets before it."""

    def one(target: int, told: Told) -> Mended:
        gone, come = (_complements(sets, before.columns, target) for sets in shift.of(target))
        return mended(covers[target], edges_of(before, target), gone, come, max_size=max_lhs, told=told)

    changed = [target for target in shift.targets() if target in covers]
    many = len(before.sets) > _WORTH_THREADS or sum(len(covers[t]) for t in changed) > 50 * _WORTH_THREADS
    return each_target(changed, one, many, progress)


def edges_of(maximal: Maximal, target: int) -> Words:
    """What the left sides of a target must meet: its minimal difference sets."""
    return _complements(maximal.family(target), maximal.columns, target)


def _complements(sets: Words, columns: int, target: int) -> Words:
    """The columns outside each set, all of which lack the target, the target aside."""
    words = sets.shape[1]
    return sets ^ (bitsets.first(columns, words) & ~bitsets.of([target], words))


# ---- target by target -----------------------------------------------------------------------------------------------


class _Stopped(Exception):
    """Raised within threads that are to end."""


class _Tally:
    """How far the targets are; tells when to stop."""

    def __init__(self, targets: int, progress: Progress | None) -> None:
        self.targets, self.progress = targets, progress
        self.done, self.stop = 0, False
        self.found: dict[int, int] = {}

    def note(self, target: int, found: int) -> None:
        self.found[target] = found
        if self.stop:
            raise _Stopped

    def tell(self) -> None:
        if self.progress is not None:
            self.progress(self.done, self.targets, sum(list(self.found.values())))


def each_target(
    targets: list[int], one: Callable[[int, Told], Made], in_threads: bool, progress: Progress | None
) -> dict[int, Made]:
    """What `one` makes of each target, telling how much it found so far."""
    tally = _Tally(len(targets), progress)

    def work(target: int) -> Made:
        made = one(target, lambda found: tally.note(target, found))
        tally.done += 1
        return made

    if not in_threads:
        return {target: work(target) for target in targets}
    with ThreadPoolExecutor(thread_name_prefix="derive") as pool:
        running = {target: pool.submit(work, target) for target in targets}
        try:
            while (known := wait(running.values(), _SECONDS_BETWEEN_WORDS, FIRST_EXCEPTION)).not_done:
                for done in known.done:
                    done.result()  # what one of them raised ends them all
                tally.tell()
        except BaseException:
            tally.stop = True
            pool.shutdown(cancel_futures=True)
            raise
    return {target: future.result() for target, future in running.items()}
