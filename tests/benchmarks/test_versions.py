"""Two versions of a small project side by side: how much slower one is, and whether both say the same."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks import compare, same
from benchmarks.compare import Figure
from benchmarks.trees import ROOT, NotThere, tree_of

BENCH = """
from benchmarks.frame import Case, benchmark

@benchmark("sums", "adds numbers")
def sums():
    yield Case("all", ours={ours}, rival=2.0)
    yield Case("{name}", ours=1.0)
"""
CLI = """
import json, random, sys

def main():
    words = sys.argv[1:]
    if "key(a)" in " ".join(words):
        print("holdfast: refused", file=sys.stderr)
        sys.exit(2)
    value = {value} if words[0] == "history" else 7
    fields = {{"kind": "thing", "text": "a -> b", "values": [1.5, value], "seconds": random.random()}}
    items = list(fields.items())
    random.shuffle(items)
    print(json.dumps(dict(items)))
    print(json.dumps({{"words": words, "since": "2024-01-01T00:00:00.%03d+00:00" % random.randrange(1000)}}))
    sys.exit(1)
"""


def git(project: Path, *words: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=project, check=True, capture_output=True)


def write(project: Path, ours: float, name: str, value: int) -> None:
    """A version: what its benchmark measures and what its command says."""
    for place, text in {
        "benchmarks/bench_sums.py": BENCH.format(ours=ours, name=name),
        "src/holdfast/__init__.py": "",
        "src/holdfast/cli.py": CLI.format(value=value),
    }.items():
        (project / place).parent.mkdir(parents=True, exist_ok=True)
        (project / place).write_text(text)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a commit `old`, and changes since that are not committed."""
    project = tmp_path / "project"
    write(project, 2.0, "then", 8)
    for name in ("__main__.py", "frame.py"):
        shutil.copy(ROOT / "benchmarks" / name, project / "benchmarks" / name)
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "first")
    git(project, "tag", "old")
    write(project, 3.0, "now", 9)
    return project


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder of one data set."""
    folder = tmp_path / "data"
    folder.mkdir()
    rows = "".join(f"{n},{n % 3},{n % 2}\n" for n in range(20))
    (folder / "small.csv").write_text("a,b,c\n" + rows)
    return folder


def test_a_commit_gets_a_folder_of_its_own(project: Path) -> None:
    tree = tree_of("old", project)
    assert tree.is_relative_to(project / ".trees")
    assert "ours=2.0" in (tree / "benchmarks" / "bench_sums.py").read_text()
    (tree / "kept").touch()
    assert tree_of("old", project) == tree
    assert (tree / "kept").exists(), "what was compiled there stays"
    shutil.rmtree(tree)
    assert tree_of("old", project).is_dir()
    assert tree_of(None, project) == project
    with pytest.raises(NotThere, match="no commit 'new'"):
        tree_of("new", project)


def test_each_figure_has_its_ratio(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["old", "sums", "--rounds", "1", "--quick"], project) == 0
    rows = [[cell.strip() for cell in line.split("│")] for line in capsys.readouterr().out.splitlines()]
    figures = {tuple(row[2:4]): row[4:9] for row in rows if len(row) > 8}
    assert figures["all", "ours"] == ["2 s", "3 s", "1.500", "1.500 … 1.500", "slower"]
    assert figures["all", "rival"] == ["2 s", "2 s", "1.000", "1.000 … 1.000", ""]
    assert figures["then", "ours"] == ["1 s", "-", "-", "-", "only in one version"]
    assert figures["all", "peak RSS"][0].endswith(" MB")


def test_a_benchmark_that_fails_is_reported(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["old", "nothing"], project) == 1
    assert "There is no benchmark nothing" in capsys.readouterr().err
    assert compare.main(["nowhere", "sums"], project) == 2


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ([1.0, 1.0, 1.0], [1.1, 1.01, 1.2], "slower"),
        ([1.0, 1.0, 1.0], [1.1, 0.99, 1.2], ""),
        ([1.0, 1.0, 1.0], [1.01, 1.01, 1.01], ""),
        ([2.0, 2.0, 2.0], [1.0, 1.1, 1.9], "faster"),
        ([0.0], [0.0], ""),
    ],
)
def test_a_verdict_needs_all_rounds_and_more_than_noise(old: list[float], new: list[float], verdict: str) -> None:
    assert Figure("b", "c", "ours", old, new).verdict == verdict


def test_two_versions_that_say_the_same(project: Path, shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """But for times, durations and the order of keys."""
    write(project, 3.0, "now", 8)
    assert same.main(["old", "--quick"], project, shared) == 0
    assert capsys.readouterr().out.rstrip().endswith(": the same")
    assert same.main(["old", "large", "--quick"], project, shared) == 2
    assert "no data set large" in capsys.readouterr().err
    assert same.main(["old"], project, project) == 0
    assert "Nothing compared" in capsys.readouterr().err


def test_the_first_differences_are_shown(project: Path, shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert same.main(["old", "small", "--quick"], project, shared) == 1
    first, place, *_, last = capsys.readouterr().out.splitlines()
    assert first == "holdfast history small-equal --format json"
    assert place.strip() == "line[0].values[1]: 8 -> 9"
    assert last.endswith(": 4 differences")
    assert "(2 refused)" in last


def test_values_differ_by_type_place_and_lack() -> None:
    nan = float("nan")
    old = {"a": [1, nan, {"b": True}], "c": None}
    assert not list(same.differences(old, json.loads(json.dumps(old))))
    assert list(same.differences(old, {"c": None, "a": [1.0, nan, {"b": 1}, "x"], "d": 2})) == [
        ".a[0]: 1 -> 1.0",
        ".a[2].b: true -> 1",
        '.a[3]: nothing -> "x"',
        ".d: nothing -> 2",
    ]
