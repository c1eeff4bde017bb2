"""Applies batches one after another, in a process of its own that is killed meanwhile.

It says `ready` when it has opened the state, and then the name of each batch that was applied. It can die by its own
hand when it is about to flush a file to the disk for the n-th time: every file and every transaction goes through that.
Batches with `.feed.` in their names say the table of each row in the column `tbl`.

Such processes are forked from one that has imported and compiled all (`warmed.py`): so they begin at once.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from holdfast.api import monitor, upkeep
from holdfast.engines.functional import groups_keeper, key_index
from holdfast.table import files

CHECKPOINT_EVERY = 2
RULES = ["key(name, amount)"]


def small_thresholds() -> None:
    """Have the index of a key in a file, though its rows are few, and have it rewritten every few batches."""
    key_index.FEWEST, key_index.MUCH, groups_keeper._FEW = 0, 5, 1 << 40


def die_at_flush(number: int) -> None:
    """Count flushes from now on, and die when the count is full."""
    flush, left = files.flush, [number]

    def counted(path: Path) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        flush(path)

    files.flush = counted


def _make(state: Path, source: Path, die: int) -> None:
    die_at_flush(die)
    monitor.Monitor.create(state, {"orders": source}, rules=RULES, key=["id"]).close()


def _vacuum(watch: monitor.Monitor, say: Callable[[str], None]) -> None:
    while True:
        watch.vacuum()
        say("vacuum")


def _apply(watch: monitor.Monitor, batches: Path, say: Callable[[str], None]) -> None:
    for path in sorted(batches.iterdir()):
        watch.apply(changes=path, batch_id=path.name, table_column="tbl" if ".feed." in path.name else None)
        say(path.name)


def _run(
    pipe: Connection,
    state: Path,
    batches: Path | None,
    source: Path | None,
    die: int,
    aside: Path | None,
    files: str | None,
) -> None:
    upkeep._REPLAY_BATCHES = CHECKPOINT_EVERY
    small_thresholds()
    if source is not None:
        _make(state, source, die)
        return
    die_at_flush(die)
    with monitor.Monitor.open(state) as watch:
        pipe.send("ready")
        if batches is None:
            _vacuum(watch, pipe.send)
        elif aside is not None:
            watch.watch_folder(batches, how="changes", once=True, quarantine=aside, files=files, settle=0)
        else:
            _apply(watch, batches, pipe.send)


_fork = multiprocessing.get_context("forkserver")
_fork.set_forkserver_preload(["tests.cli.warmed"])


class Applier:
    """The process: it applies all files of `batches`, and without them writes the state again and again. With `source`,
    it makes the state of that file instead. With `aside`, it watches the folder of batches until all is applied, and
    sets aside there what can't be; `files` is the pattern of their names. With `die`, it kills itself at that flush.
    """

    def __init__(
        self,
        state: Path,
        batches: Path | None = None,
        *,
        source: Path | None = None,
        die: int = 0,
        aside: Path | None = None,
        files: str | None = None,
    ) -> None:
        self._pipe, other = _fork.Pipe(duplex=False)
        self._process = _fork.Process(target=_run, args=(other, state, batches, source, die, aside, files))
        self._process.start()
        other.close()

    def ready(self) -> Applier:
        """The process, once it is about to apply the first batch."""
        assert self._pipe.recv() == "ready"
        return self

    def kill(self) -> None:
        """As `kill -9` does."""
        self._process.kill()

    def rest(self) -> list[str]:
        """What it says until it has ended, or said before it was killed."""
        said = []
        with self._pipe, suppress(EOFError, OSError):
            while True:
                said.append(self._pipe.recv())
        self._process.join()
        return said

    @property
    def exit_code(self) -> int | None:
        """How it ended: minus nine where it was killed."""
        return self._process.exitcode
