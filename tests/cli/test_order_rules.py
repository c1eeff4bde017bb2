"""Order dependencies on the command line: found, watched, broken and explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Holdfast, refused

HEADER = "id,state,salary,rate"
ROWS = ["1,AL,100,1", "2,AL,200,2", "3,AL,300,2", "4,AK,100,5", "5,AK,200,6", "6,AK,400,7"]


@pytest.fixture
def tax(tmp_path: Path) -> Path:
    path = tmp_path / "tax.csv"
    path.write_text("\n".join([HEADER, *ROWS, ""]), encoding="utf-8")
    return path


def batch(folder: Path, *rows: str) -> Path:
    path = folder / "batch.csv"
    path.write_text("\n".join([HEADER, *rows, ""]), encoding="utf-8")
    return path


def test_discover_shows_the_best_first(holdfast: Holdfast, tax: Path) -> None:
    result = holdfast("discover", tax, "--rules", "od", "--format", "json").of_kind("od")
    tested = [line["tested_pairs"] for line in result]
    assert tested == sorted(tested, reverse=True)
    assert {
        "kind": "od", "table": "tax", "context": ["state"], "pair": ["salary", "rate"], "direction": "asc",
        "error": 0.0, "tested_pairs": 18, "text": "{state}: salary ~ rate",
    } in result  # fmt: skip
    assert {
        "kind": "od", "table": "tax", "context": ["rate"], "constant": "state", "error": 0.0, "tested_pairs": 8,
        "text": "{rate}: [] -> state",
    } in result  # fmt: skip
    shown = holdfast("discover", tax, "--rules", "od", "--top", 2).out
    assert f"{len(result)} order dependencies, the first 2" in shown
    assert result[0]["text"] in shown
    assert result[2]["text"] not in shown


def test_settings(holdfast: Holdfast, tax: Path) -> None:
    def texts(*more: object) -> set[str]:
        result = holdfast("discover", tax, "--rules", "od", "--format", "json", *more)
        return {line["text"] for line in result.of_kind("od")}

    every = texts()
    assert texts("--directions", "asc") == {text for text in every if not text.endswith(" desc")}
    assert texts("--max-level", 0) == {text for text in every if text.startswith("{}")}
    best = texts("--min-score", 18)
    assert "{state}: salary ~ rate" in best
    assert "{rate}: [] -> state" in every - best
    refused(holdfast("discover", tax, "--rules", "od", "--max-level", -1), "max-level")
    refused(holdfast("discover", tax, "--rules", "od", "--directions", "down"), "directions")


def test_watched_broken_and_mended(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    state = tmp_path / "state"
    ordered = "--ordered", "state"
    made = holdfast("init", state, tax, "--watch", "od", "--key", "id", *ordered, "--format", "json").of_kind("od")
    assert holdfast("status", state, "--format", "json").of_kind("od") == made, "with scores, the best first"
    worse = batch(tmp_path, "7,AL,150,9")
    broken = holdfast("apply", state, "--insert", worse, "--format", "json", "--fail-on", "any")
    assert broken.code == 1
    lost = {line["text"]: line for line in broken.objects[1:] if line["event"] == "lost"}
    swap = lost["{state}: salary ~ rate"]
    assert swap["cause"] == "swap"
    assert swap["witness"]["keys"] == [{"id": 2}, {"id": 7}]
    mended = holdfast("apply", state, "--delete", worse, "--format", "json")
    assert mended.code == 0
    events = {line["text"]: (line["event"], line.get("cause"), line.get("by")) for line in mended.objects[1:]}
    assert events["{state}: salary ~ rate"] == ("gained", "mended", None)
    assert {event for event, _, _ in events.values()} == {"gained", "implied"}
    assert all(by for event, _, by in events.values() if event == "implied")
    assert "{state}: salary ~ rate" in holdfast("history", state, "--rules").out


def test_what_is_implied_says_by_what(holdfast: Holdfast, tmp_path: Path) -> None:
    """Without the row that breaks it, b rises with a everywhere; and c, constant then, goes with everything."""
    path = tmp_path / "t.csv"
    path.write_text("x,a,b,c\n1,1,1,5\n1,2,2,5\n2,1,3,5\n2,3,4,6\n", encoding="utf-8")
    state, gone = tmp_path / "state", tmp_path / "gone.csv"
    holdfast("init", state, path, "--watch", "od")
    gone.write_text("x,a,b,c\n2,1,3,5\n", encoding="utf-8")
    lines = holdfast("apply", state, "--delete", gone, "--format", "json").objects[1:]
    causes = {line["text"]: (line["event"], line["cause"], line.get("by")) for line in lines}
    assert causes["{x}: a ~ b"] == ("implied", "smaller context", "{}: a ~ b")
    assert causes["{}: a ~ b"] == ("gained", "mended", None)
    shown = holdfast("apply", state, "--insert", gone).out
    assert " broke 2 rules: {}: x ~ a, {}: a ~ b\n" in shown
    assert "{x}: a ~ b   as {}: a ~ b no longer holds" in shown


def test_explain(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    state = tmp_path / "state"
    holdfast("init", state, tax, "--key", "id")
    said = holdfast("explain", state, "{state}: rate ~ salary").out
    assert said == (
        "{state}: salary ~ rate holds in all 6 rows: 2 groups of two rows or more, the largest of 3; 18 tested pairs\n"
    )
    said = holdfast("explain", state, "{state}: salary ~ rate desc").out
    assert "does not hold: rows swap in 2 of 2 groups" in said
    assert (
        "id 1 and id 2: a swap: both have state 'AL'; salary 100 of id 1 is below salary 200 of id 2; rate 1 of id 1"
        in said
    )
    said = holdfast("explain", state, "{state}: [] -> rate").out
    assert "id 1 and id 2: a split: both have state 'AL'; rate 1 of id 1 differs from rate 2 of id 2" in said
    (line,) = holdfast("explain", state, "{}: salary ~ rate", "--format", "json").objects
    assert (line["holds"], line["broken_groups"], line["tested_pairs"]) == (False, 1, 36)
    assert [key["id"] for key in line["witness"]["keys"]] == [2, 4]
    refused(holdfast("explain", state, "{nobody}: [] -> rate"), "there is no column 'nobody'; there are")
    refused(holdfast("explain", state, "{state}: rate"), "expected ~ after rate; write {A}: [] -> B")


def test_an_order_dependency_is_not_given(holdfast: Holdfast, tmp_path: Path, tax: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text('rules: [{name: fair, rule: "{state}: salary ~ rate"}]', encoding="utf-8")
    refused(
        holdfast("check", tax, "--rules", rules), "fair", "is an order dependency, which can be found but not given"
    )


def test_status_names_the_strategy_and_why(holdfast: Holdfast, tax: Path, tmp_path: Path) -> None:
    holdfast("init", tmp_path / "state", tax, "--watch", "fd,od", "--method", "borders")
    output = holdfast("status", tmp_path / "state").err
    assert "order dependencies of tax: kept by borders (evidence and proof), as --method borders asks" in output
    assert "functional dependencies of tax: kept by borders" in output


def test_a_direction_that_is_none_is_refused(holdfast: Holdfast, tax: Path) -> None:
    result = holdfast("discover", tax, "--rules", "od", "--directions", "down")
    refused(result, "'--directions': 'down' is not one of 'asc', 'both'; see: holdfast discover --help")
