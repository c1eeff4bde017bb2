"""The pairs of a table, from scratch and after a batch, in threads of this process or in tasks elsewhere.

Nothing is held between calls. In tasks, a table goes by path: a task opens it and counts its share of the tiles, or
compares a batch with one shard; the answers, signatures with counts, add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from holdfast.pairs.counting import Count, OnProgress, all_pairs, batch_pairs, equal_pairs, merged
from holdfast.pairs.ranked_rows import RankedWeightedRows, rows_of
from holdfast.pairs.rows import WeightedRows, tops_of
from holdfast.pairs.signatures import EQUAL, SignatureKind, Signed, both_ways
from holdfast.table.change import Change
from holdfast.table.load import open_table, run_probe
from holdfast.table.runner import Runner
from holdfast.table.shard import Shard
from holdfast.table.table import Alive, Table, TableFiles

_ROWS_A_TASK = 20_000


def parts_of_table(
    table: Table,
    runner: Runner,
    rows: WeightedRows | None = None,
    progress: OnProgress | None = None,
    kind: SignatureKind = EQUAL,
) -> list[Signed]:
    """The signature of every pair of a table's rows (of a kind of order: from both), with how many pairs have it.

    As parts to add up. `rows` are the table's, where they are at hand; `progress` gets how far it is.
    """
    distinct = table.schema.nulls.are_distinct
    if runner.is_local:
        return all_pairs(rows or rows_of(table, kind), kind, distinct, progress)
    shares = max(1, table.rows // _ROWS_A_TASK) ** 2
    return both_ways(runner.map(partial(_share, table.files, kind, shares), range(shares)), kind)


def _share(where: TableFiles, kind: SignatureKind, shares: int, number: int) -> Signed:
    rows, distinct = _open_rows(where, kind), where.schema.nulls.are_distinct
    mine = Count(rows, rows, kind, distinct, within=True).share(number, shares)
    return mine if number else merged([mine, equal_pairs(rows, kind, distinct)])


@lru_cache(maxsize=1)
def _open_rows(where: TableFiles, kind: SignatureKind) -> WeightedRows:
    """The rows of a table, cached for the next task in this process."""
    return rows_of(open_table(where), kind)


def parts_of_change(change: Change, runner: Runner, kind: SignatureKind = EQUAL) -> list[Signed]:
    """The signatures of the pairs that a batch added and took, with signed counts, as parts to add up."""
    batch, after = batch_of(change), change.after
    distinct = after.schema.nulls.are_distinct
    if not kind.ordered:
        probe = BatchPairsProbe(batch, tuple(tops_of(after)), distinct)
        return batch_pairs(batch, kind, distinct, run_probe(runner, against_shard, after, probe))
    # The values of a batch have an order among themselves too: so they get ranks of their own.
    alone = RankedWeightedRows.of_shards(after, [], kind).ranked(batch, after)
    against = runner.map(partial(_ranked_shard, after.files, batch, kind), range(len(after.shards)))
    return batch_pairs(alone, kind, distinct, against)


def _ranked_shard(where: TableFiles, batch: WeightedRows, kind: SignatureKind, number: int) -> Signed:
    """A task by itself, not a probe: for the order of values it needs the table's dictionaries."""
    table = open_table(where)
    rows = RankedWeightedRows.of_shards(table, [(table.shards[number], table.alive[number])], kind)
    queries = rows.ranked(batch, table)
    return Count(queries, rows, kind, table.schema.nulls.are_distinct).share(0, 1)


def batch_of(change: Change) -> WeightedRows:
    """The rows of a batch, with signed weights; those that it both adds and takes are left out."""
    codes = np.concatenate([change.inserted, change.deleted], axis=1)
    steps = np.repeat(np.array([1, -1]), [change.inserted.shape[1], change.deleted.shape[1]])
    batch = WeightedRows.of(codes, steps)
    moved = batch.weights != 0
    return batch if moved.all() else WeightedRows.of(batch.codes().compress(moved, axis=1), batch.weights[moved])


@dataclass(frozen=True)
class BatchPairsProbe:
    """What the probe gets: a batch, the largest codes of each column, and whether nulls equal nothing."""

    batch: WeightedRows
    tops: tuple[int, ...]
    distinct: bool


def against_shard(shard: Shard, alive: Alive, probe: BatchPairsProbe) -> Signed:
    """The probe: the pairs of a batch's rows with the living rows of a shard."""
    rows = WeightedRows(probe.tops, len(shard))
    rows.add_shard(shard, alive)
    return Count(probe.batch, rows, EQUAL, probe.distinct).share(0, 1)
