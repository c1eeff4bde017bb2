"""JSON says what text says; outputs that can't be written are refused before the work; --columns; --version."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import holdfast as hf
from holdfast.progress import Progress
from tests.cli.running import COMMAND, HEADER, Holdfast, Picture, environment, names_in, refused, untouched, write

RULES = ['rules: [{name: one, rule: "name -> day"}, {name: late, rule: "not(t.day = s.day and t.id != s.id)"}]']


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return write(tmp_path / "rules.yaml", RULES)


@pytest.fixture
def ruled(holdfast: Holdfast, people: Path, tmp_path: Path, rules: Path) -> Path:
    """A state with one rule that holds, and one that two rows violate."""
    state = tmp_path / "ruled"
    assert holdfast("init", state, people, "--rules", rules, "--key", "id", "--watch", "column,ind").code == 0
    return state


# ---- JSON -----------------------------------------------------------------------------------------------------------


def test_init_and_status_show_the_tables(holdfast: Holdfast, tmp_path: Path) -> None:
    source, state = tmp_path / "t.arrow", tmp_path / "state"
    feather.write_feather(pa.table({"id": [1, 2], "list": [[1], [2]], "x": ["a", None]}), source)
    made = holdfast("init", state, source, "--key", "id", "--format", "json")
    table = {
        "kind": "table", "table": "t", "rows": 2, "key": ["id"], "nulls": "equal", "left_out": ["list"],
        "columns": [{"column": "id", "type": "integer"}, {"column": "x", "type": "text"}],
    }  # fmt: skip
    assert made.objects[0] == table
    assert holdfast("discover", source, "--format", "json").objects[0] == {**table, "key": []}
    assert holdfast("status", state, "--format", "json").of_kind("table", "batch") == [table]
    gone = write(tmp_path / "gone.csv", ["id", "2"])
    assert holdfast("apply", state, "--delete", gone, "--batch-id", "b").code == 0
    now = holdfast("status", state, "--format", "json")
    assert [line.get("batch_id") for line in now.of_kind("table", "batch")] == [None, "b"]
    assert now.objects[0] == {**table, "rows": 1}


def test_check_lists_the_rows(holdfast: Holdfast, people: Path, rules: Path) -> None:
    result = holdfast("check", people, "--rules", rules, "--rows", "--format", "json")
    assert result.code == 1
    assert [(line["name"], line["violations"]) for line in result.of_kind("dc", "fd")] == [("late", 1), ("one", 0)]
    assert [(line["rule"], line["violations"], line["listed"]) for line in result.of_kind("rule")] == [
        ("late", 1, True), ("one", 0, True),
    ]  # fmt: skip
    (violation,) = result.of_kind("violation")
    assert (violation["rows"], violation["t"]["name"], violation["s"]["name"]) == ([1, 2], "Bob", "Cy")
    few = holdfast("check", people, "--rules", rules, "--rows", "--limit", 0, "--format", "json")
    assert few.of_kind("violation") == []
    assert holdfast("check", people, "--rules", rules, "--format", "json").of_kind("rule", "violation") == []


def test_violations_show_rules_without_any(holdfast: Holdfast, ruled: Path) -> None:
    lines = holdfast("violations", ruled, "--format", "json").objects
    assert [(line["kind"], line["rule"]) for line in lines] == [
        ("rule", "late"), ("violation", "late"), ("rule", "one"),
    ]  # fmt: skip


def test_violations_that_are_only_counted(holdfast: Holdfast, people: Path, tmp_path: Path, rules: Path) -> None:
    state = tmp_path / "counted"
    assert holdfast("init", state, people, "--rules", rules, "--count-only").code == 0
    lines = holdfast("violations", state, "--format", "json").objects
    assert [(line["rule"], line["violations"], line["listed"]) for line in lines] == [
        ("late", 1, False), ("one", 0, True),
    ]  # fmt: skip
    shown = holdfast("violations", state)
    assert shown.code == 0
    assert "only their number is stored" in shown.out


def test_explain_as_json(holdfast: Holdfast, ruled: Path) -> None:
    (late,) = holdfast("explain", ruled, "late", "--format", "json").objects
    assert (late["rule"], late["violations"], late["holds"], late["rows"]) == ("late", 1, False, [1, 2])
    assert late["keys"] == [{"id": 2}, {"id": 3}]
    assert late["reason"].startswith("id 2 and id 3 violate late: both have day")
    assert late["most_involved"] == [
        {"row": 1, "keys": [{"id": 2}], "violations": 1},
        {"row": 2, "keys": [{"id": 3}], "violations": 1},
    ]
    (fine,) = holdfast("explain", ruled, "one", "--format", "json").objects
    assert (fine["text"], fine["holds"], fine["clusters"]) == ("name -> day", True, [])
    (broken,) = holdfast("explain", ruled, "day -> name", "--format", "json").objects
    assert (broken["holds"], broken["broken_pairs"], broken["clusters"][0]["look_at"]) == (False, 1, [2])
    (inclusion,) = holdfast("explain", ruled, "people.id in people.id", "--format", "json").objects
    assert (inclusion["kind"], inclusion["holds"]) == ("ind", True)


def test_apply_shows_new_and_gone(holdfast: Holdfast, ruled: Path, tmp_path: Path) -> None:
    more = write(tmp_path / "more.csv", [f"{HEADER},op", "9,Eve,1.5,2024-01-01,insert", "2,,,,delete"])
    result = holdfast("apply", ruled, "--changes", more, "--format", "json")
    changed = {line["name"]: line for line in result.objects if "name" in line}
    assert "late" not in changed or (changed["late"]["new"], changed["late"]["gone"]) == (1, 1)
    again = write(tmp_path / "again.csv", [HEADER, "10,Flo,1.5,2024-01-01"])
    result = holdfast("apply", ruled, "--insert", again, "--format", "json")
    (late,) = (line for line in result.objects if line.get("name") == "late")
    assert (late["new"], late["gone"]) == (2, 0)


# ---- files to write -------------------------------------------------------------------------------------------------


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading data is an error here: what is wrong must be said before."""

    def work(*_: object, **__: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("holdfast.api.discovery.discover", work)
    monkeypatch.setattr("holdfast.api.monitor.Monitor.open", work)


@pytest.mark.usefixtures("no_work")
def test_outputs_are_refused_before_the_work(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    state, nowhere = tmp_path / "state", tmp_path / "nodir"
    refused(holdfast("violations", state, "--output", nowhere / "v.csv"), f"there is no folder {nowhere}")
    refused(holdfast("violations", state, "--output", tmp_path / "v.xlsx"), "v.xlsx", ".csv", ".jsonl")
    refused(holdfast("violations", state, "--output", tmp_path), "unknown ending")
    refused(holdfast("discover", people, "--html", nowhere / "p.html"), f"there is no folder {nowhere}")
    refused(holdfast("discover", people, "--html", tmp_path), "this is a folder")
    refused(holdfast("discover", people, "--picture", nowhere / "p.dot"), f"there is no folder {nowhere}")
    refused(holdfast("discover", people, "--picture", tmp_path / "p.png"), "unknown ending")


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[list[str]]:
    """A folder on a disk that can't be written, for processes started with these words before them."""
    here = tmp_path / "read-only"
    here.mkdir()
    script = 'mount -t tmpfs -o ro none "$0" && echo mounted && exec cat'
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        pytest.skip("a disk of one's own needs unshare and nsenter")
    pipe = subprocess.PIPE
    command = ["unshare", "--mount", "sh", "-c", script, str(here)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as keeper:
        assert keeper.stdout is not None
        assert keeper.stdin is not None
        if keeper.stdout.readline() != "mounted\n":
            pytest.skip("a disk of one's own needs the right to mount one")
        yield ["nsenter", f"--mount=/proc/{keeper.pid}/ns/mnt", "--", COMMAND]
        keeper.stdin.close()


def test_outputs_on_a_read_only_disk(read_only: list[str], ruled: Path, people: Path, tmp_path: Path) -> None:
    for words in (
        ["discover", people, "--html", tmp_path / "read-only" / "p.html"],
        ["discover", people, "--rules", "ind", "--picture", tmp_path / "read-only" / "p.dot"],
        ["violations", ruled, "late", "--output", tmp_path / "read-only" / "v.csv"],
    ):
        command = [*read_only, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert done.stderr.count("\n") == 1
        assert "read-only" in done.stderr


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "jsonl"])
def test_no_violations_are_a_file_without_rows(holdfast: Holdfast, ruled: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"none.{ending}"
    result = holdfast("violations", ruled, "one", "--output", path)
    assert (result.code, result.err) == (0, f"0 violations written to {path}\n")
    if ending == "jsonl":
        assert path.read_text(encoding="utf-8") == ""
        return
    read = {"csv": csv.read_csv, "parquet": parquet.read_table, "arrow": feather.read_table}[ending]
    table = read(path)
    assert (len(table), table.column_names[:3]) == (0, ["rule", "t_row", "s_row"])


# ---- columns --------------------------------------------------------------------------------------------------------


def test_only_some_columns(holdfast: Holdfast, people: Path, tmp_path: Path, reader: str) -> None:
    assert reader
    found = holdfast("discover", people, "--columns", "id,day", "--format", "json")
    assert list(found.facts) == ["id", "day"]
    assert found.objects[0]["left_out"] == ["name", "score"]
    state = tmp_path / "state"
    made = holdfast("init", state, people, "--key", "id", "--columns", "id", "--columns", "day,name")
    assert made.code == 0
    assert "left out" not in made.err, "it was asked for"
    whole = write(tmp_path / "whole.csv", [HEADER, "8,Eve,not even a number,2024-02-01"])
    fewer = write(tmp_path / "fewer.csv", ["day,name,id", "2024-02-01,Flo,9"])
    for batch in (whole, fewer):
        assert holdfast("apply", state, "--insert", batch).code == 0
    assert names_in(state) == ["Ann", "Bob", "Cy", "Eve", "Flo"]
    other = write(tmp_path / "other.csv", ["day,name,id,age", "2024-02-01,Flo,10,3"])
    with untouched(state):
        refused(holdfast("apply", state, "--insert", other), "'age'")
    assert holdfast("apply", state, "--snapshot", people).code == 0
    assert names_in(state) == ["Ann", "Bob", "Cy"]


def test_columns_of_several_tables(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    odd = write(tmp_path / "odd.csv", ['"a,b",c', "1,2"])
    found = holdfast("discover", people, odd, "--columns", 'odd:"a,b"', "--format", "json")
    assert [(line["table"], line["column"]) for line in found.of_kind("column")] == [
        ("people", "id"), ("people", "name"), ("people", "score"), ("people", "day"), ("odd", "a,b"),
    ]  # fmt: skip
    refused(holdfast("discover", people, odd, "--columns", "id"), "--columns id", "table:id")


def test_columns_that_are_not_there(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    refused(holdfast("discover", people, "--columns", "id,nobody"), "no column 'nobody'", "'id', 'name'")
    refused(holdfast("init", state, people, "--columns", "id,id"), "'id' is named twice")
    refused(holdfast("init", state, people, "--columns", "id", "--key", "name"), "'name'")
    refused(holdfast("init", state, people, "--columns", "none:id"), "'none'")
    lists = tmp_path / "lists.arrow"
    feather.write_feather(pa.table({"id": [1], "list": [[1]]}), lists)
    refused(holdfast("init", state, lists, "--columns", "id,list"), "'list' is list", "can't be compared")
    assert not state.exists()


def test_many_columns_get_advice(holdfast: Holdfast, tmp_path: Path) -> None:
    wide = write(tmp_path / "wide.csv", [",".join(f"c{i}" for i in range(520)), ",".join(["1"] * 520)])
    refused(holdfast("discover", wide, "--rules", "fd"), "520 columns", "--columns")
    chosen = ",".join(f"c{i}" for i in range(510, 520))
    assert holdfast("discover", wide, "--rules", "ucc", "--columns", chosen).code == 0


# ---- the rest -------------------------------------------------------------------------------------------------------


def test_the_version(holdfast: Holdfast) -> None:
    result = holdfast("--version")
    assert (result.code, result.out, result.err) == (0, f"holdfast {hf.__version__}\n", "")


class _Ear(Progress):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def many_dependencies() -> pa.Table:
    """A table in which minimal dependencies are many, and long."""
    drawn = np.random.default_rng(7).integers(0, 4, (16, 400))
    return pa.table({f"c{i}": values for i, values in enumerate(drawn)})


def test_a_long_search_gets_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.progress.PATIENCE", 0.0)
    monkeypatch.setattr("holdfast.table.threads._SECONDS_BETWEEN_LOOKS", 0.0)
    ear = _Ear()
    hf.discover(many_dependencies(), "fd", progress=ear)
    (advice,) = ear.notes
    assert "--max-lhs" in advice
    bounded = _Ear()
    hf.discover(many_dependencies(), "fd", max_lhs=2, progress=bounded)
    assert bounded.notes == []


def test_files_of_others_are_shown_without_steering_the_terminal(holdfast: Holdfast, tmp_path: Path) -> None:
    nasty = write(tmp_path / "t\x1b[31m.csv", ["a\u202eb,x", "\x1b]0;owned\x07,1"])
    state = tmp_path / "state"
    batch = write(tmp_path / "batch.csv", ["a\u202eb,x", "\x9b31m,2"])
    runs = [
        holdfast("discover", nasty, "--rules", "column,fd,ucc,ind"),
        holdfast("discover", nasty, "--format", "json"),
        holdfast("init", state, f"t={nasty}"),
        holdfast("apply", state, "--insert", batch, "--batch-id", "\x1b[2J"),
        holdfast("history", state),
        holdfast("status", state),
        holdfast("discover", tmp_path / "none\x1b[2J.csv"),
        holdfast("apply", state, "--insert", batch, "--table", "\u202e"),
        holdfast("discover", nasty, "--nope\x1b[2J"),
    ]
    assert [ran.code for ran in runs] == [0, 0, 0, 0, 0, 0, 2, 2, 2]
    for ran in runs:
        assert all(sign == "\n" or sign.isprintable() for sign in ran.out + ran.err)
    assert len(Picture.of(state).history) == 1
