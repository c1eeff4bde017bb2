"""The rows of a table that violate rules: shard by shard, in threads here or in tasks elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.row.evaluate import Codes, Rows, truth
from holdfast.engines.row.model import Condition
from holdfast.table.change import Change
from holdfast.table.load import open_table
from holdfast.table.runner import Runner
from holdfast.table.shard import Shard
from holdfast.table.table import Alive, Table, TableFiles

Ids = NDArray[np.int64]


def violators(conditions: Sequence[Condition], table: Table, runner: Runner) -> list[Ids]:
    """For each condition the ids of the living rows in which it is false, ascending."""
    if runner.is_local:
        items = [(rows, condition) for rows in map(_Living, table.shards, table.alive) for condition in conditions]
        found = runner.map(lambda item: item[0].violators(item[1], table), items)
    else:
        assert table.where is not None, "a table lies in files before tasks look at it"
        tasks = [_Task(table.where, number, tuple(conditions)) for number in range(len(table.shards))]
        found = [ids for answer in runner.map(_look, tasks) for ids in answer]
    width = len(conditions)
    return [np.concatenate([np.empty(0, np.int64), *found[number::width]]) for number in range(width)]


def violators_born(conditions: Sequence[Condition], change: Change) -> list[Ids]:
    """The same of the rows that a batch brought, at the cost of these."""
    rows = Rows(change.after, len(change.born), lambda column: change.inserted[column])
    return [change.born.start + np.flatnonzero(truth(condition, rows) < 0) for condition in conditions]


def rows_of(table: Table, ids: Ids) -> Rows:
    """Some rows, by their ids."""
    codes = table.codes(ids)
    return Rows(table, len(ids), lambda column: codes[column])


class _Living:
    """The living rows of a shard."""

    def __init__(self, shard: Shard, alive: Alive) -> None:
        self._shard, self._alive = shard, alive

    def violators(self, condition: Condition, table: Table) -> Ids:
        """Those in which a condition is false."""
        shard, alive = self._shard, self._alive
        places = None if alive is None else np.flatnonzero(alive)

        @cache
        def codes_of(column: int) -> Codes:
            return shard.columns[column] if places is None else shard.columns[column][places]

        rows = Rows(table, len(shard) if places is None else len(places), codes_of)
        found = np.flatnonzero(truth(condition, rows) < 0)
        return shard.ids_of(found if places is None else places[found])


@dataclass(frozen=True)
class _Task:
    """Look at one shard of a table that lies in files."""

    where: TableFiles
    number: int
    conditions: tuple[Condition, ...]


def _look(task: _Task) -> list[Ids]:
    table = open_table(task.where)
    living = _Living(table.shards[task.number], table.alive[task.number])
    return [living.violators(condition, table) for condition in task.conditions]
