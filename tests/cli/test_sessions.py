"""The sample sessions of README and docs are what the program prints.

A session is a block of commands, `$ holdfast …`, with their output: `…` on a line of its own stands for lines that are
left out, and within a line for any text. Between blocks of a file the state stays.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.running import Holdfast
from tests.cli.session_files import write_files, write_sales

ROOT = Path(__file__).parents[2]
TEXTS = sorted(
    path for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")] if "    $ holdfast" in path.read_text()
)
CUT = "…"


def sessions(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a text, each with the lines that it prints."""
    found: list[tuple[str, list[str]]] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("    $ holdfast "):
            found.append((line.removeprefix("    $ holdfast "), []))
            inside = True
        elif inside and line.startswith("    "):
            found[-1][1].append(line[4:].rstrip())
        elif line.strip():
            inside = False
    return found


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_session_is_what_the_program_prints(
    holdfast: Holdfast, path: Path, tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path)
    write_sales(tmp_path)
    shutil.copy(shared_data / "hospital_dirty.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    listed = sessions(path.read_text(encoding="utf-8"))
    assert listed
    for command, lines in listed:
        ran = holdfast(*shlex.split(command, comments=True))
        printed = [line.rstrip() for line in ran.out.splitlines()]
        assert _is_like(printed, lines), f"{command} prints:\n{ran.out}{ran.err}"


def _is_like(printed: list[str], lines: list[str]) -> bool:
    """Whether lines are as written, but for what is left out."""
    some = [".*" if line.strip() == CUT else re.escape(line).replace(re.escape(CUT), "[^\n]*") for line in lines]
    pattern = "".join("(.*\n)*" if part == ".*" else f"{part}\n" for part in some)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def test_what_is_left_out_may_be_anything_and_nothing_else_may() -> None:
    assert _is_like(["a", "b", "c"], ["a", "…", "c"])
    assert _is_like(["a", "c"], ["a", "…", "c"])
    assert _is_like(["took 3 s"], ["took … s"])
    assert not _is_like(["a", "b"], ["a"])
    assert not _is_like(["a"], ["a", "b"])
    assert not _is_like(["a1"], ["a"])


def test_there_are_sessions_in_the_readme_and_about_alarms() -> None:
    assert {"README", "alarms", "expectations", "suggestions"} <= {path.stem for path in TEXTS}
