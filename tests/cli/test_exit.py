"""How a process ends: with the exit code that its last sentence stands for, every time."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import Holdfast, finish, refused, start, write

AT_A_TIME, TIMES = 4, 5


def test_a_refused_file_never_aborts_the_process(tmp_path: Path, holdfast: Holdfast) -> None:
    """Arrow's threads outlive the reading of a file; where they held something of Python's, 1 run in 20 aborted."""
    table, bad = write(tmp_path / "t.csv", ["id,x", "1,2", "2,3"]), write(tmp_path / "bad.csv", ["id,x", "3,many"])
    states = [tmp_path / f"state{number}" for number in range(AT_A_TIME)]
    for state in states:
        assert holdfast("init", state, table, "--key", "id").code == 0
    for _ in range(TIMES):
        running = [start("apply", state, "--insert", bad) for state in states]
        for ran in [finish(process) for process in running]:
            refused(ran, "'many' is not a whole number")
