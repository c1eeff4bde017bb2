"""What the tests of the command line share: the command itself, the two readers of files, and a small state."""

from __future__ import annotations

import shutil
import sys
from functools import cache
from pathlib import Path

import pytest
import typer.main

from holdfast import cli
from holdfast.intake import readers
from tests.cli.running import HEADER, Holdfast, Ran, write

_commands = cache(typer.main.get_command)  # typer makes all commands again for each call, which takes half of its time


def run(patch: pytest.MonkeyPatch, *words: object) -> int:
    """Run the command in this process; gives its exit code."""
    patch.setenv("COLUMNS", "200")
    patch.setattr(typer.main, "get_command", _commands)
    patch.setattr(sys, "argv", ["holdfast", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture
def holdfast(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Holdfast:
    """The command, run in this process: `holdfast("status", state)`."""

    def ran(*words: object) -> Ran:
        capsys.readouterr()
        code = run(monkeypatch, *words)
        return Ran(code, *capsys.readouterr())

    return ran


@pytest.fixture(params=["local", pytest.param("spark", marks=pytest.mark.spark)])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both readers of a file: right here, and with Spark."""
    if request.param == "spark":
        request.getfixturevalue("spark")
        monkeypatch.setattr(readers, "SHARE", 0.0)
    return str(request.param)


PEOPLE = ["id,name,score,day", "1,Ann,1.5,2024-01-01", "2,Bob,,2024-01-02", "3,Cy,2.5,2024-01-02"]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A small table with a key, a text, a number with nulls and a day."""
    return write(tmp_path / "people.csv", PEOPLE)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state that watches that table, with its key declared and one batch applied; not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    people, more = write(folder / "people.csv", PEOPLE), write(folder / "more.csv", [HEADER, "4,Di,3.5,2024-01-03"])
    with pytest.MonkeyPatch.context() as patch:
        assert run(patch, "init", folder / "state", people, "--key", "id", "--watch", "column") == 0
        assert run(patch, "apply", folder / "state", "--insert", more, "--batch-id", "first") == 0
    return folder / "state"


@pytest.fixture
def state(made: Path, people: Path) -> Path:
    """A copy of that state, next to the table."""
    return Path(shutil.copytree(made, people.with_name("state")))
