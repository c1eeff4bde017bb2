"""A state that is locked, unknown, or none: one clear sentence, exit code 2, and nothing is touched."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.store.store import Store
from tests.cli.running import Holdfast, refused, run_process, untouched, write
from tests.store import harm


def test_a_batch_id_that_was_applied(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    with untouched(state):
        result = holdfast("apply", state, "--insert", tmp_path / "more.csv", "--batch-id", "first")
        assert (result.code, result.err) == (0, "")
        assert "batch first was applied before" in result.out
        lines = holdfast("apply", state, "--insert", tmp_path / "more.csv", "--batch-id", "first", "--format", "json")
        assert (lines.code, lines.objects[0]["already_applied"]) == (0, True)


@pytest.mark.parametrize("command", ["status", "history", "apply"])
def test_a_state_of_an_unknown_version(holdfast: Holdfast, state: Path, people: Path, command: str) -> None:
    harm.change(state, "UPDATE meta SET value = '999' WHERE key = 'format'")
    before = (state / "holdfast.db").read_bytes()
    more = ["--insert", people] if command == "apply" else []
    refused(holdfast(command, state, *more), str(state), "format 999", "use the version that wrote it")
    refused(holdfast("init", state, people), str(state), "already there")
    assert (state / "holdfast.db").read_bytes() == before


@pytest.mark.parametrize("command", ["status", "history", "apply"])
@pytest.mark.parametrize("what", ["nothing", "empty", "full", "file", "garbage", "other", "unfinished"])
def test_a_folder_that_is_no_state(holdfast: Holdfast, people: Path, tmp_path: Path, command: str, what: str) -> None:
    here = tmp_path / "here"
    if what == "file":
        here.write_text("a file")
    elif what != "nothing":
        here.mkdir()
    if what == "full":
        (here / "letter.txt").write_text("dear")
    if what == "garbage":
        (here / "holdfast.db").write_text("this is no database, however long one looks at it" * 100)
    if what == "other":
        sqlite3.connect(here / "holdfast.db").execute("CREATE TABLE mine (x)").connection.close()
    if what == "unfinished":
        Store.create(here, {}).close()
    more = ["--insert", people] if command == "apply" else []
    refused(holdfast(command, here, *more), str(here))
    if what in ("full", "garbage", "other", "file"):
        before = _all_files(here)
        refused(holdfast("init", here, people), str(here), "already there")
        assert _all_files(here) == before


def _all_files(path: Path) -> dict[str, bytes]:
    return {str(f): f.read_bytes() for f in ([path] if path.is_file() else path.rglob("*")) if f.is_file()}


def test_a_state_locked_by_a_living_process(holdfast: Holdfast, state: Path, people: Path, tmp_path: Path) -> None:
    holder = (
        "import sys; from holdfast.api.monitor import Monitor\n"
        "with Monitor.open(sys.argv[1]): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", holder, str(state)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with untouched(state):
            expected = [f"process {other.pid}", str(state)]
            refused(holdfast("apply", state, "--delete", people), *expected)
            refused(holdfast("watch", state, "--from", tmp_path, "--once"), *expected)
            refused(run_process("apply", state, "--delete", people), *expected)
        assert holdfast("status", state).code == 0
        assert holdfast("history", state).code == 0
        other.kill()
    assert holdfast("apply", state, "--delete", people).code == 0, "a killed process holds no lock"


# ---- surroundings ----------------------------------------------------------------------------------------------------


def test_places_where_no_state_can_be(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    refused(holdfast("init", "/proc/x", people), "/proc/x: no such file or directory; choose another place")
    refused(holdfast("init", people / "x", people), "not a directory")
    refused(holdfast("init", tmp_path / ("x" * 300), people), "the name is too long")
    refused(holdfast("init", tmp_path / "s", people, "--segments", "/proc/x"), "/proc/x: no such file or directory")
    refused(holdfast("init", tmp_path / "s", people, "--segments", people), "not a directory")
    assert not (tmp_path / "s").exists()


def test_a_lock_that_is_a_folder(holdfast: Holdfast, state: Path, people: Path) -> None:
    (state / "lock").unlink()
    (state / "lock").mkdir()
    refused(holdfast("apply", state, "--delete", people), f"{state}/lock: this is not the lock", "move it away")
    assert holdfast("status", state).code == 0


HARM: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "empty": lambda path: path.write_bytes(b""),
    "overwritten": lambda path: path.write_bytes(b"x" * 5_000),
}


@pytest.mark.parametrize("harm", HARM)
@pytest.mark.parametrize("which", ["segment", "state of an engine"])
def test_a_file_that_is_gone_or_damaged(holdfast: Holdfast, state: Path, tmp_path: Path, which: str, harm: str) -> None:
    store = Store(state)
    segment, kept = store.tables()[0].where.segments[0].path, store.bulk.states()["parts", "people"]
    store.close()
    path = Path(segment if which == "segment" else kept)
    HARM[harm](path)
    expected = f"{path}: " + ("this file of the state is missing" if harm == "missing" else "damaged (")
    more = write(tmp_path / "again.csv", ["id,name,score,day", "9,Ed,3.5,2024-01-03"])
    for words in (["apply", state, "--insert", more], ["explain", state, "day -> name"], ["history", state, "--rules"]):
        refused(holdfast(*words), expected, "from a backup")
    assert len(holdfast("history", state, "--format", "json").objects) == 1


def test_a_damaged_database(holdfast: Holdfast, state: Path) -> None:
    whole = bytearray((state / "holdfast.db").read_bytes())
    whole[4096:] = b"x" * (len(whole) - 4096)
    (state / "holdfast.db").write_bytes(whole)
    refused(holdfast("status", state), str(state), "damaged")
    refused(holdfast("history", state), str(state), "damaged")
