"""Backups: a state of its own, as of one moment, made while a writer is at work; or nothing at all."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

import pytest

from holdfast.api.monitor import Monitor
from holdfast.api.verification import verify
from holdfast.errors import BadInput, Damaged
from holdfast.store import backup as backups
from holdfast.store.backup import backup
from holdfast.store.database import fact
from holdfast.store.store import Store
from holdfast.store.sums import SumsWriter
from holdfast.table import files
from tests.store import harm
from tests.store.test_store import files_in


@pytest.fixture(params=["inside", "apart"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    harm.make(tmp_path / "state", segments=str(tmp_path / "bulk") if request.param == "apart" else None)
    return tmp_path / "state"


def answers(path: Path) -> list[object]:
    with Monitor.open(path, write=False) as monitor:
        return [harm.answers(monitor), [batch.to_json() for batch in monitor.history()]]


def test_a_backup_is_a_state_of_its_own(state: Path, tmp_path: Path) -> None:
    expected, place = answers(state), tmp_path / "backups" / "one"
    made = backup(state, place)
    assert made.to_json() == {
        "kind": "backup", "state": str(state), "folder": str(place), "files": 11, "bytes": made.bytes, "batch": 3,
    }  # fmt: skip
    assert files_in(place) == {"holdfast.db", "holdfast.sums", "segments"}
    assert made.bytes == sum(path.stat().st_size for path in (place / "segments").iterdir())
    assert answers(place) == expected
    assert verify(place, deep=True).problems == ()
    shutil.rmtree(state)
    shutil.rmtree(tmp_path / "bulk", ignore_errors=True)
    place.rename(tmp_path / "elsewhere")
    with Monitor.open(tmp_path / "elsewhere") as monitor:
        monitor.apply(inserts=harm.people(100, 3))
        monitor.checkpoint()
    assert verify(tmp_path / "elsewhere").problems == ()


def test_a_backup_lets_the_state_go_on(state: Path, tmp_path: Path) -> None:
    """Whichever is opened first, neither is a copy that shares files with the other."""
    backup(state, tmp_path / "one")
    before = answers(state)
    assert fact(tmp_path / "one", "identity") != fact(state, "identity")
    with Monitor.open(tmp_path / "one") as monitor:
        assert monitor._store.folder == str(tmp_path / "one" / "segments")
        monitor.apply(deletes=harm.people(30, 5))
        monitor.checkpoint()
    assert answers(state) == before


WRITER = """
import sys
from holdfast.api import monitor, upkeep
from tests.store import harm
upkeep._REPLAY_BATCHES = 2
with monitor.Monitor.open(sys.argv[1]) as watch:
    number = 0
    while True:
        watch.apply(inserts=harm.people(1_000 + 3 * number, 3), batch_id=f"more {number}")
        number += 1
        if number == 1:  # what a process loads for its first batch is there
            print("ready", flush=True)
"""


def test_backups_while_a_writer_works(state: Path, tmp_path: Path) -> None:
    """Each is one moment: the rows of just those batches that its history lists."""
    command = [sys.executable, "-c", WRITER, str(state)]
    seen = set()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        for number in range(8):
            made = backup(state, tmp_path / f"backup {number}")
            assert writer.poll() is None
            seen.add(made.batch)
        writer.kill()
    assert len(seen) > 1
    for number in range(8):
        place = tmp_path / f"backup {number}"
        assert verify(place, deep=number % 4 == 0).problems == ()
        with Monitor.open(place, write=False) as monitor:
            assert monitor.tables["people"].rows == 42 + 3 * (len(monitor.history()) - 3)


def test_a_file_that_a_compaction_removes_meanwhile(state: Path, tmp_path: Path) -> None:
    real, fetched = files.fetch, []

    def fetch(path: str, to: Path) -> int:
        fetched.append(path)
        if len(fetched) == 3:
            with Monitor.open(state) as monitor:
                monitor.apply(inserts=harm.people(200, 1))
                monitor.checkpoint()
        return real(path, to)

    with patch.object(files, "fetch", fetch):
        made = backup(state, tmp_path / "one")
    assert made.batch == 4
    store = Store(tmp_path / "one")
    assert files_in(tmp_path / "one" / "segments") == store.bulk.named()
    store.close()
    assert verify(tmp_path / "one").problems == ()


# ---- nothing half made -----------------------------------------------------------------------------------------------


def test_places_that_are_taken(state: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name in ("full", "file"):
        with pytest.raises(BadInput, match=f"{name}: already there; give a new folder for the backup"):
            backup(state, tmp_path / name)
    with pytest.raises(BadInput, match="this folder is in the state itself"):
        backup(state, state / "backup")
    with pytest.raises(BadInput, match="not a Holdfast state"):
        backup(tmp_path / "full", tmp_path / "new")
    with pytest.raises(BadInput, match="/proc/x: no such file or directory"):
        backup(state, "/proc/x")
    assert files_in(tmp_path) - {"bulk"} == {"state", "full", "file"}
    (tmp_path / "empty").mkdir()
    backup(state, tmp_path / "empty")
    assert verify(tmp_path / "empty").problems == ()


@pytest.mark.parametrize("there", [False, True])
def test_a_backup_that_fails_leaves_nothing(state: Path, tmp_path: Path, there: bool) -> None:
    place = tmp_path / "deep" / "one"
    if there:
        place.mkdir(parents=True)
    real, fetched = files.fetch, []

    def full(path: str, to: Path) -> int:
        fetched.append(path)
        if len(fetched) == 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, to)

    with patch.object(files, "fetch", full), pytest.raises(BadInput, match="one: no space left on the disk"):
        backup(state, place)
    assert (tmp_path / "deep").exists() == there
    assert not there or files_in(place) == set()
    assert verify(state).problems == ()


class Died(BaseException):
    """Stands for `kill -9`."""


@pytest.mark.parametrize("at", ["snapshot", "first file", "fifth file", "sums", "end"])
def test_a_killed_backup_blocks_nothing(state: Path, tmp_path: Path, at: str) -> None:
    """The next one to the same folder starts over."""
    place, real, left = tmp_path / "one", files.fetch, [{"first file": 1, "fifth file": 5}.get(at, 0)]

    def die(*_: object) -> NoReturn:
        raise Died

    def fetch(path: str, to: Path) -> int:
        left[0] -= 1
        return real(path, to) if left[0] else die()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(backups, "_remove_own", lambda _: None)  # a process that is dead removes nothing
        patched.setattr(backups, "remove_folders", lambda _: None)
        patched.setattr(files, "fetch", fetch)
        ends = {"snapshot": (Store, "snapshot"), "sums": (SumsWriter, "of_new"), "end": (Path, "rename")}
        if at in ends:
            patched.setattr(*ends[at], die)
        with pytest.raises(Died):
            backup(state, place)
    assert files_in(place) >= {"segments"}
    assert backup(state, place).files == 11
    assert files_in(place) == {"holdfast.db", "holdfast.sums", "segments"}
    assert verify(place).problems == ()
    with pytest.raises(BadInput, match="one: already there"):
        backup(state, place)


def test_what_only_looks_like_a_killed_backup_stays(state: Path, tmp_path: Path) -> None:
    for name in ("mine.txt", "segments/mine.arrow", "holdfast.sums"):
        place = tmp_path / f"of {Path(name).name}"
        (place / name).parent.mkdir(parents=True)
        (place / name).write_text("mine")
        with pytest.raises(BadInput, match="already there; give a new folder"):
            backup(state, place)
        assert (place / name).read_text() == "mine"


def test_a_backup_at_work_is_not_disturbed(state: Path, tmp_path: Path) -> None:
    real = files.fetch
    tried: list[str] = []

    def fetch(path: str, to: Path) -> int:
        if not tried:
            tried.append(path)
            with pytest.raises(BadInput, match=f"one: process {os.getpid()} is writing the state"):
                backup(state, tmp_path / "one")
        return real(path, to)

    with patch.object(files, "fetch", fetch):
        backup(state, tmp_path / "one")
    assert tried
    assert verify(tmp_path / "one").problems == ()


def test_damage_is_not_copied(state: Path, tmp_path: Path) -> None:
    store = Store(state)
    path = Path(store.folder) / max(store.bulk.named())
    store.close()
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(Damaged, match=path.name):
        backup(state, tmp_path / "one")
    assert not (tmp_path / "one").exists()
