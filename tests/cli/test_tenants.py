"""A table of several tenants on the command line: its reference to itself shares a column with itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Holdfast

RULE = "nodes(tenant, parent) in nodes(tenant, id)"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "nodes.csv"
    path.write_text("tenant,id,parent\n1,1,\n1,2,1\n1,3,1\n2,1,\n2,2,1\n", encoding="utf-8")
    return path


def test_found_checked_watched_and_promoted(holdfast: Holdfast, source: Path, tmp_path: Path) -> None:
    found = {
        line["text"]: line
        for line in holdfast("discover", source, "--rules", "ind", "--max-arity", "2", "--format", "json").objects
        if "text" in line
    }
    assert found[RULE]["dependent"] == ["nodes", "tenant", "parent"]
    assert found[RULE]["referenced"] == ["nodes", "tenant", "id"]
    assert not [
        text for text, line in found.items() if line["kind"] == "ind" and line["dependent"] == line["referenced"]
    ]
    assert holdfast("check", source, "--rule", RULE).code == 0
    state, worse = tmp_path / "state", tmp_path / "worse.csv"
    assert holdfast("init", state, source, "--watch", "ind", "--max-arity", "2").code == 0
    assert "holds." in holdfast("explain", state, RULE).out
    assert holdfast("rules", state, "promote", RULE).code == 0
    worse.write_text("tenant,id,parent\n2,3,3\n2,4,5\n3,1,2\n", encoding="utf-8")
    applied = holdfast("apply", state, "--insert", worse, "--format", "json")
    assert applied.code == 1
    lost = [line for line in applied.objects if line.get("event") == "lost" and line["text"] == RULE]
    assert lost
    (given,) = [
        line
        for line in holdfast("status", state, "--format", "json").objects
        if "violations" in line and line.get("text") == RULE
    ]
    assert given["violations"] == 2
    assert "row" in holdfast("explain", state, RULE).out
