"""The pairs of a table, from scratch and after a batch, in threads of this process or in tasks elsewhere.

`count_pairs` and `pairs_of_change` hold nothing between calls. In tasks, a table goes by path: a task opens it and
counts its share of the tiles, or compares a batch with one shard; the answers, signatures with counts, add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from holdfast.changes.batch import Codes
from holdfast.pairs.compare import EQUAL, Count, TellShare, all_pairs, batch_pairs, equal_pairs, merged
from holdfast.pairs.rows import Rows, tops_of
from holdfast.pairs.table import Signed
from holdfast.table.load import open_table
from holdfast.table.probe import run_probe
from holdfast.table.runner import Runner, Threads
from holdfast.table.shard import Shard
from holdfast.table.table import Alive, Table, TableFiles

_ROWS_A_TASK = 20_000


class Changed(Protocol):
    """What a batch did to a table: `holdfast.engines.contract.Change`, seen from below."""

    @property
    def after(self) -> Table:
        """The table after the batch."""

    @property
    def inserted(self) -> Codes:
        """The codes of the rows born."""

    @property
    def deleted(self) -> Codes:
        """The codes of the rows that died."""


def count_pairs(table: Table, runner: Runner) -> Signed:
    """The agree-set of every pair of a table's rows, with how many pairs have it."""
    return merged(parts_of_table(table, runner))


def parts_of_table(
    table: Table, runner: Runner, rows: Rows | None = None, tell: TellShare | None = None
) -> list[Signed]:
    """The same, as parts to add up; `rows` are the table's, where they are at hand; `tell` hears how far it is."""
    distinct = table.schema.nulls == "distinct"
    if isinstance(runner, Threads):
        return all_pairs(rows or Rows.of_table(table), EQUAL, distinct, tell)
    assert table.where is not None, "a table lies in files before tasks look at it"
    shares = max(1, table.rows // _ROWS_A_TASK) ** 2
    return runner.map(_share, [_Share(table.where, number, shares) for number in range(shares)])


@dataclass(frozen=True)
class _Share:
    where: TableFiles
    number: int
    of: int


def _share(task: _Share) -> Signed:
    rows = _open_rows(task.where)
    distinct = task.where.schema.nulls == "distinct"
    mine = Count(rows, rows, EQUAL, distinct, within=True).share(task.number, task.of)
    return mine if task.number else merged([mine, equal_pairs(rows, EQUAL, distinct)])


@lru_cache(maxsize=1)
def _open_rows(where: TableFiles) -> Rows:
    """The rows of a table, kept for the next task in this process."""
    return Rows.of_table(open_table(where))


def pairs_of_change(change: Changed, runner: Runner) -> Signed:
    """The agree-sets of the pairs that a batch added and took, with signed counts."""
    return merged(parts_of_change(change, runner))


def parts_of_change(change: Changed, runner: Runner) -> list[Signed]:
    """The same, as parts to add up."""
    batch = batch_of(change)
    asked = Asked(batch, tuple(tops_of(change.after)), change.after.schema.nulls == "distinct")
    return batch_pairs(batch, EQUAL, asked.distinct, run_probe(runner, against_shard, change.after, asked))


def batch_of(change: Changed) -> Rows:
    """The rows of a batch, with signed weights; those that it both adds and takes are left out."""
    codes = np.concatenate([change.inserted, change.deleted], axis=1)
    steps = np.repeat(np.array([1, -1]), [change.inserted.shape[1], change.deleted.shape[1]])
    batch = Rows.of(codes, steps)
    moved = batch.weights != 0
    return batch if moved.all() else Rows.of(batch.codes()[:, moved], batch.weights[moved])


@dataclass(frozen=True)
class Asked:
    """What the probe is asked: a batch, the largest codes of each column, and whether nulls equal nothing."""

    batch: Rows
    tops: tuple[int, ...]
    distinct: bool


def against_shard(shard: Shard, alive: Alive, asked: Asked) -> Signed:
    """The probe: the pairs of a batch's rows with the living rows of a shard."""
    rows = Rows(asked.tops, len(shard))
    rows.add_shard(shard, alive)
    return Count(asked.batch, rows, EQUAL, asked.distinct).share(0, 1)
