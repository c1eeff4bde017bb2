"""Probes: pure functions of a shard that answer one question; answers merge by an associative operation.

The same probe runs in a thread on the shards that this process has open, or in a task that opens the table by path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from holdfast.table.load import open_table
from holdfast.table.runner import Runner
from holdfast.table.shard import Shard
from holdfast.table.table import Alive, Table, TableFiles

Argument = TypeVar("Argument")
Answer = TypeVar("Answer")


def run_probe(
    runner: Runner, probe: Callable[[Shard, Alive, Argument], Answer], table: Table, argument: Argument
) -> list[Answer]:
    """The answer of each shard, in the order of the shards."""
    if runner.is_local:
        return runner.map(lambda each: probe(each[0], each[1], argument), list(table.living()))
    assert table.where is not None, "a table lies in files before tasks look at it"
    tasks = [_Task(probe, table.where, number, argument) for number in range(len(table.shards))]
    return runner.map(_answer, tasks)


@dataclass(frozen=True)
class _Task:
    probe: Callable[..., Any]
    where: TableFiles
    number: int
    argument: Any


def _answer(task: _Task) -> Any:
    table = open_table(task.where)
    return task.probe(table.shards[task.number], table.alive[task.number], task.argument)
