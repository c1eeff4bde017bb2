"""Probes: pure functions of a shard that answer one question; answers merge by an associative operation.

The same probe runs in a thread on the shards that this process has open, or in a task that opens the table by path.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

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
    return runner.map(partial(_answer, probe, table.where, argument), range(len(table.shards)))


def _answer(
    probe: Callable[[Shard, Alive, Argument], Answer], where: TableFiles, argument: Argument, number: int
) -> Answer:
    table = open_table(where)
    return probe(table.shards[number], table.alive[number], argument)
