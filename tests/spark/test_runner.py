"""Tasks in Spark and tasks in threads give the same answers, in the same order, and the same errors of ours."""

from __future__ import annotations

import math
import operator
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from pyspark import TaskContext

from holdfast.engines.registry import rule_class
from holdfast.errors import BadInput
from holdfast.spark.runner import SparkRunner
from holdfast.table.frequencies import count_shard
from holdfast.table.load import run_probe
from holdfast.table.runner import Runner, Threads
from tests.intake.building import watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_answers_come_in_the_order_of_the_items(spark: SparkSession) -> None:
    items = [7, 3, 3, 0, 12, 1, 40]
    assert SparkRunner(spark).map(math.factorial, items) == Threads().map(math.factorial, items)
    assert SparkRunner(spark).map(partial(operator.getitem, {n: [n] for n in items}), items) == [[n] for n in items]
    assert SparkRunner(spark).map(math.factorial, []) == []


@pytest.mark.spark
def test_of_many_items_a_task_has_several(spark: SparkSession) -> None:
    items = list(range(100))
    assert SparkRunner(spark).map(math.factorial, items) == Threads().map(math.factorial, items)
    tasks = {task for task, _ in SparkRunner(spark).map(_where, items)}
    assert 1 < len(tasks) <= 3 * (os.cpu_count() or 1), "a few a core"
    assert [item for _, item in SparkRunner(spark).map(_where, items)] == items


def _where(item: int) -> tuple[int, int]:
    context = TaskContext.get()
    assert context is not None
    return context.partitionId(), item


@pytest.mark.spark
def test_errors_of_ours_come_back_as_themselves(spark: SparkSession) -> None:
    runners: list[Runner] = [SparkRunner(spark), Threads()]
    for runner in runners:
        with pytest.raises(BadInput, match="there is no rule class 'nonsense'"):
            runner.map(rule_class, ["column", "nonsense", "rubbish"])


@pytest.mark.spark
def test_other_errors_are_loud(spark: SparkSession) -> None:
    with pytest.raises(Exception, match=r"math domain error|nonnegative"):
        SparkRunner(spark).map(math.sqrt, [4.0, -1.0])


@pytest.mark.spark
def test_probes_answer_alike(tmp_path: Path, spark: SparkSession) -> None:
    """A table of several shards, some with dead rows."""
    rows = pa.table({"n": [1, 2, 2, None, 5], "t": ["a", "b", None, "a", "a"]})
    with watched(tmp_path, rows) as monitor:
        monitor.apply(inserts=rows, deletes=rows.slice(1, 2))
        monitor.apply(inserts=rows.slice(3), deletes=rows.slice(4))
        table = monitor.tables["things"]
    here = run_probe(Threads(), count_shard, table, [0, 1])
    there = run_probe(SparkRunner(spark), count_shard, table, [0, 1])
    assert len(here) == len(there) == len(table.shards) > 1
    for some, others in zip(here, there, strict=True):
        for (codes, counts), (other_codes, other_counts) in zip(some, others, strict=True):
            assert np.array_equal(codes, other_codes)
            assert np.array_equal(counts, other_counts)
