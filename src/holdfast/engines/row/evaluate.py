"""The rows of a table that violate rules are found shard by shard, in threads here or in tasks elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from holdfast.engines.conditions.columns import NamedColumns
from holdfast.engines.conditions.truth import truth
from holdfast.rules.conditions import Condition
from holdfast.table.load import open_table
from holdfast.table.rows import Ids, Rows
from holdfast.table.runner import Runner
from holdfast.table.table import Table, TableFiles


def violators(requested: Sequence[Condition], rows: Rows) -> list[Ids]:
    """For each condition the ids of the rows in which it is false, ascending."""
    if not len(rows):
        return [np.empty(0, np.int64) for _ in requested]
    columns = NamedColumns.of(rows)
    return [_false_in(rows, columns, condition) for condition in requested]


def _false_in(rows: Rows, columns: NamedColumns, condition: Condition) -> Ids:
    return rows.ids_at(np.flatnonzero(truth(condition, columns) < 0))


def violators_in(requested: Sequence[Condition], table: Table, runner: Runner) -> list[Ids]:
    """The same of all rows of a table."""
    found = [[np.empty(0, np.int64)] for _ in requested]
    for answer in _answers(tuple(requested), table, runner) if requested else ():
        for own, ids in zip(found, answer, strict=True):
            own.append(ids)
    return [np.concatenate(own) for own in found]


def _answers(requested: tuple[Condition, ...], table: Table, runner: Runner) -> Iterator[list[Ids]]:
    """The answers of each shard. In threads, those to all conditions share the values of one shard at a time."""
    if not runner.is_local:
        yield from runner.map(partial(_look, table.files, requested), range(len(table.shards)))
        return
    for number in range(len(table.shards)):
        rows = Rows.living(table, number)
        yield runner.map(partial(_false_in, rows, NamedColumns.of(rows)), requested)


def _look(where: TableFiles, requested: tuple[Condition, ...], number: int) -> list[Ids]:
    """A task: look at one shard of a table that lies in files."""
    return violators(requested, Rows.living(open_table(where), number))


def count_true(condition: Condition, table: Table) -> int:
    """For how many rows of a table a condition is true."""
    shards = (Rows.living(table, number) for number in range(len(table.shards)))
    return sum(int((truth(condition, NamedColumns.of(rows)) > 0).sum()) for rows in shards if len(rows))
