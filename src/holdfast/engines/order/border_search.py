"""The two borders of a target: the minimal contexts in which it holds but for some rows, and the maximal ones in which
it fails.

How many rows must go never rises with the context, so one border follows from the other: a context holds iff it is a
part of no failing one, and the minimal ones that hold are the minimal hitting sets of the complements of the maximal
ones that fail. The search goes back and forth (border search). Candidates are the minimal hitting sets of what is known
to fail; each is counted; one that fails is extended as far as it does, and is new knowledge. When every candidate
holds, they are the answer, whatever was looked at first: a context that holds is a part of no failing one, so it
contains a candidate.

A batch raises a number by at most the rows that it brings, and lowers it by at most those that it takes away. So a
context that fails does so until the rows deleted since it was counted reach what it was above the limit; only then it
is counted again. Those that hold are counted after each batch, as their errors are reported, if possible only in the
groups that the batch touched. Then the search goes on.

Cost: a count for each context of either border, and one or two more for each failing one, to reach it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from holdfast.borders.targets import Targets
from holdfast.engines.order.changed_groups import ChangedGroups
from holdfast.engines.order.removals import Context, Contexts, Scratch, counter_of
from holdfast.pairs import bitsets
from holdfast.pairs.hitting import all_minimal_hitting_sets
from holdfast.table.threads import SoFar

IMPLIED = -1  # instead of a number of rows, where one of a pair's columns is constant
_AHEAD = 8  # what fails is counted so far that as many more batches with deletes leave it failing


@dataclass(frozen=True)
class Moment:
    """The table at a moment: its partitions, how many rows may have to go, how many the last batch deleted, and what it
    touched, where that is known.
    """

    contexts: Contexts
    limit: int
    deleted: int
    touched: ChangedGroups | None


class Judge:
    """Decides whether contexts hold for one target: at most `limit` rows must go. `implied` are contexts in which a
    column of the pair is constant: there the pair holds, and is not counted.
    """

    def __init__(
        self, now: Moment, targets: Targets, target: int, implied: tuple[Context, ...], scratch: Scratch
    ) -> None:
        self.limit, self.deleted, self._now, self._implied = now.limit, now.deleted, now, implied
        self._all = counter_of(now.contexts.rows, targets, target, scratch)
        self._touched = now.touched and counter_of(now.touched.contexts.rows, targets, target, scratch)

    def removed(self, context: Context) -> int:
        """How many rows must go (above the limit a lower bound); IMPLIED without a count."""
        if _holds_one_of(context, self._implied):
            return IMPLIED
        return self._all(self._now.contexts.of(context), self.limit + _AHEAD * self.deleted)

    def removed_now(self, context: Context, before: int) -> int:
        """The same of a context that held before the batch."""
        now, touched = None, self._now.touched
        if touched and self._touched and before != IMPLIED and not _holds_one_of(context, self._implied):
            now = touched.removed(self._touched, context, before)
        return self.removed(context) if now is None else now


@dataclass
class ApproximateBorder:
    """What is known of one target: the minimal contexts that hold, with the number of rows that must go; and some that
    fail, among them, once settled, all maximal ones, with a number that is at most that. No failing context is a part
    of another.
    """

    holding: dict[Context, int] = field(default_factory=dict)
    failing: dict[Context, int] = field(default_factory=dict)

    def settle(
        self, columns: Sequence[int], max_level: int | None, judge: Judge, so_far: SoFar = lambda _: None
    ) -> None:
        """Bring both borders up to date. A context may have these columns, those with few values first, and that many
        of them.
        """
        self._review(columns, judge)
        while True:
            candidates = self._candidates(columns, max_level)
            fresh = [context for context in candidates if context not in self.holding]
            so_far(len(candidates))
            if not fresh:
                break
            for context in fresh:
                if not any(context & ~failing == 0 for failing in self.failing):
                    self._decide(context, judge.removed(context), columns, judge)
        self.holding = {context: self.holding[context] for context in candidates}

    def _review(self, columns: Sequence[int], judge: Judge) -> None:
        """Count what holds, as its numbers are reported, and of what fails what the deletes may have mended."""
        known = {context: least - judge.deleted for context, least in self.failing.items()}
        held, doubtful = self.holding, [context for context, least in known.items() if least <= judge.limit]
        self.holding, self.failing = {}, {context: least for context, least in known.items() if least > judge.limit}
        for context, before in held.items():
            self._decide(context, judge.removed_now(context, before), columns, judge)
        for context in doubtful:
            self._decide(context, judge.removed(context), columns, judge)

    def _decide(self, context: Context, removed: int, columns: Sequence[int], judge: Judge) -> None:
        """Put a context where it belongs; one that fails, extended as far as it does."""
        if removed <= judge.limit:
            self.holding[context] = removed
            return
        context, removed = self._extended(context, removed, columns, judge)
        for smaller in [known for known in self.failing if known & ~context == 0]:
            del self.failing[smaller]
        self.failing[context] = removed

    def _extended(self, context: Context, removed: int, columns: Sequence[int], judge: Judge) -> tuple[Context, int]:
        """A failing context with as many of the columns as it fails with: all of them, or those of one half, and then
        of the other. Large contexts are cheap to count, so it pays to leap.
        """
        larger = context
        for column in columns:
            larger |= 1 << column
        if larger == context:
            return context, removed
        if not _holds_one_of(larger, self.holding):
            more = judge.removed(larger)
            if more > judge.limit:
                return larger, more
            self.holding[larger] = more
        if len(columns) > 1:
            for half in (columns[: len(columns) // 2], columns[len(columns) // 2 :]):
                context, removed = self._extended(context, removed, half, judge)
        return context, removed

    def _candidates(self, columns: Sequence[int], max_level: int | None) -> list[Context]:
        """The minimal contexts that are a part of no failing one."""
        every = sum(1 << column for column in columns)
        words = bitsets.words_for(max(columns, default=0) + 1)
        edges = bitsets.of_integers([every & ~context for context in self.failing], words)
        return bitsets.integers(all_minimal_hitting_sets(edges, max_size=max_level))


def _holds_one_of(context: Context, others: Iterable[Context]) -> bool:
    """Whether one of the others is a part of a context. A loop, as it takes half as long as `any`."""
    for other in others:  # noqa: SIM110
        if other & ~context == 0:
            return True
    return False
