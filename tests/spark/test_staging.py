"""Staging and bulk admission in Spark: the rows keep their order, and the table is the same as through memory."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.api.monitor import Monitor
from holdfast.errors import BadInput
from holdfast.intake.staged_rows import Plan, write_chunk
from holdfast.results.outcome import Outcome
from holdfast.spark import session
from holdfast.spark.stage import CHUNK_ROWS, stage_frame
from holdfast.table import admit
from holdfast.table.bulk import read_staged
from holdfast.table.types import Column
from tests.intake.building import changed, file_of, rows_in, through_spark, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_staging_keeps_the_order_of_the_rows(tmp_path: Path, spark: SparkSession) -> None:
    count = 2 * CHUNK_ROWS + 100_000
    frame = spark.range(0, count, 1, 2).toDF("s0")
    plan = Plan((Column("s0", pa.int64()),), (0,), (None,))
    paths, rows = stage_frame(frame, partial(write_chunk, plan, str(tmp_path)))
    assert rows == count
    assert len(paths) == 4  # two parts of two chunks each
    assert {Path(path).name for path in paths} == {path.name for path in tmp_path.iterdir()}
    staged = [read_staged(path, 1)[0] for path in paths]
    values = np.concatenate([np.asarray(chunk.values[0])[chunk.codes[0].astype(np.int64) - 1] for chunk in staged])
    assert np.array_equal(values, np.arange(count))


# ---- bulk admission -------------------------------------------------------------------------------------------------


def things(*rows: tuple[Any, ...]) -> pa.Table:
    keys, texts, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {"k": pa.array(keys, pa.int64()), "t": pa.array(texts, pa.string()), "f": pa.array(numbers, pa.float64())}
    )


START = [(n, "abc"[n % 3] if n % 5 else None, n / 2 if n % 4 else float("nan")) for n in range(24)]
TWICE = [*START, *START[:6]]
OPERATIONS = [
    ("update", (3, "new", 0.0)),
    ("delete", START[4]),
    ("insert", (4, "again", None)),
    ("insert", (100, "ä", 1.5)),
    ("update", (100, "ö", 1.5)),
    ("delete", START[7]),
    ("update", START[8]),
]
WITHOUT_UPDATES = [(kind, row) for kind, row in OPERATIONS if kind != "update"]


def operations(listed: list[tuple[str, tuple[Any, ...]]]) -> pa.Table:
    return things(*(row for _, row in listed)).append_column("op", pa.array([kind for kind, _ in listed]))


def steps(monitor: Monitor, keyed: bool, given: Any) -> list[Outcome]:
    """Batches of all kinds. `given` turns a table into a source."""
    return [
        monitor.apply(changes=given(operations(OPERATIONS if keyed else WITHOUT_UPDATES))),
        monitor.apply(
            inserts=given(things((200, "z", -1.0), (201, "a", None))),
            deletes=given(things(*START[10:13], (300, "not there", None))),
            on_missing="ignore",
        ),
        monitor.apply(snapshot=given(things(*START[5:20], (400, "snap", 0.25)))),
    ]


@pytest.mark.spark
@pytest.mark.parametrize("keyed", [False, True], ids=["no key", "key"])
def test_bulk_admission_gives_the_same_table(
    tmp_path: Path, spark: SparkSession, keyed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = ["k"] if keyed else []
    rows = things(*(START if keyed else TWICE))
    seen: list[list[Any]] = [[], []]
    here = watched(tmp_path, rows, key=key)
    with here:
        seen[0] = [(changed(outcome), outcome.diffs) for outcome in steps(here, keyed, lambda table: table)]
        here_rows = sorted(rows_in(here), key=repr)
    monkeypatch.setattr(admit, "SMALL", 0)
    monkeypatch.setattr(admit, "_ROWS_A_SLICE", 12)
    monkeypatch.setattr(session, "is_here", lambda _: False)  # as on a cluster: every task is Spark's
    there = watched(
        tmp_path, spark.createDataFrame(rows).repartitionByRange(2, "k") if keyed else rows, key=key, spark=spark
    )
    with there:
        seen[1] = [(changed(outcome), outcome.diffs) for outcome in steps(there, keyed, spark.createDataFrame)]
        assert sorted(rows_in(there), key=repr) == here_rows
    assert seen[0] == seen[1]


@pytest.mark.spark
def test_bulk_admission_keeps_ids_in_the_order_of_the_rows(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admit, "SMALL", 0)
    monkeypatch.setattr(admit, "_ROWS_A_SLICE", 12)
    monkeypatch.setattr(session, "is_here", lambda _: False)
    through_spark(monkeypatch)
    path = file_of(tmp_path, "t.csv", "k,t\n" + "".join(f"{n},t{n % 7}\n" for n in range(60)))
    with watched(tmp_path, path, key=["k"], spark=spark) as monitor:
        assert rows_in(monitor) == [(n, f"t{n % 7}") for n in range(60)]
        more = file_of(tmp_path, "more.csv", "op,k,t\n" + "".join(f"u,{n},new\n" for n in range(5)) + "d,59,\nc,60,x\n")
        assert changed(monitor.apply(changes=more)) == (6, 6, 0)
        assert rows_in(monitor) == [
            *((n, f"t{n % 7}") for n in range(5, 59)),
            *((n, "new") for n in range(5)),
            (60, "x"),
        ]
        rows = rows_in(monitor)
        for text, sentence in {
            "c,60,y\n": "repeats a declared key",
            "d,70,\n": "not there",
            "c,,y\n": "is null",
        }.items():
            with pytest.raises(BadInput, match=sentence):
                monitor.apply(changes=file_of(tmp_path, "bad.csv", "op,k,t\n" + text))
        assert rows_in(monitor) == rows
    with Monitor.open(tmp_path / "state0") as monitor:
        assert rows_in(monitor) == rows
