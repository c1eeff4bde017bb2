"""The frame runs small real benchmarks in real child processes; nothing here is replaced by a stand-in."""

import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.frame import Case, Rss, load, race, run_apart, timed

ROOT = Path(__file__).resolve().parents[2]
HEAD = "from benchmarks.frame import Case, benchmark, quick, race\n"
GOOD = """
@benchmark("sums", "adds numbers with two methods")
def sums():
    rows = 1_000 if quick() else 200_000
    result = race(lambda: sum(range(rows)), lambda: sum([i for i in range(rows)]), repeat=3)
    yield result.case("sum", "list", result.ours_answer == result.rival_answer, least=0.001, rows=rows)
    yield Case("alone", ours=0.0125, note="has no rival")
"""
HEAVY = """
@benchmark("heavy", "takes memory")
def heavy():
    yield Case("light")
    block = bytearray(200_000_000)
    del block
    yield Case("200 MB")
    yield Case("light again")
    yield Case("own figure", peak_rss_mb=7.0)
"""
TREE = """
import subprocess, sys

@benchmark("tree", "lets a grandchild take memory")
def tree():
    code = "import time; block = bytearray(b'x') * 200_000_000; time.sleep(0.5)"
    subprocess.run([sys.executable, "-c", code], check=True)
    return [Case("grandchild"), Case("same stretch")]
"""
FAILING = """
@benchmark("failing", "yields a case and fails")
def failing():
    print("a word from the child")
    yield Case("before", ours=1.0)
    raise ValueError("a plain failure")
"""
WRONG = """
@benchmark("wrong", "gives another answer than its rival")
def wrong():
    yield Case("differs", 1.0, 2.0, "rival", equal=False)
"""
SILENT = """
@benchmark("silent", "gives nothing")
def silent():
    return []
"""
DYING = """
import os, signal

@benchmark("dying", "is killed")
def dying():
    yield Case("before")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def bench_file(folder: Path, name: str, source: str) -> Path:
    file = folder / f"bench_{name}.py"
    file.write_text(HEAD + dedent(source))
    return file


def outcome_of(folder: Path, name: str, source: str) -> Any:
    [found] = load(bench_file(folder, name, source))
    return run_apart(found, quickly=False)


def test_a_benchmark_gives_its_table_its_json_and_exit_code_0(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bench_file(tmp_path, "sums", GOOD)
    together = tmp_path / "all.json"
    assert main(["--json", str(together)], folder=tmp_path, results=tmp_path / "results") == 0

    out, err = capfd.readouterr()
    for word in ("case", "ours", "rival", "ratio", "peak RSS", "answers equal", "goal", "met"):
        assert word in out
    assert "0.001x" in out
    assert "12.5 ms" in out
    assert "has no rival" in out
    assert err.splitlines()[0] == "[1/1] sums: adds numbers with two methods …"
    assert "done, 2 cases" in err

    result = json.loads((tmp_path / "results" / "sums.json").read_text())
    assert [result] == json.loads(together.read_text())
    summed, alone = result["cases"]
    assert summed["rows"] == 200_000
    assert summed["equal"] is summed["met"] is True
    assert summed["ratio"] == pytest.approx(summed["rival"] / summed["ours"])
    assert alone["ratio"] is alone["equal"] is None
    assert summed["peak_rss_mb"] > 5


def test_results_hold_facts_of_the_machine_but_neither_its_name_nor_paths(tmp_path: Path) -> None:
    bench_file(tmp_path, "sums", GOOD)
    main(["--quick"], folder=tmp_path, results=tmp_path / "results")
    text = (tmp_path / "results" / "sums.json").read_text()
    result = json.loads(text)
    assert result["quick"] is True
    assert result["cases"][0]["rows"] == 1_000
    assert result["machine"]["cpus"] == os.cpu_count()
    assert result["machine"]["python"] == platform.python_version()
    assert result["machine"]["libraries"]["numpy"] == np.__version__
    assert set(result["peaks_mb"]) == {"tree", "self", "largest_child"}
    assert str(tmp_path) not in text
    assert str(ROOT) not in text
    assert f'"{platform.node()}"' not in text


def test_others_go_on_after_a_failing_benchmark(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, source in [("failing", FAILING), ("sums", GOOD), ("dying", DYING)]:
        bench_file(tmp_path, name, source)
    results = tmp_path / "results"
    assert main(["--quick"], folder=tmp_path, results=results) == 1

    out, err = capfd.readouterr()
    assert "ValueError: a plain failure" in err
    assert "a word from the child" in err
    assert "a word from the child" not in out
    assert "FAILED (ValueError), 1 cases" in err
    assert "FAILED (ended by signal 9), 1 cases" in err
    assert "sums: done, 2 cases" in err
    failed = json.loads((results / "failing.json").read_text())
    assert failed["error"] == "ValueError"
    assert [case["case"] for case in failed["cases"]] == ["before"]


def test_a_wrong_answer_fails_the_run(tmp_path: Path) -> None:
    bench_file(tmp_path, "wrong", WRONG)
    assert main([], folder=tmp_path, results=tmp_path / "results") == 1


def test_a_benchmark_without_cases_fails(tmp_path: Path) -> None:
    assert outcome_of(tmp_path, "silent", SILENT).error == "ValueError"


def test_a_module_that_cannot_be_imported_is_reported_and_the_others_go_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bench_file(tmp_path, "broken", "import no_such_module\n")
    bench_file(tmp_path, "sums", GOOD)
    assert main(["--quick"], folder=tmp_path, results=tmp_path / "results") == 1
    _, err = capfd.readouterr()
    assert "bench_broken.py can't be taken in" in err
    assert "sums: done" in err


def test_names_choose_and_list_tells(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bench_file(tmp_path, "sums", GOOD)
    bench_file(tmp_path, "wrong", WRONG)
    results = tmp_path / "results"
    assert main(["sums", "--quick"], folder=tmp_path, results=results) == 0
    assert [file.name for file in results.iterdir()] == ["sums.json"]
    capfd.readouterr()

    assert main(["--list"], folder=tmp_path, results=results) == 0
    listed, _ = capfd.readouterr()
    assert [line.split()[0] for line in listed.splitlines()] == ["sums", "wrong"]

    assert main(["nothing"], folder=tmp_path, results=results) == 2
    assert "no benchmark nothing; known are: sums, wrong." in capfd.readouterr().err


def test_two_benchmarks_of_one_name_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bench_file(tmp_path, "sums", GOOD)
    bench_file(tmp_path, "zzz", GOOD)
    assert main(["--list"], folder=tmp_path, results=tmp_path) == 1
    out, err = capfd.readouterr()
    assert len(out.splitlines()) == 1
    assert "bench_sums.py has a benchmark named 'sums' too" in err

    twice = GOOD + GOOD.replace("def sums", "def more")
    with pytest.raises(ValueError, match="declares two"):
        load(bench_file(tmp_path, "twice", twice))


def test_the_peak_of_a_child_is_seen_in_the_case_that_had_it(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path, "heavy", HEAVY)
    light, heavy, again, own = (case.peak_rss_mb for case in outcome.cases)
    assert heavy - light > 180
    assert heavy - again > 180
    assert own == 7.0
    assert outcome.peaks_mb["tree"] >= outcome.peaks_mb["self"]
    assert outcome.peaks_mb["self"] == pytest.approx(heavy, abs=1)


def test_the_peak_of_a_grandchild_is_seen(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path, "tree", TREE)
    first, second = (case.peak_rss_mb for case in outcome.cases)
    assert first == second
    assert first > 200
    assert outcome.peaks_mb["largest_child"] > 190
    assert outcome.peaks_mb["self"] < 150


def test_nested_blocks_each_see_their_own_peak() -> None:
    with Rss() as outer:
        block = np.ones(12_500_000)
        del block
        with Rss() as inner:
            pass
    assert outer.own_mb - inner.own_mb > 90
    assert outer.peak_mb >= outer.own_mb


def test_ctrl_c_stops_the_parent_and_all_below_it(tmp_path: Path) -> None:
    source = """
    import subprocess, sys
    from pathlib import Path

    @benchmark("endless", "never ends")
    def endless():
        sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        Path(__file__).with_name("pid").write_text(str(sleeper.pid))
        sleeper.wait()
        yield Case("never")
    """
    bench_file(tmp_path, "endless", source)
    code = "import sys, pathlib; from benchmarks.__main__ import main; folder = pathlib.Path(sys.argv[1]); "
    code += "sys.exit(main([], folder, folder))"
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", code, str(tmp_path)]
    parent = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": path}, stderr=subprocess.PIPE, text=True)
    written = tmp_path / "pid"
    wait_until(lambda: written.exists() and written.read_text() != "")
    parent.send_signal(signal.SIGINT)
    _, err = parent.communicate(timeout=20)
    assert parent.returncode == 130
    assert err.splitlines()[-1] == "Stopped."
    assert "Traceback" not in err
    sleeper = Path("/proc") / written.read_text()
    wait_until(lambda: not sleeper.exists() or ") Z " in (sleeper / "stat").read_text())


def wait_until(true: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it didn't happen in time"
        time.sleep(0.02)


def test_timed_gives_the_median_and_the_last_answer() -> None:
    naps = [0.0, 0.05, 0.0]

    def nap() -> int:
        time.sleep(naps.pop())
        return len(naps)

    seconds, naps_left = timed(nap, repeat=3)
    assert seconds < 0.04
    assert naps_left == 0


def test_a_race_takes_turns_and_swaps_who_is_first() -> None:
    order: list[str] = []
    result = race(lambda: order.append("o"), lambda: order.append("r"), repeat=5)
    assert "".join(order) == "orroorroor"
    assert result.ours > 0
    assert result.rival > 0


@pytest.mark.parametrize(
    ("equal", "least", "met"), [(True, 2.0, True), (True, 4.0, False), (False, 2.0, False), (None, 2.0, True)]
)
def test_a_goal_is_met_by_speed_and_a_right_answer(equal: bool | None, least: float, met: bool) -> None:
    result = race(lambda: time.sleep(0.01), lambda: time.sleep(0.03), repeat=1)
    case = result.case("nap", "longer nap", equal, least=least)
    assert case.goal == f"{least:g}x"
    assert case.met is met


def test_a_ratio_needs_both_times() -> None:
    assert Case("both", 2.0, 8.0).ratio == 4.0
    assert Case("ours", 2.0).ratio is None
    assert Case("rival", None, 8.0).ratio is None
    assert Case("nothing took no time", 0.0, 8.0).ratio is None
