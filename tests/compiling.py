"""Kernels are compiled once for all processes of a test run, and not by each of them.

In a fresh clone nothing is compiled, and compiling takes minutes. Where two processes need the same kernel, one
compiles it and the other waits, and reads it from the cache. A process that has waited long goes on by itself: to
compile twice is a waste, and no error.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core.dispatcher import Dispatcher

_LONG = 120.0  # seconds
_held: set[str] = set()


def compile_once() -> None:
    """From now on, in this process."""
    compile_here = Dispatcher.compile

    def compile_in_turn(self: Any, sig: Any) -> Any:
        with _turn(f"{self.py_func.__code__.co_filename} {self.py_func.__qualname__}"):
            return compile_here(self, sig)

    Dispatcher.compile = compile_in_turn  # type: ignore[method-assign]


@contextmanager
def _turn(name: str) -> Iterator[None]:
    if name in _held:  # a kernel that calls itself, or another thread
        yield
        return
    folder = Path(tempfile.gettempdir()) / f"compiling-holdfast-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    _held.add(name)
    with (folder / hashlib.sha256(name.encode()).hexdigest()).open("w") as file:
        try:
            _wait_for(file.fileno())
            yield
        finally:
            _held.discard(name)


def _wait_for(file: int) -> None:
    end = time.monotonic() + _LONG
    while time.monotonic() < end:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        else:
            return
