"""A folder that files arrive in: each content once, the oldest first, across restarts, crashes and bad files."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from holdfast.api.monitor import Monitor
from holdfast.errors import BadInput
from holdfast.results.outcome import Outcome
from holdfast.store.store import Store
from tests.intake.building import Notes, file_of, rows_in, watched

NOW = time.time()


def arrives(folder: Path, name: str, content: str = "n\n1\n", age: float = 0) -> str:
    """Move a file in whole."""
    path = Path(file_of(folder.parent, f"arriving-{name}", content))
    os.utime(path, (NOW - age, NOW - age))
    return str(path.rename(folder / name))


class Watched:
    """A state, and its notes about the files that came to its folder."""

    def __init__(self, folder: Path) -> None:
        self.state, self.inbox, self.notes = folder / "state0", folder / "in box [1]", Notes()
        self.inbox.mkdir()
        watched(folder, pa.table({"n": pa.array([], pa.int64())})).close()

    def run(self) -> list[tuple[str, bool]]:
        """Apply what is there; gives the names of the files, and whether they had been applied before."""
        applied: list[tuple[str, bool]] = []

        def note(paths: Sequence[str], outcome: Outcome) -> None:
            (path,) = paths
            applied.append((Path(path).name, outcome.already_applied))

        with Monitor.open(self.state, progress=self.notes) as monitor:
            monitor.watch_folder(self.inbox, once=True, applied=note)
        return applied

    def rows(self) -> list[int]:
        with Monitor.open(self.state) as monitor:
            return [row[0] for row in rows_in(monitor)]  # type: ignore[misc]

    @property
    def said(self) -> list[str]:
        """What was said of files that had been applied before."""
        return [note for note in self.notes.lines if "applied" in note]

    def ids(self) -> list[str]:
        with Monitor.open(self.state) as monitor:
            return [batch.batch_id for batch in monitor.history()]

    def forget(self) -> None:
        """As if a crash had come between commit and memory."""
        store = Store(self.state, write=True)
        store._db.execute("DELETE FROM handled_files")
        store.close()


@pytest.fixture
def place(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_each_file_once_and_the_oldest_first(place: Watched) -> None:
    names = ["c é%20 #:.csv", "a.csv", "b [x]*.csv", "0.csv"]
    for number, (name, age) in enumerate(zip(names, (300, 200, 200, 100), strict=True)):
        arrives(place.inbox, name, f"n\n{number}\n", age)
    arrives(place.inbox, ".hidden.csv")
    arrives(place.inbox, "_unfinished.csv")
    (place.inbox / "folder").mkdir()
    arrives(place.inbox / "folder", "below.csv")
    assert place.run() == [(name, False) for name in names]
    assert place.run() == []
    arrives(place.inbox, "late.csv", "n\n4\n", age=60 * 86_400)  # moved in, and much older than the others
    assert place.run() == [("late.csv", False)]
    assert place.rows() == [0, 1, 2, 3, 4]
    assert place.ids()[0] == f"file:{place.inbox / names[0]}"


def test_a_batch_counts_once_whatever_is_remembered(place: Watched) -> None:
    first = arrives(place.inbox, "1.csv", "n\n1\n2\n", age=20)
    arrives(place.inbox, "2.csv", "n\n3\n", age=10)
    with Monitor.open(place.state) as monitor:  # committed, and then a crash before the file was remembered
        monitor.apply(inserts=first, batch_id=f"file:{first}")
    assert place.run() == [("1.csv", True), ("2.csv", False)]
    assert place.run() == []
    place.forget()
    assert place.run() == [("1.csv", True), ("2.csv", True)]
    assert place.rows() == [1, 2, 3]
    assert place.said == []


def test_a_replaced_file_is_a_new_batch(place: Watched) -> None:
    """As often as it is replaced, also by what it once held."""
    for number, value in enumerate([1, 2, 1, 2]):
        arrives(place.inbox, "a.csv", f"n\n{value}\n", age=50)  # of one size and age: the times say nothing
        assert place.run() == [("a.csv", False)], number
        assert place.run() == []
    assert place.rows() == [1, 2, 1, 2]
    assert len(place.said) == 3
    assert all("a.csv: replaced since it was applied" in note for note in place.said)
    path = place.inbox / "a.csv"
    names = [each.removeprefix(f"file:{path}") for each in place.ids()]
    assert [name.partition("-")[0] for name in names] == ["", "#2", "#3", "#4"]


def test_a_touched_file_is_the_same_file(place: Watched) -> None:
    path = Path(arrives(place.inbox, "a.csv", age=50))
    assert place.run() == [("a.csv", False)]
    path.touch()
    path.chmod(0o600)
    assert place.run() == []
    arrives(place.inbox, "a.csv", age=5)  # moved in again, with the same content
    assert place.run() == []
    assert place.rows() == [1]
    assert place.said == []


def test_a_crash_right_after_a_replaced_file_was_applied(place: Watched) -> None:
    """The state remembers a file in the transaction of its batch."""
    arrives(place.inbox, "a.csv", "n\n1\n", age=50)
    place.run()
    path = arrives(place.inbox, "a.csv", "n\n2\n", age=40)
    with Monitor.open(place.state) as monitor, pytest.raises(Enough):
        monitor.watch_folder(place.inbox, once=True, applied=stop)
    assert place.run() == []
    arrives(place.inbox, "a.csv", "n\n3\n", age=40)
    with Monitor.open(place.state) as monitor, pytest.raises(Enough):
        monitor.watch_folder(place.inbox, once=True, applied=stop)
    Path(path).write_text("n\n4\n")  # and replaced once more before the next start
    assert place.run() == [("a.csv", False)]
    assert place.rows() == [1, 2, 3, 4]


def test_a_file_that_changed_without_a_record_is_reported(place: Watched) -> None:
    path = Path(arrives(place.inbox, "a.csv", age=50))
    place.run()
    place.forget()
    path.write_text("n\n2\n")
    os.utime(path, (time.time() + 5, time.time() + 5))
    assert place.run() == []
    (note,) = place.said
    assert "a.csv: changed since it was applied as batch 1, and skipped" in note
    assert place.run() == []
    assert len(place.said) == 1
    assert place.rows() == [1]


def test_a_bad_file_stops_and_a_mended_one_goes_on(place: Watched, capfd: pytest.CaptureFixture[str]) -> None:
    arrives(place.inbox, "1.csv", "n\n1\n", age=40)
    arrives(place.inbox, "2.csv", "n\nx\n", age=30)
    arrives(place.inbox, "3.csv", "n\n3\n", age=20)
    for _ in range(2):
        with pytest.raises(BadInput, match=r"2\.csv.*'x' is not a whole number"):
            place.run()
        assert place.rows() == [1]
    arrives(place.inbox, "2.csv", "n\n2\n", age=30)
    assert place.run() == [("2.csv", False), ("3.csv", False)]
    arrives(place.inbox, "4.csv", "m\n4\n", age=10)
    with pytest.raises(BadInput, match=r"4\.csv"):
        place.run()
    (place.inbox / "4.csv").unlink()
    arrives(place.inbox, "5.csv", "n\n5\n")
    assert place.run() == [("5.csv", False)]
    assert place.rows() == [1, 2, 3, 5]
    assert capfd.readouterr() == ("", "")


class Enough(Exception):
    """Raised to stop watching."""


def stop(_paths: Sequence[str], _outcome: Outcome) -> None:
    raise Enough


def test_watching_goes_on_until_it_is_stopped(place: Watched) -> None:
    arrives(place.inbox, "1.csv", "n\n1\n", age=5)
    applied: list[str] = []

    def note(paths: Sequence[str], _: Outcome) -> None:
        applied.extend(Path(path).name for path in paths)
        if len(applied) == 1:
            arrives(place.inbox, "2.csv", "n\n2\n")
        else:
            raise Enough

    with Monitor.open(place.state) as monitor, pytest.raises(Enough):
        monitor.watch_folder(place.inbox, applied=note)
    assert applied == ["1.csv", "2.csv"]
    assert place.run() == []
    assert place.rows() == [1, 2]


def test_there_must_be_a_folder(place: Watched, tmp_path: Path) -> None:
    with Monitor.open(place.state) as monitor, pytest.raises(BadInput, match="no such folder to watch"):
        monitor.watch_folder(tmp_path / "nowhere", once=True)


def test_a_folder_elsewhere_is_refused_over_connect(tmp_path: Path) -> None:
    class Session:
        """A session behind Spark Connect."""

    Session.__module__ = "pyspark.sql.connect.session"
    with (
        watched(tmp_path, pa.table({"n": [1]}), spark=Session()) as monitor,
        pytest.raises(BadInput, match=r"s3://bucket/in: over Spark Connect what arrives is handled at the server"),
    ):
        monitor.watch_folder("s3://bucket/in", once=True)
