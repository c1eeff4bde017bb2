"""Approximate order dependencies: all minimal ones that hold but for a share of the rows, found and kept.

The error of a rule is the least share of rows that must go so that it holds (`removals`). A context is told for a target
iff its error is at most the threshold (decided in whole rows, a threshold of 0.01 being the decimal 0.01), that of no
part of it is, and, for a pair, neither column is constant there with an error of at most the threshold. Without a
threshold these are the exact rules.

Errors never rise with the context, so each target has two borders, the minimal contexts that hold and the maximal ones
that fail, and one follows from the other: a context holds iff it is a part of no failing one, so the minimal ones that
hold are the minimal hitting sets of the complements of the failing ones. The search goes back and forth: candidates are
the minimal hitting sets of what is known to fail; each is counted; one that fails is extended, column by column, until
it would hold, and is new knowledge. When every candidate holds, they are the answer, whatever was looked at first.

That verification alone changes, as the paper says, does not work out: its Lemmas 4 and 5 conclude from rules that hold
to others, and errors add up in each conclusion.

A batch moves the count of a context upwards by at most the rows that it brings, and downwards by at most those that it
takes away. So a context that fails does so until the rows deleted since it was counted reach what it is above the limit;
only then it is counted again. Those that hold are counted after each batch, as their errors are told; from there the
search goes on as before.

Cost: a count for each context of either border, and for each column that such a failing one may be extended by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np

from holdfast.borders.rows import RankedColumns
from holdfast.borders.targets import Targets
from holdfast.engines.order.removals import ConstantCounter, Context, Contexts, PairCounter, Scratch
from holdfast.engines.order.result import Part
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.hitting import all_minimal_hitting_sets
from holdfast.table.change import Change
from holdfast.table.threads import OnProgress, SoFar, each

IMPLIED = -1  # instead of a number of rows, where one of a pair's columns is constant
_AHEAD = 8  # what fails is counted so far that as many more batches with deletes leave it failing


def limit_of(error: float, rows: int) -> int:
    """How many rows may have to go."""
    return int(Fraction(str(error)) * rows)


class Counter(Protocol):
    """Counts the rows that must go for one target."""

    def removed(self, context: Context, most: int) -> int:
        """How many rows must go, or a number above `most`."""


@dataclass(frozen=True)
class Judge:
    """Decides whether contexts hold for one target, after a batch deleted so many rows. `implied` are contexts in which
    a column of the pair is constant: there the pair holds, and is not counted.
    """

    counter: Callable[[], Counter]
    limit: int
    deleted: int = 0
    implied: tuple[Context, ...] = ()

    def removed(self, context: Context) -> int:
        """How many rows must go, or, where that is above the limit, at least so many; IMPLIED without a count."""
        if _holds_one_of(context, self.implied):
            return IMPLIED
        return self.counter().removed(context, self.limit + _AHEAD * self.deleted)


def _holds_one_of(context: Context, others: Iterable[Context]) -> bool:
    """Whether one of the others is a part of a context."""
    for other in others:
        if other & ~context == 0:  # noqa: SIM110  (a loop takes half as long as `any`, and this is asked a million times)
            return True
    return False


@dataclass
class Border:
    """What is known of one target: the minimal contexts that hold, with the number of rows that must go; and some that
    fail, among them, once settled, all maximal ones, with a number that is at most that. No failing context is a part
    of another.
    """

    columns: tuple[int, ...]  # that a context may have, those with few values first
    max_level: int | None = None
    holding: dict[Context, int] = field(default_factory=dict)
    failing: dict[Context, int] = field(default_factory=dict)

    def settle(self, judge: Judge, so_far: SoFar = lambda _: None) -> None:
        """Bring both borders up to date."""
        self._review(judge)
        while True:
            candidates = self._candidates()
            fresh = [context for context in candidates if context not in self.holding]
            so_far(len(candidates))
            if not fresh:
                break
            for context in fresh:
                if not any(context & ~failing == 0 for failing in self.failing):
                    self._decide(context, judge)
        self.holding = {context: self.holding[context] for context in candidates}

    def _review(self, judge: Judge) -> None:
        """Count what holds, as its numbers are told, and of what fails what the deletes may have mended."""
        known = {context: least - judge.deleted for context, least in self.failing.items()}
        doubtful = [*self.holding, *(context for context, least in known.items() if least <= judge.limit)]
        self.holding, self.failing = {}, {context: least for context, least in known.items() if least > judge.limit}
        for context in doubtful:
            self._decide(context, judge)

    def _decide(self, context: Context, judge: Judge) -> None:
        """Put a context where it belongs; one that fails, extended as far as it does."""
        removed = judge.removed(context)
        if removed <= judge.limit:
            self.holding[context] = removed
            return
        context, removed = self._extended(context, removed, self.columns, judge)
        for smaller in [known for known in self.failing if known & ~context == 0]:
            del self.failing[smaller]
        self.failing[context] = removed

    def _extended(self, context: Context, removed: int, columns: Sequence[int], judge: Judge) -> tuple[Context, int]:
        """A failing context with as many of the columns as it fails with: all of them, or those of one half, and then
        of the other.
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

    def _candidates(self) -> list[Context]:
        """The minimal contexts that are a part of no failing one."""
        every = sum(1 << column for column in self.columns)
        words = bitsets.words_for(max(self.columns, default=0) + 1)
        edges = as_words([every & ~context for context in self.failing], words)
        return as_contexts(all_minimal_hitting_sets(edges, max_size=self.max_level))


def as_words(contexts: Iterable[Context], words: int) -> Words:
    """Contexts as rows of words."""
    whole = b"".join(context.to_bytes(8 * words, "little") for context in contexts)
    return np.frombuffer(whole, np.uint64).reshape(-1, words)


def as_contexts(sets: Words) -> list[Context]:
    """Rows of words as contexts."""
    return [int.from_bytes(row.tobytes(), "little") for row in sets]


class ApproximateBorders:
    """Both borders of every target that is asked for, kept under batches."""

    def __init__(self, rows: RankedColumns, targets: Targets, error: float, max_level: int | None = None) -> None:
        self._rows, self._targets, self._error = rows, targets, error
        order = Contexts(rows).coarse_first
        self._borders = {
            target: Border(tuple(c for c in order if c not in targets.columns_of(target)), max_level)
            for target in targets.wanted()
        }

    @staticmethod
    def of(
        rows: RankedColumns,
        targets: Targets,
        error: float,
        max_level: int | None = None,
        progress: OnProgress | None = None,
    ) -> ApproximateBorders:
        """Found from scratch."""
        borders = ApproximateBorders(rows, targets, error, max_level)
        borders._settle(progress)
        return borders

    def follow(self, change: Change, progress: OnProgress | None = None) -> None:
        """Take in a batch."""
        self._rows.kill(change.dead)
        if len(change.born):
            self._rows.add(change)
        self._settle(progress, len(change.dead))

    @property
    def covers(self) -> Mapping[int, Part]:
        """For each target its minimal contexts, those of a pair in which one of the two is constant included."""
        words = self._targets.context_words
        return {
            target: Part(
                as_words(border.holding, words),
                np.array(list(border.holding.values()), np.int64),
            )
            for target, border in self._borders.items()
        }

    def _settle(self, progress: OnProgress | None, deleted: int = 0) -> None:
        """Constants first, as what holds for these needs no count for pairs."""
        contexts = Contexts(self._rows)
        limit = limit_of(self._error, self._rows.living)
        constants = [target for target in self._borders if target < self._targets.key]
        pairs: dict[tuple[int, ...], list[int]] = {}
        for target in self._borders:
            if target > self._targets.key:
                pairs.setdefault(self._targets.columns_of(target), []).append(target)

        def constant(column: int, so_far: SoFar) -> None:
            scratch = Scratch(contexts.columns)
            counter = _Once(lambda: ConstantCounter(contexts, column, scratch))
            self._borders[column].settle(Judge(counter, limit, deleted), so_far)

        def pair(own: tuple[int, int], so_far: SoFar) -> None:
            scratch = Scratch(contexts.columns)
            holds = {context for column in own for context in self._borders[column].holding}
            implied = tuple(context for context in holds if not context & (1 << own[0] | 1 << own[1]))
            for target in pairs[own]:
                down = self._targets.is_descending(target)
                counter = _Once(lambda down=down: PairCounter(contexts, own, down, scratch))
                self._borders[target].settle(Judge(counter, limit, deleted, implied), so_far)

        each(constants, constant, progress=progress)
        each(list(pairs), pair, progress=progress)


class _Once:
    """Makes a counter when the first count is asked for: many targets need none after a batch."""

    def __init__(self, make: Callable[[], Counter]) -> None:
        self._make, self._made = make, None

    def __call__(self) -> Counter:
        if self._made is None:
            self._made = self._make()
        return self._made
