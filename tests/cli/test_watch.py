"""Watching a folder: every file once, what the files may hold, and files that are wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather

from tests.cli.running import HEADER, Holdfast, names_in, start, write


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_watching_a_folder(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in coming"
    folder.mkdir()
    write(folder / "a first.csv", [HEADER, "8,Eve,0.5,2024-02-01"])
    feather.write_feather(
        pa.table({"id": [9], "name": ["Flo"], "score": [None], "day": pa.array([0], pa.date32())}), folder / "b.arrow"
    )
    write(folder / "_hidden.csv", ["never read"])
    result = holdfast("watch", state, "--from", folder, "--once")
    assert result.code == 0, result.err
    assert "Batch 2 (a first.csv): 1 row. " in result.out
    assert "Batch 3 (b.arrow): 1 row. " in result.out
    assert "Watching" in result.err
    assert names_in(state) == ["Ann", "Bob", "Cy", "Di", "Eve", "Flo"]
    write(folder / "c.csv", [HEADER, "10,Guy,0.5,2024-02-01"])
    lines = holdfast("watch", state, "--from", folder, "--once", "--format", "json")
    assert [line["batch_id"] for line in lines.objects if line["kind"] == "batch"] == [f"file:{folder / 'c.csv'}"]
    assert {line["file"] for line in lines.objects} == {str(folder / "c.csv")}
    again = holdfast("watch", state, "--from", folder, "--once")
    assert (again.code, again.out) == (0, "")


def test_a_replaced_file_is_a_new_batch(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "incoming")
    command = ["watch", state, "--from", folder, "--as", "snapshot", "--once"]
    write(folder / "today.csv", [HEADER, "8,Eve,0.5,2024-02-01"])
    assert holdfast(*command).code == 0
    write(folder / "today.csv", [HEADER, "9,Flo,0.5,2024-02-02"])
    result = holdfast(*command)
    assert result.code == 0
    assert f"{folder / 'today.csv'}: replaced since it was applied" in result.err
    assert "Batch 3 (today.csv): 1 row inserted, 1 deleted. " in result.out
    assert names_in(state) == ["Flo"]


def test_watching_needs_no_spark(state: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "incoming")
    write(folder / "a.csv", [HEADER, "8,Eve,0.5,2024-02-01"])
    script = (
        "import sys; from holdfast.api.monitor import Monitor\n"
        "with Monitor.open(sys.argv[1]) as monitor: monitor.watch_folder(sys.argv[2], once=True)\n"
        "print('pyspark' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", script, str(state), str(folder)], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "False\n"), ran.stderr
    assert "Eve" in names_in(state)


@pytest.mark.parametrize(
    ("holds", "lines", "left"),
    [
        ("delete", ["id", "1", "2"], ["Cy", "Di"]),
        ("changes", [f"what,{HEADER}", "d,1,,,", "c,9,Eve,0.5,2024-02-01"], ["Bob", "Cy", "Di", "Eve"]),
        ("snapshot", [HEADER, "9,Eve,0.5,2024-02-01"], ["Eve"]),
    ],
)
def test_what_watched_files_hold(
    holdfast: Holdfast, state: Path, tmp_path: Path, holds: str, lines: list[str], left: list[str]
) -> None:
    folder = made(tmp_path / "incoming")
    write(folder / "one.csv", lines)
    more = ["--op", "what"] if holds == "changes" else []
    assert holdfast("watch", state, "--from", folder, "--as", holds, "--once", *more).code == 0
    assert names_in(state) == left


def test_a_bad_file_stops_a_watch_until_it_is_mended(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    """Files before it are applied, itself and those after it are not; once it is mended or gone, the watch goes on."""
    folder = made(tmp_path / "incoming")
    command = ["watch", state, "--from", folder, "--once", "--format", "json"]
    write(folder / "a.csv", [HEADER, "8,Eve,0.5,2024-02-01"])
    assert holdfast(*command).code == 0
    write(folder / "b.csv", [HEADER, "9,Flo,0.5"])
    write(folder / "c.csv", [HEADER, "10,Guy,0.5,2024-02-01"])
    for _ in range(2):
        stopped = holdfast(*command)
        assert stopped.code == 2
        assert "Traceback" not in stopped.err
        assert stopped.err.splitlines()[-1].startswith(f"holdfast: {folder / 'b.csv'}, line 2: 3 fields where 4")
        assert names_in(state) == ["Ann", "Bob", "Cy", "Di", "Eve"]
    (folder / "b.csv").unlink()
    gone = holdfast(*command)
    assert gone.code == 0, gone.err
    assert names_in(state) == ["Ann", "Guy", "Bob", "Cy", "Di", "Eve"]


def test_a_folder_that_is_not_there(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    ran = holdfast("watch", state, "--from", tmp_path / "nowhere", "--once")
    assert ran.code == 2
    assert ran.err.splitlines()[-1] == f"holdfast: {tmp_path / 'nowhere'}: there is no such folder to watch"


@pytest.mark.spark
def test_a_watch_ends_when_nobody_reads(state: Path, tmp_path: Path) -> None:
    """It would go on for ever otherwise, unseen."""
    folder = made(tmp_path / "incoming")
    write(folder / "one.csv", [HEADER, "8,Eve,0.5,2024-02-01"])
    with start("watch", state, "--from", folder, "--format", "json") as watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        assert '"file"' in watching.stdout.readline()
        watching.stdout.close()
        write(tmp_path / "two.csv", [HEADER, "9,Flo,0.5,2024-02-01"]).rename(folder / "two.csv")
        said = watching.stderr.read()
    assert watching.returncode == 0, said
    assert said.splitlines()[-1].startswith("Stopped, as nobody reads")
    assert names_in(state)[:5] == ["Ann", "Bob", "Cy", "Di", "Eve"], "Flo may come before the pipe is found broken"
