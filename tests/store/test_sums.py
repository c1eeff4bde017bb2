"""Checksums of the database: whenever a writer ends, however it ends, the next one opens a state that is whole."""

from __future__ import annotations

import errno
import os
import random
import shutil
import sqlite3
from pathlib import Path
from unittest.mock import patch

import pytest

from holdfast.api.monitor import Monitor
from holdfast.api.verification import verify
from holdfast.api.view import View
from holdfast.errors import Damaged, Missing
from holdfast.store import sums
from holdfast.store.store import Store
from holdfast.store.sums import SumsWriter, read_sums
from holdfast.store.wal import Position, read_after, whole_up_to
from tests.store import flips, harm

FLIPS = 50


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return flips.states(tmp_path_factory.mktemp("sums"))


@pytest.fixture
def rest(made: list[Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(made[0], tmp_path / "rest"))


@pytest.fixture
def killed(made: list[Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(made[1], tmp_path / "killed"))


def batches(state: Path) -> int:
    with View.open(state) as view:
        return len(view.history())


def as_killed(state: Path, to: Path) -> Path:
    """A copy of a state that is open, as a kill would leave it now."""
    return Path(shutil.copytree(state, to, ignore=shutil.ignore_patterns("*-shm")))


@pytest.mark.parametrize("which", [0, 1], ids=["at rest", "killed"])
def test_bits_that_turn_anywhere(made: list[Path], which: int) -> None:
    state = made[which]
    outcomes = list(flips.run(state, flips.answers(state), FLIPS, random.Random(which)))
    assert {outcome for _, outcome in outcomes} <= {"refused", "same"}, outcomes
    assert all(outcome == "refused" for kind, outcome in outcomes if kind in (flips.DATABASE, flips.LOG))


def test_a_digit_in_the_database(rest: Path) -> None:
    """What a batch would have made of a bit that turned: one more violation, and no word about it."""
    path = rest / "holdfast.db"
    raw = path.read_bytes()
    at = raw.index(b'"violations": ') + len(b'"violations": ')
    path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
    for write in (False, True):
        with pytest.raises(Damaged, match=rf"^{path}: damaged \(page \d+ differs from its checksum\); restore it"):
            Store(rest, write=write)
    assert verify(rest).problems[0].startswith(f"{path}: damaged (page ")


def test_a_file_of_checksums_that_is_gone(rest: Path) -> None:
    (rest / "holdfast.sums").unlink()
    with pytest.raises(Missing, match=r"holdfast\.sums: this file of the state is missing"):
        View.open(rest)
    assert "holdfast.sums" in verify(rest).problems[0]


# ---- writers that end anywhere ---------------------------------------------------------------------------------------


def test_killed_between_a_commit_and_its_checksums(rest: Path, tmp_path: Path) -> None:
    with Monitor.open(rest) as monitor:
        monitor.apply(inserts=harm.people(80, 1))
        with patch.object(SumsWriter, "add", lambda _: None):
            monitor.apply(inserts=harm.people(90, 1))
            monitor.apply(inserts=harm.people(91, 1))
            copy = as_killed(rest, tmp_path / "copy")
    assert batches(copy) == 6
    assert batches(copy) == 6, "the first reader left the log"
    assert verify(copy).problems == ()
    with Monitor.open(copy) as monitor:
        monitor.apply(inserts=harm.people(100, 1))
    assert not (copy / flips.LOG).exists()
    assert (batches(copy), verify(copy).problems) == (7, ())


def test_another_program_reads_what_a_killed_writer_left(killed: Path) -> None:
    """It copies the log to the database as it ends: the pages there are those that have checksums."""
    expected = batches(killed)
    database = sqlite3.connect(killed / "holdfast.db")
    assert database.execute("SELECT count(*) FROM batches").fetchone() == (expected,)
    database.close()
    assert not (killed / flips.LOG).exists()
    assert (batches(killed), verify(killed).problems) == (expected, ())


def test_the_last_reader_leaves_the_log(killed: Path) -> None:
    log = (killed / flips.LOG).read_bytes()
    for _ in range(2):
        batches(killed)
        assert (killed / flips.LOG).read_bytes() == log


def test_a_commit_that_was_lost_with_the_log_is_missed(killed: Path) -> None:
    (killed / flips.LOG).unlink()
    with pytest.raises(Damaged, match=r"holdfast\.db: damaged"):
        View.open(killed)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_checksums_that_can_not_be_written(rest: Path, number: int) -> None:
    """The batch is kept, and so is the log, until a writer can make up for it."""
    with Monitor.open(rest) as monitor, patch.object(os, "pwrite", side_effect=OSError(number, "no")):
        monitor.apply(inserts=harm.people(90, 1))
        monitor.close()
    assert (rest / flips.LOG).stat().st_size
    assert batches(rest) == 4
    Monitor.open(rest).close()
    assert not (rest / flips.LOG).exists()
    assert (batches(rest), verify(rest).problems) == (4, ())


def test_logs_and_checksums_begin_again(rest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "_LARGE_LOG", 20)
    monkeypatch.setattr(sums, "_LONG", 0)
    lengths = []
    for turn in range(3):
        with Monitor.open(rest) as monitor, View.open(rest) as view:
            for number in range(4):
                monitor.apply(inserts=harm.people(100 + 4 * turn + number, 1))
                copy = as_killed(rest, tmp_path / f"copy {turn} {number}")
                assert batches(copy) == 4 + 4 * turn + number
            assert verify(copy).problems == ()
            view.follow()
            assert len(view.history()) == 7 + 4 * turn
        lengths.append(read_sums(rest / "holdfast.sums").length)
    assert max(lengths) < 3 * lengths[0]
    assert verify(rest).problems == ()


# ---- SQLite's log ----------------------------------------------------------------------------------------------------


def test_a_log_is_read_as_sqlite_reads_it(tmp_path: Path) -> None:
    """Transactions large and small, some taken back after their pages reached the log, and a log that begins again: the
    pages that SQLite shows are the last ones that were read.
    """
    path = tmp_path / "x.db"
    database = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode = WAL", "wal_autocheckpoint = 0", "cache_size = 5"):
        database.execute(f"PRAGMA {pragma}")
    database.execute("CREATE TABLE t (a, b)")
    position, crcs = Position(), {1: 0}
    for turn in range(12):
        database.execute("BEGIN")
        database.executemany("INSERT INTO t VALUES (?, ?)", ((n, "x" * 50) for n in range(1 if turn % 2 else 3000)))
        database.execute("ROLLBACK" if turn % 4 == 2 else "COMMIT")
        log = read_after(sums.log_of(path), position)
        assert bool(log.frames) == (turn % 4 != 2)
        crcs |= {frame.page: frame.crc for frame in log.frames}
        position = log.end
        if turn == 7:
            database.execute("PRAGMA wal_checkpoint")
    assert whole_up_to(sums.log_of(path), position)
    seen = sums.page_crcs(database.serialize()).tolist()
    assert seen == [crcs[page] for page in range(1, len(seen) + 1)]
    database.close()
