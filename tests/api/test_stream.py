"""Streaming DataFrames: each batch of a query once, whatever is repeated, and what is refused."""

from __future__ import annotations

import shutil
import types
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pytest

from holdfast.api.monitor import Monitor
from holdfast.errors import BadInput
from holdfast.results.outcome import Outcome
from tests.intake.building import Notes, file_of
from tests.table.building import rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from holdfast.spark.stream import Stream


class Place(NamedTuple):
    """A state of one table and the folder of files that a stream reads, one a batch."""

    root: Path
    spark: SparkSession

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def streams(self) -> Path:
        return self.state / "streams"

    def comes(self, name: str, *values: object, header: str = "n") -> None:
        path = Path(file_of(self.root, f"arriving-{name}", "\n".join(map(str, (header, *values))) + "\n"))
        path.rename(self.root / "in" / name)

    def frame(self, schema: str = "n LONG", a_batch: int = 1) -> DataFrame:
        reader = self.spark.readStream.schema(schema).option("header", True).option("maxFilesPerTrigger", a_batch)
        return reader.csv(str(self.root / "in"))

    def run(self, monitor: Monitor, frame: DataFrame | None = None, **more: Any) -> list[Outcome]:
        """Apply what is there now."""
        outcomes: list[Outcome] = []
        frame = self.frame() if frame is None else frame
        monitor.stream(frame, once=True, applied=outcomes.append, **more).wait()
        return outcomes


@pytest.fixture
def place(tmp_path: Path, spark: SparkSession) -> Place:
    (tmp_path / "in").mkdir()
    start = pa.table({"n": pa.array([], pa.int64())})
    Monitor.create(tmp_path / "state", {"things": start}, watch=["column"], key="n").close()
    return Place(tmp_path, spark)


@pytest.fixture
def monitor(place: Place) -> Iterator[Monitor]:
    with Monitor.open(place.state, spark=place.spark) as monitor:
        yield monitor


def values(monitor: Monitor, table: str = "things") -> list[object]:
    return sorted((row[0] for row in rows_of(monitor.tables[table])), key=str)


@pytest.mark.spark
def test_each_batch_once_also_of_an_older_checkpoint(place: Place, monitor: Monitor, tmp_path: Path) -> None:
    place.comes("1.csv", 1, 2)
    assert [outcome.batch.inserted for outcome in place.run(monitor)] == [2]
    shutil.copytree(place.streams, tmp_path / "older")
    place.comes("2.csv", 3)
    place.comes("3.csv", 4)
    assert len(place.run(monitor)) == 2
    assert place.run(monitor) == []
    ids = [batch.batch_id for batch in monitor.history()]
    assert [batch_id.rpartition("/")[2] for batch_id in ids] == ["0", "1", "2"]
    assert len({batch_id.rpartition("/")[0] for batch_id in ids}) == 1, "that of the query, across its runs"

    shutil.rmtree(place.streams)
    (tmp_path / "older").rename(place.streams)
    again = place.run(monitor)
    assert [outcome.already_applied for outcome in again] == [True, True]
    assert values(monitor) == [1, 2, 3, 4]
    place.comes("4.csv", 5)
    assert [outcome.already_applied for outcome in place.run(monitor)] == [False]
    assert values(monitor) == [1, 2, 3, 4, 5]


@pytest.mark.spark
def test_an_older_checkpoint_with_another_batch_is_refused(place: Place, monitor: Monitor, tmp_path: Path) -> None:
    """Batch 1 would hold rows that are new, and would be skipped by its number."""
    place.comes("1.csv", 1)
    place.run(monitor)
    shutil.copytree(place.streams, tmp_path / "older")
    place.comes("2.csv", 2)
    place.run(monitor)
    shutil.rmtree(place.streams)
    (tmp_path / "older").rename(place.streams)
    place.comes("3.csv", 3)
    with pytest.raises(BadInput, match="applied before with 1 row, and now it has 2: the stream's checkpoint"):
        place.run(monitor, place.frame(a_batch=2))
    assert values(monitor) == [1, 2]


@pytest.mark.spark
def test_killed_between_our_commit_and_that_of_spark(place: Place, monitor: Monitor) -> None:
    place.comes("1.csv", 1)

    def fails(_: Outcome) -> None:
        raise BadInput("as if killed")

    stream = monitor.stream(place.frame(), once=True, applied=fails)
    with pytest.raises(BadInput, match="as if killed"):
        stream.wait()
    assert [outcome.already_applied for outcome in place.run(monitor)] == [True]
    assert values(monitor) == [1]


@pytest.mark.spark
def test_a_bad_batch_ends_the_stream_and_a_quarantine_does_not(place: Place, monitor: Monitor, tmp_path: Path) -> None:
    place.comes("1.csv", 1, 1)
    with pytest.raises(BadInput, match="n=1"):
        place.run(monitor)
    assert values(monitor) == []
    (outcome,) = place.run(monitor, quarantine=tmp_path / "aside")
    assert outcome.quarantined is not None
    assert (values(monitor), outcome.quarantined.rows) == ([1], 1)


@pytest.mark.spark
def test_it_runs_until_it_is_stopped_and_goes_on_later(place: Place) -> None:
    with Monitor.open(place.state, spark=place.spark) as monitor:
        done: list[Outcome] = []
        stream = monitor.stream(place.frame(), every=0.05, applied=done.append)
        place.comes("1.csv", 1)
        while not done:
            assert not stream.wait(1)
        stream.stop()
        assert stream.wait()
        place.comes("2.csv", 2)
        other = monitor.stream(place.frame(), every=0.05)
    assert other.wait(), "closing the monitor stops its streams"
    with Monitor.open(place.state, spark=place.spark) as monitor:
        place.run(monitor)
        assert values(monitor) == [1, 2]


@pytest.mark.spark
def test_no_number_of_a_source_that_counts_is_lost_or_repeated(tmp_path: Path, spark: SparkSession) -> None:
    """Stopped in the middle: what Spark repeats is skipped, and what it had not given yet comes later."""
    schema = pa.schema([("timestamp", pa.timestamp("us", "UTC")), ("value", pa.int64())])
    numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 3).load()
    with Monitor.create(tmp_path / "state", {"things": schema.empty_table()}, watch=[], spark=spark) as monitor:
        for _ in range(2):
            done: list[Outcome] = []
            stream = monitor.stream(numbers, every=0.01, applied=done.append)
            while len(done) < 2:
                assert not stream.wait(1)
            stream.stop()
        table = monitor.tables["things"]
        assert sorted(row[1] for row in rows_of(table)) == list(range(table.rows))  # type: ignore[type-var]
        assert table.rows == 3 * len(monitor.history()) >= 9


@pytest.mark.spark
def test_it_may_be_stopped_while_a_batch_is_shown(place: Place, monitor: Monitor) -> None:
    for number in range(3):
        place.comes(f"{number}.csv", number)
    started: Future[Stream] = Future()
    stream = monitor.stream(place.frame(), every=0.01, applied=lambda _: started.result().stop())
    started.set_result(stream)
    assert stream.wait()
    assert len(values(monitor)) == 1
    assert [outcome.already_applied for outcome in place.run(monitor)] in ([False, False], [True, False, False])
    assert values(monitor) == [0, 1, 2]


@pytest.mark.spark
def test_changes_of_several_tables_by_two_streams(tmp_path: Path, spark: SparkSession) -> None:
    """A feed that names its tables, and inserts into one of them: each has a checkpoint of its own."""
    place = Place(tmp_path, spark)
    (tmp_path / "in").mkdir()
    start = {name: pa.table({"n": pa.array([1], pa.int64())}) for name in ("a", "b")}
    place.comes("1.csv", "a,delete,1", "b,insert,2", header="t,op,n")
    with Monitor.create(place.state, start, watch=["column"], key={"a": "n", "b": "n"}, spark=spark) as monitor:
        feed = place.frame("t STRING, op STRING, n LONG")
        (outcome,) = place.run(monitor, feed, how="changes", table_column="t")
        assert (outcome.batch.deleted, outcome.batch.inserted) == (1, 1)
        (more,) = place.run(monitor, feed.selectExpr("n + 5 AS n"), table="b")
        assert more.batch.tables == ("b",)
        assert (values(monitor, "a"), values(monitor, "b")) == ([], [1, 2, 6, 7])
        with pytest.raises(BadInput, match="this state watches several tables"):
            monitor.stream(feed)
        assert len(list(place.streams.iterdir())) == 2


@pytest.mark.spark
def test_what_is_no_stream(place: Place, monitor: Monitor) -> None:
    with pytest.raises(BadInput, match=r"this DataFrame is not a stream; give it to apply\(\)"):
        monitor.stream(place.spark.range(3))
    with pytest.raises(BadInput, match="a stream is a streaming DataFrame of Spark, not a Table"):
        monitor.stream(pa.table({"n": [1]}))
    with pytest.raises(BadInput, match="no snapshot"):
        monitor.stream(place.frame(), how="snapshot")  # type: ignore[arg-type]


def test_over_connect_it_is_refused(tmp_path: Path) -> None:
    """A function that handles batches would run at the server. (The class stands in for a session over Connect.)"""
    made = types.new_class("DataFrame", (), {}, lambda body: body.update(isStreaming=True))
    made.__module__ = "pyspark.sql.connect.dataframe"
    notes = Notes()
    with (
        Monitor.create(tmp_path / "state", {"things": pa.table({"n": [1]})}, watch=[], progress=notes) as monitor,
        pytest.raises(BadInput, match=r"over Spark Connect .* use a classic session, or write the stream to a folder"),
    ):
        monitor.stream(made())
