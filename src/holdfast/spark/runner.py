"""A runner whose tasks are Spark tasks: a few a core, each with several items, as a task costs a fifth of a second.

The function and all items are pickled together, so that what the items share, such as the paths of a table, is there
once.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.sql import SparkSession

from holdfast.errors import HoldfastError
from holdfast.spark.frames import collected

Item = TypeVar("Item")
Answer = TypeVar("Answer")
_FEW = 8  # items up to which each has a task of its own
_TASKS_A_SLOT = 3
_MANY = 1 << 20  # numbers of which each slot gets some
_slots: WeakKeyDictionary[SparkSession, int] = WeakKeyDictionary()  # how many tasks a session runs at once
_SCHEMA = pa.schema([("id", pa.int64()), ("answer", pa.binary())])


class SparkRunner:
    """Runs a function in Spark tasks; errors of ours come back as themselves."""

    is_local = False

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def map(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """The answers, in the order of the items."""
        if not items:
            return []
        packed, tasks = pickle.dumps((function, list(items))), self._tasks(len(items))

        def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            function, items = pickle.loads(packed)
            for task in (task for batch in batches for task in batch.column(0).to_pylist()):
                for place in range(task, len(items), tasks):  # of items of one kind each task has some
                    columns = [pa.array([place], pa.int64()), pa.array([_run(function, items[place])], pa.binary())]
                    yield pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)

        numbers = self._spark.range(0, tasks, 1, tasks)
        answers = numbers.mapInArrow(answer, "id bigint, answer binary")
        in_order = sorted(collected(answers), key=lambda row: row["id"])
        found: list[Any] = [pickle.loads(row["answer"]) for row in in_order]
        for each in found:
            if isinstance(each, HoldfastError):
                raise each
        return found

    def _tasks(self, items: int) -> int:
        """How many tasks work on some items."""
        if items <= _FEW:
            return items
        if self._spark not in _slots:
            _slots[self._spark] = len(self._spark.range(0, _MANY).mapInArrow(_one_row, "n int").collect())
        return min(items, _TASKS_A_SLOT * _slots[self._spark])


def _one_row(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row a task."""
    for _ in batches:
        pass
    yield pa.RecordBatch.from_arrays([pa.array([0], pa.int32())], names=["n"])


def _run(function: Callable[[Any], Any], item: Any) -> bytes:
    try:
        return pickle.dumps(function(item))
    except HoldfastError as error:
        return pickle.dumps(error)
