"""What the tests of the command line share: the command itself, the two readers of files, and a small state."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest
import typer.main

from holdfast import cli
from holdfast.intake import readers
from tests.cli.running import Holdfast, Ran, write

_commands = cache(typer.main.get_command)  # typer makes all commands again for each call, which takes half of its time


@pytest.fixture
def holdfast(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Holdfast:
    """The command, run in this process: `holdfast("status", state)`."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(typer.main, "get_command", _commands)

    def run(*words: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["holdfast", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return Ran(code, printed.out, printed.err)

    return run


@pytest.fixture(params=["local", pytest.param("spark", marks=pytest.mark.spark)])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of reading a file: right here, and with Spark."""
    if request.param == "spark":
        request.getfixturevalue("spark")
        monkeypatch.setattr(readers, "SHARE", 0.0)
    return str(request.param)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A small table with a key, a text, a number with nulls and a day."""
    lines = ["id,name,score,day", "1,Ann,1.5,2024-01-01", "2,Bob,,2024-01-02", "3,Cy,2.5,2024-01-02"]
    return write(tmp_path / "people.csv", lines)


@pytest.fixture
def state(tmp_path: Path, people: Path, holdfast: Holdfast) -> Path:
    """A state that watches that table, with its key declared and one batch applied."""
    made = tmp_path / "state"
    assert holdfast("init", made, people, "--key", "id").code == 0
    more = write(tmp_path / "more.csv", ["id,name,score,day", "4,Di,3.5,2024-01-03"])
    assert holdfast("apply", made, "--insert", more, "--batch-id", "first").code == 0
    return made
