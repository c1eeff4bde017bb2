"""Denial constraints across columns on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Holdfast, refused, write

LINES = ["room,start,end", "a,1,3", "a,3,5", "a,5,9", "b,2,4", "b,4,6"]
RULE = "not(t.room = s.room and t.start <= s.start and t.end > s.start)"


@pytest.fixture
def rooms(tmp_path: Path) -> Path:
    return write(tmp_path / "rooms.csv", LINES)


def test_found_and_written_as_constraints_that_check_takes(rooms: Path, holdfast: Holdfast) -> None:
    ran = holdfast("discover", rooms, "--rules", "cross", "--across", "room,start,end")
    assert "denial constraints across columns" in ran.out
    lines = holdfast("discover", rooms, "--rules", "cross", "--format", "json").out.splitlines()[1:]
    found = {line["text"]: line for line in map(json.loads, lines)}
    about = [["room", "=", "room"], ["start", "<=", "start"], ["end", ">", "start"]]
    assert found[RULE] == {
        "kind": "cross",
        "table": "rooms",
        "comparisons": about,
        "coverage": found[RULE]["coverage"],
        "text": RULE,
    }
    denials = holdfast("discover", rooms, "--rules", "cross", "--as", "dc", "--top", "1000").out.splitlines()
    assert {*denials} == {*found}
    for denial in [RULE, *denials[:5]]:
        assert holdfast("check", rooms, "--rule", denial).code == 0
    one = holdfast("discover", rooms, "--rules", "cross", "--max-comparisons", "1", "--min-coverage", "0.5")
    assert RULE not in one.out


def test_a_batch_that_breaks_one_says_how(rooms: Path, tmp_path: Path, holdfast: Holdfast) -> None:
    state, more = tmp_path / "state", write(tmp_path / "more.csv", [LINES[0], "b,5,7"])
    assert holdfast("init", state, rooms, "--watch", "cross").code == 0
    assert (
        "holds in all 5 rows: 12 ordered pairs of them (60.0000% of all) come near"
        in holdfast("explain", state, RULE).out
    )
    mirrored = "not(t.start >= s.start and t.start < s.end and t.room = s.room)"
    assert RULE in holdfast("explain", state, mirrored).out
    ran = holdfast("apply", state, "--insert", more, "--fail-on", "never")  # an alarm would give the rule
    assert (
        "row 4 and row 5: both have room 'b'; start 4 of row 4 is at most start 5 of row 5; end 6 of row 4" in ran.out
    )
    ran = holdfast("explain", state, RULE)
    assert "does not hold: broken by 1 ordered pair of rows; 17 more (56.6667% of all) come near" in ran.out
    assert "It broke with batch 1" in ran.out
    assert holdfast("apply", state, "--delete", more).code == 0
    assert "all is well" in holdfast("verify", state, "--deep").out
    assert holdfast("rules", state, "pin", RULE).code == 0
    assert holdfast("rules", state, "promote", RULE, "--name", "booked").code == 0
    assert holdfast("apply", state, "--insert", more).code == 1
    assert "b" in holdfast("violations", state).out


def test_what_would_not_end_is_refused(tmp_path: Path, holdfast: Holdfast) -> None:
    wide = write(tmp_path / "wide.csv", [",".join(f"c{place}" for place in range(9)), ",".join("123456789")])
    ran = holdfast("discover", wide, "--rules", "cross")
    refused(ran, "81 pairs of a column of t with one of s")
    refused(holdfast("init", tmp_path / "state", wide, "--watch", "cross"), "name fewer: --across c0,c1")
    assert holdfast("discover", wide, "--rules", "cross", "--across", "c0,c1").code == 0


@pytest.mark.parametrize(("rules", "option"), [("cross", "--across"), ("pod", "--rhs"), ("pod", "--ordered")])
def test_settings_follow_columns(rooms: Path, tmp_path: Path, holdfast: Holdfast, rules: str, option: str) -> None:
    """They name columns, which get new names, and go."""
    state, more = tmp_path / "state", write(tmp_path / "more.csv", ["room,first,last", "b,6,8"])
    assert holdfast("init", state, rooms, "--watch", rules, option, "room,start,end").code == 0
    assert holdfast("columns", state, "rename", "start", "first").code == 0
    assert holdfast("columns", state, "rename", "end", "last").code == 0
    assert holdfast("apply", state, "--insert", more).code == 0
    assert "first" in holdfast("status", state).out
    assert holdfast("columns", state, "drop", "room").code == 0
    assert holdfast("apply", state, "--insert", write(more, ["first,last", "9,9"])).code == 0
    assert "all is well" in holdfast("verify", state, "--deep").out


def test_an_order_of_text_is_promoted_with_a_rule(tmp_path: Path, holdfast: Holdfast) -> None:
    state, shelf = tmp_path / "state", write(tmp_path / "shelf.csv", ["first,last", "a,c", "b,d", "c,d"])
    assert holdfast("init", state, shelf, "--watch", "cross", "--ordered", "first,last").code == 0
    refused(holdfast("check", shelf, "--rule", "not(t.first > s.last)"), "ordered: [first]")
    assert holdfast("rules", state, "promote", "not(t.first > s.last)", "--name", "shelved").code == 0
    ran = holdfast("apply", state, "--insert", write(tmp_path / "more.csv", ["first,last", "e,f"]))
    assert ran.code == 1
    assert "Failed: shelved has " in ran.out
