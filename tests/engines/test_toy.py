"""The contract holds all that the program knows of an engine: one that is registered by a line is served everywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.report.embedded import embedded

ROOT = Path(__file__).parents[2]
RUN = """
from holdfast.engines import registry
from tests.engines import toy
registry.register(*toy.RULE_CLASSES)
from holdfast.cli import main
main()
"""


def holdfast(*words: object, code: int = 0) -> str:
    command = [sys.executable, "-c", RUN, *map(str, words)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT, env={"COLUMNS": "120"})
    assert done.returncode == code, done.stderr
    return done.stdout


def lines(*words: object, code: int = 0) -> list[dict[str, Any]]:
    return [json.loads(line) for line in holdfast(*words, "--format", "json", code=code).splitlines()]


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    (tmp_path / "towns.csv").write_text("id,land\n1,de\n2,de\n")
    (tmp_path / "more.csv").write_text("id,land\n3,at\n")
    return tmp_path / "towns.csv"


def test_help_offers_it_and_its_settings() -> None:
    said = holdfast("discover", "--help")
    assert "column, ucc, fd, ind, od, pod, one" in said
    assert "--least-rows" in said
    assert "one: Only in tables of at least so many rows." in said
    assert "--least-rows" in holdfast("init", "--help")


def test_it_is_found_shown_and_written_to_a_page(towns: Path) -> None:
    page = towns.with_suffix(".html")
    said = holdfast("discover", towns, "--rules", "one", "--html", page)
    assert "towns: 1 columns of one value" in said
    assert "land" in said
    (section,) = embedded(page)["rules"]["sections"]
    assert (section["title"], section["count"]) == ("columns of one value", 1)
    names = [column["name"] for column in embedded(page)["columns"]]
    assert embedded(page)["rules"]["texts"] == f"one({chr(0xE000 + names.index('land'))})"
    assert lines("discover", towns, "--rules", "one")[1:] == [{"kind": "one", "table": "towns", "text": "one(land)"}]
    assert "no columns of one value found" in holdfast("discover", towns, "--rules", "one", "--least-rows", 3)


def test_it_is_kept_and_breaks(towns: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert "1 columns of one value" in holdfast("init", state, towns, "--watch", "one")
    assert "1 columns of one value" in holdfast("status", state)
    assert holdfast("explain", state, "one(land)").startswith("one(land): count its values")
    assert lines("explain", state, "one(land)")[0]["text"] == "one(land)"
    told = lines("apply", state, "--insert", tmp_path / "more.csv", "--fail-on", "any", code=1)
    assert [(line["event"], line["text"]) for line in told[1:]] == [("lost", "one(land)")]
    assert "one(land)" in holdfast("history", state, "--rules")
    assert lines("history", state, "--rules") == [
        {"kind": "one", "table": "towns", "text": "one(land)", "holds_since": None, "broke": 1}
    ]
    assert lines("status", state, "--rules", "one")[2:] == []
