"""The multiset of the signatures of a table's pairs, kept true under batches.

Holds the multiset, and the rows as the kernels want them, so that a batch of m rows costs m comparisons a row of
the table, and nothing else that grows with it. Where tasks elsewhere do the comparing, no rows are held here; they
are read from the table again when this process is to compare.
Invariant: `sets` counts the pairs of the table as of the last batch followed; if `follow` raises, make a new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from holdfast.pairs.counting import Count, all_pairs, equal_pairs
from holdfast.pairs.multiset import Delta, Signatures
from holdfast.pairs.probes import batch_of, parts_of_change, parts_of_table
from holdfast.pairs.ranked_rows import queries_of, rows_of
from holdfast.pairs.rows import WeightedRows
from holdfast.pairs.signatures import EQUAL, ORDERED, SignatureKind, both_ways
from holdfast.progress import SILENT, Progress
from holdfast.table.change import Change
from holdfast.table.rewrite import UsedCodes
from holdfast.table.runner import Runner
from holdfast.table.table import Table

Arrays = Mapping[str, NDArray[Any]]
_FEW = 1000  # rows of a batch that are always compared by themselves


class PairWatch:
    """The signatures of a table's pairs, counted; use `of` or `load`. `delta` says which the last batch brought in and
    took out.
    """

    usual: ClassVar[SignatureKind] = EQUAL  # what is counted unless the caller gives another kind

    def __init__(self, table: Table, signatures: Signatures, rows: WeightedRows | None = None) -> None:
        self._table, self.sets, self._rows = table, signatures, rows
        self.delta = Delta.none(signatures.words)

    @classmethod
    def of(cls, table: Table, runner: Runner, progress: Progress = SILENT, kind: SignatureKind | None = None) -> Self:
        """Count the pairs of a table (of a kind of order: from both rows)."""
        kind = kind or cls.usual

        def say(share: float) -> None:
            progress.step(f"Comparing rows of {table.schema.name}: {share:.0%} of all pairs compared")

        sets = Signatures(len(table.schema.columns), kind)
        rows = rows_of(table, kind) if runner.is_local else None
        sets.add_parts(parts_of_table(table, runner, rows, say, kind))
        return cls(table, sets, rows)

    def follow(self, change: Change, runner: Runner) -> Delta:
        """Take in a batch; returns which signatures appeared and which vanished."""
        if runner.is_local:
            self._rows = self._rows or rows_of(self._table, self.sets.kind)
            self.delta = self._compare(self._rows, batch_of(change), change.after)
        else:
            self._rows = None
            self.delta = self.sets.add_parts(parts_of_change(change, runner, self.sets.kind))
        self._table = change.after
        return self.delta

    def _compare(self, rows: WeightedRows, batch: WeightedRows, after: Table) -> Delta:
        """Count the pairs that a batch adds and takes. Where these are most pairs, count all of them again.

        What `Count` of a batch that comes row by row lacks, or has too much, are pairs of a row with those equal to it.
        Let a row have the weights w before the batch and v = w + d after it. Counted are d w of the pairs among rows
        equal to it, and they are (v (v - 1) - w (w - 1)) / 2 = d w + d (d - 1) / 2 more than before.
        """
        kind, distinct = self.sets.kind, after.schema.nulls.are_distinct
        queries = queries_of(batch, rows, after)
        own = rows.follow(batch)
        if batch.used > _FEW and batch.used * (rows.used + batch.used // 2) > rows.used**2 // 2:
            return self.sets.add_parts([*all_pairs(rows, kind, distinct), (self.sets.sets, -self.sets.counts)])
        against = Count(queries, rows, kind, distinct, own=own)
        alike = equal_pairs(queries, kind, distinct)
        if against.is_small and not kind.ordered:
            return self.sets.add_parts([alike], against.into)
        return self.sets.add_parts([*both_ways([alike], kind), *against.from_both_rows()])

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays from which `load` makes the same."""
        return self.sets.dump(), {}

    @classmethod
    def load(cls, table: Table, arrays: Arrays, facts: Mapping[str, Any], kind: SignatureKind | None = None) -> Self:  # noqa: ARG003
        """The watch over a table that `dump` described. The rows are read at the first batch."""
        return cls(table, Signatures.load(len(table.schema.columns), arrays, kind or cls.usual))

    def rewritten(self, table: Table, kept: UsedCodes) -> Self:  # noqa: ARG002
        """Signatures know no codes; the next batch reads the rows again."""
        return self.load(table, *self.dump(), self.sets.kind)


class CountedSignatures(PairWatch):
    """The counted signatures of order of a table: each pair of rows from both of them. Engines share the kind `ORDERED`
    as a part of the table; another is its owner's alone.
    """

    name: ClassVar[str] = "order-signatures"
    usual: ClassVar[SignatureKind] = ORDERED
