"""States that nobody may write to: looking needs no permission, and changing them is refused with one sentence."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from holdfast.api.monitor import Monitor
from holdfast.api.open_state import OpenState
from holdfast.api.view import View
from holdfast.store import database
from holdfast.store.store import Store
from tests.cli.mounting import mounted
from tests.cli.running import Holdfast, refused, write

RULES = """
rules:
  - {name: once, rule: "not(t.day = s.day)"}
  - {name: named, rule: "day -> name"}
"""
LOOKS = [
    ["status"],
    ["status", "--format", "json"],
    ["history"],
    ["history", "--rules", "--format", "json"],
    ["violations", "once", "--rows"],
    ["explain", "once"],
    ["explain", "named"],
    ["explain", "day -> score"],
]
LOOKING = """
import contextlib, io, json, sys
from holdfast import cli
results, (state, looks) = [], sys.argv[1:]
for look in json.loads(looks):
    out = io.StringIO()
    sys.argv = ["holdfast", look[0], state, *look[1:]]
    with contextlib.redirect_stdout(out):
        try:
            cli.main()
        except SystemExit as ended:
            results.append([ended.code, out.getvalue()])
print(json.dumps(results))
"""
APPLIES_AND_DIES = """
import os, signal, sys
from holdfast.api.monitor import Monitor
watch = Monitor.open(sys.argv[1])
watch.apply(inserts=sys.argv[2])
print("applied", flush=True)
if sys.argv[3] == "dies":
    os.kill(os.getpid(), signal.SIGKILL)
sys.stdin.read()
"""


@pytest.fixture
def watched(tmp_path: Path, people: Path, holdfast: Holdfast) -> Path:
    """A state with rules of all kinds, and two batches."""
    rules, made = tmp_path / "rules.yaml", tmp_path / "disk" / "state"
    rules.write_text(RULES)
    made.parent.mkdir()
    assert holdfast("init", made, people, "--key", "id", "--watch", "column,fd,ind", "--rules", rules).code == 0
    more = write(tmp_path / "more.csv", ["id,name,score,day", "4,Di,3.5,2024-01-03", "5,Al,1.5,2024-01-03"])
    assert holdfast("apply", made, "--insert", more).code == 1
    write(tmp_path / "again.csv", ["id,name,score,day", "6,Ed,3.5,2024-01-04"])
    return made


@contextmanager
def writer(state: Path, dies: bool) -> Iterator[None]:
    """A process that has applied a batch, and holds the state still or was killed."""
    again = state.parent.parent / "again.csv"
    command = [sys.executable, "-c", APPLIES_AND_DIES, str(state), str(again), "dies" if dies else "lives"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "applied\n"
        if dies:
            assert process.wait() == -signal.SIGKILL
        yield
        process.kill()


@pytest.mark.parametrize("left", ["nothing", "a log", "a log alone", "a writer"])
def test_a_state_on_a_read_only_disk(holdfast: Holdfast, watched: Path, people: Path, left: str) -> None:
    with writer(watched, dies=left != "a writer") if left != "nothing" else nullcontext():
        copy = Path(shutil.copytree(watched, watched.parent.parent / "copy"))
        if left == "a log alone":
            (watched / "holdfast.db-shm").unlink()
        assert (watched / "holdfast.db-wal").exists() == (left != "nothing")
        before = {each.name: each.stat().st_mtime_ns for each in watched.iterdir()}
        expected = [holdfast(look[0], copy, *look[1:]) for look in LOOKS]
        assert [ran.code for ran in expected] == [0] * len(LOOKS)
        read_only = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0"'
        with mounted(read_only, watched.parent) as disk:
            ran = disk.run(sys.executable, "-c", LOOKING, watched, json.dumps(LOOKS))
            assert json.loads(ran.out) == [[0, each.out] for each in expected], ran.err
            refused(disk.holdfast("apply", watched, "--delete", people), str(watched), "read-only")
            refused(disk.holdfast("init", watched.parent / "new", people), "new: the disk is read-only")
        assert {each.name: each.stat().st_mtime_ns for each in watched.iterdir()} == before


@pytest.fixture
def forbidden(watched: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state, where SQLite can't make the file that it needs next to the database."""

    class Forbidden(sqlite3.Connection):
        def execute(self, *_: object) -> sqlite3.Cursor:
            error = sqlite3.OperationalError("unable to open database file")
            error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            raise error

    real = database.connect

    def connect(path: Path) -> sqlite3.Connection:
        return sqlite3.connect(path, factory=Forbidden) if path.parent == watched else real(path)

    monkeypatch.setattr(database, "connect", connect)
    return watched


def test_a_private_copy_is_read_where_nothing_can_be_written(
    holdfast: Holdfast, forbidden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "temporary"  # where no other process makes files
    own.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    assert "last batch: 1" in holdfast("status", forbidden).err
    assert len(holdfast("history", forbidden, "--format", "json").objects) == 1
    assert holdfast("explain", forbidden, "once").code == 0
    assert not list(own.iterdir()), "the copy is gone"


def test_a_private_copy_is_of_one_moment(forbidden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer elsewhere changes the database while it is being copied: it is copied again."""
    real, copies = shutil.copyfile, []

    def copyfile(source: Path, to: Path) -> None:
        real(source, to)
        copies.append(to)
        if len(copies) == 1:
            os.utime(source, (1, 1))

    monkeypatch.setattr(shutil, "copyfile", copyfile)
    store = Store(forbidden)
    assert len(store.history()) == 1
    store.close()
    assert [path.name for path in copies] == ["holdfast.db"] * 2


def test_files_that_are_gone_make_it_look_again(forbidden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer elsewhere removes files after the database was copied, and before they are read."""
    real, loads = OpenState.load, []

    def load(loaded: OpenState) -> None:
        loads.append(loaded)
        if len(loads) == 1:
            with monkeypatch.context() as patched, Monitor.open(forbidden) as writing:
                patched.setattr(OpenState, "load", real)
                writing.apply(inserts=forbidden.parent.parent / "again.csv")
                writing.checkpoint()
        real(loaded)

    monkeypatch.setattr(OpenState, "load", load)
    with Monitor.open(forbidden, write=False) as reading:
        assert len(reading.history()) == 2
        assert reading.tables["people"].rows == 6
    assert len(loads) == 3, "the writer's, one in vain, and one more"


def test_a_private_copy_is_followed(forbidden: Path) -> None:
    """A view that reads a copy of the database makes another one when the state has changed."""
    with View.open(forbidden) as reading:
        version = reading._store.version()
        assert not reading.follow()
        with Monitor.open(forbidden) as writing:
            writing.apply(inserts=forbidden.parent.parent / "again.csv")
            expected = [finding.to_json() for finding in writing.results()]
        assert reading._store.version() != version
        assert reading.follow()
        assert (len(reading.history()), reading.tables["people"].rows) == (2, 6)
        assert [finding.to_json() for finding in reading.results()] == expected
        assert not reading.follow()
