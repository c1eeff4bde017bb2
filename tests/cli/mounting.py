"""Disks that only some processes see: small ones, and ones that nobody may write to."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.running import COMMAND, Ran, environment


@dataclass(frozen=True)
class Mounted:
    """A disk that only processes started here see."""

    keeper: int
    path: Path

    def run(self, *command: object) -> Ran:
        """Run a command that sees the disk."""
        words = ["nsenter", f"--mount=/proc/{self.keeper}/ns/mnt", "--", *map(str, command)]
        done = subprocess.run(words, capture_output=True, text=True, env=environment(), timeout=120, check=False)
        return Ran(done.returncode, done.stdout, done.stderr)

    def holdfast(self, *words: object) -> Ran:
        """Run the command line."""
        return self.run(COMMAND, *words)


@contextmanager
def mounted(script: str, here: Path) -> Iterator[Mounted]:
    """A disk that a shell script mounts on `$0`; where that is not permitted, the test is skipped."""
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        pytest.skip("a disk of its own needs unshare and nsenter")
    command = ["unshare", "--mount", "sh", "-c", f"{script} && echo mounted && exec cat", str(here)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as keeper:
        assert keeper.stdout is not None
        if keeper.stdout.readline() != "mounted\n":
            pytest.skip("a disk of its own needs the right to mount one")
        yield Mounted(keeper.pid, here)
        assert keeper.stdin is not None
        keeper.stdin.close()
