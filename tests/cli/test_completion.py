"""Shells complete commands, options and their values: the real command is asked as a shell asks it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import COMMAND, environment

# Words on the command line, the last of which is not finished, and all that it may become.
LINES = [
    (["rul"], ["rules"]),
    (["rules", "state/", "p"], ["pin", "promote"]),
    (["apply", "state/", "--max-"], ["--max-bad"]),
    (["apply", "state/", "--as", "up"], ["upsert"]),
    (["init", "state/", "t.csv", "--sugg"], ["--suggest"]),
]


def _asked(words: list[str], shell: str, **about: str) -> list[str]:
    """What the command answers a shell, line by line."""
    found = subprocess.run(
        [COMMAND],
        env={**environment(), "_HOLDFAST_COMPLETE": f"complete_{shell}", **about},
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert not found.stderr, words
    return found.stdout.splitlines()


@pytest.mark.parametrize(("words", "expected"), LINES)
def test_bash_completes(words: list[str], expected: list[str], tmp_path: Path) -> None:
    """By the script that the command prints, in a bash."""
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    line = " ".join(["holdfast", *words])
    script = (
        'eval "$(holdfast --show-completion)"\n'
        f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; COMP_LINE='{line}'\n"
        "complete -p holdfast >/dev/null && _holdfast_completion holdfast\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    (tmp_path / "holdfast").symlink_to(COMMAND)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    found = subprocess.run(
        ["bash", "--norc", "-c", script],
        env={**environment(), "PATH": path}, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert (sorted(found.stdout.split()), found.stderr) == (expected, "")


@pytest.mark.parametrize(("words", "expected"), LINES)
def test_zsh_and_fish_complete(words: list[str], expected: list[str]) -> None:
    """As their scripts ask, which need no such shell here."""
    line = " ".join(["holdfast", *words])
    fish = _asked(words, "fish", _TYPER_COMPLETE_ARGS=line, _TYPER_COMPLETE_FISH_ACTION="get-args")
    assert sorted(each.split("\t")[0] for each in fish) == expected
    zsh = _asked(words, "zsh", _TYPER_COMPLETE_ARGS=line)
    assert all(f'"{each}"' in "\n".join(zsh) for each in expected)
