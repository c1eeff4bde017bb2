"""One writer at a time: an operating-system lock on a file, which a crash releases.

The file holds the number of the process that has the lock, and nothing else. Anything else with its name (a link, a
folder, a file with other content) is refused and stays as it is.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path

from holdfast.errors import BadInput

_LONGEST = 32  # bytes of a process number, and more than enough


class WriterLock:
    """Held from construction until `release` or the end of the process, however it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = self._locked()
        os.truncate(self._handle, 0)
        os.pwrite(self._handle, str(os.getpid()).encode(), 0)

    def _locked(self) -> int:
        """The open file, locked, and still the one with that name: a failed init removes its lock."""
        while True:
            handle = _opened(self._path)
            try:
                self._lock(handle)
                if _is_at(handle, self._path):
                    return handle
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)

    def _lock(self, handle: int) -> None:
        held = _holder(handle, self._path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(
                f"{self._path.parent}: process {held or '(just started)'} is writing the state; "
                "wait until it ends, or stop it"
            ) from None

    def remove(self) -> None:
        """Remove the file of a state that was not finished, and let go."""
        self._path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Let the next writer in."""
        os.close(self._handle)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):  # a link, a folder, a socket
            raise _foreign(path) from None
        raise


def _holder(handle: int, path: Path) -> str:
    """The process that a lock names. A file that is no lock of ours is refused, as is one with a second name."""
    about = os.fstat(handle)
    if stat.S_ISREG(about.st_mode) and about.st_nlink <= 1:
        held = os.pread(handle, _LONGEST + 1, 0)
        if held == b"" or (held.isdigit() and len(held) <= _LONGEST):
            return held.decode()
    raise _foreign(path)


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def _foreign(path: Path) -> BadInput:
    return BadInput(f"{path}: this is not the lock that Holdfast keeps there; move it away and try again")
