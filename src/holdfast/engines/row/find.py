"""The rows of a table that violate rules: shard by shard, in threads here or in tasks elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.row.evaluate import truth
from holdfast.engines.row.rows import Codes, Rows
from holdfast.rules.conditions import Condition
from holdfast.table.change import Change
from holdfast.table.load import open_table
from holdfast.table.runner import Runner
from holdfast.table.shard import Shard
from holdfast.table.table import Alive, Table, TableFiles

Ids = NDArray[np.int64]


def violators(conditions: Sequence[Condition], table: Table, runner: Runner) -> list[Ids]:
    """For each condition the ids of the living rows in which it is false, ascending."""
    found = [[np.empty(0, np.int64)] for _ in conditions]
    for answer in _answers(tuple(conditions), table, runner):
        for own, ids in zip(found, answer, strict=True):
            own.append(ids)
    return [np.concatenate(own) for own in found]


def _answers(conditions: tuple[Condition, ...], table: Table, runner: Runner) -> Iterator[list[Ids]]:
    """The answers of each shard. In threads, those to all conditions share the values of one shard at a time."""
    if not runner.is_local:
        assert table.where is not None, "a table lies in files before tasks look at it"
        tasks = [_Task(table.where, number, conditions) for number in range(len(table.shards))]
        yield from runner.map(_look, tasks)
        return
    for shard, alive in table.living():
        living = _Living(table, shard, alive)
        yield runner.map(living.violators, conditions)


def violators_born(conditions: Sequence[Condition], change: Change) -> list[Ids]:
    """The same of the rows that a batch brought, at the cost of these."""
    if not len(change.born):
        return [np.empty(0, np.int64) for _ in conditions]
    rows = Rows(change.after, len(change.born), lambda column: change.inserted[column])
    return [change.born.start + np.flatnonzero(truth(condition, rows) < 0) for condition in conditions]


def rows_of(table: Table, ids: Ids) -> Rows:
    """Some rows, by their ids."""
    codes = table.codes(ids)
    return Rows(table, len(ids), lambda column: codes[column])


class _Living:
    """The living rows of a shard."""

    def __init__(self, table: Table, shard: Shard, alive: Alive) -> None:
        self._shard = shard
        self._places = None if alive is None else np.flatnonzero(alive)
        self._rows = Rows(table, len(shard) if self._places is None else len(self._places), cache(self._codes_of))

    def _codes_of(self, column: int) -> Codes:
        codes = self._shard.columns[column]
        return codes if self._places is None else codes[self._places]

    def violators(self, condition: Condition) -> Ids:
        """Those in which a condition is false."""
        found = np.flatnonzero(truth(condition, self._rows) < 0)
        return self._shard.ids_of(found if self._places is None else self._places[found])


@dataclass(frozen=True)
class _Task:
    """Look at one shard of a table that lies in files."""

    where: TableFiles
    number: int
    conditions: tuple[Condition, ...]


def _look(task: _Task) -> list[Ids]:
    table = open_table(task.where)
    living = _Living(table, table.shards[task.number], table.alive[task.number])
    return [living.violators(condition) for condition in task.conditions]
