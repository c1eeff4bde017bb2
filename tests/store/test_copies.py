"""Copies of states: each owns its files, and removes no other's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from holdfast.api.monitor import Monitor
from holdfast.errors import BadInput
from holdfast.progress import Progress
from tests.intake.building import rows_in
from tests.store.test_store import MORE, counts, files_in, make


class Ear(Progress):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def note(self, text: str) -> None:
        self.heard.append(text)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state whose segments lie elsewhere, with a batch since its checkpoint."""
    with make(tmp_path / "state", str(tmp_path / "bulk")) as monitor:
        monitor.apply(inserts=MORE)
    return tmp_path / "state"


@pytest.mark.parametrize("apart", [True, False], ids=["segments apart", "segments inside"])
def test_a_copy_and_its_original_do_not_share_files(tmp_path: Path, apart: bool) -> None:
    state, copy, ear = tmp_path / "state", tmp_path / "copy", Ear()
    with make(state, str(tmp_path / "bulk") if apart else None) as monitor:
        monitor.apply(inserts=MORE)
    shutil.copytree(state, copy)
    with Monitor.open(copy, progress=ear) as monitor:
        monitor.apply(inserts=pa.table({"n": [5], "t": ["copy"]}))
        monitor.checkpoint()
        copied = rows_in(monitor)
    with Monitor.open(state, progress=ear) as monitor:
        monitor.apply(deletes=MORE)
        monitor.checkpoint()
        assert rows_in(monitor) == [(1, "a"), (2, "b"), (None, "a")]
    with Monitor.open(copy, progress=ear) as monitor:
        assert rows_in(monitor) == copied == [(1, "a"), (2, "b"), (None, "a"), (4, "z"), (5, "copy")]
    warning = f"{copy}: this state is a copy, and the original may use the files in {tmp_path}/bulk/"
    assert [note.startswith(warning) for note in ear.heard] == ([True] if apart else [])


def test_a_copy_can_be_looked_at_as_it_is(tmp_path: Path, state: Path) -> None:
    shutil.copytree(state, tmp_path / "copy")
    before = files_in(next((tmp_path / "bulk").iterdir()))
    assert counts(tmp_path / "copy") == (4, 1)
    assert files_in(next((tmp_path / "bulk").iterdir())) == before
    assert len(files_in(tmp_path / "bulk")) == 1


def test_the_original_may_be_the_one_that_is_opened_last(tmp_path: Path, state: Path) -> None:
    """The copy finds what it names, as long as the original keeps it; after that it says what happened."""
    shutil.copytree(state, tmp_path / "early")
    shutil.copytree(state, tmp_path / "late")
    Monitor.open(tmp_path / "early").close()
    with Monitor.open(state) as monitor:
        monitor.checkpoint()
    for write in (True, False):
        with pytest.raises(BadInput, match=r"late: this is a copy, and the original has removed files from .* since"):
            Monitor.open(tmp_path / "late", write=write)
    assert counts(tmp_path / "early") == counts(state) == (4, 1)
    assert len(files_in(tmp_path / "bulk")) == 2, "what a failed copying has written is gone"


def test_a_state_that_was_moved_is_no_copy(tmp_path: Path, state: Path) -> None:
    state.rename(tmp_path / "moved")
    ear = Ear()
    with Monitor.open(tmp_path / "moved", progress=ear) as monitor:
        monitor.apply(inserts=MORE)
    assert (ear.heard, len(files_in(tmp_path / "bulk"))) == ([], 1)


def test_a_copy_on_another_disk_may_have_the_same_inode(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(state, tmp_path / "copy")
    inode = (state / "holdfast.db").stat().st_ino
    ear = Ear()
    with monkeypatch.context() as patched:
        patched.setattr("holdfast.store.identity.inode_of", lambda _: inode)
        Monitor.open(tmp_path / "copy", progress=ear).close()
    assert len(ear.heard) == 1
    assert counts(state) == (4, 1)


def test_a_copy_that_does_not_fit_is_refused_and_leaves_no_file(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(state, tmp_path / "copy")
    calls: list[str] = []

    def full(path: str, to: str) -> None:
        calls.append(to)
        shutil.copyfile(path, to)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("holdfast.table.files.copy", full)
        with pytest.raises(BadInput, match="copy: no space left on the disk"):
            Monitor.open(tmp_path / "copy")
    assert len(calls) == 2
    assert not any(Path(path).exists() for path in calls)
    Monitor.open(tmp_path / "copy").close()
    assert counts(tmp_path / "copy") == counts(state) == (4, 1)
