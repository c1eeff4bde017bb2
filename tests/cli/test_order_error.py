"""Order dependencies that hold but for a share of the rows, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Holdfast

ROWS = ["0,2", "2,1", "1,2", "0,1", "1,0"]  # two rows must go so that a and b never swap; greedy removal takes three


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b", *ROWS, ""]), encoding="utf-8")
    return path


def errors(holdfast: Holdfast, table: Path, error: object) -> dict[str, float]:
    result = holdfast("discover", table, "--rules", "od", "--error", error, "--format", "json").of_kind("od")
    assert all(line.get("measure") == ("share of rows" if line["error"] else None) for line in result)
    return {line["text"]: line["error"] for line in result}


def test_discover_shows_the_share_of_rows(holdfast: Holdfast, table: Path) -> None:
    pairs = {"{}: a ~ b": 0.4, "{}: a ~ b desc": 0.4}
    constants = {"{a}: [] -> b": 0.4, "{b}: [] -> a": 0.4}
    assert errors(holdfast, table, 0.4) == {**pairs, **constants}
    assert errors(holdfast, table, 0.39) == errors(holdfast, table, 0) == {}
    assert errors(holdfast, table, 0.6) == {"{}: [] -> a": 0.6, "{}: [] -> b": 0.6}, "constants imply the pairs"
    assert "40.0000%" in holdfast("discover", table, "--rules", "od", "--error", 0.4).out


def test_watched_and_explained(holdfast: Holdfast, tmp_path: Path, table: Path) -> None:
    state, more = tmp_path / "state", tmp_path / "more.csv"
    holdfast("init", state, table, "--watch", "od", "--error", 0.4)
    assert "by counting the rows that must go" in holdfast("status", state).err
    more.write_text("a,b\n3,0\n", encoding="utf-8")
    lines = holdfast("apply", state, "--insert", more, "--format", "json").objects[1:]
    events = {line["text"]: line for line in lines}
    lost = events["{}: a ~ b"]
    assert (lost["event"], lost["cause"], lost["error"]) == ("lost", "swap", 0.4)
    assert lost["witness"]["rows"][-1] == 5, "the row of the batch"
    assert (events["{}: a ~ b desc"]["event"], events["{}: a ~ b desc"]["error"]) == ("changed", pytest.approx(1 / 3))
    (line,) = holdfast("explain", state, "{}: a ~ b", "--format", "json").objects
    assert (line["holds"], line["to_remove"], line["error"], line["measure"]) == (False, 3, 0.5, "share of rows")
    assert "without 3 rows (50.0000%) it would hold" in holdfast("explain", state, "{}: a ~ b").out
    holdfast("apply", state, "--delete", more)
    assert {line["text"] for line in holdfast("status", state, "--format", "json").of_kind("od")} == set(
        errors(holdfast, table, 0.4)
    )
