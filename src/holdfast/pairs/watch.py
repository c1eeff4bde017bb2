"""The multiset of a table's agree-sets, kept true under batches.

Holds the rows as the kernels want them beside the multiset, so that a batch of m rows costs m comparisons a row of
the table, and nothing else that grows with it. Where tasks elsewhere do the comparing, no rows are held here; they
are read from the table again when this process is to compare.
Invariant: `sets` counts the pairs of the table as of the last batch followed; if `follow` raises, start anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from holdfast.pairs.compare import EQUAL, Count, TellShare, all_pairs, batch_alike
from holdfast.pairs.multiset import AgreeSets, Delta
from holdfast.pairs.probes import Changed, batch_of, parts_of_change, parts_of_table
from holdfast.pairs.rows import Rows
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Table

_FEW = 1000  # rows of a batch that are always compared by themselves


class PairWatch:
    """The agree-sets of a table, counted; use `of` or `load`."""

    def __init__(self, table: Table, sets: AgreeSets, rows: Rows | None = None) -> None:
        self._table, self.sets, self._rows = table, sets, rows

    @staticmethod
    def of(table: Table, runner: Runner, tell: TellShare | None = None) -> PairWatch:
        """Count the pairs of a table; `tell` hears how far that is."""
        sets = AgreeSets(len(table.schema.columns))
        rows = Rows.of_table(table) if isinstance(runner, Threads) else None
        sets.add_parts(parts_of_table(table, runner, rows, tell))
        return PairWatch(table, sets, rows)

    def follow(self, change: Changed, runner: Runner) -> Delta:
        """Take in a batch; tells which agree-sets appeared and which vanished."""
        if isinstance(runner, Threads):
            self._rows = self._rows or Rows.of_table(self._table)
            delta = self._compare(self._rows, batch_of(change), change.after.schema.nulls == "distinct")
        else:
            self._rows = None
            delta = self.sets.add_parts(parts_of_change(change, runner))
        self._table = change.after
        return delta

    def _compare(self, rows: Rows, batch: Rows, distinct: bool) -> Delta:
        """Count the pairs that a batch adds and takes. Where that is most of them, all are counted anew instead."""
        own = rows.follow(batch)
        if batch.used > _FEW and batch.used * (rows.used + batch.used // 2) > rows.used**2 // 2:
            return self.sets.add_parts([*all_pairs(rows, EQUAL, distinct), (self.sets.sets, -self.sets.counts)])
        against = Count(batch, rows, EQUAL, distinct, own=own)
        alike = batch_alike(batch, EQUAL, distinct)
        if against.is_small:
            return self.sets.add_parts([alike], against.into)
        return self.sets.add_parts([alike, *against.whole()])

    def dump(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `load` makes the same."""
        return self.sets.dump()

    @staticmethod
    def load(table: Table, arrays: Mapping[str, NDArray[Any]]) -> PairWatch:
        """The watch over a table that `dump` described. The rows are read at the first batch."""
        return PairWatch(table, AgreeSets.load(len(table.schema.columns), arrays))
