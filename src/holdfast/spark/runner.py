"""A runner whose tasks are Spark tasks: one item, one task."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql import SparkSession

from holdfast.errors import HoldfastError
from holdfast.spark.frames import collected

Item = TypeVar("Item")
Answer = TypeVar("Answer")
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
        packed = [pickle.dumps((function, item)) for item in items]

        def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                ids = batch.column(0).to_pylist()
                yield pa.RecordBatch.from_arrays(
                    [pa.array(ids, pa.int64()), pa.array([_run(packed[i]) for i in ids], pa.binary())], schema=_SCHEMA
                )

        numbers = self._spark.range(0, len(items), 1, len(items))
        answers = numbers.mapInArrow(answer, "id bigint, answer binary")
        in_order = sorted(collected(answers), key=lambda row: row["id"])
        found: list[Any] = [pickle.loads(row["answer"]) for row in in_order]
        for each in found:
            if isinstance(each, HoldfastError):
                raise each
        return found


def _run(packed: bytes) -> bytes:
    function, item = pickle.loads(packed)
    try:
        return pickle.dumps(function(item))
    except HoldfastError as error:
        return pickle.dumps(error)
