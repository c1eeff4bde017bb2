"""Checkpoints, compaction and replay change nothing but the files; readers see one moment or the next."""

from __future__ import annotations

import errno
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.api import upkeep
from holdfast.api.monitor import Monitor
from holdfast.api.open_state import OpenState
from holdfast.api.view import View
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput, Damaged
from holdfast.progress import Progress
from holdfast.store.batches import replayed
from holdfast.store.store import Store
from holdfast.table import files, rewrite
from holdfast.table.change import Batch
from holdfast.table.load import load_table
from holdfast.table.runner import Threads
from holdfast.table.table import Table
from tests.intake.building import rows_in
from tests.oracle.rows import Row, plain_row
from tests.table.building import bulk_path

SCHEMA = pa.schema([("n", pa.int64()), ("t", pa.string()), ("f", pa.float64())])


def table_of(rows: Sequence[Row]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * 3
    return pa.table([pa.array(c, kept) for c, kept in zip(columns, SCHEMA.types, strict=True)], schema=SCHEMA)


@contextmanager
def small_files(largest: int = 12, batches: int = 3, small: int = 1 << 18) -> Iterator[None]:
    """Compaction and checkpoints as soon as there are a few rows and a few batches."""
    with (
        patch.object(rewrite, "_FEWEST", 2),
        patch.object(rewrite, "_LARGEST", largest),
        patch.object(rewrite, "_SMALL", small),
        patch.object(upkeep, "_REPLAY_BATCHES", batches),
    ):
        yield


def lines(monitor: View) -> list[dict[str, Any]]:
    return sorted((finding.to_json() for finding in monitor.results()), key=lambda facts: str(facts["text"]))


def described(table: Table) -> list[Any]:
    """Everything about a table that must not depend on its files."""
    ids = table.living_ids()
    values = [d.values(np.arange(len(d))).to_pylist() for d in table.dictionaries]
    return [ids.tolist(), table.codes(ids).tolist(), table.next_id, table.rows, str(values)]


# ---- streams ---------------------------------------------------------------------------------------------------------

rows = st.tuples(
    st.none() | st.integers(0, 3),
    st.none() | st.sampled_from(["", "a", "\U0001f600", "b"]),
    st.sampled_from([None, 0.5, float("nan"), -0.0]),
)
row_lists = st.lists(rows, max_size=5)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), row_lists),
        st.tuples(st.just("delete"), row_lists),
        st.tuples(st.just("both"), st.tuples(row_lists, row_lists)),
        st.tuples(st.just("snapshot"), row_lists),
        st.tuples(st.just("bulk"), row_lists),
        st.tuples(st.just("checkpoint"), st.none()),
        st.tuples(st.just("vacuum"), st.none()),
        st.tuples(st.just("reopen"), st.none()),
    ),
    max_size=9,
)


class Stream:
    """A state, and a plain multiset of the same rows."""

    def __init__(self, folder: str, first: list[Row]) -> None:
        self.path = Path(folder) / "state"
        self.monitor = Monitor.create(self.path, {"things": table_of(first)}, watch="column")
        self.rows = Counter(plain_row(row) for row in first)
        self.born = len(first)

    def step(self, kind: str, given: Any) -> None:
        if kind == "checkpoint":
            self.monitor.checkpoint()
        elif kind == "vacuum":
            self.monitor.vacuum()
        elif kind == "reopen":
            self.monitor.close()
            self.monitor = Monitor.open(self.path)
        elif kind == "bulk":
            with bulk_path(4):
                self.apply(given, [])
        elif kind == "snapshot":
            wanted = Counter(plain_row(row) for row in given)
            outcome = self.monitor.apply(snapshot=table_of(given))
            assert outcome.batch.deleted == (self.rows - wanted).total()
            assert outcome.batch.inserted == (wanted - self.rows).total()
            self.rows = wanted
            self.born += outcome.batch.inserted
        else:
            self.apply(*({"insert": (given, []), "delete": ([], given)}.get(kind) or given))

    def apply(self, inserts: list[Row], deletes: list[Row]) -> None:
        """A batch, its deletes first; one that deletes what isn't there is refused, and goes in without that."""
        left = self.rows.copy()
        left.subtract(plain_row(row) for row in deletes)
        sources = {"inserts": table_of(inserts), "deletes": table_of(deletes)}
        refused = min(left.values(), default=0) < 0
        if refused:
            with pytest.raises(BadInput, match="not there"):
                self.monitor.apply(**sources)
        outcome = self.monitor.apply(**sources, on_missing="ignore" if refused else "error")
        self.rows = +left + Counter(plain_row(row) for row in inserts)
        self.born += outcome.batch.inserted

    def check(self) -> None:
        table = self.monitor.tables["things"]
        assert Counter(rows_in(self.monitor)) == self.rows
        assert (table.rows, table.next_id) == (self.rows.total(), self.born)
        column = make_engine("column")
        fresh = column.result(column.discover(WatchedTable(table), Threads())).values()
        assert lines(self.monitor) == sorted((f.to_json() for f in fresh), key=lambda facts: str(facts["text"]))
        store = self.monitor._store
        assert store.rules.results() == lines(self.monitor)
        named = {Path(s.path).name for record in store.tables() for s in record.where.segments}
        assert {*named, *(Path(path).name for path in store.bulk.states().values())} == set(files.sizes(store.folder))


@settings(max_examples=30)
@given(first=row_lists, stream=steps, small=st.sampled_from([0, 1 << 18]))
def test_streams_of_batches_checkpoints_and_reopenings(
    first: list[Row], stream: list[tuple[str, Any]], small: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, small_files(small=small):
        state = Stream(folder, first)
        for kind, given_rows in stream:
            state.step(kind, given_rows)
            state.check()
        before = described(state.monitor.tables["things"])
        state.step("reopen", None)
        state.check()
        assert described(state.monitor.tables["things"]) == before
        state.monitor.close()


# ---- compaction ------------------------------------------------------------------------------------------------------


def test_compaction_keeps_all_but_dead_rows(tmp_path: Path) -> None:
    with Monitor.create(tmp_path / "state", {"things": table_of([(n, f"t{n}", None) for n in range(40)])}) as monitor:
        for n in range(10):
            gone = table_of([(2 * n, f"t{2 * n}", None), *([(n - 1, "new", 0.5)] if n else [])])
            monitor.apply(inserts=table_of([(n, "new", 0.5), (n, f"only {n}", None)]), deletes=gone)
        before, results = described(monitor.tables["things"]), lines(monitor)
        assert len(monitor.tables["things"].shards) == 11
        monitor.checkpoint()
        table = monitor.tables["things"]
        assert described(table) == before
        assert lines(monitor) == results
        assert len(table.shards) == 1
        assert len(table.shards[0]) == table.rows == 41
        assert not any(len(files.read(segment.path)[0]["dead"]) for segment in table.where.segments)  # type: ignore[union-attr]
        monitor.checkpoint()
        assert monitor.tables["things"] is table  # nothing was left to do
    with Monitor.open(tmp_path / "state") as monitor:
        assert described(monitor.tables["things"]) == before
        assert lines(monitor) == results
        monitor.apply(deletes=table_of([(9, "new", 0.5)]), inserts=table_of([(99, "t1", None)]))
        assert monitor.tables["things"].rows == 41


def test_a_large_shard_is_rewritten_when_most_of_it_is_dead(tmp_path: Path) -> None:
    with small_files(largest=10, batches=1000):
        old = [(n, "old", None) for n in range(50)]
        with Monitor.create(tmp_path / "state", {"things": table_of(old)}, watch="column") as monitor:
            monitor.apply(deletes=table_of(old[10:30]))
            monitor.checkpoint()
            assert len(monitor.tables["things"].shards[0]) == 50
            monitor.apply(deletes=table_of(old[30:45]))
            monitor.checkpoint()
            assert [len(shard) for shard in monitor.tables["things"].shards] == [15]
            monitor.apply(deletes=table_of([*old[:10], *old[45:]]))
            monitor.checkpoint()
            assert monitor.tables["things"].shards == ()
            monitor.apply(inserts=table_of(old[:2]))
            assert monitor.tables["things"].living_ids().tolist() == [50, 51]
        with Monitor.open(tmp_path / "state") as monitor:
            assert rows_in(monitor) == old[:2]


def test_many_batches_make_few_files(tmp_path: Path) -> None:
    with patch.object(upkeep, "_REPLAY_BATCHES", 8):
        with Monitor.create(tmp_path / "state", {"things": table_of([])}, watch="column") as monitor:
            for n in range(70):
                monitor.apply(inserts=table_of([(n, f"t{n % 9}", None)]))
        assert len(list((tmp_path / "state" / "segments").iterdir())) < 24
        with Monitor.open(tmp_path / "state") as monitor:
            assert rows_in(monitor) == [(n, f"t{n % 9}", None) for n in range(70)]


# ---- replay ----------------------------------------------------------------------------------------------------------


def test_steps_lead_from_the_checkpoint_to_the_present(tmp_path: Path) -> None:
    """Replayed by hand: the segments of each step make the table and the facts that the live state has."""
    with Monitor.create(
        tmp_path / "state", {"things": table_of([(1, "a", 0.5), (2, "b", None)])}, watch="column"
    ) as monitor:
        monitor.apply(inserts=table_of([(3, "c", None)]))
        monitor.checkpoint()
        seen = [described(monitor.tables["things"])]
        for n in range(3):
            gone = (n + 1, "abc"[n], None if n else 0.5)
            monitor.apply(inserts=table_of([(n, f"x{n}", 1.5), (n, "a", None)]), deletes=table_of([gone]))
            seen.append(described(monitor.tables["things"]))
        monitor.apply(snapshot=table_of([(0, "a", None)]))
        seen.append(described(monitor.tables["things"]))
        results = lines(monitor)
    store = Store(tmp_path / "state")
    column = make_engine("column")
    assert store.checkpoint() == 1
    table = load_table(store.tables(as_of=1)[0].where)
    kept = store.bulk.states()
    watched = WatchedTable(table, files.read(kept["parts", "things"])[0])
    state = column.load(watched, *files.read(kept["column", "things"]))
    assert described(table) == seen[0]
    for step, after in zip(store.steps_after(1), seen[1:], strict=True):
        ((_, change),) = replayed({"things": table}, [step])
        watched.follow(change, Threads())
        column.follow(state, Batch([change]), Threads())
        table = change.after
        assert described(table) == after
    assert sorted((f.to_json() for f in column.result(state).values()), key=lambda f: str(f["text"])) == results
    store.close()


def test_each_file_is_read_once_however_many_batches_wait(tmp_path: Path) -> None:
    with Monitor.create(
        tmp_path / "state", {"things": table_of([(n, "x", 0.5) for n in range(40)])}, watch="column"
    ) as monitor:
        for n in range(30):
            monitor.apply(inserts=table_of([(n, f"t{n}", None)]), deletes=table_of([(n, "x", 0.5)]))
        assert monitor._state.replay_batches == 30
    reads: Counter[str] = Counter()

    def counted(path: str) -> Any:
        reads[Path(path).name] += 1
        return read(path)

    read = files.read
    with patch.object(files, "read", counted), Monitor.open(tmp_path / "state") as monitor:
        assert len(rows_in(monitor)) == 40
    assert set(reads.values()) == {1}
    assert len(reads) == 1 + 2 + 30, "the table, what engines keep of it, and a segment for each batch"


def test_batches_are_replayed_together_unless_one_deletes_rows_of_another(tmp_path: Path) -> None:
    before = [(n, "x", 0.5) for n in range(9)]
    with Monitor.create(
        tmp_path / "state", {"things": table_of(before), "others": table_of([])}, watch="column"
    ) as monitor:
        for n in range(3):
            monitor.apply(inserts=table_of([(10 + n, "y", None)]), deletes=table_of([(n, "x", 0.5)]), table="things")
        monitor.apply(inserts=table_of([(20, "z", None)]), table="others")
        monitor.apply(inserts=table_of([(30, "x", 0.5)]), deletes=table_of([(3, "x", 0.5)]), table="things")
        monitor.apply(deletes=table_of([(30, "x", 0.5), (10, "y", None)]), table="things")
        monitor.apply(inserts=table_of([(30, "x", 0.5)]), table="things")
        results = lines(monitor)
    seen: list[tuple[str, list[int], list[int]]] = []

    def watched(loaded: OpenState, changes: Batch, batches: int) -> Any:
        seen.extend((change.table, list(change.born), change.dead.tolist()) for change in changes)
        return follow(loaded, changes, batches)

    follow = OpenState.follow
    with patch.object(OpenState, "follow", watched), Monitor.open(tmp_path / "state") as monitor:
        assert seen == [], "they wait until someone asks"
        assert sorted(map(str, lines(monitor))) == sorted(map(str, results))
        assert monitor._state.replay_batches == 7
    assert seen == [
        ("things", [9, 10, 11, 12], [0, 1, 2, 3]),
        ("things", [13], [9, 12]),
        ("others", [0], []),
    ]


def test_several_tables_keep_their_own_steps(tmp_path: Path) -> None:
    with (
        small_files(),
        Monitor.create(tmp_path / "state", {"one": table_of([]), "two": table_of([])}, watch="column") as monitor,
    ):
        for n in range(7):
            monitor.apply(inserts=table_of([(n, "x", None)] * 2), table="two" if n % 3 else "one")
    with Monitor.open(tmp_path / "state") as monitor:
        tables = {name: table.values(table.living_ids())["n"].to_pylist() for name, table in monitor.tables.items()}
        assert tables == {"one": [0, 0, 3, 3, 6, 6], "two": [1, 1, 2, 2, 4, 4, 5, 5]}
        with pytest.raises(BadInput, match="several tables"):
            monitor.apply(inserts=table_of([]))


# ---- a disk without room ---------------------------------------------------------------------------------------------


@contextmanager
def no_room(where: str) -> Iterator[list[int]]:
    """Checkpoints fail while this lasts: because a write fails, or because the free space is too small beforehand.
    Yields the number of batches at each attempt.
    """
    attempts: list[int] = []
    real = Store.room_for_checkpoint

    def counted(store: Store) -> bool:
        attempts.append(store.history(1)[-1].seq)
        return real(store) and where != "free space"

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    failing = patch.object(Store, "write_checkpoint", full) if where == "written" else nullcontext()
    with patch.object(Store, "room_for_checkpoint", counted), failing:
        yield attempts


@pytest.mark.parametrize("where", ["written", "free space"])
@pytest.mark.parametrize("reopened", [False, True], ids=["one process", "a process a batch"])
def test_a_checkpoint_that_does_not_fit_is_not_tried_with_every_batch(
    tmp_path: Path, where: str, reopened: bool
) -> None:
    with small_files(batches=2):
        monitor = Monitor.create(tmp_path / "state", {"things": table_of([])}, watch="column")
        with no_room(where) as attempts:
            for n in range(20):
                monitor.apply(inserts=table_of([(n, "x", None)]))
                if reopened:
                    monitor.close()
                    monitor = Monitor.open(tmp_path / "state")
        assert attempts == [2, 4, 8, 16]
        for n in range(20, 40):
            monitor.apply(inserts=table_of([(n, "x", None)]))
        assert monitor._store.checkpoint() > 34, "there is room again, and checkpoints are as before"
        assert rows_in(monitor) == [(n, "x", None) for n in range(40)]
        monitor.close()


def test_a_requested_checkpoint_says_that_the_disk_is_full(tmp_path: Path) -> None:
    with Monitor.create(tmp_path / "state", {"things": table_of([])}, watch="column") as monitor:
        monitor.apply(inserts=table_of([(1, "x", None)]))
        before = set((tmp_path / "state" / "segments").iterdir())
        with no_room("written"), pytest.raises(BadInput, match="state: no space left on the disk; free some"):
            monitor.checkpoint()
        assert set((tmp_path / "state" / "segments").iterdir()) == before, "what was written is gone"
        assert rows_in(monitor) == [(1, "x", None)]
        monitor.checkpoint()
        assert monitor._store.checkpoint() == 1


def test_a_damaged_file_stops_checkpoints_and_is_reported(tmp_path: Path) -> None:
    notes: list[str] = []

    class Ear(Progress):
        def note(self, text: str) -> None:
            notes.append(text)

    def damaged(*_: object) -> None:
        raise Damaged("x.arrow", "a bit turned")

    Monitor.create(tmp_path / "state", {"things": table_of([])}, watch="column").close()
    with small_files(batches=1), Monitor.open(tmp_path / "state", progress=Ear()) as monitor:
        with patch.object(upkeep, "compacted", damaged):
            monitor.apply(inserts=table_of([(1, "x", None)]))
        assert monitor.tables["things"].rows == 1
    assert notes == [
        "The batch is stored, but its files can't be merged: x.arrow: damaged (a bit turned); restore it, or the whole "
        "state, from a backup."
    ]


# ---- readers ---------------------------------------------------------------------------------------------------------


def test_readers_see_one_moment_or_the_next(tmp_path: Path) -> None:
    """Each batch adds two rows. Readers open the state again and again, while batches and compactions go on."""
    writing, failed, moments = threading.Event(), [], set()

    def look() -> None:
        try:
            while not writing.is_set():
                with Monitor.open(tmp_path / "state", write=False) as reader:
                    count = reader.tables["things"].rows
                    assert {facts["rows"] for facts in lines(reader)} == {count}
                    assert [row[0] for row in rows_in(reader)] == [n // 2 for n in range(count)]
                    moments.add(count)
        except BaseException as error:
            failed.append(error)

    with small_files(), Monitor.create(tmp_path / "state", {"things": table_of([])}, watch="column") as monitor:
        reader = threading.Thread(target=look)
        reader.start()
        for n in range(40):
            monitor.apply(inserts=table_of([(n, "x", None), (n, f"t{n}", 0.5)]))
        writing.set()
        reader.join()
        assert failed == []
        assert len(moments) > 2
        assert all(count % 2 == 0 for count in moments)
