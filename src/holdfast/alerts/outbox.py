"""The outbox of a state: messages that were not delivered yet, one file for each message and target.

    STATE/outbox/TIME-ID.TARGET.json     a message; TARGET is a hash, from which the address can't be read
    STATE/outbox/TARGET.lock             held by the process that delivers to a target
    STATE/outbox/unfinished.json         a batch is being applied: which was the last before it

A message is written before it is sent and removed after it was taken. So it is delivered at least once, by this process
or by the next one that has the same target. The oldest are dropped where more than `MOST` wait for a target.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from holdfast.alerts.targets import Message
from holdfast.store.layout import OUTBOX

MOST = 1000  # messages that wait for a target
_UNFINISHED = "unfinished.json"
_PAUSE = 0.1  # seconds between two looks whether another process still delivers


class Outbox:
    """The outbox of a state."""

    def __init__(self, state: Path) -> None:
        self.folder = state / OUTBOX

    def put(self, target: str, message: Message) -> Path:
        """Keep a message for a target."""
        self.folder.mkdir(exist_ok=True)
        path = self.folder / f"{time.time_ns():020}-{message['id'][:16]}.{target}.json"
        _write(path, message)
        for oldest in self.waiting(target)[:-MOST]:
            remove(oldest)
        return path

    def waiting(self, target: str) -> list[Path]:
        """The messages for a target, the oldest first."""
        return sorted(self.folder.glob(f"*.{target}.json")) if self.folder.is_dir() else []

    def forget(self, before: float) -> None:
        """Drop the messages that are older than a moment, in seconds since 1970."""
        for path in self.folder.glob("*-*.json") if self.folder.is_dir() else ():
            if int(path.name.partition("-")[0]) < before * 1e9:
                remove(path)

    @contextmanager
    def delivering(self, target: str, until: Callable[[], float]) -> Iterator[bool]:
        """Be the only process that delivers to a target; gives False where another one still does at a moment, as
        `time.monotonic` counts. The moment may move.
        """
        if not self.folder.is_dir():
            yield True
            return
        try:
            handle = os.open(self.folder / f"{target}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:  # a full or a read-only disk
            yield True
            return
        try:
            yield _locked(handle, until)
        finally:
            os.close(handle)

    # ---- batches whose process ended before they gave their verdict --------------------------------------------------

    def begin(self, last: int) -> None:
        """A batch is to come after the entry `last` of the history, and its verdict is to be sent."""
        with suppress(OSError):  # a full disk stops no batch
            self.folder.mkdir(exist_ok=True)
            (self.folder / _UNFINISHED).write_text(json.dumps(last))

    def end(self) -> None:
        """Its verdict is in the outbox, or there is none."""
        remove(self.folder / _UNFINISHED)

    def unfinished(self) -> int | None:
        """The last entry of the history before a batch that gave no verdict; None: there is no such batch."""
        with suppress(OSError, ValueError):
            return int(json.loads((self.folder / _UNFINISHED).read_text()))
        return None


def remove(path: Path) -> None:
    """Remove a file of the outbox, as far as the disk allows."""
    with suppress(OSError):
        path.unlink()


def read(path: Path) -> dict[str, Any] | None:
    """A message that waits; None: it was delivered meanwhile, or can't be read."""
    with suppress(OSError, ValueError):
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict) and {"id", "verdict", "text", "state"} <= found.keys():
            return found
    return None


def _write(path: Path, message: Message) -> None:
    """Write a file that is there whole or not at all, for its owner alone."""
    new = path.with_suffix(".new")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(dict(message), file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _locked(handle: int, until: Callable[[], float]) -> bool:
    """Wait for a lock, at most until a moment."""
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if time.monotonic() >= until():
            return False
        time.sleep(_PAUSE)
