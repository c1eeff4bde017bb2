"""Files that are one batch by their names: complete or not, in order, each row once, whenever files come."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet as pq

from holdfast.api.file_pattern import FilePattern
from holdfast.api.inbox import Inbox
from holdfast.api.monitor import Monitor
from holdfast.errors import BadInput
from holdfast.progress import SILENT
from holdfast.results.outcome import Outcome
from holdfast.store.store import Store
from tests.intake.building import Notes, file_of
from tests.table.building import rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATTERN = r"(?P<batch>\d+)-(?P<table>\w+)\.csv"
TABLES = ("a", "b")
LONG, NONE = 1_000.0, 0.0  # seconds to wait for more files


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state that watches two empty tables."""
    path = tmp_path_factory.mktemp("made") / "state"
    Monitor.create(path, {name: pa.table({"n": pa.array([], pa.int64())}) for name in TABLES}, watch=[]).close()
    return path


class Place:
    """A state, its folder, and what was applied and noted."""

    def __init__(self, made: Path, root: Path) -> None:
        self.state, self.inbox, self.notes = Path(shutil.copytree(made, root / "state")), root / "in", Notes()
        self.inbox.mkdir()
        self.refused: list[tuple[str, str | None]] = []
        self._ages = count(10_000, -1)

    def arrives(self, name: str, content: str) -> Path:
        """Move a file in whole, younger than those before."""
        path = Path(file_of(self.inbox.parent, f"arriving-{name}", content))
        os.utime(path, (0, time.time() - next(self._ages)))
        return path.rename(self.inbox / name)

    def rows(self, name: str, *values: int) -> Path:
        return self.arrives(name, "\n".join(map(str, ("n", *values))) + "\n")

    def run(self, files: str | None = PATTERN, settle: float = NONE, **more: Any) -> list[tuple[str, ...]]:
        """Apply what is there; gives the names of the files of each batch."""
        applied: list[tuple[str, ...]] = []

        def note(paths: Sequence[str], outcome: Outcome) -> None:
            assert not outcome.already_applied
            applied.append(tuple(sorted(Path(path).name for path in paths)))

        def refuse(path: str, _: str, moved: str | None) -> None:
            self.refused.append((Path(path).name, moved and Path(moved).name))

        with Monitor.open(self.state, progress=self.notes) as monitor:
            more = {"once": True, "applied": note, "refused": refuse, **more}
            monitor.watch_folder(self.inbox, files=files, settle=settle, **more)
        return applied

    def values(self) -> dict[str, list[object]]:
        with Monitor.open(self.state) as monitor:
            return {name: [row[0] for row in rows_of(monitor.tables[name])] for name in TABLES}

    def ids(self) -> list[str]:
        with Monitor.open(self.state) as monitor:
            return [batch.batch_id.removeprefix(f"batch:{self.inbox}/") for batch in monitor.history()]


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Place:
    return Place(made, tmp_path)


# ---- which files are one batch, and in which order -------------------------------------------------------------------


def test_files_of_a_batch_are_one_transaction(place: Place) -> None:
    for name in ("10-a.csv", "9-b.csv", "10-b.csv", "09-a.csv", "9-a.csv"):
        place.rows(name, len(place.ids()) + int(name.partition("-")[0]))
    assert place.run() == [("09-a.csv",), ("9-a.csv", "9-b.csv"), ("10-a.csv", "10-b.csv")]
    assert place.run() == []
    assert place.ids() == ["09", "9", "10"]
    assert place.values() == {"a": [9, 9, 10], "b": [9, 10]}


def test_without_a_batch_each_file_is_one(place: Place) -> None:
    place.rows("b.csv", 1)
    place.rows("a.csv", 2)
    assert place.run(r"(?P<table>\w+)\.csv") == [("b.csv",), ("a.csv",)], "the oldest first"
    assert place.ids() == [f"file:{place.inbox / name}" for name in ("b.csv", "a.csv")]
    assert place.values() == {"a": [2], "b": [1]}


def test_without_a_table_all_files_are_of_one(place: Place) -> None:
    place.rows("10.csv", 1)
    place.rows("9.csv", 2)
    place.rows("x.csv", 3)
    assert place.run(r"(?P<batch>\d+)\.csv", settle=LONG, table="b") == [("9.csv",), ("10.csv",)], "nothing to wait for"
    assert place.values() == {"a": [], "b": [2, 1]}


def test_other_files_are_named_once_and_left(place: Place) -> None:
    for name in ("x.csv", "y.txt", "z", "1-a.csv", "0"):
        place.rows(name, 1)
    assert place.run(once=False, every=0.001, stop=_after(9)) == [("1-a.csv",)]
    left = "4 files don't match --files, and are left: 0, x.csv, y.txt and 1 more"
    assert [line for line in place.notes.lines if "--files" in line] == [f"{place.inbox}: {left}"]


def test_a_feed_that_names_its_tables(place: Place) -> None:
    place.arrives("2.csv", "t,n\na,1\nb,2\n")
    place.arrives("1.csv", "t,n\nb,3\n")
    assert place.run(r"(?P<batch>\d+)\.csv", table_column="t") == [("1.csv",), ("2.csv",)]
    assert place.values() == {"a": [1], "b": [3, 2]}


# ---- when a batch is complete ----------------------------------------------------------------------------------------


@pytest.fixture
def store(place: Place) -> Iterator[Store]:
    store = Store(place.state, write=True)
    yield store
    store.close()


def arrived(inbox: Inbox) -> list[list[str]]:
    return [[Path(path).name for path in arrival.paths] for arrival in inbox.arrivals()]


def seconds_left(inbox: Inbox) -> float | None:
    return inbox.wait


def test_a_batch_waits_for_all_tables_and_holds_up_later_ones(place: Place, store: Store) -> None:
    inbox = Inbox(store, SILENT, place.inbox, FilePattern.of(PATTERN), TABLES, LONG)
    assert (arrived(inbox), seconds_left(inbox)) == ([], None)
    for name in ("1-a.csv", "2-a.csv", "2-b.csv"):
        place.rows(name, 1)
    assert arrived(inbox) == []
    assert LONG - 100 < (seconds_left(inbox) or 0) <= LONG
    place.rows("1-b.csv", 1)
    assert arrived(inbox) == [["1-a.csv", "1-b.csv"], ["2-a.csv", "2-b.csv"]]
    assert seconds_left(inbox) is None


def test_a_batch_whose_newest_file_is_old_enough_is_complete(place: Place, store: Store) -> None:
    place.rows("1-a.csv", 1)
    time.sleep(0.02)
    assert arrived(Inbox(store, SILENT, place.inbox, FilePattern.of(PATTERN), TABLES, 0.01)) == [["1-a.csv"]]


def test_a_run_once_waits_for_its_last_batch(place: Place) -> None:
    place.rows("1-a.csv", 1)
    looks = count()

    def look() -> bool:
        if next(looks) == 3:
            place.rows("1-b.csv", 2)
        return False

    assert place.run(settle=LONG, every=0.001, stop=look) == [("1-a.csv", "1-b.csv")]


def test_late_files_are_batches_of_their_own(place: Place) -> None:
    place.rows("1-a.csv", 1)
    assert place.run() == [("1-a.csv",)]
    place.rows("1-b.csv", 2)
    assert place.run(settle=LONG) == [("1-b.csv",)], "which waits for nothing"
    late = f"{place.inbox / '1-b.csv'}: came after batch 1 was applied; it is a batch of its own"
    assert [line for line in place.notes.lines if "came after" in line] == [late]
    assert place.ids() == ["1", f"file:{place.inbox / '1-b.csv'}"]


def test_a_replaced_file_of_a_batch_is_a_batch_of_its_own(place: Place) -> None:
    place.rows("1-a.csv", 1)
    place.rows("1-b.csv", 2)
    place.run()
    (place.inbox / "1-a.csv").touch()
    place.rows("1-b.csv", 3)
    assert place.run(settle=LONG) == [("1-b.csv",)]
    assert place.values() == {"a": [1], "b": [2, 3]}


def test_asked_to_stop_it_ends_after_the_batch(place: Place) -> None:
    for name in ("1-a.csv", "2-a.csv", "3-a.csv"):
        place.rows(name, 1)
    done: list[Sequence[str]] = []

    def note(paths: Sequence[str], _: Outcome) -> None:
        done.append(paths)

    place.run(once=False, every=LONG, applied=note, stop=lambda: len(done) == 2)
    assert place.ids() == ["1", "2"]
    assert place.run() == [("3-a.csv",)]


@given(data=st.data())
def test_each_row_once_whenever_files_come(made: Path, data: st.DataObject) -> None:
    """By the definition: what has come since the last run is a batch by its number, or alone if its batch was applied;
    in the order of numbers. A run may end in the middle.
    """
    with tempfile.TemporaryDirectory() as root:
        place = Place(made, Path(root).resolve())
        files = [f"{batch}-{table}.csv" for batch in (1, 2, 10) for table in TABLES]
        coming = data.draw(st.lists(st.lists(st.sampled_from(files)), max_size=4))
        values, wanted = count(), {name: set[int]() for name in TABLES}
        applied, waiting = set[str](), dict[str, int]()
        for names in coming:
            for name in dict.fromkeys(names):
                if name not in applied:
                    waiting[name] = next(values)
                    place.rows(name, waiting[name])
            groups: dict[tuple[int, str], set[str]] = {}
            for name in waiting:
                number = name.partition("-")[0]
                late = any(other.startswith(f"{number}-") for other in applied)
                groups.setdefault((int(number), name if late else ""), set()).add(name)
            stops = data.draw(st.integers(1, 4))
            ran = place.run(stop=_after(stops))
            assert {frozenset(names) for names in ran} <= {frozenset(group) for group in groups.values()}
            assert len(ran) == min(stops, len(groups))
            numbers = [int(names[0].partition("-")[0]) for names in ran]
            assert numbers == sorted(number for number, _ in groups)[: len(ran)]
            for name in (name for names in ran for name in names):
                applied.add(name)
                wanted[name[-5]].add(waiting.pop(name))
        while place.run():
            pass
        for name, value in waiting.items():
            wanted[name[-5]].add(value)
        assert {table: sorted(rows) for table, rows in place.values().items()} == {  # type: ignore[type-var]
            table: sorted(rows) for table, rows in wanted.items()
        }


def _after(batches: int) -> Any:
    """Stops after some batches: it is asked at the start, and after each batch. (And while nothing comes.)"""
    asked = count()
    return lambda: next(asked) >= batches


# ---- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["1-c.csv"], "1-c.csv: its name says the table 'c', which is not watched; there are a, b"),
        (["1-a.csv", "1-c.csv"], "1-c.csv: its name says the table 'c'"),
        (
            ["1-a.csv", "1-aa.csv"],
            r"1-aa.csv: of the same batch and table \(a\) as .*1-a.csv",
        ),
    ],
)
def test_files_that_are_no_batch(place: Place, names: list[str], words: str) -> None:
    for name in names:
        place.rows(name, 1)
    pattern = r"(?P<batch>\d+)-(?P<table>[a-c])a?\.csv"
    with pytest.raises(BadInput, match=words):
        place.run(pattern)
    assert place.values() == {"a": [], "b": []}
    assert place.run(pattern, quarantine=place.state.parent / "aside") == []
    assert place.refused == [(name, name) for name in names]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"table": "a"}, "the names of the files say their table .*; leave out the table 'a'"),
        ({"table_column": "t"}, "the names of the files say their table .*; leave out the column of tables"),
        ({"files": r"(?P<batch>\d)"}, "this state watches several tables"),
        ({"files": "("}, "no regular expression"),
    ],
)
def test_what_makes_no_sense(place: Place, how: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        place.run(**how)


def test_two_files_of_a_batch_for_the_one_table(place: Place) -> None:
    place.rows("1-x.csv", 1)
    place.rows("1-y.csv", 1)
    with pytest.raises(BadInput, match=r"1-y.csv: of the same batch as .*1-x.csv; give a batch one file a table"):
        place.run(r"(?P<batch>\d+)-\w\.csv", table="a")


def test_a_file_without_its_optional_table(place: Place) -> None:
    place.rows("1.csv", 1)
    with pytest.raises(BadInput, match="this state watches several tables"):
        place.run(r"(?P<batch>\d+)(-(?P<table>\w+))?\.csv")


def test_a_batch_with_a_bad_file_goes_aside_and_comes_again(place: Place) -> None:
    """As a whole, so that it comes again as a whole."""
    aside = place.state.parent / "aside"
    place.rows("1-a.csv", 1)
    place.arrives("1-b.csv", "what,else\n1,2\n")
    place.rows("2-a.csv", 3)
    assert place.run(quarantine=aside) == [("2-a.csv",)]
    assert place.refused == [("1-a.csv", "1-a.csv"), ("1-b.csv", "1-b.csv")]
    assert sorted(path.name for path in place.inbox.iterdir()) == ["2-a.csv"]
    (aside / "1-a.csv").rename(place.inbox / "1-a.csv")
    place.rows("1-b.csv", 2)
    assert place.run(settle=LONG, quarantine=aside) == [("1-a.csv", "1-b.csv")]
    assert place.values() == {"a": [3, 1], "b": [2]}


def test_bad_rows_of_a_batch_go_aside(place: Place) -> None:
    aside = place.state.parent / "aside"
    place.rows("1-a.csv", 1)
    place.arrives("1-b.csv", "n\n2\nx\n")
    assert place.run(quarantine=aside) == [("1-a.csv", "1-b.csv")]
    assert place.values() == {"a": [1], "b": [2]}
    (file,) = aside.iterdir()
    assert file.name.endswith(".b.inserts.csv")


def test_memory_has_the_files_that_are_there(place: Place, store: Store) -> None:
    inbox = Inbox(store, SILENT, place.inbox, FilePattern.of(PATTERN), TABLES, NONE)
    for number in range(20):
        path = place.rows(f"{number}-a.csv", number)
        for arrival in inbox.arrivals():
            store.put_handled(arrival.handled)
            inbox.remember(arrival.handled)
        path.unlink()
    assert list(inbox.arrivals()) == []
    assert not inbox._handled


# ---- folders elsewhere -----------------------------------------------------------------------------------------------


@pytest.mark.spark
def test_names_of_files_elsewhere_say_their_table(place: Place, spark: SparkSession) -> None:
    """Hadoop's view of file systems gives local folders an address that is not local."""
    spark.conf.set("fs.viewfs.mounttable.folder.link./all", f"file://{place.inbox}")
    for value, name in enumerate(["1-b.parquet", "2-a.parquet", "other.parquet"]):
        pq.write_table(pa.table({"n": [value]}), place.inbox / name)
        os.utime(place.inbox / name, (0, value))
    applied: list[str] = []

    def note(paths: Sequence[str], outcome: Outcome) -> None:
        assert not outcome.already_applied
        applied.extend(path.rpartition("/")[2] for path in paths)

    with Monitor.open(place.state, spark=spark) as monitor:
        elsewhere = "viewfs://folder/all"
        for _ in range(2):
            monitor.watch_folder(elsewhere, files=r"\d-(?P<table>\w+)\.parquet", once=True, applied=note)
        with pytest.raises(BadInput, match="only files of a local folder can be one batch; leave the group batch out"):
            monitor.watch_folder(elsewhere, files=PATTERN, once=True)
    assert applied == ["1-b.parquet", "2-a.parquet"]
    assert place.values() == {"a": [1], "b": [0]}
