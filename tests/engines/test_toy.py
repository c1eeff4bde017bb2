"""A class declares all that the program knows of it: one that is registered by a call is served by every command."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import environment
from tests.report.embedded import embedded

ROOT = Path(__file__).parents[2]
RISES = "rises(price, year)"
SERVE = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from holdfast.engines.registry import register
from tests.engines.toy_found import Ones
from tests.engines.toy_given import Rising
register(Ones(), Rising())
from holdfast.cli import main
for line in sys.stdin:
    sys.argv = ["holdfast", *json.loads(line)]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    printed = [stream.flush() or stream.buffer.getvalue().decode() for stream in (out, err)]
    print(json.dumps([code, *printed]), flush=True)
"""


class Program:
    """A process of its own that knows two more classes, and runs one command after another."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, *words: object, code: int = 0) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([*map(str, words)]) + "\n")
        self._process.stdin.flush()
        ended, out, err = json.loads(self._process.stdout.readline())
        assert ended == code, err
        return str(out)

    def lines(self, *words: object, code: int = 0) -> list[dict[str, Any]]:
        """What a command prints as JSON."""
        return [json.loads(line) for line in self(*words, "--format", "json", code=code).splitlines()]


@pytest.fixture(scope="module")
def holdfast() -> Iterator[Program]:
    """The commands, in a process that registers the toys before the command line is loaded."""
    command, pipe = [sys.executable, "-c", SERVE], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8", cwd=ROOT, env=environment()) as process:
        yield Program(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    (tmp_path / "towns.csv").write_text("id,land,year,price\n1,de,2001,5\n2,de,2002,6\n3,de,2003,9\n")
    (tmp_path / "more.csv").write_text("id,land,year,price\n4,at,2004,7\n")
    return tmp_path / "towns.csv"


def test_help_offers_it_and_its_settings(holdfast: Program) -> None:
    said = holdfast("discover", "--help-all")
    assert "column, ucc, fd, ind, od, pod, cross, one" in said
    assert "--least-rows" in said
    assert "one: Only in tables of at least this many rows." in said
    assert "--least-rows" in holdfast("init", "--help-all")
    assert "ucc, fd, ind, od, pod, one" in holdfast("suggest", "--help")


# ---- found ----------------------------------------------------------------------------------------------------------


def test_it_is_found_shown_and_written_to_a_page(holdfast: Program, towns: Path) -> None:
    page = towns.with_suffix(".html")
    said = holdfast("discover", towns, "--rules", "one", "--html", page)
    assert "towns: 1 columns of one value" in said
    assert "land" in said
    (section,) = embedded(page)["rules"]["sections"]
    assert (section["title"], section["count"]) == ("columns of one value", 1)
    assert section["lens"] == [["Columns of one value", ""]]
    names = [column["name"] for column in embedded(page)["columns"]]
    assert embedded(page)["rules"]["texts"] == f"one({chr(0xE000 + names.index('land'))})"
    assert embedded(page)["rules"]["details"]["0"]["says"] == "All rows share land."
    assert holdfast.lines("discover", towns, "--rules", "one")[1:] == [
        {"kind": "one", "table": "towns", "text": "one(land)"}
    ]
    assert "no columns of one value found" in holdfast("discover", towns, "--rules", "one", "--least-rows", 4)


def test_it_is_suggested_and_given(holdfast: Program, towns: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    said = holdfast("suggest", towns, "--rules", "one", "--to", rules)
    assert "columns of one value" in said
    assert "0.90                  one(land)" in said
    assert 'rule: "not(t.land != s.land)"' in rules.read_text()
    assert holdfast.lines("check", towns, "--rules", rules)[0]["violations"] == 0
    assert [line["text"] for line in holdfast.lines("suggest", towns) if line["kind"] == "one"] == ["one(land)"]


def test_it_is_kept_and_breaks(holdfast: Program, towns: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert "1 columns of one value" in holdfast("init", state, towns, "--watch", "one")
    assert "1 columns of one value" in holdfast("status", state)
    assert holdfast("explain", state, "one(land)").startswith("one(land): All rows share land. It holds.")
    assert holdfast.lines("explain", state, "one(land)")[0]["text"] == "one(land)"
    printed = holdfast.lines("apply", state, "--insert", tmp_path / "more.csv", "--fail-on", "any", code=1)
    assert [(line["event"], line["text"]) for line in printed[1:]] == [("lost", "one(land)")]
    assert "one(land)" in holdfast("history", state, "--rules")
    assert holdfast.lines("history", state, "--rules") == [
        {"kind": "one", "table": "towns", "text": "one(land)", "holds_since": None, "broke": 1, "last_broke": 1}
    ]
    assert holdfast.lines("status", state, "--rules", "one")[2:] == []
    said = holdfast("explain", state, "one(land)")
    assert "It doesn't hold" in said
    assert "It broke with batch 1 because of row 0 (land de, id 1, year 2001, price 5) and row 3 (land at, " in said
    assert "all is well" in holdfast("verify", state, "--deep")


def test_its_rules_are_marked_promoted_and_follow_their_columns(holdfast: Program, towns: Path, tmp_path: Path) -> None:
    state, page = tmp_path / "state", tmp_path / "page.html"
    holdfast("init", state, towns, "--watch", "column", "--key", "id")
    assert "one: watched from now on; 1 hold" in holdfast("rules", state, "watch", "one")
    holdfast("rules", state, "ignore", "one(land)")
    assert "# ignored: one(land)" in holdfast("rules", state, "show")
    holdfast("rules", state, "pin", "one(land)")
    holdfast("columns", state, "rename", "land", "country")
    assert "# pinned: one(country)" in holdfast("rules", state, "show")
    assert "not(t.country != s.country): now given" in holdfast("rules", state, "promote", "one(country)")
    assert 'rule: "not(t.country != s.country)"' in holdfast("rules", state, "show")
    (tmp_path / "more.csv").write_text("id,country,year,price\n4,at,2004,7\n")
    holdfast("apply", state, "--insert", tmp_path / "more.csv", code=1)
    assert "all is well" in holdfast("verify", state, "--deep")
    holdfast("report", state, "--html", page)
    (detail,) = [
        each for each in embedded(page)["rules"]["details"].values() if each["says"] == "All rows share country."
    ]
    assert detail["broke"] == 1
    assert detail["pairs"][0]["sentence"] == "country de of id 1 differs from country at of id 4."
    assert "one: no longer watched" in holdfast("rules", state, "unwatch", "one")


# ---- given ----------------------------------------------------------------------------------------------------------


def test_a_given_rule_is_checked(holdfast: Program, towns: Path) -> None:
    (printed,) = holdfast.lines("check", towns, "--rule", RISES)[:1]
    about = {"kind": "rises", "table": "towns", "name": "rises1", "severity": "error"}
    assert printed == {**about, "violations": 0, "counted": "ordered pairs", "listed": True, "text": RISES}
    holdfast("check", towns, "--rule", "rises(prise, year)", code=2)


def test_a_given_rule_is_kept_renamed_explained_and_reported(holdfast: Program, towns: Path, tmp_path: Path) -> None:
    state, rules, page = tmp_path / "state", tmp_path / "rules.yaml", tmp_path / "page.html"
    rules.write_text(f'rules:\n  - {{name: dear, rule: "{RISES}", note: prices rise}}\n')
    holdfast("init", state, towns, "--rules", rules, "--key", "id")
    holdfast("columns", state, "rename", "price", "cost")
    assert 'rule: "rises(cost, year)"' in holdfast("rules", state, "show")
    (tmp_path / "more.csv").write_text("id,land,year,cost\n4,at,2004,7\n")
    assert "dear" in holdfast("apply", state, "--insert", tmp_path / "more.csv", code=1)
    why = "year 2003 of id 3 is below year 2004 of id 4; cost 9 of id 3 is above cost 7 of id 4"
    assert why in holdfast("explain", state, "dear")
    assert why in holdfast("explain", state, "rises(cost, year)", "--row", 2, "--row", 3)
    assert [line["rows"] for line in holdfast.lines("violations", state) if line["kind"] == "violation"] == [[2, 3]]
    assert holdfast.lines("history", state, "--rules")[0]["broke"] == 1
    assert "all is well" in holdfast("verify", state, "--deep")
    holdfast("report", state, "--html", page)
    (section,) = embedded(page)["rules"]["sections"]
    assert (section["title"], section["given"]) == ("your rising columns", True)
    detail = embedded(page)["rules"]["details"]["0"]
    assert (detail["says"], detail["note"]) == ("cost never falls where year rises.", "prices rise")
    assert "SELECT" in detail["copy"]["sql"]


def test_given_rules_come_and_go(holdfast: Program, towns: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    holdfast("init", state, towns)
    assert "now given; 0 violations" in holdfast("rules", state, "add", RISES)
    assert "no longer given" in holdfast("rules", state, "remove", RISES)
    assert "rises" not in holdfast("rules", state, "show")
