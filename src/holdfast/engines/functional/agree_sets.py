"""Keys and FDs from counted agree-sets, which both share (papers: dynast, section 1; DepMiner's second phase).

`X -> A` holds iff X meets the complement of every agree-set that lacks A, and those of the maximal ones are enough.
The key is a target like the columns (see `pairs.maximal`): X is a key iff X meets the complement of every agree-set;
two equal rows agree on all columns, the complement is empty, and nothing meets it.

After a batch only those targets whose maximal agree-sets changed are mended, or derived again where that is cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.cover import Cover, Parts, exact
from holdfast.borders.evidence import WORTH_THREADS, minimal_contexts
from holdfast.engines.found.strategies import CoverStrategy, Followed, Spec
from holdfast.engines.functional.approximate import derive_approximate
from holdfast.engines.thresholds import limit_of
from holdfast.engines.watched import Arrays, Facts, WatchedTable, below, inside
from holdfast.errors import BadInput
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.hitting import Mended, mended
from holdfast.pairs.maximal import Maximal, Shift
from holdfast.pairs.multiset import MOST_COLUMNS, Delta, largest_first
from holdfast.pairs.signatures import Counts, SignatureKind
from holdfast.pairs.watch import PairWatch
from holdfast.progress import Progress, search_progress
from holdfast.rules.error_measures import pairs_of
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.table.table import Table
from holdfast.table.threads import OnProgress, SoFar, each

MOST_RECORDED = 1000  # agree-sets that came with a batch, and as many that went, of which the history has each


class CountedAgreeSets(PairWatch):
    """The counted agree-sets of a table, and the maximal ones, from when they are first needed; `changed` are the
    maximal ones before the last batch, if they were there then, and what it did to them.
    """

    name: ClassVar[str] = "agree-sets"
    changed: tuple[Maximal, Shift] | None = None
    _maximal: Maximal | None = None

    def maximal(self, progress: Progress) -> Maximal:
        """The maximal agree-sets of every target. To find them takes long where there are millions of agree-sets."""

        def say(done: int, every: int) -> None:
            progress.step(f"Finding maximal agree-sets: {done:,} of {every:,} looked at")

        if self._maximal is None:
            self._maximal = Maximal.of(self.sets.sets, len(self._table.schema.columns), say)
        return self._maximal

    def follow(self, change: Change, runner: Runner) -> Delta:
        """Take in a batch."""
        delta, before, self.changed = super().follow(change, runner), self._maximal, None
        if before is not None:
            self._maximal, shift = before.changed(delta.appeared, delta.vanished, lambda: self.sets.sets)
            self.changed = before, shift
        return delta

    def record(self) -> Facts:
        """What the last batch changed: how many agree-sets there are, how many came and went, and the largest of these,
        each as a number in base 16 whose bits are its columns, with its pairs of rows now, or before it went.
        """
        came, went = self.delta.appeared, self.delta.vanished
        return {
            "columns": self._table.schema.names,
            "sets": len(self.sets),
            "came": len(came),
            "went": len(went),
            "first_came": _largest(came, self.delta.now),
            "first_went": _largest(went, self.delta.before),
        }

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays from which `load` makes the same."""
        arrays = below("pairs/", self.sets.dump())
        if self._maximal is not None:
            arrays["maximal/sets"] = self._maximal.sets.reshape(-1)
            arrays["maximal/meets"] = self._maximal.intersections.reshape(-1)
        return arrays, {}

    @classmethod
    def load(cls, table: Table, arrays: Arrays, facts: Facts, kind: SignatureKind | None = None) -> Self:
        """What `dump` described."""
        made, columns = super().load(table, inside("pairs/", arrays), facts, kind), len(table.schema.columns)
        if "maximal/sets" in arrays:
            flat = (np.array(arrays[f"maximal/{name}"], np.uint64) for name in ("sets", "meets"))
            made._maximal = Maximal(columns, *(each.reshape(-1, bitsets.words_for(columns + 1)) for each in flat))
        return made


def _largest(sets: Words, counts: Counts) -> list[tuple[str, int]]:
    first = largest_first(sets, counts, MOST_RECORDED)
    return [
        (f"{bits:x}", pairs) for bits, pairs in zip(bitsets.integers(sets[first]), counts[first].tolist(), strict=True)
    ]


class AgreeSetStrategy(CoverStrategy):
    """Counting pairs: the rules that follow from counted agree-sets, which are a part of the table."""

    name = "counts"

    def __init__(self, pairs: CountedAgreeSets, spec: Spec) -> None:
        self.pairs, self._spec = pairs, spec

    @classmethod
    def begin(cls, subject: WatchedTable, spec: Spec, runner: Runner, progress: Progress) -> tuple[Self, Parts]:
        """Compare all pairs, and derive."""
        strategy = cls(subject.part(CountedAgreeSets, runner, progress), spec)
        return strategy, strategy._derived(subject.table.rows, progress)

    def follow(self, covers: Parts, change: Change, runner: Runner, progress: Progress) -> Followed:  # noqa: ARG002
        """Derive what a batch changed in the agree-sets."""
        maximal, spec = self.pairs.changed, self._spec
        if spec.error or maximal is None:
            return Followed(self._derived(change.after.rows, progress))
        changed = mended_covers(covers, *maximal, spec.max_size, saying(spec, "columns", len(covers), progress))
        now, went, came = (
            exact({target: getattr(each, name) for target, each in changed.items()})
            for name in ("sets", "lost", "gained")
        )
        return Followed(now, (went, came))

    def _derived(self, rows: int, progress: Progress) -> dict[int, Cover]:
        spec, sets, targets = self._spec, self.pairs.sets, self._spec.targets.wanted()
        said = saying(spec, "columns", len(targets), progress)
        if not spec.error:
            return exact(derived_covers(self.pairs.maximal(progress), targets, spec.max_size, said))
        limit, columns = limit_of(spec.error, pairs_of(rows)), spec.targets.columns
        return derive_approximate(sets.sets, sets.counts, columns, targets, limit, spec.max_size, said)

    @classmethod
    def load(cls, subject: WatchedTable, spec: Spec, arrays: Arrays, facts: Facts) -> Self:  # noqa: ARG003
        """What `dump` described."""
        return cls(subject.part(CountedAgreeSets), spec)


def saying(spec: Spec, what: str, many: int, progress: Progress) -> OnProgress:
    """What to say while columns, or other parts of the work, are done one by one, given their number."""
    bound = "Where short rules are enough, stop and bound them: discover or init with --max-lhs 3."
    title = "keys" if spec.targets.keys else "functional dependencies"
    return search_progress(progress, title, what, many, bound if spec.max_size is None else None)


def refuse_wide(table: Table) -> None:
    """Say so where a table has more columns than agree-sets span."""
    columns = len(table.schema.columns)
    if columns > MOST_COLUMNS:
        raise BadInput(
            f"the table {table.schema.name!r} has {columns} columns, and keys and FDs are found among up to "
            f"{MOST_COLUMNS}; choose some with --columns"
        )


def derived_covers(
    maximal: Maximal, targets: Sequence[int], max_lhs: int | None = None, progress: OnProgress | None = None
) -> dict[int, Words]:
    """The minimal left sides of some targets."""
    return minimal_contexts(targets, partial(edges_of, maximal), len(maximal.sets), max_lhs, progress)


def mended_covers(
    covers: Parts, before: Maximal, shift: Shift, max_lhs: int | None, progress: OnProgress
) -> dict[int, Mended]:
    """The left sides of those targets that a batch touched; `before` are the maximal sets before it."""

    def one(target: int, found: SoFar) -> Mended:
        gone, come = (_complements(sets, before.columns, target) for sets in shift.of(target))
        return mended(covers[target].sets, edges_of(before, target), gone, come, max_size=max_lhs, progress=found)

    changed = [target for target in shift.targets() if target in covers]
    many = len(before.sets) > WORTH_THREADS or sum(len(covers[t]) for t in changed) > 50 * WORTH_THREADS
    return dict(zip(changed, each(changed, one, None if many else 0, progress), strict=True))


def edges_of(maximal: Maximal, target: int) -> Words:
    """What the left sides of a target must meet: its minimal difference sets."""
    return _complements(maximal.family(target), maximal.columns, target)


def _complements(sets: Words, columns: int, target: int) -> Words:
    """The columns outside each set, all of which lack the target, the target aside."""
    words = sets.shape[1]
    return sets ^ (bitsets.first(columns, words) & ~bitsets.of([target], words))
