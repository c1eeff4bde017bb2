"""Standard output and standard error that close early, are closed, are full, or speak another encoding.

The exit code is that of the work: a reader that goes away breaks no rule.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import COMMAND, Holdfast, Picture, Ran, environment, write

RULES = ['rules: [{name: one, rule: "a -> b"}]']


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """A table whose facts are more than a pipe holds."""
    columns = 2_000
    return write(tmp_path / "wide.csv", [",".join(f"c{i}" for i in range(columns)), ",".join(["1"] * columns)])


@pytest.fixture
def broken(tmp_path: Path) -> list[object]:
    """A check that fails, and prints more than a pipe holds."""
    source = write(tmp_path / "broken.csv", ["a,b", *(f"1,{i}" for i in range(4_000))])
    return ["check", source, "--rules", write(tmp_path / "rules.yaml", RULES), "--rows", "--limit", 4_000]


def shell(redirected: str, *words: object) -> Ran:
    """Run the command in bash; `{}` stands for it. The exit code is its own, not that of a pipe's other end."""
    command = shlex.join([COMMAND, *map(str, words)])
    script = redirected.replace("{}", command) + "; exit ${PIPESTATUS[0]}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=environment(), check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


def no_complaint(words: str) -> None:
    """Standard error says how a file was read and how far the work is, and nothing else."""
    assert all(" separator " in line or line.endswith(" …") for line in words.splitlines()), words


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_reader_that_goes_away(wide: Path, form: str) -> None:
    result = shell("{} | head -1", "discover", wide, "--rules", "column", "--format", form)
    assert (result.code, len(result.out.splitlines())) == (0, 1)
    no_complaint(result.err)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_reader_that_never_reads(people: Path, form: str) -> None:
    """So little is printed that it stays in a buffer until the end."""
    result = shell("{} | sleep 0", "discover", people, "--rules", "column", "--format", form)
    assert (result.code, result.out) == (0, "")
    no_complaint(result.err)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_exit_code_is_1_though_nobody_reads_on(broken: list[object], form: str) -> None:
    result = shell("{} | head -1", *broken, "--format", form)
    assert (result.code, len(result.out.splitlines())) == (1, 1)
    no_complaint(result.err)


def test_a_batch_is_applied_though_nobody_reads_of_it(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert holdfast("init", state, people, "--watch", "ucc", "--key", "id").code == 0
    more = write(tmp_path / "more.csv", ["id,name,score,day", "4,Ann,1.5,2024-01-01"])
    options = ("--format", "json", "--fail-on", "any")
    assert shell("{} | sleep 0", "apply", state, "--insert", more, *options).code == 1
    assert len(Picture.of(state).history) == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_closed_streams(people: Path, broken: list[object], tmp_path: Path, closed: str, form: str) -> None:
    fine = shell(f"{{}} {closed}", "discover", people, "--rules", "column", "--format", form)
    assert fine.code == 0
    assert bool(fine.out) == (">&-" not in closed.split())
    no_complaint(fine.err)
    assert shell(f"{{}} {closed}", *broken[:4], "--format", form).code == 1
    assert shell(f"{{}} {closed}", "discover", tmp_path / "none.csv", "--format", form).code == 2


def test_a_state_is_whole_though_streams_are_closed(people: Path, tmp_path: Path) -> None:
    """Its files must not take the place of standard output, and hold what is printed."""
    state = tmp_path / "state"
    assert shell("{} >&- 2>&-", "init", state, people, "--key", "id").code == 0
    assert Picture.of(state).rows["people"].total() == 3


def test_words_that_nobody_reads(people: Path) -> None:
    result = shell("{} 2>&1 >/dev/null | sleep 0", "discover", people, "--rules", "column")
    assert result.code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_full_disk(people: Path, form: str) -> None:
    result = shell("{} > /dev/full", "discover", people, "--rules", "column", "--format", form)
    assert result.code == 2
    assert result.err.splitlines()[-1].startswith("holdfast: standard output can't be written: No space left")
    words = shell("{} 2> /dev/full", "discover", people, "--rules", "column", "--format", form)
    assert (words.code, words.err) == (0, "")
    assert words.out


@pytest.mark.parametrize("form", ["text", "json"])
def test_another_encoding(tmp_path: Path, form: str) -> None:
    source = write(tmp_path / "zoë.csv", ["naïve", "東京"])
    done = subprocess.run(
        [COMMAND, "discover", source, "--rules", "column", "--format", form], capture_output=True, check=False,
        env={**environment(), "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.returncode == 0
    no_complaint(done.stderr.decode("ascii").replace(r"\u2026", "…"))
    if form == "json":
        assert Ran(0, done.stdout.decode("ascii"), "").facts["naïve"]["max"] == "東京"
    else:
        assert rb"na\xefve" in done.stdout


@pytest.mark.parametrize("reader", ["sleep 0", "head -14 > /dev/null"])
@pytest.mark.parametrize("words", [["--help"], ["discover", "--help"], ["init", "--help-all"], ["--version"]])
def test_help_that_nobody_reads(words: list[str], reader: str) -> None:
    result = shell(f"{{}} | {reader}", *words)
    assert (result.code, result.err) == (0, "")


def test_a_pipe_of_ours_that_breaks_is_an_error(people: Path) -> None:
    """Only standard output and standard error may go away: any other pipe is part of the work."""
    script = (
        "import sys\n"
        "from holdfast import cli\n"
        "from holdfast.api import discovery\n"
        "def broken(*_, **__): raise BrokenPipeError(32, 'Broken pipe')\n"
        "discovery.discover = broken\n"
        "sys.argv = ['holdfast', 'discover', sys.argv[1], '--rules', 'column']\n"
        "cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", script, people], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "error of ours" in done.stderr


def test_nothing_is_cut_in_a_pipe(tmp_path: Path) -> None:
    names = [f"a_column_with_a_rather_long_name_{i}" for i in range(4)]
    rows = [f"{i},{i // 2},{i // 4},{i % 3}" for i in range(12)]
    source = write(tmp_path / "long.csv", [",".join(names), *rows])
    plain = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    done = subprocess.run(
        [COMMAND, "discover", source, "--rules", "column,fd"], capture_output=True, text=True, check=True, env=plain
    )
    assert "…" not in done.stdout
    assert f"{names[1]}, {names[3]} -> {names[0]}" in done.stdout
