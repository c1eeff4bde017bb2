"""The store: made once, opened by one writer, and always the state before a batch or the state after it."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import uuid
from pathlib import Path

import pyarrow as pa
import pytest

from holdfast.api.monitor import Monitor
from holdfast.api.view import View
from holdfast.errors import BadInput
from holdfast.store.database import FORMAT
from holdfast.store.records import Commit, CommitPart
from holdfast.store.store import Store
from holdfast.table import files
from tests.intake.building import changed, rows_in, types_in
from tests.store import harm

ROWS = pa.table({"n": [1, 2, None], "t": ["a", "b", "a"]})
MORE = pa.table({"n": [4], "t": ["z"]})


def make(path: Path, segments: str | None = None) -> Monitor:
    return Monitor.create(path, {"things": ROWS}, segments=segments)


def files_in(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def counts(path: Path) -> tuple[int, int]:
    """How many rows and batches a state has."""
    with Monitor.open(path, write=False) as monitor:
        return monitor.tables["things"].rows, len(monitor.history())


def in_another_process(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


# ---- making and opening ----------------------------------------------------------------------------------------------


def test_a_state_comes_back_as_it_was(tmp_path: Path) -> None:
    with make(tmp_path / "state") as monitor:
        outcome = monitor.apply(inserts=MORE, deletes=ROWS.slice(0, 1), batch_id="first")
        rows, types, results = rows_in(monitor), types_in(monitor), monitor.results()
    with Monitor.open(tmp_path / "state") as monitor:
        assert (rows_in(monitor), types_in(monitor), monitor.results()) == (rows, types, results)
        assert rows == [(2, "b"), (None, "a"), (4, "z")]
        assert [batch.to_json() for batch in monitor.history()] == [outcome.batch.to_json()]
    assert files_in(tmp_path / "state") == {"holdfast.db", "holdfast.sums", "lock", "segments"}


def test_a_state_may_move(tmp_path: Path) -> None:
    make(tmp_path / "state").close()
    (tmp_path / "state").rename(tmp_path / "elsewhere")
    with Monitor.open(tmp_path / "elsewhere") as monitor:
        monitor.apply(inserts=MORE)
    assert counts(tmp_path / "elsewhere") == (4, 1)
    assert not (tmp_path / "state").exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    make(tmp_path / "state").close()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "holdfast.db").write_text("a file of mine that happens to have this name")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    database = tmp_path / "tables" / "holdfast.db"
    database.parent.mkdir()
    with sqlite3.connect(database) as mine:
        mine.execute("CREATE TABLE mine (a)")
    mine.close()
    for name in ("state", "mine", "other", "file", "tables"):
        with pytest.raises(BadInput, match=f"{name}: already there; choose another folder"):
            make(tmp_path / name)
    assert counts(tmp_path / "state") == (3, 0)
    assert files_in(tmp_path / "mine") == files_in(tmp_path / "tables") == {"holdfast.db"}
    (tmp_path / "empty").mkdir()
    make(tmp_path / "empty").close()
    assert counts(tmp_path / "empty") == (3, 0)


def test_what_is_no_state(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "holdfast.db").write_bytes(b"x" * 5000)
    for name in ("nowhere", ".", "broken"):
        for write in (False, True):
            with pytest.raises(BadInput, match=r"not a Holdfast state"):
                Store(tmp_path / name, write=write)
    make(tmp_path / "state").close()
    for found in (str(FORMAT - 1), str(FORMAT + 1), "none"):
        harm.change(tmp_path / "state", "UPDATE meta SET value = ? WHERE key = 'format'", found)
        with pytest.raises(BadInput, match=f"format {found}, and this .* reads only format {FORMAT}"):
            Monitor.open(tmp_path / "state")


def test_a_refused_init_leaves_nothing(tmp_path: Path) -> None:
    twice = pa.table({"k": [1, 1]})
    with pytest.raises(BadInput, match="repeats a declared key"):
        Monitor.create(tmp_path / "state", {"things": twice}, key=["k"])
    assert files_in(tmp_path) == set()
    (tmp_path / "segments").mkdir()
    with pytest.raises(BadInput, match="repeats a declared key"):
        Monitor.create(tmp_path / "state", {"things": twice}, key=["k"], segments=str(tmp_path / "segments"))
    assert files_in(tmp_path / "segments") == set()


KILLED_INIT = """
import os, signal, sys
from unittest.mock import patch
import pyarrow as pa
from holdfast.api.monitor import Monitor
from holdfast.api.view import View
from holdfast.store.store import Store
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
with patch(sys.argv[2], die):
    Monitor.create(sys.argv[1], {"things": pa.table({"old": [1, 2, 3]})}, segments=sys.argv[3] or None)
"""


@pytest.mark.parametrize("moment", ["holdfast.api.creation.build_table", "holdfast.store.store.Store.finish_creation"])
@pytest.mark.parametrize("apart", [False, True], ids=["", "segments apart"])
def test_a_killed_init_can_be_run_again(tmp_path: Path, moment: str, apart: bool) -> None:
    segments = str(tmp_path / "segments") if apart else ""
    child = in_another_process(KILLED_INIT, tmp_path / "state", moment, segments)
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    with pytest.raises(BadInput, match="init did not finish here; run it again"):
        Monitor.open(tmp_path / "state")
    with make(tmp_path / "state", segments or None) as monitor:
        assert rows_in(monitor) == [(1, "a"), (2, "b"), (None, "a")]
        assert len(files_in(Path(monitor._store.folder))) == 3  # a segment, what engines share, and a state
    assert counts(tmp_path / "state") == (3, 0)


def test_an_init_that_only_began(tmp_path: Path) -> None:
    """Killed while the database was made: an empty file, or tables without a word about them."""
    for name in ("empty", "some"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "holdfast.db").touch()
        (tmp_path / name / "lock").touch()
    with sqlite3.connect(tmp_path / "some" / "holdfast.db") as database:
        database.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    database.close()
    for name in ("empty", "some"):
        with pytest.raises(BadInput):
            Monitor.open(tmp_path / name)
        make(tmp_path / name).close()
        assert counts(tmp_path / name) == (3, 0)


# ---- one writer ------------------------------------------------------------------------------------------------------


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with make(tmp_path / "state") as monitor:
        for attempt in (lambda: Monitor.open(tmp_path / "state"), lambda: Store(tmp_path / "state", write=True)):
            with pytest.raises(BadInput, match=f"process {os.getpid()} is writing the state"):
                attempt()
        with Monitor.open(tmp_path / "state", write=False) as reader:
            assert type(reader) is View, "which offers nothing that writes"
            assert reader.tables["things"].rows == 3
        monitor.apply(inserts=MORE)
    Monitor.open(tmp_path / "state").close()


HOLDS = """
import sys, time
from holdfast.api.monitor import Monitor
from holdfast.api.view import View
monitor = Monitor.open(sys.argv[1])
print("open", flush=True)
time.sleep(600)
"""


def test_a_crash_lets_go_of_the_lock(tmp_path: Path) -> None:
    make(tmp_path / "state").close()
    child = in_another_process(HOLDS, tmp_path / "state")
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        with pytest.raises(BadInput, match=f"process {child.pid} is writing the state; wait until it ends, or stop it"):
            Monitor.open(tmp_path / "state")
    finally:
        child.kill()
        child.communicate(timeout=60)
    Monitor.open(tmp_path / "state").close()


def test_two_inits_at_once(tmp_path: Path) -> None:
    first = Store.create(tmp_path / "state", {})
    with pytest.raises(BadInput, match="is writing the state"):
        make(tmp_path / "state")
    first.close()
    make(tmp_path / "state").close()


# ---- batches ---------------------------------------------------------------------------------------------------------


def test_a_batch_id_counts_once(tmp_path: Path) -> None:
    with make(tmp_path / "state") as monitor:
        assert changed(monitor.apply(inserts=MORE, batch_id="one")) == (1, 0, 0)
        again = monitor.apply(deletes=ROWS, batch_id="one")
        assert (again.already_applied, again.batch.inserted, again.diffs) == (True, 1, {})
        monitor.apply(inserts=MORE)
        monitor.apply(inserts=MORE)
    with Monitor.open(tmp_path / "state") as monitor:
        assert monitor.apply(inserts=MORE, batch_id="one").already_applied
        assert monitor.history()[0].batch_id == "one"
        assert [batch.seq for batch in monitor.history(2)] == [2, 3]
        assert len({batch.batch_id for batch in monitor.history()}) == 3
    assert counts(tmp_path / "state") == (6, 3)


def test_a_commit_that_fails_leaves_the_state_before(tmp_path: Path) -> None:
    with make(tmp_path / "state") as monitor:
        monitor.apply(inserts=MORE, batch_id="one")
        store = monitor._store
        before = store.tables(), store.rules.results(), store.history()
        with pytest.raises(sqlite3.IntegrityError):
            store.commit(Commit("one", "inserts", (CommitPart("things", (), 99, 99, 1, 0, 0),), 0.0))
        assert (store.tables(), store.rules.results(), store.history()) == before
        monitor.apply(inserts=MORE)
    assert counts(tmp_path / "state") == (5, 2)


def test_a_batch_without_effect_is_in_the_history_and_leaves_no_file(tmp_path: Path) -> None:
    with make(tmp_path / "state") as monitor:
        before = files_in(tmp_path / "state" / "segments")
        feed = pa.concat_tables([MORE.append_column("op", pa.array([word])) for word in ("insert", "delete")])
        assert changed(monitor.apply(changes=feed, batch_id="nothing")) == (0, 0, 0)
        assert files_in(tmp_path / "state" / "segments") == before
    with Monitor.open(tmp_path / "state") as monitor:
        assert monitor.apply(inserts=MORE, batch_id="nothing").already_applied
        monitor.apply(inserts=MORE)
        assert rows_in(monitor)[-1] == (4, "z")


def test_files_that_no_commit_names_are_removed(tmp_path: Path) -> None:
    make(tmp_path / "state").close()
    segments = tmp_path / "state" / "segments"
    named = files_in(segments)
    leftover = f"{uuid.uuid4().hex}.arrow"
    (segments / leftover).write_bytes(b"half a fi")
    (segments / "mine.arrow").write_text("a file of somebody else")
    Monitor.open(tmp_path / "state", write=False).close()
    assert files_in(segments) == {*named, leftover, "mine.arrow"}
    with Monitor.open(tmp_path / "state") as monitor:
        assert files_in(segments) == {*named, "mine.arrow"}, "only files with names of our making are ours"
        with pytest.raises(BadInput):
            monitor.apply(deletes=MORE)
        assert files_in(segments) == {*named, "mine.arrow"}
        monitor.apply(inserts=MORE)
        monitor.checkpoint()
        assert all(files.is_ours(name) for name in files_in(segments) - {"mine.arrow"})


# ---- segments elsewhere ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["uri", "path", "relative"])
def test_segments_may_lie_elsewhere(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "bulk" / "of it"
    monkeypatch.chdir(tmp_path)
    with make(
        tmp_path / "state", {"uri": place.as_uri(), "path": str(place), "relative": "bulk/of it"}[form]
    ) as monitor:
        monitor.apply(inserts=MORE)
    assert files_in(tmp_path / "state") == {"holdfast.db", "holdfast.sums", "lock"}
    (own,) = place.iterdir()
    assert len(files_in(own)) == 4
    monkeypatch.chdir("/")
    with Monitor.open(tmp_path / "state") as monitor:
        monitor.checkpoint()
        assert rows_in(monitor)[-1] == (4, "z")
    assert counts(tmp_path / "state") == (4, 1)


def test_states_share_a_place_for_segments_and_no_file(tmp_path: Path) -> None:
    place = tmp_path / "bulk"
    place.mkdir()
    (place / "mine.txt").write_text("mine")
    make(tmp_path / "state", str(place)).close()
    with make(tmp_path / "other", place.as_uri()) as monitor:
        monitor.apply(inserts=MORE)
        monitor.checkpoint()
    with pytest.raises(BadInput, match="repeats a declared key"):
        Monitor.create(tmp_path / "third", {"things": pa.table({"k": [1, 1]})}, key=["k"], segments=str(place))
    with Monitor.open(tmp_path / "state") as monitor:
        monitor.checkpoint()
    assert (counts(tmp_path / "state"), counts(tmp_path / "other")) == ((3, 0), (4, 1))
    assert len(files_in(place)) == 3
    assert (place / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("bulk", "sentence"),
    [
        ("nonsense://x", "nonsense://x: segments can't go there"),
        ("s3://bucket/x?region=a", "segments can't go there: leave out the part after the question mark"),
        ("state", "state: this lies in the state folder, where segments go anyway; leave out --segments"),
        ("state/bulk", "state/bulk: this lies in the state folder"),
        ("file", "not a directory"),
        ("/proc/bulk", "/proc/bulk: no such file or directory; choose another place"),
        ("x" * 300, "the name is too long; choose a shorter one"),
    ],
)
def test_places_where_segments_cannot_go(
    tmp_path: Path, bulk: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadInput, match=re.escape(sentence)):
        make(tmp_path / "state", bulk)
    assert files_in(tmp_path) == {"file"}
    assert (tmp_path / "file").read_text() == "mine"
