"""One writer at a time: an operating-system lock on a file, which a crash releases."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from holdfast.errors import BadInput


class WriterLock:
    """Held from construction until `release` or the end of the process, however it ends."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._handle, 32).decode() or "another process"
            os.close(self._handle)
            raise BadInput(
                f"{path.parent}: the state is being written by process {holder}; wait until it ends, or stop it"
            ) from None
        os.truncate(self._handle, 0)
        os.pwrite(self._handle, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Let the next writer in."""
        os.close(self._handle)
