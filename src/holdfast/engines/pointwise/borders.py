"""Borders, the strategy for tall tables: some pairs of rows as evidence, and proof of all that these leave open.

**Witnesses** are pairs of living rows, few of all that there are. They leave boxes unmet, and the minimal ones of these
with at most L = `max_lhs + 1` marks are candidates. Each is looked for among all pairs of rows; a pair that lies in one
becomes a witness, and candidates are derived again, until none is open.

Invariant, after each batch: every witness is a pair of living rows; and in a minimal box of at most L marks in which no
witness lies, no pair of rows does.

Why that is enough: a box of at most L marks is then met by a witness iff it is met by a pair of rows. A witness is such
a pair. And where no witness lies in a box, weaken it step by step as long as none does. That adds no mark, so one comes
to a minimal box of at most L marks in which no witness lies; no pair of rows lies there, and so none in the stronger
box. So what the witnesses decide depends on the table alone: not on what was sampled, nor on how the table came about.

Under batches. No pair comes about where rows die, so what was proved stays proved; but witnesses go, and weaker boxes
become candidates: these are looked for in the whole table. Rows that come lie in boxes only in pairs with a new row. So
candidates that were proved before, and those that are stronger than one that was, are looked for among these pairs
alone. For those of before the cheaper of two is done: each new row is compared with all rows, whatever the number of
candidates; or there is a sweep for each candidate, whatever the number of new rows.

Of each pattern of values in L columns that occurs, up to three witnesses are kept: deletes seldom take the last.

Cost: a sweep takes some 5 to 40 ns a row and candidate, a comparison of two rows 2 ns; witnesses are some thousands. So
1,000 rows that come to a table of 336,776 rows and 14 columns with 68 candidates are swept for in 0.2 s; box trees,
at 4 µs a candidate and row (`make bench NAMES=pod-probes`), would take as long, and would have to be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise import row_samples
from holdfast.engines.pointwise.boxes import (
    FREE,
    Boxes,
    Space,
    Values,
    canonical,
    distinct,
    excluded,
    is_canonical,
    mirrored,
    numbered,
    values_of_pairs,
)
from holdfast.engines.pointwise.patterns import Patterns
from holdfast.engines.pointwise.row_samples import RowPairs, RowSample
from holdfast.engines.pointwise.strategies import PairCounts, PointwiseSpec, PointwiseStrategy
from holdfast.engines.pointwise.sweeps import count_pairs, first_pairs
from holdfast.engines.watched import Arrays, Facts, WatchedTable
from holdfast.pairs import bitsets
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.load import open_table
from holdfast.table.runner import Runner
from holdfast.table.table import TableFiles
from holdfast.table.threads import OnProgress

_A_PATTERN = 3  # witnesses
_TO_START = 1 << 14  # random pairs, and as many of a sample
_SWEEPS_A_COLUMN = 2  # in the time in which rows are compared with neighbours in the order of a column
_TASKS = 32  # at most, a round, where candidates are looked for elsewhere
_AT_ONCE = 256  # candidates that are looked for together
_ROWS_A_SWEEP = 8  # new rows that are compared with all others in the time of a sweep
_COUNTED = 1 << 20  # pairs of rows from which shares are computed


class PointwiseBorders(PointwiseStrategy):
    """Borders: evidence with living witnesses, and proof of what it leaves."""

    name: ClassVar[str] = "borders"

    def __init__(self, rows: RankedColumns, spec: PointwiseSpec, ids: RowPairs, values: Values, never: Boxes) -> None:
        self._rows, self._spec, self._space = rows, spec, spec.space
        self._ids, self._values, self._never = ids, values, never
        self._patterns: Patterns | None = None  # made when a batch comes
        self._seen: tuple[Values, Values] | None = None  # values of witnesses, and what follows from them

    @classmethod
    def begin(cls, subject: WatchedTable, spec: PointwiseSpec, runner: Runner, progress: Progress) -> Self:
        """Compare some rows, and prove what they leave."""
        none = np.empty((0, spec.space.columns), np.uint8)
        made = cls(subject.part(RankedColumns, runner, progress), spec, np.empty((0, 2), np.int64), none, none)
        made._take(row_samples.random_pairs(made._rows, _TO_START))
        made._settle(none, 0, none, runner, progress)
        return made

    def follow(self, change: Change, runner: Runner, progress: Progress) -> bool:
        """Take in a batch that the rows have followed."""
        before, fresh, proved = self._never, self._rows.fresh, self._never[:0]
        self._drop(change.dead)
        if fresh < self._rows.count and self._scan_is_cheaper(fresh):
            new = row_samples.against_all(self._rows, fresh)
            self._take(row_samples.pairs_in(self._rows, self._space, before, new))
            proved = before  # as far as no pair in them was found
        self._settle(before, fresh, proved, runner, progress)
        return not np.array_equal(before, self._never)

    def _scan_is_cheaper(self, fresh: int) -> bool:
        """Whether new rows are compared with all others faster than what was proved is looked for."""
        parts = row_samples.parts_needed(self._space, self._never)
        return (self._rows.count - fresh) * parts <= _ROWS_A_SWEEP * int(np.count_nonzero(is_canonical(self._never)))

    # ---- evidence ---------------------------------------------------------------------------------------------------

    @property
    def _shown(self) -> Patterns:
        """The patterns that the witnesses show."""
        if self._patterns is None:
            most = self._spec.most_marks
            self._patterns = Patterns(self._space, self._space.columns if most is None else most)
            self._patterns.add(self._values, len(self._values) + 1)
        return self._patterns

    def _take(self, pairs: RowPairs) -> None:
        """Make witnesses of pairs of rows, given by place, that show what few others show."""
        values = values_of_pairs(self._rows.cells, pairs, self._space)
        kept = self._shown.add(values, _A_PATTERN)
        self._ids = np.concatenate([self._ids, self._rows.ids(pairs[kept])])
        self._values = np.concatenate([self._values, values[kept]])

    def _drop(self, dead: NDArray[np.int64]) -> None:
        """Let witnesses go of which a row died."""
        gone = np.isin(self._ids, dead).any(axis=1)
        if gone.any():
            self._shown.drop(self._values[gone])
            self._ids, self._values = self._ids[~gone], self._values[~gone]

    # ---- to the fixpoint --------------------------------------------------------------------------------------------

    def _settle(self, before: Boxes, fresh: int, proved: Boxes, runner: Runner, progress: Progress) -> None:
        """Look for candidates, and take in what lies in one, until none is open.

        No pair of rows before the place `fresh` lies in a box of `before`, and no pair at all in one of `proved` in
        which no witness lies.
        """
        known, done, samples = excluded(before), excluded(canonical(proved)), self._samples()
        few = _SWEEPS_A_COLUMN * self._space.columns
        while True:
            self._never = self._shown.never()
            open_ = np.unique(canonical(self._never), axis=0)
            open_ = open_[~bitsets.among(excluded(open_), done)]
            is_known = bitsets.containers(~excluded(open_), ~known) >= 0
            if fresh == self._rows.count:
                open_, is_known = open_[~is_known], is_known[~is_known]
            if not len(open_):
                return
            if np.count_nonzero(~is_known) > few and (sample := next(samples, None)):
                progress.step(f"Comparing rows: {len(open_):,} candidates are open")
                found = row_samples.pairs_in(self._rows, self._space, self._never, sample)
                self._take(found[:: 1 + len(found) // _TO_START])  # more would show the same again
                continue
            chosen = np.argsort(is_known, kind="stable")[:_AT_ONCE]
            met = self._looked_for(open_[chosen], is_known[chosen], fresh, runner, _saying(len(open_), progress))
            done = np.concatenate([done, excluded(open_[chosen][met[:, 0] < 0])])
            self._take(met[met[:, 0] >= 0])

    def _looked_for(
        self, boxes: Boxes, is_known: NDArray[np.bool_], fresh: int, runner: Runner, say: Callable[[int, int], None]
    ) -> RowPairs:
        """For each candidate a pair of rows in it, or -1."""
        found = np.full((len(boxes), 2), -1, np.int64)
        for chosen, since in ((is_known, fresh), (~is_known, 0)):
            if chosen.any():
                found[chosen] = _pairs_by(runner, self._rows, self._space, boxes[chosen], since, say)
        return found

    def _samples(self) -> Iterator[Sequence[RowSample]]:
        """What is compared while many candidates are open."""
        yield [row_samples.random_block(self._rows)]
        yield range(self._rows.columns)

    # ---- what follows -----------------------------------------------------------------------------------------------

    @property
    def seen(self) -> Values:
        """The values of the witnesses, as seen from both rows."""
        if self._seen is None or self._seen[0] is not self._values:
            self._seen = self._values, distinct(np.concatenate([self._values, mirrored(self._values)]))
        return self._seen[1]

    @property
    def never(self) -> Boxes | None:
        """The minimal boxes in which no pair lies; no rules are read off them where comparisons may be unknown."""
        return None if self._space.unknown else self._never

    def witnesses(self) -> tuple[RowPairs, Values]:
        """All of them."""
        return self._ids, self._values

    def pair_counts(self) -> PairCounts:
        """All pairs of rows, or random ones where there are too many, the same for the same rows."""
        living = int(np.count_nonzero(self._rows.alive))
        there = living * (living - 1)
        few = there <= _COUNTED
        pairs = row_samples.all_pairs(self._rows) if few else row_samples.random_pairs(self._rows, _COUNTED)
        values = values_of_pairs(self._rows.cells, pairs, self._space)
        of = numbered(values)
        counts = np.bincount(of)
        some = np.zeros(len(counts), np.int64)
        some[of] = np.arange(len(of))  # a pair of each number
        return PairCounts(values[some], counts, there)

    def count_pairs(self, boxes: Boxes, progress: OnProgress | None = None) -> NDArray[np.int64]:
        """How many ordered pairs of rows lie in each box, counted one by one."""
        return count_pairs(self._rows, self._space, boxes, progress)

    def dump(self) -> tuple[Arrays, Facts]:
        """The witnesses, and the boxes that were proved."""
        boxes = {"values": self._values.reshape(-1), "never": self._never.reshape(-1)}
        return {"rows": self._ids.reshape(-1), **boxes}, {}

    @classmethod
    def load(cls, subject: WatchedTable, spec: PointwiseSpec, arrays: Arrays, facts: Facts) -> Self:  # noqa: ARG003
        """What `dump` described."""
        ids = np.array(arrays["rows"], np.int64).reshape(-1, 2)
        values, never = (np.array(arrays[n], np.uint8).reshape(-1, spec.space.columns) for n in ("values", "never"))
        return cls(subject.part(RankedColumns), spec, ids, values, never)


def _pairs_by(
    runner: Runner, rows: RankedColumns, space: Space, boxes: Boxes, fresh: int, progress: OnProgress | None = None
) -> RowPairs:
    """What `first_pairs` gives: in threads of this process, or elsewhere. There, tasks open the table by path, read the
    columns that their boxes are about, and give pairs of row ids back.
    """
    if runner.is_local or rows.where is None or not len(boxes):
        return first_pairs(rows, space, boxes, fresh, progress)
    parts = np.array_split(boxes, min(_TASKS, len(boxes)))
    found = np.concatenate(runner.map(partial(_run, rows.where, space, rows.id_at(fresh)), parts))
    there = found[:, 0] >= 0
    found[there] = rows.places(found[there])
    return found


def _run(where: TableFiles, space: Space, fresh: int, boxes: Boxes) -> RowPairs:
    """One task: boxes to look for in a table in files. One row of each pair has the id `fresh` or a higher one; pairs
    are row ids.
    """
    needed = np.flatnonzero((boxes != FREE).any(axis=0)).tolist()
    rows = RankedColumns(open_table(where), needed)
    found = first_pairs(rows, space, boxes, int(rows.places(np.array(fresh))))
    there = found[:, 0] >= 0
    found[there] = rows.ids(found[there])
    return found


def _saying(open_: int, progress: Progress) -> Callable[[int, int], None]:
    """What is said while candidates are looked for."""

    def say(done: int, _: int) -> None:
        progress.step(f"Proving that no two rows meet {open_:,} conjunctions: {done:,} done")

    return say
