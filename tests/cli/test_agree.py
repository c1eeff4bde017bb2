"""`holdfast agree`: agree-sets of files and states, errors of candidates, what came and went; bounded, in pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.api import agree_sets as api
from tests.cli.running import HEADER, Holdfast, refused, write

EMPLOYEES = [  # the paper's Table 1 (papers: dynast); it prints "Employer", but its agree-sets need "Employee"
    "FN,LN,P,S",
    "John,Bond,Manager,2500",
    "Marie,Miller,Manager,3000",
    "Marie,Bond,Employee,2000",
    "Tom,Gray,Manager,3000",
]


@pytest.fixture
def employees(tmp_path: Path) -> Path:
    return write(tmp_path / "emp.csv", EMPLOYEES)


@pytest.fixture
def watched(holdfast: Holdfast, employees: Path, tmp_path: Path) -> Path:
    """A state that keeps agree-sets counted, with the paper's batch and one more applied."""
    state = tmp_path / "watched"
    assert holdfast("init", state, employees, "--watch", "fd,ucc").code == 0
    fresh = write(tmp_path / "fresh.csv", [EMPLOYEES[0], "John,Miller,Employee,2000", "Anna,Scott,Manager,3000"])
    gone = write(tmp_path / "gone.csv", [EMPLOYEES[0], EMPLOYEES[-1]])
    assert holdfast("apply", state, "--insert", fresh, "--delete", gone, "--fail-on", "never").code == 0
    twin = write(tmp_path / "twin.csv", [EMPLOYEES[0], EMPLOYEES[1]])
    assert holdfast("apply", state, "--insert", twin, "--fail-on", "never").code == 0
    return state


def cells(out: str) -> list[list[str]]:
    """The lines of the tables, without their headings."""
    lines = [[cell.strip() for cell in line.strip("│").split("│")] for line in out.splitlines() if line[:1] == "│"]
    return [line for line in lines if line[0] != "pairs"]


def objects(ran: Any, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ran.of_kind(kind)
    return found


# ---- a file ----------------------------------------------------------------------------------------------------------


def test_the_largest_come_first(holdfast: Holdfast, employees: Path) -> None:
    result = holdfast("agree", employees)
    assert result.code == 0
    assert "emp: 5 agree-sets of 6 pairs of rows" in result.out
    assert cells(result.out) == [
        ["1", "16.6667%", "P, S"], ["2", "33.3333%", "P"], ["1", "16.6667%", "FN"], ["1", "16.6667%", "LN"],
        ["1", "16.6667%", "no column"],
    ]  # fmt: skip


def test_pages(holdfast: Holdfast, employees: Path) -> None:
    result = holdfast("agree", employees, "--limit", 2, "--offset", 1)
    assert [line[2] for line in cells(result.out)] == ["P", "FN"]
    assert "2 more: --offset 3" in result.err
    last = holdfast("agree", employees, "--limit", 2, "--offset", 3)
    assert [line[2] for line in cells(last.out)] == ["LN", "no column"]
    assert "more:" not in last.err
    beyond = holdfast("agree", employees, "--offset", 9)
    assert (beyond.code, beyond.out) == (0, "emp: 5 agree-sets of 6 pairs of rows\n")


def test_columns_and_without(holdfast: Holdfast, employees: Path) -> None:
    result = holdfast("agree", employees, "--columns", "P", "--without", "S,FN")
    assert "emp: 1 agree-set with P, without FN, S: 2 of 6 pairs of rows (33.3333%)" in result.out
    assert [line[2] for line in cells(result.out)] == ["P"]
    none = holdfast("agree", employees, "--columns", "FN,LN")
    assert none.out == "emp: 0 agree-sets with FN, LN: 0 of 6 pairs of rows (0.0000%)\n"


def test_the_error_of_a_rule(holdfast: Holdfast, employees: Path) -> None:
    result = holdfast("agree", employees, "--rule", "P -> FN")
    assert result.out.startswith("P -> FN: 3 pairs of rows of 6 break it, g1 50.0000%\n")
    assert [line[2] for line in cells(result.out)] == ["P, S", "P"], "those that break it"
    fine = holdfast("agree", employees, "--rule", "key(FN, LN)")
    assert fine.out.startswith("key(FN, LN) holds: no pair of rows breaks it\n")
    both = holdfast("agree", employees, "--rule", "P -> FN", "--columns", "S")
    assert [line[2] for line in cells(both.out)] == ["P, S"]


def test_json(holdfast: Holdfast, employees: Path) -> None:
    result = holdfast("agree", employees, "--rule", "key(P)", "--limit", 1, "--format", "json")
    rule, summary, *sets = result.objects
    assert (rule["kind"], rule["text"], rule["error"], rule["error_name"]) == ("ucc", "key(P)", 0.5, "g1")
    assert summary == {
        "kind": "agree-sets", "table": "emp", "rows": 4, "columns": ["FN", "LN", "P", "S"], "nulls": "equal",
        "containing": ["P"], "lacking": [], "agree_sets": 2, "pairs": 3, "all_pairs": 6, "offset": 0,
    }  # fmt: skip
    assert sets == [{"kind": "agree-set", "columns": ["P", "S"], "pairs": 1}]
    assert len(objects(holdfast("agree", employees, "--format", "json"), "agree-set")) == 5


def test_nulls(holdfast: Holdfast, tmp_path: Path) -> None:
    lines = ["a,b", "1,", "2,"]
    path = write(tmp_path / "n.csv", lines)
    assert [line[2] for line in cells(holdfast("agree", path).out)] == ["b"]
    assert [line[2] for line in cells(holdfast("agree", path, "--nulls", "distinct").out)] == ["no column"]


def test_tables_without_pairs(holdfast: Holdfast, tmp_path: Path) -> None:
    one = write(tmp_path / "one.csv", ["a,b", "1,x"])
    result = holdfast("agree", one, "--rule", "a -> b")
    assert (result.code, result.out.splitlines()[0]) == (0, "a -> b holds: no pair of rows breaks it")
    assert "0 agree-sets" in result.out


def test_many_pairs_need_a_word(holdfast: Holdfast, employees: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "MOST_PAIRS", 5)
    refused(holdfast("agree", employees), "emp: 6 pairs of rows would take less than a second", "--count")
    assert len(cells(holdfast("agree", employees, "--count").out)) == 5


# ---- a state ---------------------------------------------------------------------------------------------------------


def test_a_state_with_counts(holdfast: Holdfast, watched: Path) -> None:
    result = holdfast("agree", watched, "--rule", "LN -> P", "--format", "json")
    assert result.code == 0
    assert objects(result, "fd")[0]["error"] == 3 / 15
    whole = holdfast("agree", watched, "--format", "json")
    assert objects(whole, "agree-sets")[0]["pairs"] == 15
    assert objects(whole, "agree-set")[0] == {"kind": "agree-set", "columns": ["FN", "LN", "P", "S"], "pairs": 1}


def test_what_came_and_went(holdfast: Holdfast, watched: Path) -> None:
    first = holdfast("agree", watched, "--batch", 1)
    assert first.out == "emp, batch 1: 5 agree-sets before, 5 after\nno agree-set came or went\n"
    second = holdfast("agree", watched, "--batch", 2)
    assert second.out.startswith("emp, batch 2: 5 agree-sets before, 6 after\n")
    assert cells(second.out) == [["1", "all columns"]]
    (change,) = holdfast("agree", watched, "--batch", 2, "--format", "json").objects
    assert change == {
        "kind": "agree-set-change", "table": "emp", "batch": 2, "before": 5, "after": 6, "came_in_all": 1,
        "went_in_all": 0, "came": [{"columns": ["FN", "LN", "P", "S"], "before": 0, "after": 1}], "went": [],
    }  # fmt: skip
    none = holdfast("agree", watched, "--batch", 2, "--limit", 0)
    assert "1 more: --offset 0" in none.err


def test_a_state_without_counts(holdfast: Holdfast, state: Path) -> None:
    refused(holdfast("agree", state), "does not keep agree-sets counted", "6 pairs of rows", "--count")
    counted = holdfast("agree", state, "--count")
    assert "people: 2 agree-sets of 6 pairs of rows" in counted.out
    refused(holdfast("agree", state, "--batch", 1), "batch 1: nothing is stored")
    refused(holdfast("agree", state, "--batch", 2), "there is no batch 2", "the last is 1")


def test_several_tables(holdfast: Holdfast, employees: Path, people: Path, tmp_path: Path) -> None:
    state = tmp_path / "both"
    assert holdfast("init", state, employees, people, "--watch", "fd").code == 0
    more = write(tmp_path / "more.csv", [HEADER, "4,Ann,1.5,2024-01-01"])
    assert holdfast("apply", state, "--insert", more, "--table", "people", "--fail-on", "never").code == 0
    refused(holdfast("agree", state), "several tables", "emp, people")
    assert "people: 3 agree-sets of 6" in holdfast("agree", state, "--table", "people").out
    assert "came: 1" in holdfast("agree", state, "--table", "people", "--batch", 1).out
    refused(holdfast("agree", state, "--table", "emp", "--batch", 1), "the batch did not change this table")


def test_what_is_refused(holdfast: Holdfast, employees: Path, watched: Path, tmp_path: Path) -> None:
    refused(holdfast("agree", employees, "--batch", 1), "--batch needs a state")
    refused(holdfast("agree", watched, "--batch", 1, "--rule", "P -> S"), "leave out --rule")
    refused(holdfast("agree", watched, "--nulls", "distinct"), "leave out --nulls")
    refused(holdfast("agree", watched, "--columns", "Q"), "no column 'Q' in emp")
    refused(holdfast("agree", watched, "--columns", "P", "--without", "P"), "both has 'P' and lacks it")
    refused(holdfast("agree", employees, "--rule", "P < S"), "P ^< S")
    refused(holdfast("agree", employees, "--table", "other"), "'other'", "emp")
    refused(holdfast("agree", tmp_path / "none.csv"), "there is no such file")
