"""A state that is locked, unknown, or none: one clear sentence, exit code 2, and nothing is touched."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.store.store import Store
from tests.cli.running import Holdfast, refused, run_process, untouched


def test_a_batch_id_that_was_applied(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    with untouched(state):
        told = holdfast("apply", state, "--insert", tmp_path / "more.csv", "--batch-id", "first")
        assert (told.code, told.err) == (0, "")
        assert "batch first was applied before" in told.out
        lines = holdfast("apply", state, "--insert", tmp_path / "more.csv", "--batch-id", "first", "--format", "json")
        assert (lines.code, lines.objects[0]["already_applied"]) == (0, True)


@pytest.mark.parametrize("command", ["status", "history", "apply"])
def test_a_state_of_an_unknown_version(holdfast: Holdfast, state: Path, people: Path, command: str) -> None:
    database = sqlite3.connect(state / "holdfast.db")
    with database:
        database.execute("UPDATE meta SET value = '999' WHERE key = 'format'")
    database.close()
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
        "import sys; from holdfast.monitor import Monitor\n"
        "with Monitor.open(sys.argv[1]): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", holder, str(state)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with untouched(state):
            told = [f"process {other.pid}", str(state)]
            refused(holdfast("apply", state, "--delete", people), *told)
            refused(holdfast("watch", state, "--from", tmp_path, "--once"), *told)
            refused(run_process("apply", state, "--delete", people), *told)
        assert holdfast("status", state).code == 0
        assert holdfast("history", state).code == 0
        other.kill()
    assert holdfast("apply", state, "--delete", people).code == 0, "a killed process holds no lock"
