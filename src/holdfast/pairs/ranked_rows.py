"""The rows of a table for comparisons by order: the cells are ranks of values instead of codes.

Rows are found by their codes, which never change, so that new ranks in one column leave the others alone. Columns that
are compared for equality alone keep their codes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from holdfast.changes.equal_rows import Codes
from holdfast.pairs.ranks import Ranks
from holdfast.pairs.rows import WeightedRows, Weights, hashes_of, tops_of
from holdfast.pairs.signatures import ORDERED, SignatureKind
from holdfast.table.rewrite import used_codes
from holdfast.table.shard import Shard
from holdfast.table.table import Alive, Table


class RankedWeightedRows(WeightedRows):
    """Distinct rows with weights, and the ranks of the values that they hold; use `of_table`."""

    def __init__(self, ranks: Sequence[Ranks | None], tops: Sequence[int], room: int = 0) -> None:
        """None for the ranks of a column that is compared for equality alone: its codes stand for themselves."""
        super().__init__(tops, room)
        self._ranks = ranks

    @staticmethod
    def of_table(table: Table, kind: SignatureKind = ORDERED) -> RankedWeightedRows:
        """All living rows of a table."""
        return RankedWeightedRows.of_shards(table, list(table.living()), kind)

    @staticmethod
    def of_shards(
        table: Table, shards: Sequence[tuple[Shard, Alive]], kind: SignatureKind = ORDERED
    ) -> RankedWeightedRows:
        """The living rows of some of a table's shards."""
        ranks = [
            None if c in kind.equal_only else Ranks(used_codes(table, c, shards), table.order_keys(c))
            for c in range(len(table.schema.columns))
        ]
        tops = [top if each is None else each.top for each, top in zip(ranks, tops_of(table), strict=True)]
        rows = RankedWeightedRows(ranks, tops, sum(len(shard) for shard, _ in shards))
        for shard, alive in shards:
            rows.add_shard(shard, alive)
        return rows

    def add(self, codes: Codes, steps: Weights) -> Weights:
        """Add to the weights of some rows, given as codes whose values have ranks. Returns the place of each."""
        return self._add(self._ranks_of(codes), steps, hashes_of(codes))

    def ranked(self, batch: WeightedRows, table: Table) -> WeightedRows:
        """The rows of a batch, given as codes of the table after it, as ranks; values that are new get theirs."""
        codes = batch.codes()
        for c, ranks in enumerate(self._ranks):
            if ranks is None:
                continue
            keys = table.order_keys(c)
            if not ranks.fit(codes[c], keys):
                in_use = np.unique(self.column(c)).astype(np.uint32)
                self._recode(c, in_use, ranks.spread(in_use, codes[c], keys))
        return WeightedRows.of(self._ranks_of(codes), batch.weights.copy())

    def _ranks_of(self, codes: Codes) -> Codes:
        ranked = np.empty(codes.shape, np.uint32)
        for c, ranks in enumerate(self._ranks):
            ranked[c] = codes[c] if ranks is None else ranks.of(codes[c])
        return ranked


def rows_of(table: Table, kind: SignatureKind) -> WeightedRows:
    """All living rows of a table, with cells that signatures of a kind can be made from."""
    return RankedWeightedRows.of_table(table, kind) if kind.ordered else WeightedRows.of_table(table)


def queries_of(batch: WeightedRows, rows: WeightedRows, table: Table) -> WeightedRows:
    """The rows of a batch, given as codes of the table after it, with cells that compare with those of other rows.
    Call it before these rows follow the batch.
    """
    return rows.ranked(batch, table) if isinstance(rows, RankedWeightedRows) else batch
