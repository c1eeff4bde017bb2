"""Making a state: Holdfast removes only what it has written, and refuses places that are someone's."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

from holdfast.api.monitor import Monitor
from holdfast.errors import BadInput
from holdfast.store.store import Store
from tests.store.test_store import MORE, ROWS, counts, files_in, make

TWICE = pa.table({"k": [1, 1]})


def fail(path: Path, segments: str | None = None) -> None:
    """An init that fails after it has written files."""
    with pytest.raises(BadInput, match="repeats a declared key"):
        Monitor.create(path, {"things": TWICE}, key=["k"], segments=segments)


@pytest.mark.parametrize("name", ["mine.txt", "mine.arrow", f"{'5e' * 16}.arrow", "folder"])
def test_files_in_a_folder_called_segments_stay(tmp_path: Path, name: str) -> None:
    mine = tmp_path / "state" / "segments" / name
    mine.parent.mkdir(parents=True)
    if name == "folder":
        mine.mkdir()
    else:
        mine.write_text("mine")
    with pytest.raises(BadInput, match="state: already there; choose another folder"):
        make(tmp_path / "state")
    assert mine.is_dir() or mine.read_text() == "mine"
    assert (files_in(tmp_path / "state"), files_in(mine.parent)) == ({"segments"}, {name})


@pytest.mark.parametrize("name", ["holdfast.db-wal", "holdfast.db-shm", "holdfast.db.bak", "streams"])
def test_files_with_names_like_ours_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / name).write_text("mine")
    with pytest.raises(BadInput, match="state: already there; choose another folder"):
        make(tmp_path / "state")
    assert files_in(tmp_path / "state") == {name}


@pytest.mark.parametrize("name", ["holdfast.db", "holdfast.db-wal", "segments"])
def test_planted_links_are_refused(tmp_path: Path, name: str) -> None:
    """A link that leads nowhere yet would be followed, and the file made where it points to."""
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "holdfast.db").touch()
    (tmp_path / "state" / name).unlink(missing_ok=True)
    (tmp_path / "state" / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="state: already there; choose another folder"):
        make(tmp_path / "state")
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    fail(tmp_path / "mine")
    assert files_in(tmp_path / "mine") == set()
    (tmp_path / "mine" / "segments").mkdir()
    fail(tmp_path / "mine")
    assert files_in(tmp_path / "mine") == {"segments"}
    (tmp_path / "bulk").mkdir()
    fail(tmp_path / "mine", str(tmp_path / "bulk"))
    assert files_in(tmp_path) == {"mine", "bulk"}
    assert files_in(tmp_path / "bulk") == set()
    make(tmp_path / "mine").close()
    assert counts(tmp_path / "mine") == (3, 0)


def test_folders_that_were_made_go(tmp_path: Path) -> None:
    fail(tmp_path / "a" / "b" / "state", str(tmp_path / "c" / "d"))
    assert files_in(tmp_path) == set()


def test_files_that_came_meanwhile_stay(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "state", {})
    (tmp_path / "state" / "segments" / "mine.txt").write_text("mine")
    store.abandon()
    assert files_in(tmp_path / "state") == {"segments"}
    assert files_in(tmp_path / "state" / "segments") == {"mine.txt"}


def test_a_refused_place_leaves_nothing(tmp_path: Path) -> None:
    for bulk in ("nonsense://x", str(tmp_path / "state" / "deep")):
        with pytest.raises(BadInput):
            make(tmp_path / "state", bulk)
    assert files_in(tmp_path) == set()


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("/proc/x", "/proc/x: no such file or directory; choose another place"),
        ("/dev/null/x", "not a directory"),
        ("x" * 300, "the name is too long; choose a shorter one"),
    ],
)
def test_places_where_no_state_can_be(tmp_path: Path, place: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        make(tmp_path / place)
    assert files_in(tmp_path) == set()


# ---- the lock --------------------------------------------------------------------------------------------------------


def lock_of(path: Path, kind: str, victim: Path) -> None:
    """Something that is no lock of ours, where the lock is kept."""
    lock = path / "lock"
    lock.unlink(missing_ok=True)
    if kind == "link":
        lock.symlink_to(victim)
    elif kind == "dangling link":
        lock.symlink_to(victim.with_name("nowhere"))
    elif kind == "second name":
        lock.hardlink_to(victim)
    elif kind == "folder":
        lock.mkdir()
    elif kind == "pipe":
        os.mkfifo(lock)
    else:
        lock.write_text("someone's own lock")


@pytest.mark.parametrize("kind", ["link", "dangling link", "second name", "folder", "pipe", "file"])
def test_what_is_no_lock_is_left_alone(tmp_path: Path, kind: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("1234567")  # as a lock would read, and someone's all the same
    make(tmp_path / "state").close()
    (tmp_path / "new").mkdir()
    for path in (tmp_path / "state", tmp_path / "new"):
        lock_of(path, kind, victim)
        with pytest.raises(BadInput, match="lock: this is not the lock that Holdfast keeps there; move it away"):
            Monitor.open(path) if path.name == "state" else make(path)
    assert victim.read_text() == "1234567"
    assert files_in(tmp_path) == {"victim", "state", "new"}
    assert files_in(tmp_path / "new") == {"lock"}
    assert counts(tmp_path / "state") == (3, 0), "reading needs no lock"
    lock = tmp_path / "state" / "lock"
    lock.rmdir() if kind == "folder" else lock.unlink()
    with Monitor.open(tmp_path / "state") as monitor:
        monitor.apply(inserts=MORE)
    assert int(lock.read_text()) == os.getpid()


def test_a_lock_that_was_removed_meanwhile_is_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed init removes its lock while another process waits for it: that one must not hold a file without name."""
    from holdfast.store import lock

    real, calls = lock._is_at, []

    def is_at(handle: int, path: Path) -> bool:
        calls.append(path)
        if len(calls) == 1:
            path.unlink()
        return real(handle, path)

    monkeypatch.setattr(lock, "_is_at", is_at)
    with Monitor.create(tmp_path / "state", {"things": ROWS}):
        assert len(calls) == 2
        with pytest.raises(BadInput, match="is writing the state"):
            Monitor.open(tmp_path / "state")
