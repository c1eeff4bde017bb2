"""The borders of a table's rules: found by evidence and proof, to a fixpoint, and maintained under batches. The field
calls this hybrid discovery: sample, then validate.

Of each target the evidence leaves minimal contexts, P (see `evidence`). Those that nobody has proved are looked at;
what fails gives pairs of rows that become evidence, and P is derived again where that changed, until all of P is
proved.

Why P then is the answer: let N be the maximal agree-sets of the witnesses that break a target. Every set in N has a
living witness, so no part of it is a valid context. Every valid context is therefore a part of no set in N, hits the
complement of each, and so contains a minimal hitting set, which is a member of P. Every member of P is proved valid,
and validity passes to larger contexts. So the valid contexts are those that contain a member of P, and the minimal
valid ones are exactly P. What was sampled decides how long that takes, and nothing else.

Under batches. Rows that die break no rule: P stays proved. They may take the last witness of a set in N with them: that
very context is looked at, and what fails there is the new witness; else the set goes, P is derived again, and only what
is new in it is proved. Rows that come refute members of P, and only by a pair with a new row: as every context that
replaces a member hits what the member hit, it contains one that was valid, so pairs of old rows need no look.

Cost of a batch: members of P are proved on the rows that share their columns' values with new rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.cover import Cover, Listed, Parts, exact, implied_by_constants
from holdfast.borders.evidence import Evidence, Witnesses
from holdfast.borders.partitions import ColumnPartitions
from holdfast.borders.proving import (
    Proofs,
    ToProve,
    broken_by_new,
    contexts_to_prove,
    has_few_values,
    proved_by,
    sampled,
    witnesses_of,
)
from holdfast.borders.rows import RankedColumns
from holdfast.borders.targets import Targets
from holdfast.errors import BadInput
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.multiset import MOST_COLUMNS
from holdfast.progress import SILENT, Progress
from holdfast.table.change import Change
from holdfast.table.runner import Runner, Threads
from holdfast.table.threads import SoFar, each

_BYTES_AT_ONCE = 64 << 20  # of sets of targets
_WORTH_THREADS = 1 << 14  # rows times columns
_SAMPLED = 1 << 16  # neighbours that are compared in the order of each column
_SAMPLED_FOR_KEYS = 1 << 11  # the same where keys alone are wanted: they are few


@dataclass(frozen=True, eq=False)
class Everything:
    """All of P that needs a proof: what is easy to see, and the rest, the latter also as parts to prove, by columns in
    the order given.
    """

    order: Sequence[int]
    easy: Listed
    open_: Listed
    to_prove: Sequence[ToProve]


class Borders:
    """The minimal contexts of all wanted targets, of at most `max_size` columns, and their evidence.

    Use `of` or `load`. `covers` holds the minimal contexts by target.
    """

    def __init__(self, rows: RankedColumns, evidence: Evidence, covers: Parts, max_size: int | None) -> None:
        self.rows, self.evidence, self.covers = rows, evidence, dict(covers)
        self._max_size = max_size
        self._all: Everything | None = None
        self._runner: Runner = Threads()
        self.rounds: list[Proofs] = []  # of discovery: what is known of contexts besides

    @property
    def targets(self) -> Targets:
        """What the rules are about."""
        return self.evidence.targets

    @staticmethod
    def of(
        rows: RankedColumns,
        targets: Targets,
        max_size: int | None = None,
        runner: Runner | None = None,
        progress: Progress = SILENT,
    ) -> Borders:
        """From the rows of a table; the runner does the proofs."""
        if rows.columns > MOST_COLUMNS:
            raise BadInput(
                f"rules are found among up to {MOST_COLUMNS} columns, not {rows.columns}; choose some with --columns"
            )
        nothing = witnesses_of(rows, targets, np.empty((0, 2), np.int64))
        borders = Borders(rows, Evidence.of(targets, nothing), {}, max_size)
        borders._runner = runner or Threads()
        columns, wanted = ColumnPartitions(rows), targets.wanted()
        borders._compare_some(columns, progress)
        for some in ([t for t in wanted if t <= targets.key], wanted):  # what fails of the few says much of the many
            fresh = exact(borders.evidence.covers([t for t in some if t not in borders.covers], max_size))
            borders.covers |= fresh
            borders.rounds += borders._settle(columns, borders._without_implied(fresh), progress)
        rows.compared = rows.places(borders.evidence.witnesses.rows)
        return borders

    def _compare_some(self, columns: ColumnPartitions, progress: Progress) -> None:
        """Begin with the pairs that showed much to someone else, or with neighbours in the order of each column."""
        rows, targets = self.rows, self.targets
        most = min(_SAMPLED if targets.constants else _SAMPLED_FOR_KEYS, _at_once(targets))
        parts = [rows.compared] if len(rows.compared) else sampled(columns, most)

        def work(pairs: NDArray[np.int64], _: SoFar) -> Witnesses:
            return Evidence.of(targets, witnesses_of(rows, targets, pairs)).witnesses

        def say(done: int, _: int) -> None:
            progress.step(f"Comparing rows that are next to each other: {done} of {len(parts)} columns done")

        found = each(parts, work, None if len(parts) * rows.count > _WORTH_THREADS else 0, say)
        self.evidence = Evidence.of(targets, Witnesses.joined([self.evidence.witnesses, *found]))

    # ---- to the fixpoint --------------------------------------------------------------------------------------------

    def _settle(
        self, columns: ColumnPartitions, open_: Listed, progress: Progress, known: Sequence[ToProve] | None = None
    ) -> list[Proofs]:
        """Prove the contexts that are open, take in what refutes some, and so on until none is. All others of P are
        proved. `known` are the same contexts as parts to prove, where these are at hand. Gives what each round found.
        """
        rounds: list[Proofs] = []

        def say(done: int, _: int) -> None:
            share = done / max(len(known or ()), 1)
            progress.step(f"Proving {len(open_):,} candidates (round {len(rounds) + 1}): {share:.0%} done")

        while len(open_):
            if known is None or rounds:
                known = contexts_to_prove(columns, self.targets, open_.contexts, open_.targets)
            rounds.append(proved_by(self._runner, columns, known, say))
            if not len(rounds[-1].pairs):
                break
            open_ = self._take(self._with_pairs(rounds[-1].pairs))
        return rounds

    def _with_pairs(self, pairs: NDArray[np.int64]) -> Evidence:
        """The evidence with more pairs of rows, given by place, some at a time: with many columns a pair may break a
        hundred thousand targets.
        """
        evidence, step = self.evidence, _at_once(self.targets)
        for begin in range(0, len(pairs), step):
            evidence = evidence.with_more(witnesses_of(self.rows, self.targets, pairs[begin : begin + step]))
        return evidence

    def _take(self, evidence: Evidence) -> Listed:
        """Go on with other evidence, on the same targets. Gives what is new in P, and not proved."""
        stale = self.covers.keys() & set(evidence.changed_since(self.evidence))
        before = {target: self.covers[target].sets for target in stale}
        self.evidence = evidence
        self._all = None if stale else self._all
        now = evidence.covers(stale, self._max_size)
        self.covers |= exact(now)
        fresh = {target: bitsets.minus(now[target], own) for target, own in before.items()}
        for column in stale & set(range(self.targets.key)):
            lost = bitsets.minus(before[column], now[column])
            for target in self._pairs_with(column) if len(lost) else ():
                own = fresh.get(target, lost[:0])
                contexts = self.covers[target].sets
                bare = contexts[bitsets.among(contexts, lost)]  # these leant on the constant
                fresh[target] = np.concatenate([own, bitsets.minus(bare, own)])
        return self._without_implied(exact(fresh))

    def _without_implied(self, parts: Parts) -> Listed:
        """The contexts that need a proof."""
        found = Listed.joined(parts, self.targets.context_words)
        return found.some(~implied_by_constants(found, self.covers, self.targets))

    def _pairs_with(self, column: int) -> list[int]:
        """The targets of this column and another one."""
        others = [c for c in range(self.targets.columns) if c != column]
        both = [number(column, c) for number in (self.targets.ascending, self.targets.descending) for c in others]
        return [target for target in both if target in self.covers]

    # ---- under batches ----------------------------------------------------------------------------------------------

    def follow(self, change: Change, runner: Runner | None = None, progress: Progress = SILENT) -> dict[int, Cover]:
        """Take in a batch that the rows have followed. Gives the minimal contexts of the targets of which they may have
        changed.
        """
        before, self._runner = dict(self.covers), runner or Threads()
        self._without(change, progress)
        if self.rows.fresh < self.rows.count:
            self._with_fresh(change, progress)
        changed = {target: own for target, own in self.covers.items() if own is not before[target]}
        if changed:
            self._all = None
        return changed

    def _without(self, change: Change, progress: Progress) -> None:
        """Let witnesses go of which a row died, and look for others."""
        witnesses = self.evidence.witnesses
        gone = np.logical_or.reduce(np.isin(witnesses.rows, change.dead), axis=1)
        if not gone.any():
            return
        columns, left = change.made_once(_old_rows, self.rows), witnesses.some(~gone)
        sets, targets = _orphans(self.evidence, left)
        if len(sets):
            to_prove = contexts_to_prove(columns, self.targets, sets, targets)
            pairs = proved_by(self._runner, columns, to_prove).pairs
            left = Witnesses.joined([left, witnesses_of(self.rows, self.targets, pairs)])
        self._settle(columns, self._take(Evidence.of(self.targets, left)), progress)

    def _with_fresh(self, change: Change, progress: Progress) -> None:
        """Look at all of P again, on pairs with new rows."""
        columns = change.made_once(_rows_beside_new, self.rows)
        if self._all is None or self._all.order != columns.order:
            self._all = self._everything(columns)
        easy = self._all.easy
        if len(pairs := broken_by_new(columns, self.targets, easy.contexts, easy.targets)):
            self._settle(columns, self._take(self._with_pairs(pairs)), progress)
            self._all = self._everything(columns)
        self._settle(columns, self._all.open_, progress, self._all.to_prove)

    def _everything(self, columns: ColumnPartitions) -> Everything:
        every = self._without_implied(self.covers)
        easy = (every.targets <= self.targets.key) & has_few_values(self.rows, every.contexts)
        open_ = every.some(~easy)
        to_prove = contexts_to_prove(columns, self.targets, open_.contexts, open_.targets)
        return Everything(columns.order, every.some(easy), open_, to_prove)

    # ---- stored -----------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, NDArray[Any]]:
        """Arrays from which, with the covers, `load` makes the same."""
        own = self.evidence.witnesses
        arrays = {"rows": own.rows, "agree": own.agree, "broken": own.broken}
        return {f"witness/{name}": array.reshape(-1) for name, array in arrays.items()}

    @staticmethod
    def load(
        rows: RankedColumns, targets: Targets, max_size: int | None, covers: Parts, arrays: Mapping[str, NDArray[Any]]
    ) -> Borders:
        """What `dump` described."""
        shapes = {"rows": 2, "agree": targets.context_words, "broken": targets.words}
        own = (np.array(arrays[f"witness/{name}"]).reshape(-1, width) for name, width in shapes.items())
        return Borders(rows, Evidence.of(targets, Witnesses(*own)), covers, max_size)


def _old_rows(_: Change, rows: RankedColumns) -> ColumnPartitions:
    """The rows that a batch left, in groups."""
    return ColumnPartitions(rows, upto=rows.fresh)


def _rows_beside_new(_: Change, rows: RankedColumns) -> ColumnPartitions:
    """The rows that share values with new ones, in groups."""
    return ColumnPartitions(rows, rows.fresh)


def _at_once(targets: Targets) -> int:
    """How many pairs of rows are looked at together."""
    return max(1, _BYTES_AT_ONCE // (8 * targets.words))


def _orphans(evidence: Evidence, left: Witnesses) -> tuple[Words, NDArray[np.int64]]:
    """The agree-sets and targets, entry by entry, that no witness of those left shows any more."""
    shown = np.zeros_like(evidence.bits)
    np.bitwise_or.at(shown, bitsets.places_among(left.agree, evidence.sets), left.broken)
    lost = evidence.bits & ~shown
    of = np.repeat(np.arange(len(lost)), bitsets.sizes(lost))
    return evidence.sets[of], np.array([t for own in bitsets.elements_of_each(lost) for t in own], np.int64)
